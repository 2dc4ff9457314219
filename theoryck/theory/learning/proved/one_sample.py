"""The information in one sample (n = 1), for any activation and readout: quadratures that agree, nothing proved.

With one sample Y = f(z) + sqrt(Delta) Z, where, given the norms, z = a.x_L ~ N(0, S_L) and S_0 = |x_0|^2, S_1, ... is a Markov
chain: S_0 = chi2_(d_0)/d_0 and, given S_(l-1) = s, S_l is the mean of d_l independent phi(sqrt(s) u)^2, u ~ N(0, 1).  So the
characteristic function of z after the last layer is, with q = w^2/2,

    psi(w | S_(L-1) = s) = E exp(-q S_L) = (E exp(-q phi(sqrt(s) u)^2/d_L))^(d_L).

The inputs are known to the student: I = E_(S_0) h(Y | S_0) - 1/2 log(2 pi e Delta).  The density of Y given S_0 is linear in psi;
all sums are trapezoidal or Gauss-Legendre rules, which converge geometrically for analytic phi and f.  Deeper layers are averaged
by writing psi, as a function of s, as a sum of exponentials, whose mean over S_l is known in closed form up to one Gaussian
integral. The equivalent linear model has z ~ N(0, eta_0^2 S_0 + gamma_0).  Camilli, Tieplova, Bergamin, Barbier (2025),
arXiv:2505.03577.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc

from theoryck.numerics.errors import ExactError, NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.gaussian.means import gauss_legendre
from theoryck.numerics.proved.agreement import SAFETY
from theoryck.records import Enclosure
from theoryck.theory.learning.proved.linear_model import glm_information
from theoryck.theory.networks.proved.constants import network_constants
from theoryck.theory.networks.proved.moments import check_widths

Floats = NDArray[np.float64]
NATS = 37.0
"""Everything smaller than e^-37 = 1e-16 is left out."""
LEVELS = (1.0, 1.37)
"""Two resolutions with no common nodes."""
FLOOR = 2e-13
"""The least radius: rounding of sums of some thousand float64 terms, a hundred times the 1e-15 of one entropy."""
LARGEST_WIDTH = 10**6

MAX_CELLS = 20_000_000
LOOSE = 1e-3
CHUNK = 64


def one_sample_information(activation: Any, widths: Sequence[int], noise: Any, readout: Any = "x") -> Enclosure:
    """Return I(W, a; Y | x_0) in nats for one sample of the network, Y = f(a.x_L) + sqrt(Delta) Z.

    ``activation`` and ``readout`` (f) are Activations or what they are made from, ``widths`` = (d_0, ..., d_L), ``noise`` = Delta
    > 0. Not proved: the radius is ten times the difference of two resolutions, about 1e-12 for analytic phi and f.  Raises
    ExactError for bad arguments, NotConverged where the two disagree by more than 1e-3 or the grids would not fit.  A readout with
    kinks (relu) keeps about three digits only; kinks of phi cost nothing.  Any depth; widths of 1 or 2 take up to half a minute,
    others about a second.

    >>> value = one_sample_information("erf", (16, 16), 0.5)
    >>> float(value), float(value.radius) < 1e-10
    (0.3206..., True)
    """
    return _all(activation, widths, noise, readout)[0]


def one_sample_glm_information(activation: Any, widths: Sequence[int], noise: Any, readout: Any = "x") -> Enclosure:
    """Return the information of one sample of the equivalent model, Y = f(eta_0 v.x_0 + sqrt(gamma_0) xi) + sqrt(Delta) Z.

    eta_0 and gamma_0 are those of a network of ``widths`` (d_0, ..., d_L); arguments as for :func:`one_sample_information`.
    Proved (20 digits) for f(x) = x, otherwise as there.

    >>> one_sample_glm_information("erf", (16, 16), 0.5).rigorous
    True
    """
    return _all(activation, widths, noise, readout)[1]


def one_sample_gap(activation: Any, widths: Sequence[int], noise: Any, readout: Any = "x") -> Enclosure:
    """Return I^(L)_1 - I^(0)_1, the difference of the two informations of one sample; arguments as for the others.

    For f(x) = x and one layer d_0 times it tends to [g''/(sigma+Delta) + (rho^4 - g'^2)/(sigma+Delta)^2]/2 with g(s) = E
    phi(sqrt(s) Z)^2 at s = 1; for linear phi it is O(1/d^2).

    >>> 64 * float(one_sample_gap("erf", (64, 64), 0.5))
    -0.0288...
    """
    return _all(activation, widths, noise, readout)[2]


def norm_transform(activation: Any, widths: Sequence[int], rates: Any, level: float = 1.0) -> Floats:
    """Return E exp(-rate S_L), S_L = |x_L|^2, for an array of ``rates`` >= 0: float64, by the quadratures of this module.

    ``level`` refines every grid; two levels that agree measure the error, about 1e-14 for analytic phi.

    >>> float(norm_transform("x", (8,), [1.0])[0]) - (1 + 2 / 8) ** -4.0 < 1e-14
    True
    """
    phi = activation if isinstance(activation, Activation) else Activation(activation)
    sizes, values = check_widths(widths), np.asarray(rates, dtype=np.float64)
    norms, weights = _input_norms(sizes[0], level)
    if len(sizes) == 1:
        return np.asarray(weights @ np.exp(-np.outer(norms, values)))
    setting = _Setting(phi, Activation("x"), sizes, 1.0, 0.0, 0.0)
    return np.asarray(weights @ _laplace(setting, norms, weights, values, level))


def _all(activation: Any, widths: Any, noise: Any, readout: Any) -> tuple[Enclosure, Enclosure, Enclosure]:
    phi, f = (value if isinstance(value, Activation) else Activation(value) for value in (activation, readout))
    sizes = check_widths(widths)
    if max(sizes) > LARGEST_WIDTH:
        raise ExactError(f"widths must be at most {LARGEST_WIDTH} for the law of one sample, got {max(sizes)}")
    try:
        delta = float(noise)
    except (TypeError, ValueError):
        raise ExactError(f"noise must be a number > 0, got {noise!r}") from None
    if not 0 < delta < math.inf:
        raise ExactError(f"noise is the variance Delta and must be > 0 for a finite information, got {noise!r}")
    try:
        return _computed(phi, sizes, noise if isinstance(noise, Enclosure | Fraction | Decimal | int) else delta, f)
    except (MemoryError, OverflowError, ValueError) as error:
        # numpy refuses a grid with more points than memory by one of these
        if isinstance(error, ExactError):
            raise
        raise NotConverged(
            f"the grid of one sample would not fit ({error}): take more noise or a tamer activation or readout"
        ) from error


@lru_cache(maxsize=256)
def _computed(phi: Activation, widths: tuple[int, ...], noise: Any, f: Activation) -> tuple[Enclosure, Enclosure, Enclosure]:
    constants = network_constants(phi, len(widths) - 1, digits=25)
    eta0, gamma0 = float(constants.eta0), float(constants.gamma0)
    pairs = [_informations(_Setting(phi, f, widths, float(noise), eta0, gamma0), level) for level in LEVELS]
    (deep, flat), (deep2, flat2) = pairs
    if f.text == "x":
        exact = glm_information(constants.eta0, constants.gamma0, noise, 1, widths[0])
        # The exact value of the linear model measures the error of the same grid.
        error = max(abs(deep - deep2), abs(flat2 - float(exact)))
        return _agreed(deep2, error), exact, _agreed(deep2 - float(exact), error)
    deep_error, flat_error = abs(deep - deep2), abs(flat - flat2)
    # Both models share the grid, so that most of the error cancels; it is not relied on (a tenth, times SAFETY, is all of it).
    gap_error = max(abs((deep - flat) - (deep2 - flat2)), 0.1 * max(deep_error, flat_error))
    return _agreed(deep2, deep_error), _agreed(flat2, flat_error), _agreed(deep2 - flat2, gap_error)


def _agreed(value: float, difference: float) -> Enclosure:
    if not (math.isfinite(value) and difference <= LOOSE):
        found = f"differ by {difference:.2g} around {value:.6g}"
        raise NotConverged(f"two resolutions of the information of one sample {found}: take more noise")
    return Enclosure(Decimal(value), Decimal(f"{SAFETY * difference + FLOOR:.3g}"), rigorous=False)


@dataclass(frozen=True, slots=True)
class _Setting:
    phi: Activation
    f: Activation
    widths: tuple[int, ...]
    noise: float
    eta0: float
    gamma0: float


@dataclass(frozen=True, slots=True)
class _Grid:
    """Frequencies w_j = j dw, and the matrix that takes psi(w_j) to the density of Y at ``outputs``, a grid of step ``step``."""

    frequencies: Floats
    matrix: Floats
    step: float


def _informations(setting: _Setting, level: float) -> tuple[float, float]:
    """Return I of the network and of its linear model at one resolution."""
    norms, weights = _input_norms(setting.widths[0], level)
    variances = setting.eta0**2 * norms + setting.gamma0
    grid = _grid(setting, _reach(setting, norms, weights, variances), level)
    halves = grid.frequencies**2 / 2
    offset = math.log(2 * math.pi * math.e * setting.noise) / 2
    flat = _entropies(grid, np.exp(-np.outer(variances, halves)))
    deep = flat if len(setting.widths) == 1 else _entropies(grid, _laplace(setting, norms, weights, halves, level))
    return float(weights @ (deep - offset)), float(weights @ (flat - offset))


def _angle(weight: float, step: float) -> float:
    """Return the angle in (0, pi/2) that maximises 2 pi angle/step + weight log cos(angle)."""
    return math.atan(2 * math.pi / (step * weight))


def trapezoid_step(weight: float, nats: float) -> float:
    """Return a step at which the trapezoidal rule errs by about e^-nats for an integrand like cos(angle)^weight off the line."""
    low, high = 1e-4, 4.0
    for _ in range(40):
        middle = math.sqrt(low * high)
        angle = _angle(weight, middle)
        gain = 2 * math.pi * angle / middle + weight * math.log(math.cos(angle)) if angle < 1.5707 else 2 * math.pi * 1.57 / middle
        low, high = (middle, high) if gain > nats + 2 else (low, middle)
    return low


def _input_norms(d: int, level: float) -> tuple[Floats, Floats]:
    """Return nodes and weights for S_0 = chi2_d/d: the trapezoidal rule in log S_0, weights adding up to 1."""
    a = d / 2
    step = trapezoid_step(a, NATS) / level
    t = np.arange(-math.ceil((NATS / a + 1 + math.sqrt(4 * NATS / a)) / step), math.ceil(math.sqrt(2 * NATS / a) / step) + 1) * step
    logs = a * (t - np.expm1(t))
    keep = logs > -NATS
    weights = np.exp(logs[keep])
    # The rule is exact to e^-NATS: dividing by the sum removes the constant without a gamma function.
    return np.exp(t[keep]), weights / weights.sum()


def _levels(setting: _Setting, norms: Floats, weights: Floats) -> list[float]:
    """Return levels that S_1, ..., S_L pass with probability about e^-NATS (Chernoff), rare S_0 counting with their weight."""
    rows = [_chernoff(setting.phi, setting.widths, float(s), _nats(weight)) for s, weight in zip(norms, weights)]
    return [max(column) for column in zip(*rows)]


def _nats(weight: float) -> float:
    return max(NATS + math.log(weight), 1.0)


def _chernoff(phi: Activation, widths: tuple[int, ...], s: float, nats: float) -> list[float]:
    """Return the levels at probability e^-nats given S_0 = s: S_l given that S_(l-1) is at its own level, layer by layer."""
    u, weights = _gauss(phi, s, 0.5)
    levels = []
    for d in widths[1:]:
        squares = phi(math.sqrt(s) * u) ** 2
        top = max(float(squares.max()), 1e-30)
        # E exp(k d S) = (E exp(k phi^2))^d, and S <= max phi^2.
        k = np.geomspace(1e-4, NATS, 60)[:, None] / top
        logs = np.log(np.exp(k * squares) @ weights)
        s = min(top, float(((d * logs + nats) / (d * k[:, 0])).min()))
        levels.append(s)
    return levels


def _reach(setting: _Setting, norms: Floats, weights: Floats, variances: Floats) -> float:
    """Return Z with P(|z| > Z) below about e^-NATS for the network and its linear model."""
    largest = 1e-6
    for s, weight, variance in zip(norms, weights, variances):
        nats = _nats(weight)
        last = _chernoff(setting.phi, setting.widths, float(s), nats)[-1] if len(setting.widths) > 1 else 0.0
        largest = max(largest, 2 * nats * variance, 2 * nats * last)
    return math.sqrt(largest)


def _grid(setting: _Setting, reach: float, level: float) -> _Grid:
    """Build frequencies and outputs.

    Linear f: the density of Y is sum_j psi(w_j) e^(-Delta w_j^2/2) cos(w_j y).  Other f: int N(y; f(z), Delta) p(z) dz over one
    period, where the kernel is smooth in z with frequencies up to about 9 max|f'|/sqrt(Delta): psi beyond is not needed.  A smooth
    window, 1 wherever p(z) counts, makes the kernel periodic.
    """
    spread = math.sqrt(setting.noise)
    linear = setting.f.text == "x"
    if linear:
        period = 2.2 * level * (reach + 9 * spread)
        top = 8.8 / spread
        outputs = np.arange(0, math.ceil(period / 2.2 / level / (0.25 * spread / level)) + 1) * (0.25 * spread / level)
        frequencies = np.arange(math.ceil(top * period / (2 * math.pi)) + 1, dtype=np.float64) * (2 * math.pi / period)
        _fits(len(outputs) * len(frequencies))
        matrix = np.cos(np.outer(outputs, frequencies)) * np.exp(-setting.noise * frequencies**2 / 2) * (2 / period)
        matrix[:, 0] /= 2
        # Y is symmetric: outputs y > 0 count twice.  The entropy doubles all and 0 has weight 1/2.
        matrix = np.concatenate([matrix[:0:-1], matrix])
        return _Grid(frequencies, matrix, 0.25 * spread / level)
    period = 3.4 * reach
    z = np.linspace(-period / 2, period / 2, 2001)
    values = setting.f(z)
    slope = float(np.abs(np.diff(values)).max()) / (z[1] - z[0])
    top = level * (12 * slope / spread + 6 / reach)
    count = math.ceil(top * period / (2 * math.pi))
    frequencies = np.arange(count + 1, dtype=np.float64) * (2 * math.pi / period)
    nodes = (np.arange(2 * count + 2) / (2 * count + 2) - 0.5) * period
    images = setting.f(nodes)
    step = 0.25 * spread / level
    inside = images[np.abs(nodes) <= reach]
    low, high = float(inside.min()) - 9 * spread, float(inside.max()) + 9 * spread
    outputs = np.arange(math.floor(low / step), math.ceil(high / step) + 1) * step
    _fits(max(len(outputs), len(frequencies)) * len(nodes))
    window = erfc((np.abs(nodes) - 1.35 * reach) / (0.06 * reach)) / 2
    kernel = np.exp(-((outputs[:, None] - images) ** 2) / (2 * setting.noise)) / math.sqrt(2 * math.pi * setting.noise) * window
    waves = np.cos(np.outer(nodes, frequencies)) * (2 / len(nodes))
    waves[:, 0] /= 2
    return _Grid(frequencies, kernel @ waves, step)


def _fits(cells: int) -> None:
    if cells > MAX_CELLS:
        raise NotConverged(
            f"the grid of one sample would have {cells} cells, more than {MAX_CELLS}: take more noise or a tamer readout"
        )


def _entropies(grid: _Grid, transforms: Floats) -> Floats:
    """Return -int p log p for every row of psi; where p is below the rounding of its sum, it is no density and counts as 0."""
    densities = transforms @ grid.matrix.T
    least = 4e-16 * densities.max(axis=1, keepdims=True)
    positive = np.where(densities > least, densities, 1.0)
    return np.asarray(-grid.step * (positive * np.log(positive)).sum(axis=1))


def _gauss(phi: Activation, s: float, panel: float) -> tuple[Floats, Floats]:
    """Return nodes and weights for E over u ~ N(0, 1): Gauss-Legendre on panels that end at the kinks of phi(sqrt(s) u)."""
    cut = math.sqrt(2 * NATS)
    inner = [float(kink) / math.sqrt(s) for kink in phi.kinks]
    edges = sorted({-cut, 0.0, cut, *(edge for edge in inner if -cut < edge < cut)})
    ends = np.concatenate([np.linspace(a, b, math.ceil((b - a) / panel) + 1)[:-1] for a, b in pairwise(edges)] + [np.array([cut])])
    nodes, weights = gauss_legendre(16)
    half = np.diff(ends)[:, None] / 2
    u = (half * nodes + (ends[1:] + ends[:-1])[:, None] / 2).ravel()
    return u, (half * weights).ravel() * np.exp(-u * u / 2) / math.sqrt(2 * math.pi)


def _layer(phi: Activation, d: int, norms: Floats, rates: Floats, level: float) -> Floats:
    """Return E[exp(-rate S_l) | S_(l-1) = s] = (E exp(-rate phi(sqrt(s) u)^2/d))^d, shape (norms, rates)."""
    out = np.empty((len(norms), len(rates)))
    for row, s in enumerate(norms):
        u, _ = _gauss(phi, float(s), 0.5)
        slope = float((np.abs(np.diff(phi(math.sqrt(s) * u))) / np.diff(u)).max())
        for first in range(0, len(rates), CHUNK):
            part = rates[first : first + CHUNK]
            # Near a zero of phi the integrand is a Gaussian of width sqrt(d/2 rate)/slope: panels of at most four of these.
            width = math.sqrt(d / (2 * float(part.max()) + 1e-300)) / max(slope, 1e-300)
            u, weights = _gauss(phi, float(s), min(0.5, max(4 * width, 2e-3)) / level)
            squares = phi(math.sqrt(s) * u) ** 2 / d
            # 1 - E exp is summed, so that the power d loses nothing.
            out[row, first : first + CHUNK] = np.exp(d * np.log1p(np.expm1(-np.outer(part, squares)) @ weights))
    return out


def _laplace(setting: _Setting, norms: Floats, weights: Floats, rates: Floats, level: float) -> Floats:
    """Return E[exp(-rate S_L) | S_0 = s], shape (norms, rates), from the last layer down.

    As a function of s = S_l on [0, its level] the expectation is smooth and nearly completely monotone: sum_k c_k exp(-b_k s) with
    a geometric grid of b_k fits it (least squares), and E[exp(-b S_l) | S_(l-1)] is known.  Coefficients of order one lose nothing.
    """
    phi, widths = setting.phi, setting.widths
    depth = len(widths) - 1
    levels = _levels(setting, norms, weights) if depth > 1 else []
    points = norms if depth == 1 else _points(levels[depth - 2], level)
    values = _layer(phi, widths[depth], points, rates, level)
    for layer in range(depth - 1, 0, -1):
        slowest, fastest = 0.02 / levels[layer - 1], max(100 / levels[layer - 1], 16 * float(rates.max()))
        count = math.ceil(8 * level * math.log(fastest / slowest))
        exponents = np.concatenate([[0.0], np.geomspace(slowest, fastest, count)])
        coefficients = np.linalg.lstsq(np.exp(-np.outer(points, exponents)), values, rcond=1e-15)[0]
        points = norms if layer == 1 else _points(levels[layer - 2], level)
        values = _layer(phi, widths[layer], points, exponents, level) @ coefficients
    return values


def _points(top: float, level: float) -> Floats:
    """Return points of [0, top] that crowd at 0, where fast exponentials live."""
    count = math.ceil(200 * level)
    angles = np.pi * (np.arange(count) + 0.5) / count
    return np.asarray(top * ((1 - np.cos(angles)) / 2) ** 3)
