"""Bayesian linear networks of finite widths exactly: log Z, predictor and losses as enclosures.

Given the weights of the hidden layers f = N_L^(-1/2) a.x_L is a Gaussian process with kernel t K, K = x.x'/(N_0 lambda_0 ...
lambda_L), and all that depth does is t = prod_l chi^2_(N_l)/N_l (the direction of a.W_L...W_1 is uniform).  So every posterior mean
is a ratio of one-dimensional integrals
    E g(t) N(y; 0, T + t K),    t = e^u, u = sum_l u_l,  u_l of density q_l(u) = exp((N_l/2)(u - e^u + log(N_l/2)))/Gamma(N_l/2).

Data.  With s = T/t, D(s) = det(s + K) and z^T adj(s + K) y are polynomials in s, rational for decimal data (Faddeev-LeVerrier):
no eigenvalue is computed, and for s >= 0 the coefficients of D and of y^T adj y do not cancel.

Radius.  The trapezoidal rule with step h in every u_l, hence a discrete convolution.  In the strip |Im u_l| <= a < pi/2
    |q_l(u + i v)| <= q_l(u) e^((N_l/2) e^u (1 - cos a)),  of integral cos(a)^(-N_l/2),
    |N(y; 0, T + t K)| <= cos(a)^(-P/2) (2 pi T)^(-P/2)   or, at T = 0,   det(K)^(-1/2) (P/(2 pi e A cos a))^(P/2),  A = y^T K^-1 y,
so that a layer adds at most 2 M cos(a)^(-(N_l + P)/2 - k)/(e^(2 pi a/h) - 1), M the bound without cosines, k = 1 for g = t.  Beyond
the cuts q_l e^(k u) is log-concave: a geometric series bounds what is left of the sum.

Sources: Li, Sompolinsky (2021); Zavatone-Veth, Pehlevan (2021), arXiv:2104.11734; Hanin, Zlokapa (2023), arXiv:2212.14457, whose
Meijer functions these integrals are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_poly, fmpq, fmpq_mat, fmpq_poly
from numpy.typing import ArrayLike

from theoryck.numerics.balls import bits_for, check_digits, from_ball, plus_minus, precision
from theoryck.numerics.errors import ExactError
from theoryck.quantities.arguments import rational
from theoryck.records import Enclosure
from theoryck.records.arguments import integer

MOST_SAMPLES = 128
"""Of rational data: coefficients of D have P times the digits of K."""

MOST_NODES = 200_000


@dataclass(frozen=True, eq=False)
class LinearData:
    """det(s + K) = ``determinant``, y^T adj(s + K) y = ``square``, and for each new input k^T adj y, k^T adj k, k_0.

    Polynomials in s with rational coefficients; ``count`` is P, ``label_square`` |y|^2, ``new_labels`` of the new inputs or None.
    """

    count: int
    determinant: fmpq_poly
    square: fmpq_poly
    new: tuple[tuple[fmpq_poly, fmpq_poly, fmpq], ...] = ()
    new_labels: tuple[fmpq, ...] | None = None

    @classmethod
    def of(
        cls, inputs: ArrayLike, labels: ArrayLike, precision_product: Fraction, new_inputs: ArrayLike, new_labels: ArrayLike | None
    ) -> LinearData:
        """Return the polynomials of data whose entries are read as the decimals that they show."""
        x, y, fresh = _table(inputs, "inputs"), _entries(labels, "labels"), _table(new_inputs, "new_inputs")
        if len(x) != len(y) or not y:
            raise ExactError(f"inputs must be (P, N_0) for labels (P,), P >= 1, got {len(x)} inputs and {len(y)} labels")
        if len(y) > MOST_SAMPLES:
            raise ExactError(f"labels must be at most {MOST_SAMPLES} for the exact route, got {len(y)}: draw, or give a spectrum")
        if len({len(row) for row in x + fresh}) != 1 or not x[0]:
            lengths = sorted({len(row) for row in x + fresh})
            raise ExactError(f"inputs and new_inputs must be rows of one length N_0 >= 1, got rows of lengths {lengths}")
        scale = _q(1 / (precision_product * len(x[0])))
        train, test = (
            fmpq_mat(len(x), len(x[0]), [value for row in x for value in row]),
            [fmpq_mat(len(row), 1, row) for row in fresh],
        )
        kernel, target = train * train.transpose() * scale, fmpq_mat(len(y), 1, y)
        crosses = [train * row * scale for row in test]
        powers = [(row.transpose() * row * scale)[0, 0] for row in test]
        determinant = (kernel * -1).charpoly()
        coefficients = determinant.coeffs()
        adjoint = _adjoint(kernel, coefficients, target)
        pairs = []
        for cross, power in zip(crosses, powers):
            own = _adjoint(kernel, coefficients, cross)
            pairs.append((_against(cross, adjoint), _against(cross, own), power))
        values = None if new_labels is None else tuple(_entries(new_labels, "new_labels"))
        if values is not None and len(values) != len(test):
            raise ExactError(f"new_labels must be ({len(test)},), one for each new input, got {len(values)}")
        return cls(len(y), determinant, _against(target, adjoint), tuple(pairs), values)

    @classmethod
    def spectrum(cls, values: Sequence[Any], squares: Sequence[Any], multiplicities: Sequence[int]) -> LinearData:
        """Return data of a kernel with these eigenvalues, the squared length of y in each eigenspace and its dimension.

        >>> LinearData.spectrum([1], [2], [3]).count
        3
        """
        if not len(values) == len(squares) == len(multiplicities) >= 1:
            raise ExactError(
                f"values, squares and multiplicities must be alike in length, got {values}, {squares}, {multiplicities}"
            )
        powers = [integer(power, "multiplicities", 1, error=ExactError) for power in multiplicities]
        factors = [fmpq_poly([_q(rational(value, "values", low=0, strict=False)), 1]) for value in values]
        determinant, square = fmpq_poly([1]), fmpq_poly([0])
        for index, (factor, power) in enumerate(zip(factors, powers)):
            determinant *= factor**power
            rest = fmpq_poly([_q(rational(squares[index], "squares", low=0, strict=False))]) * factor ** (power - 1)
            for other, (each, times) in enumerate(zip(factors, powers)):
                rest *= each**times if other != index else 1
            square += rest
        return cls(sum(powers), determinant, square)


def _q(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _entries(values: ArrayLike, name: str) -> list[fmpq]:
    return [_q(rational(value, f"an entry of {name}")) for value in np.asarray(values, dtype=object).tolist()]


def _table(values: ArrayLike, name: str) -> list[list[fmpq]]:
    return [_entries(row, name) for row in values]  # type: ignore[union-attr]


def _adjoint(kernel: fmpq_mat, coefficients: list[fmpq], vector: fmpq_mat) -> list[fmpq_mat]:
    """Return v_0, ..., v_(P-1), adj(s + K) v = sum_j s^j v_j: v_(P-1) = v, v_(j-1) = d_j v - K v_j."""
    found = [vector]
    for coefficient in reversed(coefficients[1:-1]):
        found.append(vector * coefficient - kernel * found[-1])
    return found[::-1]


def _against(vector: fmpq_mat, adjoint: list[fmpq_mat]) -> fmpq_poly:
    return fmpq_poly([(vector.transpose() * each)[0, 0] for each in adjoint])


@dataclass(frozen=True, eq=False)
class LinearPosterior:
    """A Bayesian linear network of finite widths, exactly: enclosures; made by :func:`linear_posterior`.

    ``log_evidence`` log Z, ``scale`` E t, ``mean`` and ``variance`` of f at new inputs, ``train_loss`` E |y - f|^2/P, ``test_loss``
    the mean over new inputs of E (f - y)^2 = bias^2 + variance, ``bias2`` of the posterior mean (both None without labels).

    >>> float(linear_posterior([[1]], [2], widths=3, temperature=1).scale)  # y^2 above its mean: t is larger than 1
    1.13...
    """

    log_evidence: Enclosure
    scale: Enclosure
    mean: tuple[Enclosure, ...]
    variance: tuple[Enclosure, ...]
    train_loss: Enclosure
    bias2: Enclosure | None
    test_loss: Enclosure | None


def linear_posterior(
    inputs: ArrayLike,
    labels: ArrayLike,
    *,
    widths: Any,
    temperature: Any,
    precisions: Any = 1,
    new_inputs: ArrayLike = (),
    new_labels: ArrayLike | None = None,
    digits: int = 25,
) -> LinearPosterior:
    """Return log Z, predictor and losses of a Bayesian linear network f = N_L^(-1/2) a.W_L ... W_1 x, proved to ``digits`` digits.

    ``inputs`` (P, N_0), ``labels`` (P,), ``new_inputs`` (m, N_0), ``new_labels`` (m,), the others as for
    :func:`theoryck.renormalisation.bayesian_network`; every number is read as the decimal that it shows; P <= 128.  Raises
    ExactError (QuantityError for an entry that is no number) for arguments that do not fit, and T = 0 with a singular kernel.

    >>> exact = linear_posterior([["1", "0"], ["1/2", "1"]], [1, -1], widths=(4, 4), temperature="1/10")
    >>> float(exact.log_evidence), exact.log_evidence.rigorous
    (-4.1501..., True)
    """
    sizes = _widths(widths)
    strengths = list(precisions) if isinstance(precisions, Sequence) and not isinstance(precisions, str) else None
    if strengths is not None and len(strengths) != _depth(widths) + 1:
        raise ExactError(f"precisions must be one number or lambda_0, ..., lambda_L ({_depth(widths) + 1}), got {precisions!r}")
    strengths = strengths or [precisions] * (_depth(widths) + 1)
    product = math.prod((rational(value, "precisions", low=0) for value in strengths), start=Fraction(1))
    data = LinearData.of(inputs, labels, product, new_inputs, new_labels)
    return posterior_of(data, sizes, rational(temperature, "temperature", low=0, strict=False), digits)


def spectrum_posterior(
    values: Sequence[Any], squares: Sequence[Any], multiplicities: Sequence[int], *, widths: Any, temperature: Any, digits: int = 25
) -> LinearPosterior:
    """Return the posterior for a kernel with these eigenvalues, the squared length of y in each eigenspace and its dimension.

    ``values`` (k,) >= 0, ``squares`` (k,), ``multiplicities`` (k,), so that P = sum of the last; ``widths``, ``temperature`` and
    errors as for :func:`linear_posterior`.  The losses at new inputs are None.

    >>> found = spectrum_posterior([1], [9], [4], widths=6, temperature="1/10")  # four orthogonal inputs, y = 1.5
    >>> round(float(found.scale), 6), found.scale.rigorous
    (1.411374, True)
    """
    data = LinearData.spectrum(values, squares, multiplicities)
    return posterior_of(data, _widths(widths), rational(temperature, "temperature", low=0, strict=False), digits)


def _depth(widths: Any) -> int:
    return len(widths) if isinstance(widths, Sequence) else 1


def _widths(widths: Any) -> tuple[int, ...]:
    """Return the finite widths: layers of infinite width leave t as it is."""
    several = widths if isinstance(widths, Sequence) and not isinstance(widths, str) else [widths]
    return tuple(integer(width, "widths", 1, error=ExactError) for width in several if width != math.inf)


def posterior_of(data: LinearData, widths: tuple[int, ...], temperature: Fraction, digits: int = 25) -> LinearPosterior:
    """Return the posterior for :class:`LinearData`, the finite ``widths`` and T."""
    digits = check_digits(digits)
    if temperature == 0 and data.determinant[0] == 0:
        raise ExactError("temperature = 0 needs a kernel of full rank: labels have no density then; take a temperature > 0")
    with precision(bits_for(digits) + 64):
        problem = _Integrand(data, temperature)
        rough = problem.rough(widths)
        # Sums, quotients and logarithms lose a few digits more.
        lattice = _Lattice(widths, problem, rough, (digits + 6) * math.log(10))
    with precision(bits_for(digits) + 64 + lattice.extra_bits):
        problem = _Integrand(data, temperature)
        means = lattice.means(problem)
        evidence = means.pop("evidence")
        means = {name: value / evidence for name, value in means.items()}
        count, heat = data.count, problem.heat
        mean = [means[f"mean {k}"] for k in range(len(data.new))]
        variance = [means[f"variance {k}"] + means[f"square {k}"] - one * one for k, one in enumerate(mean)]
        bias2 = loss = None
        if data.new_labels is not None:
            gaps = [(one - arb(label)) ** 2 for one, label in zip(mean, data.new_labels)]
            bias2 = from_ball(sum(gaps, arb(0)) / len(gaps), digits)
            loss = from_ball(sum((gap + spread for gap, spread in zip(gaps, variance)), arb(0)) / len(gaps), digits)
        constant = arb(count) / 2 * (2 * arb.pi()).log()
        return LinearPosterior(
            from_ball(evidence.log() + lattice.shift - constant, digits),
            from_ball(means["scale"], digits),
            tuple(from_ball(value, digits) for value in mean),
            tuple(from_ball(value, digits) for value in variance),
            from_ball(means["train"] / count if heat > 0 else arb(0), digits),
            bias2,
            loss,
        )


class _Integrand:
    """exp(-y^T (T + t K)^-1 y/2) det(T + t K)^(-1/2), and what is averaged with it, at t."""

    def __init__(self, data: LinearData, temperature: Fraction) -> None:
        self.data, self.heat = data, arb(_q(temperature))
        self.determinant, self.square = arb_poly(data.determinant), arb_poly(data.square)
        self.steep = (self.determinant.derivative(), self.square.derivative())
        self.new = [(arb_poly(one), arb_poly(two), arb(power)) for one, two, power in data.new]
        top, trace = data.determinant.coeffs(), data.count
        self.trace = arb(top[trace - 1]) if trace else arb(0)
        labels = data.square.coeffs()
        self.label_square = arb(labels[-1]) if labels else arb(0)

    def log_weight(self, t: arb) -> arb:
        """log of the integrand, without (2 pi)^(-P/2)."""
        s = self.heat / t
        whole = self.determinant(s)
        return -(self.square(s) / (whole * t) + whole.log() + self.data.count * t.log()) / 2

    def averaged(self, t: arb) -> dict[str, arb]:
        """What is averaged: t, the moments of f at new inputs given t, and P times the training loss."""
        s = self.heat / t
        whole, square = self.determinant(s), self.square(s)
        found = {"scale": t}
        for k, (cross, own, power) in enumerate(self.new):
            mean = cross(s) / whole
            found[f"mean {k}"] = mean
            found[f"square {k}"] = mean * mean
            found[f"variance {k}"] = t * (power - own(s) / whole)
        if self.heat > 0:
            # T^2 y^T (T + tK)^-2 y = -s^2 d/ds (y^T (s + K)^-1 y), T tr (1 - T (T + tK)^-1) = T (P - s D'/D).
            slope = (self.steep[1](s) * whole - square * self.steep[0](s)) / whole**2
            found["train"] = -s * s * slope + self.heat * (self.data.count - s * self.steep[0](s) / whole)
        return found

    def bound(self, cosine: arb) -> arb:
        """log of a bound of the integrand in the strip, ``cosine`` = cos a."""
        count = arb(self.data.count)
        if self.heat > 0:
            return -count / 2 * (self.heat.log() + cosine.log())
        explained = self.square(arb(0)) / self.determinant(arb(0))
        if not explained > 0:
            raise ExactError("labels are 0 at temperature = 0: take a temperature > 0, or labels that are not 0")
        return -(self.determinant(arb(0)).log() + count - count * (count / (explained * cosine)).log()) / 2

    def factors(self, cosine: arb) -> dict[str, tuple[arb, int]]:
        """Bounds c |t|^k of what is averaged, in the strip: (c, k)."""
        found = {"scale": (arb(1), 1)}
        # f = tk^T (T + tK)^-1 y: with k in the range of K^(1/2), |k| <= (k_0 tr K)^(1/2), and |T + t lambda| >= T cos a; at T = 0
        # the mean does not depend on t.
        for k, (cross, _, power) in enumerate(self.new):
            if self.heat > 0:
                size = (power * self.trace * self.label_square).sqrt() / (self.heat * cosine)
                one, rise = size, 1
                # The variance given t is a mean of k_0 t T/(T + t lambda) and of what no input sees, at most |t| k_0/cos a.
                found[f"square {k}"] = (size * size, 2)
                found[f"variance {k}"] = (power / cosine, 1)
            else:
                one, rise = abs(cross(arb(0)) / self.determinant(arb(0))), 0
                found[f"square {k}"] = (one * one, 0)
                found[f"variance {k}"] = (power, 1)
            found[f"mean {k}"] = (one, rise)
        if self.heat > 0:
            found["train"] = ((self.label_square + self.heat * self.data.count) / cosine**2, 0)
        return found

    def rough(self, widths: tuple[int, ...]) -> float:
        """A lower estimate of log of the integral, by the integrand along the mode."""
        grid = [2.0 ** (k / 4) for k in range(-120, 121)]
        deviation = math.sqrt(sum(2 / width for width in widths)) if widths else 1.0
        values = [float(self.log_weight(arb(t)).mid()) - (math.log(t) / deviation) ** 2 for t in grid]
        return max(values) if widths else float(self.log_weight(arb(1)).mid())


class _Lattice:
    """Nodes of the trapezoidal rule in u = sum u_l with their weights, and the error bounds of everything averaged."""

    def __init__(self, widths: tuple[int, ...], problem: _Integrand, rough: float, wanted: float) -> None:
        self.widths, self.goal = widths, wanted
        self.shift = arb(math.floor(rough))
        self.extra_bits = 0
        if not widths:
            return
        need = wanted - rough
        self.step, self.angle = _step(widths, problem, need)
        tail = need + max(float(problem.bound(arb(1)).mid()), -need + wanted) + 10
        self.ranges = [_range(width, self.step, tail) for width in widths]
        nodes = sum(high - low + 1 for low, high in self.ranges)
        if nodes > MOST_NODES:
            raise ExactError(f"widths {widths} and these labels need {nodes} nodes: take fewer samples or larger widths")
        # Densities at the ends of the ranges are exp(-tail) of their top, and are multiplied with others.
        self.extra_bits = math.ceil(2 * tail / math.log(2))

    def means(self, problem: _Integrand) -> dict[str, arb]:
        """Return the integrals E g(t) N, times exp(-shift) (2 pi)^(P/2), as balls that contain them."""
        if not self.widths:
            t = arb(1)
            weight = (problem.log_weight(t) - self.shift).exp()
            return {"evidence": weight} | {name: value * weight for name, value in problem.averaged(t).items()}
        step = arb(self.step)
        weights, lows = arb_poly([1]), 0
        for width, (low, high) in zip(self.widths, self.ranges):
            weights *= arb_poly([_density(width, arb(j) * step) * step for j in range(low, high + 1)])
            lows += low
        totals: dict[str, arb] = {}
        for index, weight in enumerate(weights.coeffs()):
            t = (arb(lows + index) * step).exp()
            level = weight * (problem.log_weight(t) - self.shift).exp()
            for name, value in ({"evidence": arb(1)} | problem.averaged(t)).items():
                totals[name] = totals.get(name, arb(0)) + level * value
        return {name: value + plus_minus(self._error(problem, name)) for name, value in totals.items()}

    def _error(self, problem: _Integrand, name: str) -> arb:
        cosine = arb(self.angle).cos()
        # In the strip, and on the line, where what is left out lies.
        strip, line = (self._size(problem, name, end) for end in (cosine, arb(1)))
        power = strip[1]
        # Moments E t_l^k of the other layers, sums for integrals (their own discretisation is within a factor 2, see below).
        others = [_moment(width, power) for width in self.widths]
        whole, total = arb(1), arb(0)
        for each in others:
            whole *= 2 * each
        for width, own, (low, high) in zip(self.widths, others, self.ranges):
            rule = 2 * cosine ** (-arb(width) / 2 - power) / ((2 * arb.pi() * arb(self.angle) / arb(self.step)).exp() - 1)
            # The same bound shows that a sum over all nodes is at most twice the integral.
            if not rule < 1:
                raise ExactError(f"the step {self.step:.3g} is too large for widths {self.widths}: take fewer digits")
            left = sum((_left_out(width, arb(self.step), end, side, power) for end, side in ((low, -1), (high, 1))), arb(0))
            total += whole * (strip[0] * rule + line[0] * left / own)
        return total

    def _size(self, problem: _Integrand, name: str, cosine: arb) -> tuple[arb, int]:
        """(c, k) with |integrand| <= c |t|^k where cos Im u >= ``cosine``, without the density of t."""
        constant, power = (arb(1), 0) if name == "evidence" else problem.factors(cosine)[name]
        return constant * (problem.bound(cosine) - self.shift).exp(), power


def _density(width: int, u: arb) -> arb:
    a = arb(width) / 2
    return (a * (u - u.exp() + a.log()) - a.lgamma()).exp()


def _moment(width: int, power: int) -> arb:
    """E t^k of chi^2_N/N for k = 0, 1, 2."""
    return arb(1) + arb(2) / width if power == 2 else arb(1)


def _left_out(width: int, step: arb, end: int, side: int, power: int) -> arb:
    """A bound of h sum_j q(jh) e^(k j h) beyond ``end``: a geometric series, since the summand is log-concave in j."""
    one, two = (_density(width, arb(end + side * k) * step) * (power * arb(end + side * k) * step).exp() for k in (1, 2))
    ratio = two / one if one > 0 else arb(0)
    if not ratio < 1:
        raise ExactError(f"the range of the width {width} ends before its density falls: this is a defect, please report it")
    return step * one / (1 - ratio)


def _step(widths: tuple[int, ...], problem: _Integrand, need: float) -> tuple[float, float]:
    """Return the largest step, and the half-width of the strip, with which the bound is exp(-need) or below."""
    count, top = problem.data.count, float(problem.bound(arb(1)).mid())
    best = (0.0, 0.0)
    for k in range(1, 64):
        angle = k / 64 * math.pi / 2
        loss = -math.log(math.cos(angle)) * (max(widths) + count + 8) / 2
        step = 2 * math.pi * angle / (need + top + loss + math.log(8.0 * len(widths)) + 12)
        best = max(best, (step, angle))
    for k in range(1, 64):  # narrow strips for large widths
        angle = (k / 64) ** 2 * 0.05
        loss = -math.log(math.cos(angle)) * (max(widths) + count + 8) / 2
        best = max(best, (2 * math.pi * angle / (need + top + loss + math.log(8.0 * len(widths)) + 12), angle))
    return best


def _range(width: int, step: float, tail: float) -> tuple[int, int]:
    """Return the first and last node between which the density is above exp(-tail) of its top."""

    def fall(u: float) -> float:
        # Of q(u) e^(2 u), which is below e^(-tail) where averages that grow like t^2 are.
        return (width / 2 * (math.expm1(u) - u) if abs(u) > 1e-3 else width / 4 * u * u) - 2 * max(u, 0.0)

    ends = []
    for side in (-1, 1):
        far = 1
        while fall(side * far * step) < tail:
            far *= 2
        near = far // 2
        while far - near > 1:
            middle = (far + near) // 2
            near, far = (middle, far) if fall(side * middle * step) < tail else (near, middle)
        ends.append(side * far)
    return ends[0], ends[1]
