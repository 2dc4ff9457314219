"""Re-verifies a certificate from its record alone."""

from __future__ import annotations

import flint  # noqa: F401
