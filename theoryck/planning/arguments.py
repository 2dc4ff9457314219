"""What every function of this room asks of its arguments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def probability(name: str, value: float) -> None:
    """Refuse what is no probability strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")


def column(name: str, data: Sequence[float] | float, length: int) -> np.ndarray:
    """Return positive finite numbers, one per size; one number alone stands for all of them."""
    made = np.broadcast_to(np.asarray(data, dtype=float), (length,)) if np.ndim(data) == 0 else np.asarray(data, dtype=float)
    if made.shape != (length,):
        raise ValueError(f"{name} must be one number or one per size ({length}), got shape {made.shape}")
    if not (np.isfinite(made) & (made > 0)).all():
        raise ValueError(f"{name} must be positive and finite, got {list(made)}")
    return made
