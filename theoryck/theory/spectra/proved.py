"""Exact averages over the spectrum of a real Wishart matrix: E sum_i log(1 + mu x_i) and E sum_i 1/(1 + mu x_i).

x_1, ..., x_N are the eigenvalues of G G^T, G an N x M matrix of independent N(0, 1), M >= N; a = M - N.  With Laguerre polynomials
L_k = L_k^(a), h_k = Gamma(k+a+1)/k!, w(x) = x^((a-1)/2) e^(-x/2) and Phi_k(x) = 1/2 int_0^oo sgn(x-t) w(t) L_k(t) dt, integration
of (x w L_k)' gives  x w L_k = ((k+1) Phi_(k+1) - (k+a) Phi_(k-1))/2,  so that the skew products of w L_0, w L_1, ... are the
inverse of a tridiagonal matrix and the mean density of the eigenvalues is

    rho(x) = x w^2 sum_(k<=N-2) L_k^2/h_k  -  (N-1)!/(2 Gamma(N+a-1)) w L_(N-1) Phi_(N-2)  [+ w L_(N-1)/int w L_(N-1)  for odd N]

(Adler, Forrester, Nagao, van Moerbeke, J. Stat. Phys. 99 (2000) 141).  Every term is a polynomial with rational coefficients times
one of three weights: x^i e^(-x), x^(i+s) e^(-x/2) and x^(i+s) e^(-x/2) int_0^x t^s e^(-t/2) dt with s in {0, -1/2}.  Their
integrals against 1/(1+mu x) and log(1+mu x) follow from recursions in i.  The polynomials cancel heavily: the balls say how much
was lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import flint
from flint import arb, arb_poly, fmpq, fmpq_poly, fmpz

from theoryck.numerics.balls import plus_minus, precision

Pair = tuple[arb, arb]
"""The integrals against 1/(1 + mu x) and log(1 + mu x)."""


@dataclass(frozen=True, slots=True)
class Density:
    """rho as ``full`` e^(-x) + (c + q g(x)) ``leading`` w(x) with exact polynomials ``full`` (powers of x included) and
    ``leading``.

    g(x) = int_0^x w.  For even N q = ``twist`` and c = -q/2 int_0^oo w; for odd N q = 0 and c = 1/(``norm`` int_0^oo w).
    """

    order: int
    excess: int
    full: fmpq_poly
    leading: fmpq_poly
    twist: fmpq
    norm: fmpq


def laguerre(k: int, a: int) -> fmpq_poly:
    """Return L_k^(a) = sum_j (-1)^j C(k+a, k-j) x^j/j! with exact coefficients.

    >>> laguerre(1, 3)
    (-1)*x + 4
    """
    coefficients, factorial = [], fmpz(1)
    for j in range(k + 1):
        factorial *= max(j, 1)
        coefficients.append(fmpq((-1) ** j * comb(k + a, k - j), factorial))
    return fmpq_poly(coefficients)


@lru_cache(maxsize=32)
def density(order: int, excess: int) -> Density:
    """Return the mean eigenvalue density of G G^T, G of order x (order + excess) independent N(0, 1), as exact polynomials."""
    top, below = laguerre(order - 1, excess), laguerre(order - 2, excess) if order > 1 else fmpq_poly([0])
    power = fmpq_poly([0] * excess + [1])
    full, slope = fmpq_poly([0]), fmpq(0)
    if order > 1:
        # Christoffel-Darboux on the diagonal: sum_(k<n) L_k^2/h_k = n!/Gamma(n+a) (L_(n-1)' L_n - L_n' L_(n-1)), n = N - 1.
        slope = fmpq(fmpz.fac_ui(order - 1), fmpz.fac_ui(order + excess - 2))
        full = slope * (below.derivative() * top - top.derivative() * below)
    smooth, twist = _skew(order, excess)
    full = power * (full - slope / 2 * top * smooth)
    if order % 2:
        norm = fmpq(1)
        for j in range((order - 1) // 2):
            norm *= fmpq(excess + 1 + 2 * j, 2 * (j + 1))
        return Density(order, excess, full, top, fmpq(0), norm)
    return Density(order, excess, full, top, -slope / 2 * twist, fmpq(1))


def _skew(order: int, excess: int) -> tuple[fmpq_poly, fmpq]:
    """Return P and q with Phi_(N-2) = x w P + q Phi_0 (q = 0 for odd N), from (k+1) Phi_(k+1) = 2 x w L_k + (k+a) Phi_(k-1)."""
    smooth, twist = fmpq_poly([0]), fmpq(1 - order % 2)
    for k in range(0 if order % 2 else 1, order - 2, 2):
        smooth = (2 * laguerre(k, excess) + (k + excess) * smooth) / (k + 1)
        twist = twist * fmpq(k + excess, k + 1)
    return smooth, twist


def spectral_means(shape: Density, mu: arb) -> Pair:
    """Return balls around E sum 1/(1 + mu x_i) and E sum log(1 + mu x_i) at the current precision; mu > 0 exact."""
    a, top = shape.excess, shape.leading
    even = a % 2 == 0
    lift = a // 2  # w = x^(lift + s) e^(-x/2)
    rows = a + 2 * shape.order + 2
    whole = _exponential_table(mu, rows)
    halves = _half_table(mu, lift + shape.order, even)
    total = _against(shape.full, whole)
    s = (arb(a) - 1) / 2
    mass = arb(2) ** (s + 1) * (s + 1).gamma()  # int_0^oo w
    shifted = fmpq_poly([0] * lift + [1]) * top
    if shape.order % 2:
        return _sum(total, _times(_against(shifted, halves), 1 / (mass * arb(shape.norm))))
    # Phi_0 = int_0^x w - mass/2, and int_0^x w = scale gamma(x) - e^(-x/2) x^s elementary(x).
    scale, elementary = _incomplete(lift, even)
    q = arb(shape.twist)
    if even:
        curved = _curved_table(mu, lift + shape.order, whole)
        total = _sum(total, _times(_against(shifted, curved), q * scale))
        constant = -mass / 2
    else:
        constant = mass / 2  # gamma(x) = 2 - 2 e^(-x/2): its constant, 2 scale, is the mass, and the rest is in elementary
    total = _sum(total, _times(_against(shifted, halves), q * constant))
    # x^(s) x^(s) is 1/x for s = -1/2, where elementary has no constant term.
    product = shifted * elementary
    return _sum(total, _times(_against(product.right_shift(1) if even else product, whole), -q))


def _incomplete(lift: int, even: bool) -> tuple[arb, fmpq_poly]:
    """Return scale and R with int_0^x t^(lift+s) e^(-t/2) dt = scale gamma(x) - x^s e^(-x/2) R(x) (even a; for odd a mass - ...).

    By parts, g_p = -2 x^(p+s) e^(-x/2) + 2 (p+s) g_(p-1).
    """
    scale, coefficients = fmpz(1), [fmpz(0)] * (lift + 1)
    for p in range(lift, 0, -1):
        coefficients[p] = 2 * scale
        scale *= 2 * p - 1 if even else 2 * p
    coefficients[0] = fmpz(0) if even else 2 * scale
    return arb(scale), fmpq_poly(coefficients)


def _exponential_table(mu: arb, rows: int) -> list[Pair]:
    """Integrals U_k and V_k of x^k e^(-x): U_(k+1) = (k! - U_k)/mu, U_0 = z e^z E_1(z), z = 1/mu; by parts V_k = k V_(k-1) + mu
    U_k.

    E_1(z) = -Ei(-z).
    """
    z = 1 / mu
    first = -z * z.exp() * (-z).ei()
    table = [(first, mu * first)]
    factorial = arb(1)
    for k in range(1, rows):
        inverse = (factorial - table[-1][0]) * z
        table.append((inverse, k * table[-1][1] + mu * inverse))
        factorial *= k
    return table


def _half_table(mu: arb, rows: int, even: bool) -> list[Pair]:
    """Integrals of x^(k+s) e^(-x/2), by the same recursions; z = 1/(2 mu)."""
    z = 1 / (2 * mu)
    s = arb(-1) / 2 if even else arb(0)
    if even:
        mass = (2 * arb.pi()).sqrt()
        inverse = mass * (arb.pi() * z).sqrt() * z.exp() * z.sqrt().erfc()
        logarithm = mass * _log_normal_square(z)
    else:
        mass = arb(2)
        inverse = -2 * z * z.exp() * (-z).ei()
        logarithm = 2 * mu * inverse
    table = [(inverse, logarithm)]
    for k in range(1, rows):
        inverse = (mass - inverse) / mu
        mass = 2 * (k + s) * mass
        table.append((inverse, 2 * ((k + s) * table[-1][1] + mu * inverse)))
    return table


def _log_normal_square(z: arb) -> arb:
    """E log(1 + Z^2/(2z)) = -euler - log 4 - log z + pi erfi(sqrt z) - 2z 2F2(1,1;3/2,2;z).

    d/dz E log(z + Z^2/2) = sqrt(pi/z) e^z erfc(sqrt z), and e^t erf(sqrt t) = 2 sqrt(t/pi) 1F1(1;3/2;t) is integrated term by term.
    """
    with precision(int(flint.ctx.prec) + math.ceil(2.9 * float(z.mid())) + 32):  # the series cancels erfi, about e^z
        series = z.hypgeom([1, 1], [arb(3) / 2, 2])
        return -arb.const_euler() - arb(4).log() - z.log() + arb.pi() * z.sqrt().erfi() - 2 * z * series


def _curved_table(mu: arb, rows: int, whole: Sequence[Pair]) -> list[Pair]:
    """Integrals of x^(k-1/2) e^(-x/2) gamma(x), gamma(x) = sqrt(2 pi) erf(sqrt(x/2)), by parts from k = 0.

    At k = 0, in polar coordinates of the two Gaussians, 4 int_0^1 e^y E_1(y)/(1+t^2) dt for the logarithm, with y = z (1+t^2) and
    z = 1/(2 mu), and 4 z int_0^1 e^y E_1(y) dt for the inverse.
    """
    z = 1 / (2 * mu)
    inverse, logarithm = _polar(z)
    inverse, logarithm = 4 * z * inverse, 4 * logarithm
    table, mass, factorial = [(inverse, logarithm)], arb.pi(), arb(1)
    for k in range(1, rows):
        inverse = (mass - inverse) / mu
        mass = (2 * k - 1) * mass + 2 * factorial
        factorial *= k
        table.append((inverse, (2 * k - 1) * table[-1][1] + 2 * mu * inverse + 2 * whole[k - 1][1]))
    return table


def _polar(z: arb) -> Pair:
    """Return P = int_0^1 e^y E_1(y) dt and Q = int_0^1 e^y E_1(y)/(1+t^2) dt, y = z (1+t^2), from series in z and l = log 2z.

    By parts 2 z P' = (2z - 1) P + e^(2z) E_1(2z) - pi/2 and Q' = P - pi/(4z), with e^x E_1(x) = e^x (Ein(x) - euler - log x) and
    e^x Ein(x) = sum_k H_k x^k/k!.  So P = sum (u_k + l v_k) z^k, (2k+1) v_k = 2 v_(k-1) - 2^k/k!, and (2k+1) u_k = 2 u_(k-1) - 2
    v_k + (H_k - euler) 2^k/k! (- pi/2 at k = 0).  By induction |v_k| <= 2^k/k! and |u_k| <= (3 + H_k) 2^k/k! <= (4 + k) 2^k/k!;
    from k >= 4z + 8 on the bound falls by 2/3 at every step, so that what is left out is below three times its first term (times 1
    + |l|; and times z in the integral of P).
    """
    bits = int(flint.ctx.prec)
    # The terms are as large as e^(2z), and add up to about 1/z.
    with precision(bits + math.ceil(2.9 * float(z.mid())) + 32):
        log, euler, least = (2 * z).log(), arb.const_euler(), float((4 * z).mid()) + 8
        term, harmonic, u, v = arb(1), arb(0), arb(0), arb(0)
        value, area, k = arb(0), arb(0), 0
        small = arb(2) ** (-bits - 16) / (1 + z)
        while True:
            v = (2 * z * v - term) / (2 * k + 1)
            u = (2 * z * u - 2 * v + (harmonic - euler) * term - (arb.pi() / 2 if k == 0 else 0)) / (2 * k + 1)
            value += u + log * v
            area += (u + log * v) / (k + 1) - v / (k + 1) ** 2
            k += 1
            term *= 2 * z / k
            harmonic += arb(1) / k
            if k >= least and term * (4 + k) < small:
                break
        rest = plus_minus(3 * (4 + k) * term * (1 + abs(log)))
        # Q + pi/4 log z tends to int_0^1 (-euler - log(1+t^2))/(1+t^2) dt = -euler pi/4 - pi/2 log 2 + Catalan's constant at z = 0.
        start = arb.const_catalan() - arb.pi() / 4 * (euler + 2 * arb(2).log() + z.log())
        return value + rest, start + z * (area + rest)


def _against(polynomial: fmpq_poly, table: Sequence[Pair]) -> Pair:
    inverse, logarithm = arb(0), arb(0)
    for coefficient, (u, v) in zip(polynomial.coeffs(), table):
        if coefficient:
            factor = arb(coefficient)
            inverse += factor * u
            logarithm += factor * v
    return inverse, logarithm


def _sum(left: Pair, right: Pair) -> Pair:
    return left[0] + right[0], left[1] + right[1]


def _times(pair: Pair, factor: arb) -> Pair:
    return pair[0] * factor, pair[1] * factor


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
