"""Output channels of the generalised linear model Y = f(eta_0 v.x + sqrt(gamma_0) xi) + sqrt(Delta) Z, and sign labels, on grids.

Given the part sqrt(q) V of v.x that the samples reveal, the argument of f is T = eta_0 sqrt(q) V + s U, s^2 = eta_0^2 (1 - q) +
gamma_0, with U, V ~ N(0, 1), and the label has the density
    P(y|V) = E_U p(y|f(T)) = int N(t; eta_0 sqrt(q) V, s^2) N(y; f(t), Delta) dt,
a product of two matrices of which only the first depends on q.  Three integrals are needed:
    Psi = E_V int P log P dy,   Fisher = E_V int (d_omega P)^2/P dy  (omega = sqrt(q) V),   E_V (E_U f(T))^2.
Integrals over V and y use the trapezoidal rule, which converges geometrically for these analytic, decaying integrands, and so does
the one over t where f has no kink; else Gauss-Legendre panels end at the kinks.  The accuracy is measured by refining all grids at
once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, xlogy

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.gaussian.means import gauss_legendre

Floats = NDArray[np.float64]

REACH = 9.0
"""Gaussian variables are cut here: what is left out weighs 2e-19."""
MOST_POINTS = 6000
MOST_ENTRIES = 15_000_000
"""Of a matrix on the grid: 120 MB."""
PANEL_NODES = 12


@dataclass(frozen=True, slots=True)
class Integrals:
    """Psi(q), the Fisher information E g_out^2 of omega, and the second moment of the posterior mean of the signal."""

    psi: float
    fisher: float
    predicted: float


class Channel(Protocol):
    """What the fixed-point equation needs to know of an output channel.

    ``signal_power`` is E of the squared mean label given its argument, E f(T)^2 or E (2 P(+1|T) - 1)^2; ``noise_power`` what no
    student can predict, E Var(Y|T); ``conditional_entropy`` -E log P_out(Y|T), subtracted from -(free entropy) in the mutual
    information; ``fisher_limit`` a bound on the Fisher information for every q, or inf.
    """

    signal_power: float
    noise_power: float
    conditional_entropy: float
    fisher_limit: float

    def at(self, r: float, level: float) -> Integrals:
        """Return the integrals at q = r/(1 + r) with all steps divided by ``level``."""
        ...


TAMER = "take more noise or a readout that varies less"


def gaussian_grid(step: float, half: bool, reach: float = REACH) -> tuple[Floats, Floats]:
    """Return nodes and weights of E over V ~ N(0, 1), cut at ``reach``; with ``half`` for even integrands, on V >= 0 only."""
    count = math.ceil(reach / step)
    if count > MOST_POINTS:
        raise NotConverged(f"a grid of {count} points was needed for V; at most {MOST_POINTS} are used: {TAMER}")
    nodes: Floats = step * np.arange(0 if half else -count, count + 1, dtype=np.float64)
    weights: Floats = step * np.exp(-nodes * nodes / 2) / math.sqrt(2 * math.pi)
    if half:
        weights[1:] *= 2
    return nodes, weights


def panels(edges: list[float], step: float) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre nodes and weights on [edges[0], edges[-1]], panels ending at every edge, ``step`` apart on average."""
    base, share = gauss_legendre(PANEL_NODES)
    nodes, weights = list[Floats](), list[Floats]()
    for left, right in pairwise(edges):
        count = math.ceil((right - left) / (PANEL_NODES * step))
        if count * PANEL_NODES > MOST_POINTS:
            raise NotConverged(f"a grid of {count * PANEL_NODES} points was needed for t; at most {MOST_POINTS} are used: {TAMER}")
        width = (right - left) / count
        middles = left + width * (np.arange(count) + 0.5)
        nodes.append((middles[:, None] + base * (width / 2)).ravel())
        weights.append(np.tile(share * (width / 2), count))
    return np.concatenate(nodes), np.concatenate(weights)


def normal_density(x: Floats, variance: float) -> Floats:
    """N(x; 0, variance)."""
    return np.exp(-x * x / (2 * variance)) / math.sqrt(2 * math.pi * variance)


class GaussianChannel:
    """Y = f(T) + sqrt(Delta) Z for a readout that is smooth between its kinks, Delta > 0."""

    def __init__(self, readout: Any, noise: float, eta: float, gamma: float) -> None:
        self.readout, self.noise, self.eta, self.gamma = readout, noise, eta, gamma
        self.power = eta * eta + gamma
        self.reach = REACH * math.sqrt(self.power)
        self.kinks = [float(kink) for kink in readout.kinks if abs(float(kink)) < self.reach]
        properties = readout.properties
        # f(-t) = +-f(t) maps (V, y) to (-V, +-y): the integrands over V are even.
        self.symmetric = bool(properties.odd) or bool(properties.even)
        t, w = panels([-self.reach, *self.kinks, self.reach], 0.02 * math.sqrt(self.power))
        values, density = readout(t), w * normal_density(t, self.power)
        self.signal_power, self.noise_power = float(density @ (values * values)), noise
        self.conditional_entropy = math.log(2 * math.pi * math.e * noise) / 2
        self._low, self._high = float(values.min()), float(values.max())
        jumps = any(abs(float(np.diff(readout(np.array([k - 1e-9, k + 1e-9])))[0])) > 1e-6 for k in self.kinks)
        # By data processing at most that about T, E f'(T)^2/Delta (no bound where f jumps), and at most 1/gamma_0.
        by_noise = math.inf if jumps else eta**2 * float(density @ readout.derivative()(t) ** 2) / noise
        self.fisher_limit = min(by_noise, eta**2 / gamma if gamma > 0 else math.inf)
        self._kernels: dict[tuple[float, float], tuple[Floats, Floats, Floats]] = {}
        bulk = t[np.abs(t) < 4 * math.sqrt(self.power)]
        self.steepest = float(np.abs(readout.derivative()(bulk)).max())

    def at(self, r: float, level: float) -> Integrals:
        """Return the integrals at q = r/(1 + r), all steps divided by ``level``."""
        spread2 = self.eta**2 / (1 + r) + self.gamma
        spread = math.sqrt(spread2)
        t, density, kernel, dy = self._grid(spread, level)
        v, weights = gaussian_grid(0.4 * min(1.0, 1.5 * spread / math.sqrt(self.power)) / level, self.symmetric)
        shift = t - self.eta * math.sqrt(r / (1 + r)) * v[:, None]
        mixing = normal_density(shift, spread2) * density
        p = mixing @ kernel
        mixing_slope = mixing * shift * (self.eta / spread2)
        slope = mixing_slope @ kernel
        # Where P underflows, P g^2 is 0 to any accuracy: g grows only like a power of y.
        score = np.divide(slope * slope, p, out=np.zeros_like(p), where=p > 1e-280)
        psi = float(weights @ xlogy(p, p).sum(axis=1)) * dy
        fisher = float(weights @ score.sum(axis=1)) * dy
        predicted = float(weights @ (mixing @ self.readout(t)) ** 2)
        return Integrals(psi, fisher, predicted)

    def _grid(self, spread: float, level: float) -> tuple[Floats, Floats, Floats, float]:
        # Steps halve on a ladder, so that kernels are reused while q moves.  The t-integrand is a Gaussian times a bump of width
        # sqrt(Delta)/|f'|, well resolved from the start, while log P has singularities close to the real y-axis: t is refined more
        # slowly than y and V.
        wanted = 0.6 * min(spread, math.sqrt(self.noise) / max(self.steepest, 1e-12))
        rung = 2.0 ** math.floor(math.log2(wanted))
        key = (rung, level)
        if key not in self._kernels:
            self._kernels.clear()
            self._kernels[key] = self._kernel(rung / math.sqrt(level), level)
        t, density, kernel = self._kernels[key]
        return t, density, kernel, self._dy(level)

    def _dy(self, level: float) -> float:
        return 0.7 * math.sqrt(self.noise) / level

    def _kernel(self, step: float, level: float) -> tuple[Floats, Floats, Floats]:
        if self.kinks:
            t, w = panels([-self.reach, *self.kinks, self.reach], step)
        else:
            count = math.ceil(self.reach / step)
            if count > MOST_POINTS:
                raise NotConverged(f"a grid of {2 * count} points was needed for t; at most {2 * MOST_POINTS} are used: {TAMER}")
            t = step * np.arange(-count, count + 1, dtype=np.float64)
            w = np.full(t.size, step, dtype=np.float64)
        dy, margin = self._dy(level), REACH * math.sqrt(self.noise)
        first, last = math.floor((self._low - margin) / dy), math.ceil((self._high + margin) / dy)
        if last - first > MOST_POINTS:
            raise NotConverged(
                f"a grid of {last - first} points was needed for y, at most {MOST_POINTS} are used: f ranges over "
                f"[{self._low:.6g}, {self._high:.6g}] with noise {self.noise:.6g}; {TAMER}"
            )
        if t.size * (last - first) > MOST_ENTRIES:
            raise NotConverged(f"a grid of {t.size} x {last - first} points was needed; at most {MOST_ENTRIES} are used: {TAMER}")
        y = dy * np.arange(first, last + 1)
        return t, w, normal_density(y - self.readout(t)[:, None], self.noise)


class SignChannel:
    """Y = sign(T + sqrt(Delta) Z): classification, with probit noise of variance Delta >= 0."""

    def __init__(self, noise: float, eta: float, gamma: float) -> None:
        self.noise, self.eta, self.gamma = noise, eta, gamma
        self.power = eta * eta + gamma
        nodes, weights = gaussian_grid(0.005, True)
        self.conditional_entropy, self.signal_power = 0.0, 1.0
        if noise > 0:
            self.conditional_entropy = -float(weights @ _binary(nodes * math.sqrt(self.power / noise)))
            # E (2 Phi(a Z) - 1)^2 = (2/pi) asin(a^2/(1 + a^2)).
            self.signal_power = 2 / math.pi * math.asin(self.power / (self.power + noise))
        self.noise_power = 1 - self.signal_power
        # At most that of T + noise itself.
        self.fisher_limit = eta**2 / (gamma + noise) if gamma + noise > 0 else math.inf

    def at(self, r: float, level: float) -> Integrals:
        """Return the integrals at q = r/(1 + r), all steps divided by ``level``: P(+1|V) = Phi(slope V)."""
        spread2 = self.eta**2 / (1 + r) + self.gamma + self.noise
        slope = self.eta * math.sqrt(r / (1 + r) / spread2)
        # The integrands decay like exp(-a^2/2) in a = slope V as well: nothing is needed beyond a = REACH.
        v, weights = gaussian_grid(0.4 / (level * max(1.0, 1.5 * slope)), True, min(REACH, REACH / max(slope, 1e-3)))
        a = slope * v
        psi = float(weights @ _binary(a))
        # g^2 = (eta/s)^2 phi^2/(Phi(a) Phi(-a)), through logarithms: both vanish in the tail.
        ratio = np.exp(-a * a - math.log(2 * math.pi) - log_ndtr(a) - log_ndtr(-a))
        fisher = self.eta**2 / spread2 * float(weights @ ratio)
        return Integrals(psi, fisher, 2 / math.pi * math.asin(slope**2 / (1 + slope**2)))

    def misclassification(self, r: float) -> float:
        """P(sign of the Bayes vote != Y) = arccos(eta_0 sqrt(q)/sqrt(eta_0^2 + gamma_0 + Delta))/pi."""
        total = self.power + self.noise
        rest = self.eta**2 / (1 + r) + self.gamma + self.noise
        return math.atan2(math.sqrt(rest), math.sqrt(max(total - rest, 0.0))) / math.pi


def _binary(a: Floats) -> Floats:
    """Phi log Phi + (1 - Phi) log(1 - Phi) at ``a``."""
    return ndtr(a) * log_ndtr(a) + ndtr(-a) * log_ndtr(-a)
