"""What can be measured of networks on patches as the number of channels grows: size ``channels``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from theoryck.numerics.proved.formulas import real_array
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.quantities.exact import ExactQuantity
from theoryck.records import Enclosure
from theoryck.records.arguments import integer
from theoryck.theory.convolutions.draws import EvidenceSampler, KernelSampler, SecondLayerSampler
from theoryck.theory.convolutions.limits import alignment_gain, infinite_width, saddle_point
from theoryck.theory.convolutions.model import PatchNetwork, PatchRegression
from theoryck.theory.convolutions.proved import WishartAverage, wishart_average

ROUNDING = 2e-14
"""Of a difference of two sums of P logarithms or squares, in units of their size."""


POINTS = 60_000
"""Of averages in few dimensions: log Z is then known to 1e-9 or better from four channels on."""


def known(value: float, error: float) -> Enclosure:
    """Return a value computed in floating point with the error it is known to: not rigorous.

    >>> known(2.0, 1e-12).radius
    Decimal('1E-12')
    """
    return Enclosure(Decimal(value), Decimal(repr(float(error))), rigorous=False)


def _is_linear(network: PatchNetwork) -> bool:
    phi = network.activation
    return not phi.expression.diff().free_symbols and phi(0.0) == 0


@dataclass(frozen=True, repr=False)
class ProblemQuantity(Quantity):
    """A number of a regression with ``channels`` channels, whatever its network has."""

    needs = ("channels",)
    problem: PatchRegression

    def __post_init__(self) -> None:
        if not isinstance(self.problem, PatchRegression):
            raise QuantityError(f"problem must be a PatchRegression, got {self.problem!r}")

    @property
    def shown(self) -> str:
        """The network and the size of the data."""
        network, (inputs, patches, _) = self.problem.network, self.problem.shape
        return f"{network.architecture}, {network.activation.text}, P = {inputs}, N_p = {patches}"

    def at(self, sizes: Sizes) -> PatchRegression:
        """Return the regression at ``sizes``."""
        need_sizes(self.name, self.needs, sizes)
        return self.problem.with_network(channels=int(sizes["channels"]))

    def exactly(self, sizes: Sizes) -> WishartAverage:
        """Return the average over Wishart matrices, which is exact for linear units alone: QuantityError for others."""
        if not _is_linear(self.problem.network):
            raise QuantityError(
                f"problem must have linear units for {self.name} exactly, got {self.problem.network.activation.text}"
            )
        return wishart_average(self.at(sizes), points=POINTS if self.problem.shape[1] <= 2 else None)


@dataclass(frozen=True, repr=False)
class evidence_ratio(ProblemQuantity):
    """Z/Z_inf - 1, the evidence of ``channels`` channels over that of infinitely many: drawn, and exact for linear units.

    The draws are over filters, with the readouts integrated out, for any activation; the exact value is over Q, with the filters
    integrated out.  ``times_channels`` multiplies it with their number.  Raises QuantityError.

    >>> data = np.random.default_rng(0).standard_normal((4, 2, 2))
    >>> ratio = evidence_ratio(PatchRegression(PatchNetwork("x", 8), data, [0.5, -0.5, 1.0, 0.0], 0.5))
    >>> found = ratio.draw(np.random.default_rng(1), 4000, {"channels": 8})
    >>> bool(abs(found.mean() - float(ratio.exact({"channels": 8}))) < 5 * found.std() / 4000**0.5)
    True
    """

    title = "{self.prefix}(Z/Z_inf - 1), {self.shown}"
    can_draw = True
    times_channels: bool = field(default=False, kw_only=True)

    @property
    def prefix(self) -> str:
        """How the name begins."""
        return "N_c " if self.times_channels else ""

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether the units are linear."""
        return _is_linear(self.problem.network)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        if not self.can_exact:
            return None
        found, factor = self.exactly(sizes), self._factor(sizes)
        limit = infinite_width(self.problem).log_evidence
        ratio = math.expm1(found.log_evidence - limit)
        return known(factor * ratio, factor * (1 + ratio) * (found.error + ROUNDING * abs(limit)))

    def sampler(self, sizes: Sizes) -> EvidenceSampler:
        problem = self.at(sizes)
        centre, kernel = infinite_width(problem).log_evidence, problem.infinite_kernel
        data = (problem.network, problem.patches, problem.targets, problem.temperature)
        return EvidenceSampler(*data, kernel, centre, self._factor(sizes))

    def _factor(self, sizes: Sizes) -> float:
        return float(sizes["channels"]) if self.times_channels else 1.0

    def cost(self, sizes: Sizes) -> float:
        inputs, patches, entries = self.problem.shape
        channels = int(sizes["channels"])
        return channels * patches * (entries + 0.3 * inputs + 0.03 * inputs**2) + 0.1 * inputs**3


GAPS = ("log_evidence", "mean", "variance", "train_loss", "order")


@dataclass(frozen=True, repr=False)
class channel_gap(ProblemQuantity):
    """What finitely many channels do to the exact "log_evidence", predictor "mean" or "variance", "train_loss" or "order".

    The value of linear units minus that of infinitely many channels, of the predictor at the first new input; "order"
    is E Q - I at ``entry`` (row, column).  Raises
    QuantityError.

    >>> gap = channel_gap(PatchRegression(PatchNetwork("x", 4, "lcn"), [[[1.0], [1.0]]], [1.0], 1.0), "log_evidence")
    >>> round(float(gap.exact({"channels": 1000})) * 1000, 4)  # l_i = -1/16 and l_ii = 0 at Q = I: 2 l_i^2/2 for two patches
    0.0078
    """

    title = "{what} less its limit, {self.shown}"
    can_exact = True
    what: str
    entry: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.what not in GAPS:
            raise QuantityError(f"what must be one of {', '.join(map(repr, GAPS))}, got {self.what!r}")
        if self.what in ("mean", "variance") and not len(self.problem.test):
            raise QuantityError(f"problem must have a new input for what = {self.what!r}, got none: give test")

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        found = self.exactly(sizes)
        if self.what == "order":
            row, column = self.entry
            limit = self.problem.network.matrix(self.problem.network.infinite_order(self.problem.shape[1]), self.problem.shape[1])
            return known(found.matrix[row, column] - limit[row, column], found.errors["matrix"] + ROUNDING)
        value, limit = (np.ravel(getattr(each, self.what))[0] for each in (found, infinite_width(self.problem)))
        return known(float(value - limit), found.errors[self.what] + ROUNDING * (1 + abs(float(limit))))


ACTIONS = ("saddle", "one loop", "order")


@dataclass(frozen=True, repr=False)
class action_gap(ProblemQuantity):
    """What the effective action misses for linear units: log Z of its "saddle" or with "one loop" less the exact one, or Q* - E Q.

    "order" is the entry Q*_11 - E Q_11.  Raises QuantityError.

    >>> gap = action_gap(PatchRegression(PatchNetwork("x", 4, "lcn"), [[[1.0], [1.0]]], [1.0], 1.0), "one loop")
    >>> bool(3.5 < float(gap.exact({"channels": 100})) / float(gap.exact({"channels": 200})) < 4.5)
    True
    """

    title = "{what} less exact, {self.shown}"
    can_exact = True
    what: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.what not in ACTIONS:
            raise QuantityError(f"what must be one of {', '.join(map(repr, ACTIONS))}, got {self.what!r}")

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        found, saddle = self.exactly(sizes), saddle_point(self.at(sizes))
        if self.what == "order":
            return known(saddle.matrix[0, 0] - found.matrix[0, 0], found.errors["matrix"] + ROUNDING)
        value = saddle.one_loop if self.what == "one loop" else saddle.log_evidence
        return known(value - found.log_evidence, found.error + ROUNDING * (int(sizes["channels"]) + abs(value)))


@dataclass(frozen=True, repr=False)
class alignment_growth(ProblemQuantity):
    """The alignment of the renormalised kernel with the labels less that of infinite width, at the saddle or (linear units) E Q.

    Raises QuantityError.

    >>> data = np.random.default_rng(0).standard_normal((6, 2, 3))
    >>> growth = alignment_growth(PatchRegression(PatchNetwork("erf", 8, "fc"), data, data.sum(axis=(1, 2)), 0.2))
    >>> abs(float(growth.exact({"channels": 8}))) < 1e-15
    True
    """

    title = "growth of alignment{self.suffix}, {self.shown}"
    can_exact = True
    averaged: bool = field(default=False, kw_only=True)

    @property
    def suffix(self) -> str:
        """How the name ends."""
        return " at E Q" if self.averaged else ""

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        problem = self.at(sizes)
        if not self.averaged:
            return known(alignment_gain(problem, saddle_point(problem).order), 1e-15)
        found = self.exactly(sizes)
        matrix, architecture = found.matrix, problem.network.architecture
        order = {"cnn": matrix[np.triu_indices(len(matrix))], "lcn": np.diag(matrix)}.get(architecture, matrix[0, :1])
        return known(alignment_gain(problem, order), found.errors["matrix"] + 1e-15)


@dataclass(frozen=True, repr=False)
class patch_kernel(Quantity):
    """E (k - K)^power of the covariance k of the output given the filters between two inputs (2, N_p, m), K that of infinite width.

    ``power`` is 1 (the bias, which is 0) or 2; exact for linear units of "cnn" and "lcn" by Isserlis' theorem.  With ``about`` 0 in
    place of K and power 1 it is the kernel itself.  Raises QuantityError.

    >>> kernel = patch_kernel("x", [[[1.0], [1.0]], [[1.0], [1.0]]])
    >>> float(kernel.exact({"channels": 8}))  # Var Z^2/8: the two patches share their filter
    0.25
    """

    title = "E (k - {self.centre_name})^{power}, {architecture}, {activation}"
    needs = ("channels",)
    can_draw = True
    activation: Any
    pair: Any
    architecture: str = "cnn"
    power: int = 2
    about: float | None = None

    def __post_init__(self) -> None:
        network = PatchNetwork(self.activation, 1, self.architecture)
        pair = real_array(self.pair, "pair")
        if pair.ndim != 3 or len(pair) != 2:
            raise QuantityError(f"pair must have shape (2, N_p, m), got {pair.shape}")
        object.__setattr__(self, "activation", network.activation)
        object.__setattr__(self, "pair", tuple(tuple(tuple(map(float, patch)) for patch in one) for one in pair))
        integer(self.power, "power", 1, 2, error=QuantityError)

    @property
    def centre_name(self) -> str:
        """K, or the number."""
        return "K" if self.about is None else f"{self.about:g}"

    def network(self, sizes: Sizes) -> PatchNetwork:
        """Return the network at ``sizes``."""
        need_sizes(self.name, self.needs, sizes)
        return PatchNetwork(self.activation, int(sizes["channels"]), self.architecture)

    @property
    def limit(self) -> float:
        """K."""
        network = PatchNetwork(self.activation, math.inf, self.architecture)
        return float(PatchRegression(network, np.array(self.pair), np.zeros(2), 1.0).infinite_kernel[0, 1])

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether it is known at every size: the mean, and the mean square of linear units."""
        linear = _is_linear(PatchNetwork(self.activation, 1)) and self.architecture in ("cnn", "lcn")
        return self.power == 1 or (linear and self.about is None)

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        if not self.can_exact:
            return None
        channels = int(self.network(sizes).channels)
        if self.power == 1:
            return known(self.limit - (self.limit if self.about is None else self.about), 1e-15 * (1 + abs(self.limit)))
        one, other = np.array(self.pair) * float(self.activation(1.0)) / math.sqrt(len(self.pair[0][0]))
        # Cov(u_i v_i, u_j v_j) of the fields u_i = w.x_i, v_i = w.x'_i: of all pairs of patches that share filters
        terms = (one @ one.T) * (other @ other.T) + (one @ other.T) * (other @ one.T)
        if self.architecture == "lcn":
            terms = np.diag(np.diag(terms))
        value = float(terms.sum()) / (len(one) ** 2 * channels)
        return known(value, 1e-15 * abs(value))

    def sampler(self, sizes: Sizes) -> KernelSampler:
        return KernelSampler(self.network(sizes), np.array(self.pair), self.limit if self.about is None else self.about, self.power)

    def cost(self, sizes: Sizes) -> float:
        return int(sizes["channels"]) * len(self.pair[0]) * (len(self.pair[0][0]) + 4.0)


@dataclass(frozen=True, repr=False)
class second_layer_bias(Quantity):
    """E k - K of two convolutional layers on a ring of patches, between two inputs (2, N_p, m): ``channels`` in the first layer.

    Filters of the second layer see ``width`` neighbours.  Drawn.  Raises QuantityError.

    >>> bias = second_layer_bias("erf", [[[1.0], [0.5]], [[0.5], [1.0]]], 2)
    >>> bias.draw(np.random.default_rng(0), 3, {"channels": 4}).shape
    (3,)
    """

    title = "E k - K, two layers, {activation}, {width} neighbours"
    needs = ("channels",)
    version = 2
    can_draw = True
    activation: Any
    pair: Any
    width: int

    def __post_init__(self) -> None:
        one = patch_kernel(self.activation, self.pair)
        object.__setattr__(self, "activation", one.activation)
        object.__setattr__(self, "pair", one.pair)
        integer(self.width, "width", 1, len(one.pair[0]), error=QuantityError)

    def sampler(self, sizes: Sizes) -> SecondLayerSampler:
        need_sizes(self.name, self.needs, sizes)
        return SecondLayerSampler(PatchNetwork(self.activation, int(sizes["channels"])), np.array(self.pair), self.width)

    def cost(self, sizes: Sizes) -> float:
        return len(self.pair[0]) * (int(sizes["channels"]) * (len(self.pair[0][0]) + 4.0) + 20.0)


def independent_kernels(problem: PatchRegression) -> ExactQuantity:
    """Return the rank of theta -> sum_a theta_a S_a as an exact quantity: how many order parameters the kernel really has.

    A singular value counts above 1e-9 of the largest one.

    >>> data = np.random.default_rng(0).standard_normal((8, 3, 2))
    >>> problem = PatchRegression(PatchNetwork("erf", 4), data, data[:, 0, 0], 1)
    >>> [float(independent_kernels(problem.with_network(architecture=each)).exact()) for each in ("cnn", "lcn", "fc")]
    [6.0, 3.0, 1.0]
    """
    kernels = problem.kernels.train
    rank = int(np.linalg.matrix_rank(kernels.reshape(len(kernels), -1), rtol=1e-9))
    title = f"order parameters of {problem.network.architecture}, {problem.network.activation.text}, N_p = {problem.shape[1]}"
    return ExactQuantity(title, lambda digits: known(rank, 0.0), {"quantity": "independent_kernels", **problem.parameters})
