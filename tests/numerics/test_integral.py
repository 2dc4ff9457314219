"""The compiled integrator behind a wall that exceptions do not cross."""

import pytest
from flint import acb, arb

from theoryck.numerics.balls import precision
from theoryck.numerics.proved.integral import integrate

TOLERANCE = arb(2) ** -60


def test_a_known_integral():
    with precision(80):
        value = integrate(lambda z, analytic: z.exp(), acb(0), acb(1), TOLERANCE, TOLERANCE).real
        assert value.contains(arb(1).exp() - 1)
        assert value.rad() < arb(2) ** -50


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_the_integrand_raises_is_raised(error):
    def integrand(z, analytic):
        raise error("now")

    with precision(80), pytest.raises(error, match="now"):
        integrate(integrand, acb(0), acb(1), TOLERANCE, TOLERANCE)
