"""Online learning as quantities along N: errors and order parameters of runs, and how far they are from the equations."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.pieces import check_slope
from theoryck.quantities.arguments import LARGEST, LEAST, positive
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.records import Enclosure
from theoryck.records.arguments import integer
from theoryck.theory.dynamics.draws import ChainSampler, GeneratorSampler, Shown
from theoryck.theory.dynamics.limits import check_start, trajectory
from theoryck.theory.dynamics.model import (
    ROUNDING,
    Array,
    OnlineTask,
    OrderParameters,
    array,
    from_covariances,
    generator_coefficients,
)
from theoryck.theory.projections.model import ERF, read_activation

DIMENSIONS = {"eg": 0, "Q": 2, "R": 2, "v": 1}


def _times(values: Any) -> tuple[float, ...]:
    found = array(values, "times", 1)
    if found[0] < 0 or (np.diff(found) <= 0).any():
        raise QuantityError(f"times must increase and be >= 0, got {found.tolist()}")
    return tuple(found.tolist())


@dataclass(frozen=True, repr=False)
class OnlineQuantity(Quantity):
    """What is read off runs with Gaussian inputs of N coordinates: ``what`` is "eg", "Q", "R" or "v" with its ``entry``.

    Raises QuantityError for what a run has not.
    """

    needs = ("N",)
    can_draw = True
    title = "{self.prefix}{what}{self.index}({self.shown_times}), online, {task}"
    prefix: ClassVar[str] = ""
    power: ClassVar[int] = 1
    against: ClassVar[bool] = False
    task: OnlineTask
    start: OrderParameters
    times: Any
    what: str = "eg"
    entry: Any = ()

    def __post_init__(self) -> None:
        if not isinstance(self.task, OnlineTask) or not isinstance(self.start, OrderParameters):
            raise QuantityError(f"task and start must be an OnlineTask and OrderParameters, got {self.task!r} and {self.start!r}")
        if self.what not in DIMENSIONS:
            raise QuantityError(f"what must be one of {', '.join(map(repr, DIMENSIONS))}, got {self.what!r}")
        object.__setattr__(self, "times", _times(self.times))
        entry = (self.entry,) if isinstance(self.entry, int) else tuple(self.entry)
        most = {"eg": (), "v": self.start.v.shape, "Q": self.start.q.shape[1:], "R": self.start.r.shape[1:]}[self.what]
        if len(entry) != len(most) or not all(isinstance(k, int) and 0 <= k < size for k, size in zip(entry, most)):
            raise QuantityError(f"entry must be {len(most)} indices below {most} for {self.what!r}, got {self.entry!r}")
        object.__setattr__(self, "entry", entry)
        task = self.task
        if self.what == "eg" and not (task.arcsines or self.linear):
            raise QuantityError(f"eg is read off for erf(x/sqrt(2)) and for x, got {task.student.text!r}: take what='Q' or 'R'")
        if task.delta != 1:
            raise QuantityError(f"task must have delta = 1 for runs with Gaussian inputs, got {task.delta!r}: see generated_error")
        if (task.eigenvalues == 0).any():
            raise QuantityError(f"task must have eigenvalues > 0 for runs with Gaussian inputs, got {task.eigenvalues.tolist()}")
        check_start(task, self.start)
        # nu is a function of x: all of T is what the overlaps say.
        if np.abs(task.T - task.explained).max() > ROUNDING * np.abs(task.T).max():
            raise QuantityError(
                f"task must have T = <overlaps/eigenvalues> for runs with Gaussian inputs, {task.explained.tolist()}, got "
                f"{task.T.tolist()}: give that T, or overlaps that come to it"
            )

    @property
    def linear(self) -> bool:
        """Whether student and teacher are linear."""
        return self.task.student.text == self.task.teacher.text == "x"

    @property
    def index(self) -> str:
        """The entry as the name shows it."""
        return "_" + "".join(map(str, self.entry)) if self.entry else ""

    @property
    def shown_times(self) -> str:
        """The times as the name shows them."""
        return ", ".join(f"t={time:g}" for time in self.times)

    @property
    def predicted(self) -> tuple[float, ...]:
        """What the equations give at the times."""
        found = trajectory(self.task, self.start, self.times)
        values = getattr(found, self.what)
        return tuple(values[(slice(None), *self.entry)].tolist())

    def sampler(self, sizes: Sizes) -> ChainSampler:
        need_sizes(self.name, self.needs, sizes)
        n = int(sizes["N"])
        blocks = [weight * n for weight in self.task.weights]
        if any(abs(block - round(block)) > 1e-6 for block in blocks):
            raise QuantityError(f"N = {n} must hold every eigenvalue by its weight, {self.task.weights.tolist()}: take a multiple")
        target = self.predicted if self.against else (0.0,) * len(self.times)
        shown = Shown(self.what, self.entry, target, self.power)
        return ChainSampler(self.task, self.start, tuple(map(round, blocks)), tuple(round(t * n) for t in self.times), shown)

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers of a run, and about three times as many for what is done with them."""
        need_sizes(self.name, self.needs, sizes)
        fields = len(self.start.v) + self.task.units
        return 4.0 * max(round(self.times[-1] * sizes["N"]), 1) * len(self.task.weights) * (fields + 2.0)

    def block_draws(self, sizes: Sizes) -> int:
        """Return 1024: a step costs the same for one run and for hundreds side by side."""
        return 1024


class online_order(OnlineQuantity):
    """The mean of an order parameter of online gradient descent ("eg", "Q", "R", "v", its ``entry``), mean over ``times``; size N.

    Runs begin at ``start`` exactly; with Gaussian inputs they are drawn as the Markov chain of their order parameters.  Linear
    networks whose second layer is not trained have an exact route for eg: |beta|^2, beta = sum v^k w^k - sum v~^m w~^m, shrinks by
    1 - 2 a/N + a^2 (N + 2)/N^2 a step, a = eta rho |v|^2.  Raises QuantityError.

    >>> task = OnlineTask(T=1, v_teacher=1, rate=0.5, student="x", readout_rate=0)
    >>> eg = online_order(task, OrderParameters(q=0.25, r=0.0, v=1), times=[1])
    >>> found = eg.draw(np.random.default_rng(0), 4000, {"N": 8})
    >>> bool(abs(found.mean() - float(eg.exact({"N": 8}))) < 5 * found.std() / 4000**0.5)
    True
    """

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether there is an exact route."""
        return self.what == "eg" and self.linear and self.task.readout_rate == 0 and len(self.task.weights) == 1

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return the mean error of linear networks, by its recursion; None for others."""
        need_sizes(self.name, self.needs, sizes)
        if not self.can_exact:
            return None
        n, v, w = int(sizes["N"]), self.start.v, self.task.v_teacher
        Q, R = self.task.summed(self.start.q, self.start.r)
        first = float(v @ Q @ v - 2 * v @ R @ w + w @ self.task.T @ w) / 2
        a = self.task.rate * float(self.task.eigenvalues[0]) * float(v @ v)
        factor = 1 - 2 * a / n + a**2 * (n + 2) / n**2
        value = float(np.mean([first * factor ** round(t * n) for t in self.times]))
        # A power of m steps carries m roundings.
        return Enclosure(Decimal(value), Decimal(abs(value) * 1e-15 * (10 + self.times[-1] * n)), rigorous=False)


class online_bias(OnlineQuantity):
    """The mean of an order parameter at size N less its value by the equations, mean over ``times``.

    >>> task = OnlineTask(T=1, v_teacher=1, rate=0.5, student="x", readout_rate=0)
    >>> bias = online_bias(task, OrderParameters(q=0.25, r=0.0, v=1), times=[1, 2], what="R", entry=(0, 0))
    >>> bool(abs(bias.draw(np.random.default_rng(0), 4000, {"N": 16}).mean()) < 0.05)  # (1 - 1/(2N))^(N t) - e^(-t/2)
    True
    """

    prefix = "bias of "
    against = True


class online_variance(OnlineQuantity):
    """The mean square distance of an order parameter of a run from its value by the equations, mean over ``times``; size N.

    >>> task = OnlineTask(T=1, v_teacher=1, rate=0.5, student="x", readout_rate=0)
    >>> square = online_variance(task, OrderParameters(q=0.25, r=0.0, v=1), times=[1, 2], what="R", entry=(0, 0))
    >>> few, many = (square.draw(np.random.default_rng(0), 2000, {"N": n}).mean() for n in (16, 64))
    >>> bool(3 < few / many < 5)  # 1/N
    True
    """

    prefix = "square deviation of "
    power = 2
    against = True


@dataclass(frozen=True)
class _Equations:
    """What the equations give for a drawn generator, each layer replaced by its equivalent b F x + c xi."""

    coefficients: tuple[tuple[float, float], ...]
    student: Activation
    rate: float
    readout_rate: float
    v: tuple[float, ...]
    times: tuple[float, ...]

    def __call__(self, layers: list[Array], weights: Array, teacher: Array) -> Array:
        omega = phi = np.eye(layers[0].shape[1])
        for layer, (b, c) in zip(layers, self.coefficients):
            omega, phi = b**2 * layer @ omega @ layer.T + c**2 * np.eye(len(layer)), b * layer @ phi
        task, start = from_covariances(
            (omega + omega.T) / 2,
            phi,
            weights,
            teacher,
            v=self.v,
            v_teacher=np.ones(len(teacher)),
            rate=self.rate,
            readout_rate=self.readout_rate,
            student=self.student,
        )
        return trajectory(task, start, self.times).eg


@dataclass(frozen=True, repr=False)
class generated_error(Quantity):
    """eg of online gradient descent on inputs of a generator, x = sigma(F_L ... sigma(F_1 c)), means taken off; sizes N and D.

    All layers have width N; F_l, the teacher and the start are drawn for every run, as in
    :func:`~theoryck.theory.dynamics.one_layer`.  With ``against_equations`` less what the equations give for that generator, each
    layer replaced by its linear equivalent, and those weights.  Mean over ``times``.  Raises QuantityError.

    >>> eg = generated_error("erf", times=[0], rate=0.2, spread=0.0)  # a student of zeros: half of E erf(Z/sqrt 2)^2 = 1/3
    >>> bool(abs(eg.draw(np.random.default_rng(0), 200, {"N": 8, "D": 8}).mean() - 1 / 6) < 0.02)
    True
    """

    needs = ("N", "D")
    can_draw = True
    title = "{self.prefix}eg, {activation.text} generator, depth {depth}, rate {rate:g}, times {times}"
    activation: Any
    times: Any
    rate: float
    depth: int = 1
    spread: float = field(default=1.0, kw_only=True)
    aligned: Any = field(default=(0.0,), kw_only=True)
    v: Any = field(default=(1.0,), kw_only=True)
    readout_rate: float = field(default=0.0, kw_only=True)
    student: Any = field(default=ERF, kw_only=True)
    against_equations: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        aligned = tuple(array(self.aligned, "aligned", 1).tolist())
        values: dict[str, Any] = {
            "activation": read_activation(self.activation),
            "student": read_activation(self.student, "student"),
            "times": _times(self.times),
            "aligned": aligned,
            "rate": positive(self.rate, "rate"),
            "readout_rate": positive(self.readout_rate, "readout_rate", zero=True),
            "spread": positive(self.spread, "spread", zero=True),
            "v": tuple(array(self.v, "v", 1, (len(aligned),)).tolist()),
            "depth": integer(self.depth, "depth", 1, error=QuantityError),
        }
        check_slope(values["student"], "student", QuantityError)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def prefix(self) -> str:
        """How the name begins."""
        return "gap of " if self.against_equations else ""

    def sampler(self, sizes: Sizes) -> GeneratorSampler:
        need_sizes(self.name, self.needs, sizes)
        n, d = int(sizes["N"]), int(sizes["D"])
        variance, means, coefficients = 1.0, [], []
        for _ in range(self.depth):
            a, b, c = generator_coefficients(self.activation, variance)
            means.append(a)
            coefficients.append((b, c))
            variance = b * b * variance + c * c
        equations = None
        if self.against_equations:
            equations = _Equations(tuple(coefficients), self.student, self.rate, self.readout_rate, self.v, self.times)
        return GeneratorSampler(
            self.activation,
            tuple(means),
            (d, *[n] * self.depth),
            self.student,
            self.rate,
            self.readout_rate,
            self.spread,
            self.aligned,
            self.v,
            tuple(round(t * n) for t in self.times),
            Shown("eg", (), (0.0,) * len(self.times), 1),
            equations,
        )

    def cost(self, sizes: Sizes) -> float:
        return self.sampler(sizes).cost

    def block_draws(self, sizes: Sizes) -> int:
        """Return 16 where equations are solved for every run: one alone has no error bar."""
        return 16 if self.against_equations else super().block_draws(sizes)


def linear_error(rate: float, time: float, start: float = 1.0) -> float:
    """Return start e^(-(2 eta - eta^2) t): the error of a linear student with eta = ``rate`` |v|^2 rho, N -> infinity.

    It decays for eta < 2 only.  Raises QuantityError for a negative argument, and where it has grown beyond the numeric domain.

    >>> linear_error(2.0, 7.0)
    1.0
    """
    eta, until, first = (positive(value, name, zero=True) for value, name in ((rate, "rate"), (time, "time"), (start, "start")))
    power = (eta**2 - 2 * eta) * until
    if power + math.log(max(first, LEAST)) > math.log(LARGEST):
        raise QuantityError(f"time must be shorter at the rate {eta:g}, got {until:g}: the error has grown beyond {LARGEST:g}")
    return first * math.exp(power)
