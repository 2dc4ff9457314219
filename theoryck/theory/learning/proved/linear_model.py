"""The linear model at finite sizes: exact mutual information and Bayes error of Y = eta_0 v.x_0 + sqrt(gamma_0) xi + noise.

The inputs are the columns of X (d_0 x n, entries N(0, 1/d_0)); given them Y is Gaussian with covariance
eta_0^2 X^T X + (gamma_0 + Delta) I, so that everything is an average over the spectrum of a real Wishart matrix, which
:mod:`theoryck.theory.spectra.proved` evaluates exactly.  All results are proved, at any number of digits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from flint import arb

from theoryck.numerics.balls import BITS_PER_DIGIT, bits_for, check_digits, from_ball, plus_minus, precision, to_ball
from theoryck.numerics.errors import ExactError
from theoryck.records import Enclosure
from theoryck.theory.spectra.proved import Pair, density, spectral_means

MAX_BITS = 50_000
"""Working precision at which this room gives up; at small lam the need grows like min(n, d_0)/sqrt(lam), and like d_0/lam."""
INPUT_DIGITS = 20
"""Digits beyond those asked for to which numbers such as 1/3 are read."""


LARGEST = 2000
"""The smaller of the two sizes up to which exact averages are taken: seconds, and less than 1 GiB."""


def wishart_log_determinant(n: int, input_dim: int, lam: Any, digits: int = 20) -> Enclosure:
    """Return J = E 1/2 log det(I_n + lam X^T X), X of shape (input_dim, n) with independent N(0, 1/input_dim) entries.

    ``lam`` >= 0 is an int, Fraction, Decimal, float (its binary value) or Enclosure; a radius of lam costs n/2 times itself,
    because 0 <= dJ/dlam <= E tr(X^T X)/2 = n/2.  Proved, to ``digits`` significant digits where lam is exact.  Raises ExactError
    for bad arguments and where the cancellations would need more than MAX_BITS bits (lam of order 1e-4 at min(n, input_dim) = 100).

    >>> wishart_log_determinant(8, 8, 2, digits=12).rigorous, float(wishart_log_determinant(1, 1, 1))
    (True, 0.26672...)
    """
    return _wishart(n, input_dim, lam, digits)[0]


def wishart_resolvent(n: int, input_dim: int, lam: Any, digits: int = 20) -> Enclosure:
    """Return T = (1/d_0) E tr(I_(d_0) + lam X X^T)^(-1), d_0 = input_dim; arguments as for :func:`wishart_log_determinant`.

    T is the error of the posterior mean of one direction of v in the linear model; a radius of lam costs n/d_0 times itself.

    >>> float(wishart_resolvent(1, 1, 1))
    0.65567...
    """
    return _wishart(n, input_dim, lam, digits)[1]


def glm_information(eta0: Any, gamma0: Any, noise: Any, n: int, input_dim: int, digits: int = 20) -> Enclosure:
    """Return the mutual information (nats, of all n samples) of the linear model with both v and xi unknown.

    I_n = n/2 log(1 + gamma_0/Delta) + J at lam = eta_0^2/(gamma_0 + Delta), J of :func:`wishart_log_determinant`.  ``eta0``,
    ``gamma0`` and ``noise`` = Delta > 0 are numbers or Enclosures (``theoryck.theory.networks.network_constants``); rigorous when
    these are.  Depth 0 is eta0 = 1, gamma0 = 0.  Raises ExactError unless the noise is > 0.

    >>> float(glm_information(1, 0, 1, 1, 1))
    0.26672...
    """
    digits, lam, total, rigorous = _model(eta0, gamma0, noise, n, input_dim, digits)
    with precision(bits_for(digits + INPUT_DIGITS)):
        delta = to_ball(noise)
        if not delta > 0:
            raise ExactError(f"noise is the variance Delta and must be > 0 for a finite information, got {noise!r}")
        value = n * (total / delta).log() / 2 + _balls(n, input_dim, lam, digits)[0]
        return from_ball(value, digits, rigorous)


def glm_error(eta0: Any, gamma0: Any, noise: Any, n: int, input_dim: int, digits: int = 20) -> Enclosure:
    """Return the Bayes error E (Y_new - E[Y_new | data, x_new])^2 = Delta + gamma_0 + eta_0^2 T of the linear model, noise
    included.

    T of :func:`wishart_resolvent` at lam = eta_0^2/(gamma_0 + Delta); arguments as for :func:`glm_information`, but noise = 0 is
    allowed where gamma_0 > 0.

    >>> float(glm_error(1, 0, 1, 1, 1))
    1.65567...
    """
    digits, lam, total, rigorous = _model(eta0, gamma0, noise, n, input_dim, digits)
    with precision(bits_for(digits + INPUT_DIGITS)):
        return from_ball(total + to_ball(eta0) ** 2 * _balls(n, input_dim, lam, digits)[1], digits, rigorous)


def _model(eta0: Any, gamma0: Any, noise: Any, n: int, input_dim: int, digits: int) -> tuple[int, arb, arb, bool]:
    """Return digits, lam, gamma_0 + Delta and whether all that came in is proved."""
    digits = check_digits(digits)
    check_size("n", n), check_size("input_dim", input_dim)
    with precision(bits_for(digits + INPUT_DIGITS)):
        for name, value in (("gamma0", gamma0), ("noise", noise)):
            if to_ball(value) < 0:
                raise ExactError(f"{name} is a variance and must be >= 0, got {value!r}")
        total = to_ball(gamma0) + to_ball(noise)
        if not total > 0:
            raise ExactError(f"gamma0 + noise must be proved positive, got {gamma0!r} + {noise!r}")
        lam = to_ball(eta0) ** 2 / total
    rigorous = all(value.rigorous for value in (eta0, gamma0, noise) if isinstance(value, Enclosure))
    return digits, lam, total, rigorous


def check_size(name: str, value: Any) -> int:
    """Return ``value`` as an integer >= 1; anything else is an error that names it.

    >>> check_size("n", 0)
    Traceback (most recent call last):
        ...
    theoryck.numerics.errors.ExactError: n must be an integer >= 1, got 0
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
        raise ExactError(f"{name} must be an integer >= 1, got {value!r}")
    return int(value.__index__())


def _wishart(n: int, input_dim: int, lam: Any, digits: int) -> tuple[Enclosure, Enclosure]:
    digits = check_digits(digits)
    # The density has min(n, input_dim) coefficients, each of as many bits as the larger size has factorials.
    if min(check_size("n", n), check_size("input_dim", input_dim)) > LARGEST or max(n, input_dim) > LARGEST**2:
        raise ExactError(
            f"n = {n} and input_dim = {input_dim} are too large for exact averages: "
            f"the smaller may be at most {LARGEST}, the larger {LARGEST**2}"
        )
    rigorous = lam.rigorous if isinstance(lam, Enclosure) else True
    with precision(bits_for(digits + INPUT_DIGITS)):
        j, t = _balls(n, input_dim, to_ball(lam), digits)
        return from_ball(j, digits, rigorous), from_ball(t, digits, rigorous)


def _balls(n: int, input_dim: int, lam: arb, digits: int) -> Pair:
    """Return J and T; the radius of lam enters by the mean value theorem, not through the cancelling sums."""
    if lam < 0 or lam.mid() < 0:
        raise ExactError(f"lam must be >= 0, got {lam.str(10)}")
    mantissa, exponent = lam.mid().man_exp()
    j, t = _exact_balls(n, input_dim, int(mantissa), int(exponent), digits)
    spread = plus_minus(arb(lam.rad()))
    return j + n * spread / 2, t + n * spread / input_dim


@lru_cache(maxsize=512)
def _exact_balls(n: int, input_dim: int, mantissa: int, exponent: int, digits: int) -> Pair:
    """Return J and T at lam = mantissa 2^exponent: more bits until both have ``digits`` + 2 digits."""
    if mantissa == 0:
        return arb(0), arb(1)
    order, excess = min(n, input_dim), abs(n - input_dim)
    shape = density(order, excess)
    # The polynomials are evaluated at -1/mu, mu = lam/d_0, where L_(N-1)^2 is of size e^(4 sqrt(N/mu)) before all cancels, and the
    # powers x^a cost mu^(-a)/a! < e^(1/mu) more: a first guess, the balls decide.
    inverse_mu = input_dim / math.ldexp(float(mantissa), exponent)
    tower = excess * (math.log(max(inverse_mu / max(excess, 1), 1)) + 1) if excess < inverse_mu else inverse_mu
    lost = (4 * math.sqrt(order * inverse_mu) + tower) * math.log2(math.e)
    need = math.ceil((digits + 2) * BITS_PER_DIGIT)
    bits = need + 64 + math.ceil(1.1 * lost) + 2 * excess.bit_length()
    while bits <= MAX_BITS:
        with precision(bits):
            mu = arb(mantissa) * arb(2) ** exponent / input_dim
            inverse, logarithm = spectral_means(shape, mu)
            pair = logarithm / 2, (input_dim - order + inverse) / input_dim
            if all(value.is_finite() and value.rel_accuracy_bits() >= need for value in pair):
                return pair
        bits = math.ceil(1.4 * bits)
    raise ExactError(
        f"the exact averages at n = {n}, input_dim = {input_dim}, lam = {math.ldexp(float(mantissa), exponent):.6g} need more than "
        f"{MAX_BITS} bits: take a larger lam, smaller sizes or fewer digits"
    )
