"""What a student learns from a teacher: free entropy, mutual information, generalisation error, and the path between two models.

Every quantity is a mean over independent data sets.  Where phi and f are linear a draw is unbiased; where phi is not, log Z is
known from below and from above, and the quantity is two-sided.  ``equivalent=True`` measures the equivalent generalised linear
model of the network, Y = f(eta_0 v . x_0 + sqrt(gamma_0) xi) + sqrt(Delta) Z, instead of the network.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from theoryck.montecarlo import Sampler
from theoryck.quantities.base import LARGEST_BLOCK, NUMBERS_PER_BLOCK, NoCertificate, Quantity, QuantityError, Sizes
from theoryck.quantities.pilots import Pilot
from theoryck.records import Certificate, Enclosure
from theoryck.theory.learning.methods import EXACT, LINEAR, NOISE_RANGE, Method, exact_value, make_sampler, method_of, regime_of
from theoryck.theory.learning.problem import Problem

if TYPE_CHECKING:
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.learning.model import TeacherStudent

LONG_BLOCK = 16
"""Blocks of data sets are this much longer than other blocks: a data set is worked on together with many others."""

NARROWEST = 1e-6
"""Nats: the work for one data set grows like the inverse of the width aimed at, and is minutes below."""

STATISTICS = ("likelihood", "residual", "alignment", "power")
"""What is compared along a chain: those of ``draws.chains``, which takes half a second to load."""

FLOAT_DIGITS = 20
"""Digits to which eta_0 and gamma_0 are computed before they are rounded to a float."""


@functools.lru_cache(maxsize=256)
def constants(activation: Activation, depth: int) -> tuple[float, float]:
    """Return (eta_0, gamma_0) as floats.

    >>> from theoryck.numerics.functions import Activation
    >>> constants(Activation("2*x"), 3), constants(Activation("tanh"), 0)
    ((8.0, 0.0), (1.0, 0.0))
    """
    from theoryck.theory.networks.proved.constants import network_constants

    found = network_constants(activation, depth, FLOAT_DIGITS)
    return float(found.eta0), float(found.gamma0)


@dataclass(frozen=True, repr=False)
class LearningQuantity(Quantity):
    """A mean over data sets of a :class:`~theoryck.theory.learning.TeacherStudent`; the class says of what.

    Its classes (:class:`mutual_information` and others) say which settings it can be had for.  Widths and samples are those of the
    setting at the sizes; where ``two_sided`` is True a draw is low, high and estimate.  Raises QuantityError for a noise that is 0
    or out of range.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("tanh", depth=1, widths=("d", "d")), samples="d", noise="1/2")
    >>> error = generalisation_error(setting, equivalent=True)
    >>> error.name, error.size_names, error.two_sided, error.can_exact
    ('generalisation_error(tanh(x), depth=1, noise=1/2, equivalent)', ('d',), False, True)
    >>> values = error.draw(np.random.default_rng(0), 100, {"d": 8})
    >>> values.shape, bool(0.5 < values.mean() < 0.5 + 1.2)  # noise, and at most the variance of an output
    ((100,), True)
    >>> mutual_information(TeacherStudent(DeepNetwork("tanh", depth=1), noise=0))
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: the noise must be > 0, got 0: without noise the outputs have no density given
    the weights
    """

    setting: TeacherStudent

    data_sets_per_draw: ClassVar[int] = 1
    method_options: ClassVar[tuple[str, ...]] = ()
    """The fields that are options of the method."""

    # What a quantity without such a field has.
    equivalent = False
    per_sample = False
    exact_only = False
    time = Fraction(0)
    against = None

    def __post_init__(self) -> None:
        check_setting(self.setting)
        if self.setting.noise == 0:
            raise QuantityError("the noise must be > 0, got 0: without noise the outputs have no density given the weights")
        least, most = NOISE_RANGE
        if not (self.method and self.regime == LINEAR) and not least <= self.setting.noise <= most:
            raise QuantityError(
                f"the noise must lie between {least:g} and {most:g} for {self.kind} of a network or readout that is not linear, "
                f"got {float(self.setting.noise):g}: the evidence could not be told from rounding errors"
            )

    @property
    def kind(self) -> str:
        """The row of the table of methods."""
        return type(self).__name__

    @property
    def regime(self) -> str:
        """The column of the table of methods."""
        return regime_of(self.setting, self.equivalent or self.time == 1)

    @functools.cached_property
    def method(self) -> Method:
        """How it is measured; QuantityError where it cannot be."""
        return method_of(self.kind, self.regime)

    @property
    def options(self) -> dict[str, Any]:
        """The options of the method that were given."""
        return {name: getattr(self, name) for name in self.method_options if getattr(self, name) is not None}

    @property
    def can_draw(self) -> bool:  # type: ignore[override]
        """Whether it is measured by Monte Carlo: not where only the exact route was asked for."""
        return not self.exact_only

    @property
    def two_sided(self) -> bool:  # type: ignore[override]
        """Whether the sampler gives a lower and an upper end."""
        return self.method.two_sided

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether some sizes have an exact value: one sample, or a linear model with linear readout."""
        return self.kind in EXACT

    @property
    def name(self) -> str:
        """What people read."""
        network = self.setting.network
        parts = [network.activation.text, f"depth={network.depth}", f"noise={self.setting.noise}"]
        if not self.setting.linear_readout:
            parts.append(f"readout={self.setting.readout.text}")
        if self.kind == "interpolation":
            parts.append(f"time={self.time}")
        if self.equivalent:
            parts.append("equivalent")
        if self.against is not None:
            parts.append(f"against=({self.against[0]:.6g}, {self.against[1]:.6g})")
        parts += [f"{option}={value}" for option, value in self.options.items()]
        name = f"{self.kind}({', '.join(parts)})"
        return f"{name}/n" if self.per_sample else name

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        given: dict[str, Any] = {"time": str(self.time) if "time" in self._fields else None, "equivalent": self.equivalent}
        given |= {"per_sample": self.per_sample, "against": None if self.against is None else list(self.against)}
        shown = {name: value for name, value in given.items() if value is not None and value is not False}
        return {"quantity": self.kind, **self.setting.parameters, **shown, **self.options}

    def problem(self, sizes: Sizes) -> Problem:
        """Return the quantity at ``sizes`` as plain numbers; QuantityError or ValueError for sizes it cannot have."""
        network = self.setting.network
        eta0, gamma0 = self.against or constants(network.activation, network.depth)
        if eta0 == 0 and self.kind in ("mutual_information_gap", "generalisation_gap"):
            raise QuantityError(f"eta_0 = 0 for {network}: the equivalent linear model does not see the input")
        return Problem(
            self.setting.layer_widths(sizes),
            self.setting.n_samples(sizes),
            float(self.setting.noise),
            network.activation,
            self.setting.readout,
            eta0,
            gamma0,
            1.0 if self.equivalent else float(self.time),
        )

    @functools.cached_property
    def _samplers(self) -> dict[Problem, Any]:
        return {}

    def sampler(self, sizes: Sizes) -> Sampler:
        """Return the callable (rng, draws) -> array (draws,) or, two-sided, (draws, 3).

        Raises QuantityError where only the exact value was asked for.
        """
        if self.exact_only:
            raise QuantityError(f"{self.name} was asked for its exact value only: leave out exact_only to draw from it")
        key = self.problem(sizes)
        if key not in self._samplers:
            self._samplers[key] = make_sampler(self.kind, self.regime, self.options, self.per_sample, key)
        sampler: Sampler = self._samplers[key]
        return sampler

    def pilots(self, sizes: Sequence[Sizes]) -> Sequence[Pilot]:
        """Return the annealing schedules that are still to be tuned."""
        if self.exact_only or self.method.pilots is None:
            return ()
        missing = [key for key in dict.fromkeys(self.problem(entry) for entry in sizes) if key not in self._samplers]
        # The slowest ones, at the largest sizes, first.
        return [pilot for key in missing[::-1] for pilot in self.method.pilots(key, **self.options)]

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return the exact value where there is one: one sample, or a linear model with linear readout.

        None at sizes or noises that are out of its reach, too.
        """
        from theoryck.numerics.errors import ExactError

        if not self.can_exact:
            return None
        try:
            return exact_value(self.kind, self.problem(sizes), self.setting, self.per_sample, digits)
        except ExactError:
            if self.exact_only:
                raise
            return None

    @property
    def certified_sizes(self) -> tuple[str, ...]:
        """The samples and the widths that the certificate of a linear network speaks of: none of d_0."""
        return self._certified_sizes if self.setting.linear_readout and self.against is None else ()

    _certified_sizes: ClassVar[tuple[str, ...]] = ()

    def certificate_cost(self) -> float | None:
        return 0.01 if self.certified_sizes else None

    def for_every_size(
        self, rate: Fraction | None = None, *, constant: Decimal | None = None, start: int = 1, both: bool = False
    ) -> Certificate:
        if not self.certified_sizes:
            return super().for_every_size(rate, constant=constant, start=start, both=both)  # says why not
        from theoryck.theory.networks.certificates.refusals import answer

        def find(size: int) -> Certificate:
            found = self._certificate(size)
            if both and found.least is None:
                raise NoCertificate("no bound from below is proved: claim a Bound")
            return found

        return answer(self, None, find, rate, constant, start, own=Fraction(-1))

    def _certificate(self, start: int) -> Certificate:
        raise NotImplementedError

    def cost(self, sizes: Sizes) -> float:
        """Return the time of a draw, in random numbers."""
        return float(self.sampler(sizes).cost)

    def relative_noise(self, sizes: Sizes) -> float:
        """Return 0.6: draws are averages over data sets, which scatter by 0.3 to 0.8 of their mean in the claims of proofs."""
        return 0.6

    def block_draws(self, sizes: Sizes) -> int:
        """Return the draws of a block: a power of two, at least 4 so that a block has an error bar."""
        wanted = max(int(LONG_BLOCK * NUMBERS_PER_BLOCK / max(self.cost(sizes), 1.0)), 4)
        return min(1 << (wanted.bit_length() - 1), LARGEST_BLOCK)

    def __getstate__(self) -> Mapping[str, Any]:
        # Samplers are made again where they are needed: they may hold tables.
        return self._fields


@dataclass(frozen=True, repr=False)
class free_entropy(LearningQuantity):
    """f_n = (1/n) E log Z(D), Z(D) = E_theta prod_mu P_out(Y_mu | a . x_L(mu)), in nats.

    ``setting`` is a TeacherStudent with noise > 0; ``equivalent`` measures the equivalent linear model.  Two-sided for phi that is
    not linear.  Raises QuantityError for anything that is no TeacherStudent.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> free_entropy(setting).draw(np.random.default_rng(0), 100, {}).shape
    (100,)
    """

    equivalent: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, repr=False)
class free_entropy_variance(LearningQuantity):
    """Var((1/n) log Z(D)) over data sets, which the concentration theorem bounds by C (1/n + 1/d_min).

    One draw is the unbiased sample variance of eight independent data sets; ``target_width`` as in
    :class:`mutual_information_gap`.  Raises QuantityError for a width where there is no bracket.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> bool(free_entropy_variance(setting).draw(np.random.default_rng(0), 100, {}).min() > 0)
    True
    """

    equivalent: bool = field(default=False, kw_only=True)
    target_width: float | None = field(default=None, kw_only=True)
    data_sets_per_draw: ClassVar[int] = 8
    method_options: ClassVar[tuple[str, ...]] = ("target_width",)

    def __post_init__(self) -> None:
        if self.equivalent and self.target_width is not None:
            raise QuantityError(
                "target_width is for the evidence of a network: the equivalent linear model's is known, leave it out"
            )
        _aim(self)
        super().__post_init__()

    @property
    def _certified_sizes(self) -> tuple[str, ...]:  # type: ignore[override]
        samples = str(self.setting.samples)
        if self.equivalent:
            return (samples,)
        return (samples, *self.setting.network.pattern[1:]) if self.regime == LINEAR and self.setting.network.depth else ()

    def _certificate(self, start: int) -> Certificate:
        from theoryck.theory.learning import certificates

        prove = certificates.linear_model_variance if self.equivalent else certificates.free_entropy_variance
        return prove(self.setting.network.activation, self.setting.network.depth, self.setting.noise, start)

    def limiting_constant(self, ratios: Sequence[Fraction]) -> float | None:
        return 0.5 if self.equivalent else None


@dataclass(frozen=True, repr=False)
class mutual_information(LearningQuantity):
    """I_n(theta; D) = -E log Z - (n/2) log(2 pi e Delta) in nats, of all n samples together or ``per_sample``.

    For the equivalent linear model its two unknowns v and xi both count.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=0, widths=(1,)), samples=1)
    >>> bool(0.3 < mutual_information(setting).draw(np.random.default_rng(0), 1000, {}).mean() < 0.5)
    True
    """

    equivalent: bool = field(default=False, kw_only=True)
    per_sample: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, repr=False)
class mutual_information_gap(LearningQuantity):
    """I_n^(L) - I_n^(0) in nats, network minus equivalent linear model, of all samples together or ``per_sample``.

    For f linear it is T_1 - KL (the covariances' part, less a divergence), so that two large numbers are never subtracted.
    ``against`` compares with a linear model of other constants (eta_0, gamma_0) than the network's own, for phi not linear;
    ``target_width`` is the width in nats, of all samples together, at which the two ends of a network's interval aim: 0.01 if
    not given, at least 1e-6; ``exact_only`` takes the exact route alone, for one sample.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> bool(mutual_information_gap(setting).draw(np.random.default_rng(0), 100, {}).max() <= 0)  # linear depth never adds any
    True
    """

    per_sample: bool = field(default=False, kw_only=True)
    against: tuple[Any, Any] | None = field(default=None, kw_only=True)  # type: ignore[assignment]
    target_width: float | None = field(default=None, kw_only=True)
    exact_only: bool = field(default=False, kw_only=True)
    method_options: ClassVar[tuple[str, ...]] = ("target_width",)

    def __post_init__(self) -> None:
        _aim(self)
        object.__setattr__(self, "against", _other_constants(self.against, self.setting))
        super().__post_init__()

    @property
    def _certified_sizes(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.setting.network.pattern[1:] if self.per_sample and self.regime == LINEAR else ()

    def _certificate(self, start: int) -> Certificate:
        from theoryck.theory.learning.certificates import information_gap

        return information_gap(self.setting.network.activation, self.setting.network.depth, self.setting.noise, start)


@dataclass(frozen=True, repr=False)
class covariance_gap(LearningQuantity):
    """T_1 = E_X log det (C_L C_0^{-1}) / 2 in nats, C_L and C_0 the covariances of Y given X in network and linear model.

    I_n^(L) - I_n^(0) = T_1 - KL with KL >= 0: T_1 is an upper bound of the gap and needs kernels of the inputs only, so that it is
    measured at any size.  phi not linear, f linear; ``against`` as in :class:`mutual_information_gap`.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("erf", depth=1, widths=(32, 32)), samples=32)
    >>> bool(abs(covariance_gap(setting).draw(np.random.default_rng(0), 400, {}).mean() + 0.06) < 0.01)
    True
    """

    per_sample: bool = field(default=False, kw_only=True)
    against: tuple[Any, Any] | None = field(default=None, kw_only=True)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "against", _other_constants(self.against, self.setting))
        super().__post_init__()


@dataclass(frozen=True, repr=False)
class generalisation_error(LearningQuantity):
    """The Bayes-optimal error E (Y_new - E[Y_new | D, x_new])^2, which contains the noise Delta.

    The slides of the source leave out the expectation, which is meant.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> bool(0.5 < generalisation_error(setting).draw(np.random.default_rng(0), 100, {}).mean() < 1.5)
    True
    """

    equivalent: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, repr=False)
class generalisation_gap(LearningQuantity):
    """E^(L) - E^(0), the Bayes error of the network less that of the equivalent linear model.

    For f linear it is a difference of linear predictors less E |m_L - m_lin|^2, of definite sign: errors are never subtracted.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> bool(generalisation_gap(setting).draw(np.random.default_rng(0), 100, {}).max() <= 0)
    True
    """


@dataclass(frozen=True, repr=False)
class gibbs_error(LearningQuantity):
    """E (Y_new - a . x_L(x_new))^2 with (a, W) one sample of the posterior: 2 E^(L) - Delta, above the Bayes error.

    phi not linear, f linear.  By the Nishimori identities: teacher and sample are alike given the data.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> gibbs_error(TeacherStudent(DeepNetwork("tanh", depth=1, widths=(4, 4)), samples=4)).two_sided
    True
    """


@dataclass(frozen=True, repr=False)
class linear_predictor_gap(LearningQuantity):
    """E_lin - E^(0): error of the best linear predictor of the network's data, less the Bayes error of the linear model.

    An upper bound of :class:`generalisation_gap` that needs kernels of the inputs only.  phi not linear, f linear; at depth >= 2
    the linear predictor is that of the infinitely wide network.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("sin", depth=1, widths=(16, 16)), samples=16)
    >>> bool(-0.26 < 16 * linear_predictor_gap(setting).draw(np.random.default_rng(0), 200, {}).mean() < -0.19)
    True
    """


@dataclass(frozen=True, repr=False)
class nishimori_defect(LearningQuantity):
    """E q(theta_k; D) - E q(theta*; D), theta_k after ``moves`` moves of a posterior chain that starts at the teacher: 0.

    The teacher is a sample of the posterior of a student who knows the model, so every statistic keeps its mean along the
    chain. ``statistic`` is "likelihood", "residual" |Y - a . x_L|^2/n, "alignment" with the linear predictor or "power" of the
    predicted signal; ``student_noise`` is what the student believes of Delta, the truth if not given.  phi not linear, f
    linear.  Raises QuantityError for another statistic or moves below 1.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("tanh", depth=1, widths=(6, 6)), samples=6)
    >>> wrong = nishimori_defect(setting, student_noise=0.25).draw(np.random.default_rng(0), 200, {})
    >>> bool(wrong.mean() < -0.05)  # believing in less noise, the student fits too closely
    True
    """

    statistic: str = "residual"
    student_noise: float | None = field(default=None, kw_only=True)
    moves: int = field(default=16, kw_only=True)
    method_options: ClassVar[tuple[str, ...]] = ("statistic", "moves", "student_noise")

    def __post_init__(self) -> None:
        if self.statistic not in STATISTICS:
            raise QuantityError(f"statistic must be one of {', '.join(STATISTICS)}, got {self.statistic!r}")
        if isinstance(self.moves, bool) or not isinstance(self.moves, int) or self.moves < 1:
            raise QuantityError(
                f"moves must be an integer >= 1 (at the teacher a statistic is compared with itself), got {self.moves!r}"
            )
        object.__setattr__(self, "student_noise", _positive(self.student_noise, "student_noise"))
        super().__post_init__()


@dataclass(frozen=True, repr=False)
class interpolation(LearningQuantity):
    """f_t = (1/n) E log Z_t of Y = f(sqrt(1-t) a . x_L + sqrt(t) (eta_0 v . x_0 + sqrt(gamma_0) xi)) + sqrt(Delta) Z.

    ``time`` t from 0 (the network) to 1 (the equivalent linear model); a, W, v and xi are all unknown to the student.  With
    ``divergence`` it is n (f_t - f_1) instead, for f linear: the divergence of the data at t from those of the linear model, up to
    their covariances.  Raises QuantityError for a time outside [0, 1].

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> rng = np.random.default_rng(0)
    >>> near, far = (interpolation(setting, t, divergence=True).draw(rng, 100, {}).mean() for t in ("3/4", 0))
    >>> bool(0 < near < far)
    True
    """

    time: Any
    divergence: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", _time(self.time))
        super().__post_init__()

    @property
    def kind(self) -> str:
        """The row of the table of methods."""
        return "interpolation_divergence" if self.divergence else "interpolation"


# Arguments ---------------------------------------------------------------------------------------------------------------------


def check_setting(setting: Any) -> None:
    """Raise QuantityError for anything that is no TeacherStudent."""
    if not hasattr(setting, "n_samples"):
        raise QuantityError(
            f"setting must be a theoryck.TeacherStudent (network, samples, noise, readout), got {setting!r}: a network alone "
            "does not say what is learned"
        )


def _positive(value: Any, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not 0 < value < math.inf:
        raise QuantityError(f"{name} must be a positive number, got {value!r}")
    return float(value)


def _aim(quantity: free_entropy_variance | mutual_information_gap) -> None:
    """Check and set the width at which brackets aim; QuantityError for what is no number, takes for ever or has no use."""
    given = quantity.target_width
    width = _positive(given, "target_width")
    if width is not None and width < NARROWEST:
        raise QuantityError(
            f"target_width must be at least {NARROWEST:g} nats, got {given!r}: the work for a draw grows like its inverse, and "
            "more draws make the error of the mean small"
        )
    check_setting(quantity.setting)
    if width is not None and (quantity.setting.linear_activation or not quantity.setting.linear_readout):
        raise QuantityError("target_width needs an activation that is not linear and a linear readout: leave it out")
    object.__setattr__(quantity, "target_width", width)


def _other_constants(value: Any, setting: TeacherStudent) -> tuple[float, float] | None:
    """Return (eta_0, gamma_0) of another linear model, None as it is; QuantityError for what is no such pair or has no use."""
    check_setting(setting)
    if value is None:
        return None
    try:
        eta0, gamma0 = (float(entry) for entry in value)
    except (TypeError, ValueError):
        raise QuantityError(f"against must be the pair (eta_0, gamma_0) of a linear model, got {value!r}") from None
    if not (math.isfinite(eta0) and math.isfinite(gamma0) and eta0 != 0 and gamma0 >= 0):
        raise QuantityError(f"against needs eta_0 != 0 and gamma_0 >= 0, both finite, got {value!r}")
    if setting.linear_activation or not setting.linear_readout:
        raise QuantityError("against needs an activation that is not linear and a linear readout: else covariances do not suffice")
    return eta0, gamma0


def _time(value: Any) -> Fraction:
    if isinstance(value, bool):
        raise QuantityError(f"time must be a number from 0 (network) to 1 (linear model), got {value!r}")
    try:
        # A float is the decimal that it prints as.
        time = Fraction(repr(float(value))) if isinstance(value, float | np.floating) else Fraction(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise QuantityError(f"time must be a number from 0 (network) to 1 (linear model), got {value!r}") from None
    if not 0 <= time <= 1:
        raise QuantityError(f"time must lie between 0 (network) and 1 (linear model), got {value!r}")
    return time
