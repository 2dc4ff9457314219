"""Enclosures: Gaussian expectations, network constants and exact moments; the only importer of flint.

Digits in, records out: every function here returns an :class:`~theoryck.records.Enclosure` (or a record of them) that is proved
unless it says ``rigorous=False``.  Names are loaded on first use.
"""

from __future__ import annotations

import difflib
import importlib
from typing import Any

_HOME = {
    "ExactError": "balls",
    "NetworkConstants": "constants",
    "NotConverged": "balls",
    "NotIntegrable": "balls",
    "deep_linear_log_evidence": "deep_linear",
    "gaussian_expectation": "gaussian",
    "gaussian_kernel": "kernel",
    "glm_error": "wishart",
    "glm_information": "wishart",
    "hermite_table": "hermite",
    "network_constants": "constants",
    "norm_bias": "output_law",
    "norm_bias_limit": "output_law",
    "norm_moment": "moments",
    "norm_moment_limit": "limits",
    "norm_transform": "one_sample",
    "one_sample_gap": "one_sample",
    "one_sample_glm_information": "one_sample",
    "one_sample_information": "one_sample",
    "output_cumulant": "output_law",
    "output_distance": "output_law",
    "output_distance_limit": "output_law",
    "output_kurtosis": "output_law",
    "output_kurtosis_limit": "output_law",
    "overlap_moment": "moments",
    "overlap_moment_limit": "limits",
    "wide_pair": "infinite_width",
    "wishart_log_determinant": "wishart",
    "wishart_resolvent": "wishart",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        close = difflib.get_close_matches(name, __all__, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"public names: {', '.join(__all__)}"
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; {hint}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
