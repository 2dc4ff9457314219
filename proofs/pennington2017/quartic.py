"""The root of the quartic that is the transform of the spectrum (Pennington, Worah 2017).

Claim.     G of the folder's docstring, with the root P -> 1 as z -> infinity.
Truth.     It is the transform of one layer of fan2020: c_1^2 m_1(z) = c_1 (1 - c_1)/z - G(z/c_1).  The two come from different
           equations and methods: a quartic whose roots are followed from infinity, and a rational map inverted by Newton's method.
"""

from decimal import Decimal

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.quantities import formula
from theoryck.theory.networks import rho, sigma
from theoryck.theory.spectra import conjugate_kernel, pennington_worah, quartic_roots, quartic_transform, resolvent_trace

from . import PENNINGTON2017

activations = sampled_from([tc.activations.erf, tc.activations.tanh, tc.activations.sin])
DIGITS = 1e-12


def constants(phi):
    """eta and zeta."""
    return float(sigma(phi, 1).exact({}, 20)), float(rho(phi, 1).exact({}, 20)) ** 2


def from_companion(transform, z, ratio):
    """Return m_1(z) from G(z/c_1): M = x_1 x_1^T/c_1, whose spectrum is that of K_1/c_1 up to zeros.

    (1/d_1) tr (x_1 x_1^T - z)^-1 = -G(z/c_1)/c_1, and the n x n matrix has n - d_1 more zeros.
    """
    return (-transform / ratio + (1 - ratio) / z) / ratio


def by_roots(phi, z, ratios):
    """Return m_1(z) from the root of the quartic, and from all four."""
    first, last = ratios
    values = (1 / first, last / first, *constants(phi))
    place = z / last
    chosen = from_companion(pennington_worah(place, *values), z, last)
    return chosen, [from_companion(quartic_transform(root, place, values[1]), z, last) for root in quartic_roots(place, *values)]


def part(value, name):
    return value.real if name == "Re" else value.imag


@tc.theorem("pennington2017/quartic", PENNINGTON2017)
@tc.for_all(
    phi=activations, z=sampled_from([0.3 + 0.2j, 1 + 0.05j, -0.2 + 0.1j]), ratios=sampled_from([(1, 0.8), (2, 3), (0.5, 1)])
)
def quartic(phi, z, ratios):
    """Im m_1(z) from the root of the quartic = Im m_1(z) from the recursion; the other roots are not"""
    chosen, roots = by_roots(phi, z, ratios)
    others = [root.imag for root in sorted(roots, key=lambda root: abs(root - chosen))[1:]]
    left = formula(lambda: chosen.imag, name=f"Im m_1({z}) by the quartic", sizes=(), relative_error=DIGITS)
    right = complex(conjugate_kernel(phi, ratios).stieltjes(z)).imag
    enclosure = tc.Enclosure(Decimal(right), abs(Decimal(right)) * Decimal(DIGITS), rigorous=False)
    return tc.Identity(left, enclosure, rivals=others, tolerance=1e-11)


@tc.theorem("pennington2017/resolvent", PENNINGTON2017)
@tc.for_all(phi=activations)
def resolvent(phi):
    """E (1/n) tr (K_1 + 1/10)^-1 -> m_1(-1/10) from the root of the quartic, c = (2, 1)"""
    chosen, roots = by_roots(phi, -0.1, (2, 1))
    value = chosen.real
    others = [root.real for root in sorted(roots, key=lambda root: abs(root - chosen))[1:]]
    trace = resolvent_trace(tc.DeepNetwork(phi, depth=1, widths=("n/2", "n")), shift="1/10")
    along = tc.ScalingPath(n=(8, 16, 32, 48))
    return tc.Limit(trace, along, value=value, tolerance=0.03 * value, rivals=[0.9 * value, 1.1 * value, *others], correction=1)
