"""What can be measured of Bayesian networks of finite width: evidences over those of simpler laws, and what an action misses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.proved.formulas import real_array
from theoryck.quantities.arguments import positive
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.records import Enclosure
from theoryck.records.arguments import integer
from theoryck.theory.renormalisation.draws import DivergenceSampler, MissingSampler, OrthogonalSampler, RatioSampler
from theoryck.theory.renormalisation.limits.orthogonal import orthogonal_limit
from theoryck.theory.renormalisation.model import NetworkTask
from theoryck.theory.renormalisation.posterior import AT_ONCE, AnnealedSampler, LossSampler, Setting
from theoryck.theory.renormalisation.proved.few_points import few_points_posterior
from theoryck.theory.renormalisation.proved.linear import linear_posterior


class WidthQuantity(Quantity):
    """What depends on the width ``N`` of the hidden layers."""

    needs: tuple[str, ...] = ("N",)
    can_draw = True

    def _width(self, sizes: Sizes) -> int:
        need_sizes(self.name, ("N",), sizes)
        return int(sizes["N"])


@dataclass(frozen=True, repr=False)
class TaskQuantity(WidthQuantity):
    """And on a :class:`NetworkTask`."""

    task: Any

    def __post_init__(self) -> None:
        if not isinstance(self.task, NetworkTask):
            raise QuantityError(f"task must be a theoryck.renormalisation.NetworkTask, got {self.task!r}")

    def cost(self, sizes: Sizes) -> float:
        """Return the normal variables of a draw, and the work of its Gram matrix and Cholesky factor."""
        width, count = self._width(sizes), len(self.task.labels)
        if self.task.activation.properties.linear.value:
            return float(20 * self.task.depth + 40 * count + count**3)
        return float(self.task.depth * width * count * (6 + count / 4) + 40 * count + count**3)


@dataclass(frozen=True, repr=False)
class evidence_ratio(TaskQuantity):
    """Z/Z_GP, the evidence of a Bayesian network of width ``N`` over that of the Gaussian process; with ``times_width`` N (Z/Z_GP -
    1).

    Drawn over hidden layers of the prior for any activation and depth; exact for linear ones (proved) and for one hidden layer on
    one or two inputs.  Raises QuantityError.

    >>> import numpy as np
    >>> ratio = evidence_ratio(NetworkTask("x", [1.0, -0.5], [[1.0, 0.0], [0.5, 1.0]], temperature=0.5, depth=2))
    >>> found = ratio.draw(np.random.default_rng(0), 4000, {"N": 8})
    >>> bool(abs(found.mean() - float(ratio.exact({"N": 8}))) < 5 * found.std() / 4000**0.5)
    True
    """

    title = "{self.shown}, {task}"
    times_width: bool = field(default=False, kw_only=True)

    @property
    def shown(self) -> str:
        """What it is, in letters."""
        return "N (Z/Z_GP - 1)" if self.times_width else "Z/Z_GP"

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether there is an exact value."""
        return bool(self._linear or (len(self.task.labels) <= 2 and self.task.depth == 1))

    @property
    def _linear(self) -> bool:
        return self.task.activation.text == "x"

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        if not self.can_exact:
            return None
        width, task = self._width(sizes), self.task
        settings: dict[str, Any] = {"temperature": task.temperature, "precisions": list(task.strengths)}
        if self._linear:
            # Both evidences are proved; the ratio is rounded to doubles, which is far below any error of draws.
            found = linear_posterior(task.inputs, task.labels, widths=[width] * task.depth, **settings).log_evidence
            base = linear_posterior(task.inputs, task.labels, widths=[math.inf] * task.depth, **settings).log_evidence
            radius = float(found.radius + base.radius)
        else:
            found = few_points_posterior(task.activation, task.labels, task.inputs, width=width, **settings).log_evidence
            base = few_points_base(task)
            radius = float(found.radius)
        value = math.exp(float(found.midpoint - base.midpoint))
        error = value * (math.expm1(radius) + 1e-13)
        if self.times_width:
            value, error = width * (value - 1), width * error
        return Enclosure(Decimal(value), Decimal(error), rigorous=False)

    def sampler(self, sizes: Sizes) -> RatioSampler:
        return RatioSampler(self.task, self._width(sizes), self.times_width)


def few_points_base(task: NetworkTask) -> Enclosure:
    """Return log Z of the Gaussian process, to rounding."""
    from theoryck.theory.renormalisation.limits.action import bayesian_network

    found = bayesian_network(task.kernel, task.labels, widths=math.inf, temperature=task.temperature)
    return Enclosure(Decimal(found.log_evidence), Decimal(0), rigorous=False)


@dataclass(frozen=True, repr=False)
class action_divergence(TaskQuantity):
    """KL(network || action): E log p(y)/E_Q N(y; 0, T + Q K) over labels of a network of ``width`` units, from both sides.

    ``others`` networks of the prior beside the one that made the labels, which is an exact posterior sample, give a lower and an
    upper end, closer with ``moves`` of each along an annealed path.  ``process`` puts the Gaussian process in place of the action.
    The labels of ``task`` are not used.  One hidden layer; raises QuantityError.

    >>> import numpy as np
    >>> divergence = action_divergence(NetworkTask("tanh", [0.0], [[1.0]], temperature=0.5), width=2)
    >>> low, high, _ = divergence.draw(np.random.default_rng(0), 400, {}).mean(axis=0)
    >>> bool(-0.02 < low < high < 0.02)
    True
    """

    title = "KL(network || {self.against}), {task}, N = {width}"
    needs = ()
    two_sided = True
    width: int
    others: int = field(default=400, kw_only=True)
    moves: int = field(default=0, kw_only=True)
    process: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_layer(self.task, self.width)
        integer(self.others, "others", 2, error=QuantityError)
        integer(self.moves, "moves", error=QuantityError)

    @property
    def against(self) -> str:
        """What the network is compared with."""
        return "Gaussian process" if self.process else "action"

    def sampler(self, sizes: Sizes) -> DivergenceSampler | AnnealedSampler:
        if self.moves or self.process:
            return AnnealedSampler(Setting(self.task, self.width, self.others + 1, self.moves, process=self.process))
        return DivergenceSampler(self.task, self.width, self.others)

    def cost(self, sizes: Sizes) -> float:
        return (self.others + 1) * (1 + self.moves / 2) * super().cost({"N": self.width}) / 4 + 4000

    def block_draws(self, sizes: Sizes) -> int:
        """Return 32 or more where paths are walked: so many at once."""
        return max(super().block_draws(sizes), AT_ONCE if self.moves or self.process else 1)


def _check_layer(task: NetworkTask, width: Any) -> None:
    integer(width, "width", 1, error=QuantityError)
    if task.depth != 1:
        raise QuantityError(f"task must have one hidden layer for this action, got depth {task.depth}")


PREDICTORS = ("best", "action", "process")


@dataclass(frozen=True, repr=False)
class predictor_loss(TaskQuantity):
    """E (f - m)^2 at new inputs, m = E (f | y) the "best" predictor of labels of the network itself, from both sides; or E (m -
    g)^2, by which that of g is larger, g the predictor of the "action" or of the Gaussian "process".

    ``new_inputs`` (m, N_0), a mean over them; a layer of ``width`` units; ``chains`` of ``moves`` start at the network that made
    the labels, an exact posterior sample, and as many at networks of the prior.  The labels of ``task`` are not used.  One hidden
    layer; raises QuantityError.

    >>> import numpy as np
    >>> loss = predictor_loss(NetworkTask("tanh", [0.0], [[1.0]], temperature=0.5), 3, [[0.5]], "best")
    >>> low, high, _ = loss.draw(np.random.default_rng(0), 400, {}).mean(axis=0)
    >>> bool(0.05 < low < high < 0.15)
    True
    """

    title = "{self.shown}, {task}, N = {width}"
    needs = ()
    two_sided = True
    width: int
    new_inputs: Any
    what: str
    chains: int = field(default=8, kw_only=True)
    moves: int = field(default=60, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_layer(self.task, self.width)
        integer(self.chains, "chains", 2, error=QuantityError)
        integer(self.moves, "moves", 1, error=QuantityError)
        if self.what not in PREDICTORS:
            raise QuantityError(f"what must be one of {', '.join(map(repr, PREDICTORS))}, got {self.what!r}")
        rows = real_array(self.new_inputs, "new_inputs")
        if rows.ndim != 2 or not rows.size or rows.shape[1] != len(self.task.inputs[0]):
            raise QuantityError(f"new_inputs must be an array (m, {len(self.task.inputs[0])}), got the shape {rows.shape}")
        object.__setattr__(self, "new_inputs", tuple(tuple(row) for row in rows.tolist()))

    @property
    def shown(self) -> str:
        """What it is, in letters."""
        return "E (f - m)^2" if self.what == "best" else f"E (m - m_{self.what})^2"

    def sampler(self, sizes: Sizes) -> LossSampler:
        setting = Setting(self.task, self.width, self.chains, self.moves, self.new_inputs, self.what == "process")
        return LossSampler(setting, self.what != "best")

    def cost(self, sizes: Sizes) -> float:
        return 2 * self.chains * (1 + self.moves / 2) * super().cost({"N": self.width}) / 4 + 4000

    def block_draws(self, sizes: Sizes) -> int:
        """Return 32 or more: so many data sets are walked at once."""
        return max(super().block_draws(sizes), AT_ONCE)


@dataclass(frozen=True, repr=False)
class orthogonal_ratio(WidthQuantity):
    """Z/E_Q N(y; 0, T + Q sigma) on P = ``alpha`` N orthogonal inputs, labels of magnitude ``label``, one layer of width ``N``, phi
    odd: the evidence over that of the action's integral.

    Raises QuantityError.

    >>> import numpy as np
    >>> ratio = orthogonal_ratio("erf", alpha=1, temperature=0.1, label=1.5)
    >>> bool(1.5 < ratio.draw(np.random.default_rng(0), 50, {"N": 16}).mean() < 3.5)
    True
    """

    title = "Z/Z_action, {activation.text}, orthogonal inputs, P = {alpha:g} N, T = {temperature:g}, |y| = {label:g}"
    activation: Any
    alpha: float
    temperature: float
    label: float

    def __post_init__(self) -> None:
        try:
            orthogonal_limit(self.activation, alpha=self.alpha, temperature=self.temperature, labels=[self.label])
        except ValueError as error:
            raise QuantityError(str(error)) from None
        phi = self.activation if isinstance(self.activation, Activation) else Activation(self.activation)
        object.__setattr__(self, "activation", phi)

    def sampler(self, sizes: Sizes) -> OrthogonalSampler:
        width = self._width(sizes)
        return OrthogonalSampler(self.activation, round(self.alpha * width), width, self.temperature, self.label)

    def cost(self, sizes: Sizes) -> float:
        return 60 * 4.0 * self._width(sizes) + 500


@dataclass(frozen=True, repr=False)
class missing_part(Quantity):
    """E (E H - 3 W)/8: what the effective action misses of the limit of N (log Z - log Z_GP), P = ``P`` inputs N(0, 1) in ``N0``
    dimensions, labels +- ``label`` at random.

    Drawn with ``inner`` units a data set.  Raises QuantityError.

    >>> import numpy as np
    >>> missing_part("tanh", temperature=0.1, label=1.5).draw(np.random.default_rng(0), 2, {"P": 4, "N0": 4}).shape
    (2,)
    """

    title = "N (log Z - log Z_action), {activation.text}, T = {temperature:g}, |y| = {label:g}"
    needs = ("P", "N0")
    can_draw = True
    activation: Any
    temperature: float
    label: float
    inner: int = field(default=4000, kw_only=True)

    def __post_init__(self) -> None:
        phi = self.activation if isinstance(self.activation, Activation) else Activation(self.activation)
        object.__setattr__(self, "activation", phi)
        object.__setattr__(self, "temperature", positive(self.temperature, "temperature"))
        object.__setattr__(self, "label", positive(self.label, "label", zero=True))
        integer(self.inner, "inner", 2, error=QuantityError)

    def sampler(self, sizes: Sizes) -> MissingSampler:
        need_sizes(self.name, self.needs, sizes)
        count, dim = int(sizes["P"]), int(sizes["N0"])
        return MissingSampler(self.activation, count, dim, self.temperature, self.label, self.inner)

    def cost(self, sizes: Sizes) -> float:
        count, dim = int(sizes["P"]), int(sizes["N0"])
        return self.inner * (min(dim, count) + 2.0 * count + count * count / 40) + 40 * count**2 + 10000

    def block_draws(self, sizes: Sizes) -> int:
        """Return 16 or more: one draw alone has no error bar."""
        return max(super().block_draws(sizes), 16)
