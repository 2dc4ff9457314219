"""Deep linear networks: the exact evidence log Z of one data set, at any depth and widths, proved.

For phi(x) = x the network is x -> theta.x with theta = sqrt(t) g, g ~ N(0, I) and t = prod_l chi2_(d_l)/d_l independent: given t,
in the eigenbasis of X^T X, the labels are independent N(0, t lambda_i + Delta).  Hence

    Z = E_t F(t),   F(t) = prod_i N(y_i; 0, t lambda_i + Delta)   (at Delta = 0 a Meijer G-function of the y_i^2/lambda_i).

With u_l = log t_l the law of each factor has the density p_l(u) = a^a e^(a u - a e^u)/Gamma(a), a = d_l/2, and E_t is an integral
over R^L of prod p_l(u_l) F(e^(u_1 + ... + u_L)).  The trapezoidal rule with one step h for all variables is a convolution of the
sequences h p_l(kh), and its error is proved below.  Setting: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577, with
linear phi.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, arb_poly

from theoryck.numerics.balls import BITS_PER_DIGIT, check_digits, from_ball, plus_minus, precision, to_ball
from theoryck.numerics.errors import ExactError
from theoryck.records import Enclosure
from theoryck.theory.learning.proved.linear_model import check_size

MAX_NODES = 100_000
ATTEMPTS = 12


@dataclass(frozen=True, slots=True)
class _Labels:
    """F: eigenvalues, squares of the projections, noise; ``pure`` means noise = 0, where F(t) = c t^(-n/2) e^(-energy/2t)."""

    eigenvalues: list[arb]
    squares: list[arb]
    noise: arb

    @property
    def pure(self) -> bool:
        return bool(self.noise == 0)

    def log_value(self, t: arb) -> arb:
        """Return log F(t)."""
        total = arb(0)
        product = arb(1)
        for eigenvalue, square in zip(self.eigenvalues, self.squares):
            variance = t * eigenvalue + self.noise
            product *= variance
            total -= square / variance
        return (total - product.log() - len(self.squares) * (2 * arb.pi()).log()) / 2

    def log_bound(self, cosine: arb) -> arb:
        """Return an upper bound of log |F| on the rays arg t = +-angle, cosine = cos(angle) > 0.

        |t lambda + Delta| >= Delta and Re 1/(t lambda + Delta) > 0 there.  Without noise |F| = c r^(-n/2) e^(-energy cosine/2r) at
        |t| = r, largest at r = energy cosine/n.
        """
        n = len(self.squares)
        if not self.pure:
            return -n * (2 * arb.pi() * self.noise).log() / 2
        energy = sum((square / eigenvalue for eigenvalue, square in zip(self.eigenvalues, self.squares)), arb(0))
        logs = sum(((2 * arb.pi() * eigenvalue).log() for eigenvalue in self.eigenvalues), arb(0))
        return -(logs + n * (energy * cosine / n).log() + n) / 2


def deep_linear_log_evidence(
    eigenvalues: Sequence[Any], projections: Sequence[Any], hidden_widths: Sequence[int], noise: Any, digits: int = 20
) -> Enclosure:
    """Return log Z(D) = log E prod_i N(y_i; 0, t lambda_i + Delta) of one data set, t = prod_l chi2_(d_l)/d_l.

    ``eigenvalues``: the n eigenvalues lambda_i >= 0 of X^T X (X the d_0 x n inputs, columns of squared norm about 1; zeros included
    where n > d_0); ``projections``: the labels in the same eigenbasis, y_i = u_i . Y; ``hidden_widths`` = (d_1, ..., d_L), empty
    for the linear model; ``noise`` = Delta >= 0.  With Delta = 0 all eigenvalues must be positive and some label non-zero.
    Numbers may be Enclosures; rigorous when these are, with ``digits`` digits (absolute where |log Z| < 1) for exact numbers.
    Raises ExactError for bad arguments and where the digits are out of reach.

    >>> value = deep_linear_log_evidence([1.5, 0.5], [1, -1], (4, 3), 0.5)
    >>> value.rigorous, float(value)
    (True, -2.99...)
    """
    digits = check_digits(digits)
    sizes = [check_size(f"hidden_widths[{i}]", d) for i, d in enumerate(_sequence("hidden_widths", hidden_widths, 0))]
    given = (*_sequence("eigenvalues", eigenvalues, 1), *_sequence("projections", projections, 1), noise)
    if len(eigenvalues) != len(projections):
        raise ExactError(f"eigenvalues and projections must have the same length, got {len(eigenvalues)} and {len(projections)}")
    rigorous = all(value.rigorous for value in given if isinstance(value, Enclosure))
    bits = math.ceil((digits + 3) * BITS_PER_DIGIT) + 40
    extra = 0.0
    for _ in range(ATTEMPTS):
        with precision(math.ceil(bits + 1.5 * extra)):
            value, below = _evidence(_labels(eigenvalues, projections, noise), sizes, (bits + extra) * math.log(2))
            if value.is_finite() and value.rad() < max(1, abs(float(value.mid()))) * arb(10) ** (-digits):
                return from_ball(value, digits, rigorous)
        # Z is ``below`` bits under the bound of F: so many more are needed; at least a quarter more each time.
        extra = max(below + 16, extra + bits / 4)
    raise ExactError(f"log Z is known only as {value.str(10)}: give the eigenvalues, projections and noise to more digits")


def _sequence(name: str, values: Any, least: int) -> list[Any]:
    sequence = hasattr(values, "__len__") and hasattr(values, "__getitem__") and not isinstance(values, str | bytes)
    if not sequence or len(values) < least:
        raise ExactError(f"{name} must be a sequence of at least {least} numbers, got {values!r}")
    return list(values)


def _labels(eigenvalues: Sequence[Any], projections: Sequence[Any], noise: Any) -> _Labels:
    spectrum, delta = [to_ball(value) for value in eigenvalues], to_ball(noise)
    squares = [to_ball(value) ** 2 for value in projections]
    for i, value in enumerate(spectrum):
        if value < 0 or (delta == 0 and not value > 0):
            kind = "> 0 where noise = 0" if delta == 0 else ">= 0"
            raise ExactError(f"eigenvalues[{i}] must be {kind}, got {eigenvalues[i]!r}")
    if not (delta > 0 or delta == 0):
        raise ExactError(f"noise is a variance and must be >= 0, got {noise!r}")
    if delta == 0 and not sum(squares, arb(0)) > 0:
        raise ExactError(
            f"projections must not all be 0 where noise = 0, got {projections!r}: log Z may be infinite; take noise > 0"
        )
    # An enclosure that reaches below 0 is cut there: an eigenvalue is not negative.
    return _Labels([value.nonnegative_part() if not value > 0 else value for value in spectrum], squares, delta)


def _evidence(labels: _Labels, sizes: Sequence[int], nats: float) -> tuple[arb, float]:
    """Return log Z and how many bits it lies below the bound of log F, the unit in which errors e^-nats are made."""
    unit = labels.log_bound(arb(1))
    if not sizes:
        return labels.log_value(arb(1)), 0.0
    load = len(labels.squares) / 2 if labels.pure else 0.0
    step = arb(min(trapezoid_step(d / 2 + load, nats) for d in sizes))
    first, masses, growth, error = 0, arb_poly([1]), arb(1), arb(0)
    for d in sizes:
        low, row, rule, tail = _factor(d, step, load, nats)
        first, masses = first + low, masses * arb_poly(row)
        growth *= 1 + rule
        # One variable after another is summed instead of integrated: the error of each is that of one trapezoidal rule, ``rule``
        # times the bound of F on the rotated ray, or the masses left out times the bound of F; the others weigh at most prod (1 +
        # rule).
        angle = arb(_angle(d / 2 + load, float(step)))
        error += rule * (labels.log_bound(angle.cos()) - unit).exp() + tail
    total, error = arb(0), error * growth
    small = arb(2) ** (-math.ceil(nats / math.log(2))) / max(masses.length(), 1)
    for k, mass in enumerate(masses.coeffs()):
        if mass.abs_upper() < small:
            error += mass.abs_upper()
        else:
            total += mass * (labels.log_value((step * (first + k)).exp()) - unit).exp()
    total += plus_minus(error)
    if not total > 0:
        return arb(0, "inf"), nats / math.log(2)
    return unit + total.log(), max(0.0, float(-total.log().mid()) / math.log(2))


def _angle(weight: float, step: float) -> float:
    """Return the angle in (0, pi/2) that maximises 2 pi angle/step + weight log cos(angle)."""
    return math.atan(2 * math.pi / (step * weight))


def trapezoid_step(weight: float, nats: float) -> float:
    """Return a step at which the trapezoidal rule errs by about e^-nats (a guess: the error is proved in _factor)."""
    low, high = 1e-4, 4.0
    for _ in range(40):
        middle = math.sqrt(low * high)
        angle = _angle(weight, middle)
        gain = 2 * math.pi * angle / middle + weight * math.log(math.cos(angle)) if angle < 1.5707 else 2 * math.pi * 1.57 / middle
        low, high = (middle, high) if gain > nats + 2 else (low, middle)
    return low


def _factor(d: int, step: arb, load: float, nats: float) -> tuple[int, list[arb], arb, arb]:
    """Return the first index, the masses h p(kh) of log chi2_d/d, the error of the rule and that of the truncation.

    p(u + i angle) has modulus p(u) e^(a e^u (1 - cos angle)), whose integral is (cos angle)^(-a): f analytic in the strip and
    int |f(u +- i angle)| du <= M gives |sum - integral| <= 2 M/(e^(2 pi angle/h) - 1).  p increases below 0 and decreases above,
    so that the masses left out are at most the integrals beyond the last ones kept: incomplete gamma functions.
    """
    a, h = d / 2, float(step)
    low = next((k for k in range(1, MAX_NODES) if a * (math.exp(-k * h) + k * h - 1) > nats + 5), MAX_NODES)
    high = next((k for k in range(1, MAX_NODES) if a * (math.exp(k * h) - k * h - 1) > nats + 5), MAX_NODES)
    if MAX_NODES in (low, high):
        needs = f"log Z to this accuracy needs more than {MAX_NODES} nodes for the width {d}"
        raise ExactError(f"{needs}: take more noise or fewer digits")
    half = arb(d) / 2
    constant = half * half.log() - half.lgamma() + step.log()
    row = [(constant + half * (step * k - (step * k).exp())).exp() for k in range(-low, high + 1)]
    angle = arb(_angle(a + load, h))
    rule = 2 * angle.cos() ** (-half) / ((2 * arb.pi() * angle / step).exp() - 1)
    below = (half * (-step * low).exp()).gamma_lower(half, regularized=1)
    above = (half * (step * high).exp()).gamma_upper(half, regularized=1)
    return -low, row, rule, below.abs_upper() + above.abs_upper()
