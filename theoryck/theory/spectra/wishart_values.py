"""Values of the mean eigenvalue density of a Wishart matrix of odd order, whose weights are elementary."""

from __future__ import annotations

from collections.abc import Iterable

from flint import arb, arb_poly, fmpq_poly

from theoryck.numerics.balls import precision
from theoryck.theory.spectra.proved import density


def density_values(order: int, excess: int, places: Iterable[float]) -> list[float]:
    """Return the mean density at x > 0 of the eigenvalues of G G^T, G of order x (order + excess) independent N(0, 1); order odd.

    The polynomials cancel: they are evaluated in balls of 8 bits for every degree, where x is of the order of the spectrum.
    Raises ValueError for an even order.

    >>> round(density_values(1, 0, [1.0])[0], 15)  # chi-square: e^(-1/2)/sqrt(2 pi)
    0.241970724519143
    """
    if order % 2 == 0:
        raise ValueError(f"order must be odd, got {order}: the density of even orders needs an incomplete gamma function")
    shape = density(order, excess)
    with precision(80 + 8 * (order + excess)):
        full, leading = _polynomial(shape.full), _polynomial(shape.leading)
        power = (arb(excess) - 1) / 2
        total = arb(shape.norm) * arb(2) ** (power + 1) * (power + 1).gamma()
        values = []
        for place in places:
            x = arb(place)
            values.append(float(full(x) * (-x).exp() + leading(x) * x**power * (-x / 2).exp() / total))
        return values


def _polynomial(exact: fmpq_poly) -> arb_poly:
    return arb_poly([arb(entry) for entry in exact.coeffs()])
