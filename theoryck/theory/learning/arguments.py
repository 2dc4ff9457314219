"""Arguments of the quantities of learning: what is taken, and what is said of the rest."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryck.quantities.base import QuantityError

if TYPE_CHECKING:
    from theoryck.theory.learning.model import TeacherStudent


def check_setting(setting: Any) -> None:
    """Raise QuantityError for anything that is no TeacherStudent."""
    if not hasattr(setting, "n_samples"):
        raise QuantityError(
            f"setting must be a theoryck.TeacherStudent (network, samples, noise, readout), got {setting!r}: a network alone "
            "does not say what is learned"
        )


def known_options(setting: TeacherStudent, **options: Any) -> tuple[tuple[str, Any], ...]:
    """Return the options that are not None; QuantityError where a network has no use for them."""
    check_setting(setting)
    given = tuple((name, value) for name, value in options.items() if value is not None)
    if given and (setting.linear_activation or not setting.linear_readout):
        raise QuantityError(
            f"{', '.join(name for name, _ in given)} needs an activation that is not linear and a linear readout: leave it out"
        )
    return given


def positive(value: Any, name: str) -> float | None:
    """Return a positive number as a float, None as it is; QuantityError for anything else."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not 0 < value < math.inf:
        raise QuantityError(f"{name} must be a positive number, got {value!r}")
    return float(value)


NARROWEST = 1e-6
"""Nats: the work for one data set grows like the inverse of the width aimed at, and is minutes below."""


def aimed_width(value: Any) -> float | None:
    """Return the width at which brackets aim, None as it is; QuantityError for what is no number or would take for ever."""
    width = positive(value, "target_width")
    if width is not None and width < NARROWEST:
        raise QuantityError(
            f"target_width must be at least {NARROWEST:g} nats, got {value!r}: the work for a draw grows like its inverse, and "
            "more draws make the error of the mean small"
        )
    return width


def other_constants(value: Any, setting: TeacherStudent) -> tuple[float, float] | None:
    """Return (eta_0, gamma_0) of another linear model, None as it is; QuantityError for what is no such pair or has no use."""
    check_setting(setting)
    if value is None:
        return None
    try:
        eta0, gamma0 = (float(entry) for entry in value)
    except (TypeError, ValueError):
        raise QuantityError(f"against must be the pair (eta_0, gamma_0) of a linear model, got {value!r}") from None
    if not (math.isfinite(eta0) and math.isfinite(gamma0) and eta0 != 0 and gamma0 >= 0):
        raise QuantityError(f"against needs eta_0 != 0 and gamma_0 >= 0, both finite, got {value!r}")
    if setting.linear_activation or not setting.linear_readout:
        raise QuantityError("against needs an activation that is not linear and a linear readout: else covariances do not suffice")
    return eta0, gamma0


def time_of(value: Any) -> Fraction:
    """Return a time in [0, 1] as it is written; QuantityError for anything else."""
    if isinstance(value, bool):
        raise QuantityError(f"time must be a number from 0 (network) to 1 (linear model), got {value!r}")
    try:
        time = Fraction(repr(float(value))) if isinstance(value, float | np.floating) else Fraction(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise QuantityError(f"time must be a number from 0 (network) to 1 (linear model), got {value!r}") from None
    if not 0 <= time <= 1:
        raise QuantityError(f"time must lie between 0 (network) and 1 (linear model), got {value!r}")
    return time
