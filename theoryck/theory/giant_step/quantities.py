"""Overlaps after the first steps of large batches, and errors of ridge regression with what they leave, at finite sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from theoryck.numerics.functions.activation import Activation
from theoryck.quantities.arguments import positive
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.records import Enclosure
from theoryck.theory.giant_step.draws import FeaturesSampler, NeuronSampler, OneStepSampler, ReuseSampler, StaircaseSampler
from theoryck.theory.giant_step.model import (
    BUMP,
    SpikedFeatures,
    after_one_step,
    moment,
    read_link,
    read_slope,
    read_student,
    read_target,
)
from theoryck.theory.giant_step.proved import mean_squared_cosine


def _choice(value: Any, name: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise QuantityError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")


def _whole(quantity: Quantity, sizes: Sizes, least: int) -> tuple[int, ...]:
    """The sizes that a quantity needs, d being the first; QuantityError below the ``least`` d."""
    need_sizes(quantity.name, quantity.needs, sizes)
    found = tuple(int(sizes[name]) for name in quantity.needs)
    if found[0] < least:
        raise QuantityError(f"the size 'd' of {quantity.name} must be at least {least}, got {found[0]}")
    return found


class StepQuantity(Quantity):
    """What is measured after steps with n samples in d dimensions; sizes ``d`` and ``n``."""

    needs = ("d", "n")
    can_draw = True
    least: ClassVar[int] = 2

    def _sizes(self, sizes: Sizes) -> tuple[int, int]:
        d, n = _whole(self, sizes, self.least)
        return d, n


@dataclass(frozen=True, repr=False)
class LinkQuantity(StepQuantity):
    """And of a ``link`` y = g(<w*, x>); where every label is 0, so is the gradient, and its cosines count as 0."""

    link: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", read_link(self.link))

    def cost(self, sizes: Sizes) -> float:
        """Return the random numbers of a run, and as many again for what is done with them."""
        return 3.0 * self._sizes(sizes)[1] + 20.0


@dataclass(frozen=True, repr=False)
class one_step_overlap(LinkQuantity):
    """E cos^2(X^T y, w*) after one giant step, y = g(<w*, x>), X (n, d); sizes ``d`` and ``n``.

    ``times_dimension`` multiplies it with d.  Drawn by its exact law with n normal variables a run, 0 where all labels are; exact
    for linear links, for one sample and for sign(x).  Raises QuantityError.

    >>> import numpy as np
    >>> overlap = one_step_overlap("sign(x)")
    >>> found = overlap.draw(np.random.default_rng(0), 4000, {"d": 20, "n": 10})
    >>> bool(abs(found.mean() - float(overlap.exact({"d": 20, "n": 10}))) < 5 * found.std() / 4000**0.5)
    True
    """

    title = "{self.prefix}cos^2(X^T y, w*), y = {link.text}"
    times_dimension: bool = field(default=False, kw_only=True)

    @property
    def prefix(self) -> str:
        """How the name begins."""
        return "d " if self.times_dimension else ""

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether the mean is known for this link at every size."""
        return mean_squared_cosine(self.link, 2, 2) is not None

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        d, n = self._sizes(sizes)
        found = mean_squared_cosine(self.link, d, n, digits)
        if found is None or not self.times_dimension:
            return found
        return Enclosure(found.midpoint * d, found.radius * d, rigorous=False)

    def sampler(self, sizes: Sizes) -> OneStepSampler:
        d, n = self._sizes(sizes)
        return OneStepSampler(self.link, d, n, "cos2", float(d) if self.times_dimension else 1.0)


class one_step_norm(LinkQuantity):
    """E |v|^2 of v = X^T y/n, which is A^2 (1 - 1/n) + E y^2 z^2/n + (d - 1) B/n, with both routes; sizes ``d`` and ``n``.

    The spike of one step with p neurons is mu_1 1 v^T, of norm mu_1 p^(1/2) |v|.

    >>> float(one_step_norm("x").exact({"d": 5, "n": 10}))  # (1 - 1/10) + 3/10 + 4/10
    1.6
    """

    title = "|X^T y/n|^2, y = {link.text}"
    can_exact = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", read_target(self.link))

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        d, n = self._sizes(sizes)
        a, b, mixed = (moment(self.link, *powers) for powers in ((1, 1), (2, 0), (2, 2)))
        value = a * a * (1 - 1 / n) + mixed / n + (d - 1) * b / n
        return Enclosure(Decimal(value), Decimal(value * 1e-15), rigorous=False)

    def sampler(self, sizes: Sizes) -> OneStepSampler:
        return OneStepSampler(self.link, *self._sizes(sizes), "norm2")


@dataclass(frozen=True, repr=False)
class neuron_gradient(LinkQuantity):
    """The gradient X^T y s'(X w)/n of one neuron that starts orthogonal to w*: E of its squared length, with both routes, or of its
    squared cosine with w* (``what`` = "cos2"); sizes ``d`` and ``n``.

    E |G|^2 = [B E s'^2 (d - 2) + E y^2 z^2 E s'^2 + B E s'^2 z^2]/n + (1 - 1/n) [(A E s')^2 + (E y E s' z)^2].  Raises
    QuantityError.

    >>> round(float(neuron_gradient("tanh", "tanh").exact({"d": 30, "n": 20})), 4)
    0.404
    """

    title = "{what} of X^T y s'(X w)/n, y = {link.text}, s = {student.text}"
    least = 3
    student: Any
    what: str = "norm2"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "student", read_student(self.student))
        _choice(self.what, "what", ("norm2", "cos2"))
        if self.what == "norm2":
            read_target(self.link)

    @property
    def slope(self) -> Activation:
        """s'."""
        found: Activation = self.student.derivative()
        return found

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether there is an exact route: for the length."""
        return self.what == "norm2"

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        d, n = self._sizes(sizes)
        if self.what != "norm2":
            return None
        a, mean, b, mixed = (moment(self.link, *powers) for powers in ((1, 1), (1, 0), (2, 0), (2, 2)))
        slope, tilt, square, steep = (moment(self.slope, *powers) for powers in ((1, 0), (1, 1), (2, 0), (2, 2)))
        value = (b * square * (d - 2) + mixed * square + b * steep) / n + (1 - 1 / n) * ((a * slope) ** 2 + (mean * tilt) ** 2)
        return Enclosure(Decimal(value), Decimal(value * 1e-14), rigorous=False)

    def sampler(self, sizes: Sizes) -> NeuronSampler:
        return NeuronSampler(self.link, self.slope, *self._sizes(sizes), self.what)

    def cost(self, sizes: Sizes) -> float:
        return 2 * super().cost(sizes)


@dataclass(frozen=True, repr=False)
class reuse_overlap(LinkQuantity):
    """The cosine with w* after two full-batch steps of size ``rate`` on the same n samples, drawn by its exact law; sizes d and n.

    w_0 is orthogonal to w*, and ``slope`` s' smooth, e^(-x^2/2) if not given.  ``what``: "gradient" (of the second gradient),
    "weights" (of w_2), or "square" (d times the squared cosine of the second gradient); with ``fresh`` the second step has a batch
    of its own.  Raises QuantityError.

    >>> import numpy as np
    >>> overlap = reuse_overlap("(x**3 - 3*x)/sqrt(6)", rate=2)
    >>> found = overlap.draw(np.random.default_rng(0), 200, {"d": 400, "n": 800})
    >>> bool(abs(found.mean() + 0.422) < 0.05)
    True
    """

    title = "{self.shown} after two steps on {self.batches}, y = {link.text}, rate {rate:g}{self.neuron}"
    least = 4
    rate: float
    what: str = "gradient"
    fresh: bool = field(default=False, kw_only=True)
    slope: Any = field(default=BUMP, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "slope", read_slope(self.slope))
        _choice(self.what, "what", ("gradient", "weights", "square"))
        object.__setattr__(self, "rate", positive(self.rate, "rate"))

    @property
    def shown(self) -> str:
        """What it is, in letters."""
        return {"gradient": "cos(g_1, w*)", "weights": "cos(w_2, w*)", "square": "d cos^2(g_1, w*)"}[self.what]

    @property
    def neuron(self) -> str:
        """The slope, where it is not that of an erf."""
        return "" if self.slope == BUMP else f", s' = {self.slope.text}"

    @property
    def batches(self) -> str:
        """Which batches."""
        return "fresh batches" if self.fresh else "one batch"

    def sampler(self, sizes: Sizes) -> ReuseSampler:
        return ReuseSampler(self.link, *self._sizes(sizes), self.rate, self.what, self.slope, self.fresh)

    def cost(self, sizes: Sizes) -> float:
        return 5 * super().cost(sizes)


@dataclass(frozen=True, repr=False)
class staircase_overlap(StepQuantity):
    """Two steps on fresh batches for y = z_1 + z_1 z_2: cos^2(v, w_1) ("first"), d cos^2(v, w_2) ("second"), cos^2(g, w_2)
    ("after").

    v is the first gradient, g that of a quadratic neuron that starts at v/|v|; sizes ``d`` and ``n``.  Raises QuantityError.

    >>> import numpy as np
    >>> found = staircase_overlap("after").draw(np.random.default_rng(0), 400, {"d": 100, "n": 600})
    >>> bool(abs(found.mean() - 0.474) < 0.02)
    True
    """

    title = "{what} overlap after two steps, z_1 + z_1 z_2"
    least = 4
    what: str

    def __post_init__(self) -> None:
        _choice(self.what, "what", ("first", "second", "after"))

    def sampler(self, sizes: Sizes) -> StaircaseSampler:
        return StaircaseSampler(*self._sizes(sizes), self.what)

    def cost(self, sizes: Sizes) -> float:
        return 10.0 * self._sizes(sizes)[1]


@dataclass(frozen=True, repr=False)
class FeaturesError(Quantity):
    """The test or training error of ridge regression with n samples, p features and d dimensions."""

    can_draw = True
    what: str
    penalty: float

    def __post_init__(self) -> None:
        _choice(self.what, "what", ("test_error", "train_error"))
        object.__setattr__(self, "penalty", positive(self.penalty, "penalty"))

    def cost(self, sizes: Sizes) -> float:
        found: float = self.sampler(sizes).cost
        return found

    def block_draws(self, sizes: Sizes) -> int:
        """Return 16 or more: a draw is a regression, and one alone has no error bar."""
        return max(super().block_draws(sizes), 16)


@dataclass(frozen=True, repr=False)
class spiked_error(FeaturesError):
    """The mean error of ridge regression with :class:`SpikedFeatures`, drawn; sizes ``d``, ``p`` and ``n``.

    ``what`` is "test_error" or "train_error".  Raises QuantityError.

    >>> import numpy as np
    >>> error = spiked_error("train_error", 0.1, SpikedFeatures("tanh", "tanh", beta=1.0, spike=1.0, gamma=0.6))
    >>> error.draw(np.random.default_rng(0), 2, {"d": 8, "p": 8, "n": 8}).shape
    (2,)
    """

    title = "{what} of ridge regression with spiked features: {features}, penalty {penalty:g}"
    needs = ("d", "p", "n")
    features: SpikedFeatures

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.features, SpikedFeatures):
            raise QuantityError(f"features must be a SpikedFeatures, got {self.features!r}")

    def sampler(self, sizes: Sizes) -> FeaturesSampler:
        d, p, n = _whole(self, sizes, 2)
        return FeaturesSampler(self.features, d, p, n, self.penalty, self.what)


@dataclass(frozen=True, repr=False)
class giant_step_error(FeaturesError):
    """The mean error of ridge regression with the features after one giant step, the step itself drawn; sizes ``d``, ``p``, ``n``,
    ``b``.

    The first layer is w_j + eta (1/b) sum_i y_i s'(<w_j, x_i>) x_i, w_j ~ N(0, I/d), eta = ``rate``; the samples of the regression
    are fresh.  Raises QuantityError.

    >>> import numpy as np
    >>> error = giant_step_error("test_error", 0.1, "tanh", "tanh", rate=1.0)
    >>> error.draw(np.random.default_rng(0), 2, {"d": 8, "p": 8, "n": 8, "b": 4}).shape
    (2,)
    """

    title = "{what} of ridge regression after one step: {student.text}, target {target.text}, rate {rate:g}, penalty {penalty:g}"
    needs = ("d", "p", "n", "b")
    student: Any
    target: Any
    rate: float

    def __post_init__(self) -> None:
        super().__post_init__()
        features = after_one_step(self.student, self.target, 1.0, self.rate)
        for name, value in (("student", features.student), ("target", features.target), ("rate", positive(self.rate, "rate"))):
            object.__setattr__(self, name, value)

    def sampler(self, sizes: Sizes) -> FeaturesSampler:
        d, p, n, b = _whole(self, sizes, 2)
        features = SpikedFeatures(self.student, self.target, 1.0, 0.0, 0.0)
        return FeaturesSampler(features, d, p, n, self.penalty, self.what, (b, self.rate))
