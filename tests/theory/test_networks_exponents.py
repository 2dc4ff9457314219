"""Exponents and constants read off exact moments on d = 2^6..2^40: the fit must find -k/2, the limit its own recursion."""

import pytest

from theoryck.fitting import fit_rate
from theoryck.numerics.functions.activation import Activation
from theoryck.rates import doubling
from theoryck.theory.networks.limits import norm_moment_limit, overlap_moment_limit
from theoryck.theory.networks.proved.moments import norm_moment, overlap_moment

SIZES = doubling(2**6, 2**40)
TANH = Activation("tanh")
CASES = [(norm_moment, norm_moment_limit, depth, k) for depth in range(5) for k in (2, 4, 6)]
CASES += [(overlap_moment, overlap_moment_limit, depth, 2) for depth in range(5)]
CASES += [(overlap_moment, overlap_moment_limit, depth, 6) for depth in range(3)]


@pytest.mark.parametrize(("moment", "limit", "depth", "k"), CASES)
def test_exponent_and_constant(moment, limit, depth, k):
    values = [moment(TANH, (d,) * (depth + 1), k) for d in SIZES]
    logs = [float(value.midpoint.ln()) for value in values]
    fit = fit_rate(SIZES, logs, [float(value.radius / value.midpoint) for value in values], correction=1, log_values=True)
    # The size 2^40 leaves a relative correction C 2^-40; 1e-6 and 1e-4 are what was promised, rounding allows 1e-12.
    assert abs(fit.exponent.estimate + k / 2) < 1e-12
    assert fit.exponent.contains(-k / 2)
    scaled = float(values[-1].midpoint) * float(SIZES[-1]) ** (k / 2)
    assert scaled == pytest.approx(float(limit(TANH, (1,) * (depth + 1), k)), rel=1e-9)  # C 2^-40 with C < 1e3
