"""What a student learns from a teacher: free entropy, mutual information, generalisation error, and the path between two models.

Every quantity is a mean over independent data sets.  Where phi and f are linear a draw is unbiased; where phi is not, log Z is
known from below and from above, and the quantity is two-sided.  ``equivalent=True`` measures the equivalent generalised linear
model of the network, Y = f(eta_0 v . x_0 + sqrt(gamma_0) xi) + sqrt(Delta) Z, instead of the network.

Source: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from theoryck.montecarlo import Executor, Sampler
from theoryck.quantities.base import LARGEST_BLOCK, NUMBERS_PER_BLOCK, Quantity, QuantityError, Sizes
from theoryck.records import Enclosure
from theoryck.theory.learning.arguments import aimed_width, check_setting, known_options, other_constants, positive, time_of
from theoryck.theory.learning.problem import Problem, exact_value, make_sampler, method_of, problem

if TYPE_CHECKING:
    from theoryck.theory.learning.model import TeacherStudent

LONG_BLOCK = 16
"""Blocks of data sets are this much longer than other blocks: a data set is worked on together with many others."""


class LearningQuantity(Quantity):
    """A mean over data sets of a :class:`~theoryck.theory.learning.TeacherStudent`; ``kind`` says of what.

    Its functions (:func:`mutual_information` and others) say which settings it can be had for.  Widths and samples are those of
    the
    setting at the sizes; where ``two_sided`` is True a draw is low, high and estimate.  Raises QuantityError for a noise that
    is 0
    or out of range.

    >>> import numpy as np
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

    kind = ""
    data_sets_per_draw = 1

    def __init__(
        self,
        setting: TeacherStudent,
        *,
        equivalent: bool = False,
        per_sample: bool = False,
        time: Fraction = Fraction(0),
        against: tuple[float, float] | None = None,
        options: tuple[tuple[str, Any], ...] = (),
        exact_only: bool = False,
    ) -> None:
        check_setting(setting)
        if setting.noise == 0:
            raise QuantityError("the noise must be > 0, got 0: without noise the outputs have no density given the weights")
        self.setting = setting
        self.equivalent = bool(equivalent)
        self.per_sample = bool(per_sample)
        self.time = time
        self.against = against
        self.options = options
        self.exact_only = bool(exact_only)
        self.method = method_of(self.kind, setting, self.equivalent, time)
        least, most = self.method.least_noise, self.method.most_noise
        if not least <= setting.noise <= most:
            raise QuantityError(
                f"the noise must lie between {least:g} and {most:g} for {self.kind} of a network or readout that is not linear, "
                f"got {float(setting.noise):g}: the evidence could not be told from rounding errors"
            )
        self._samplers: dict[Problem, Any] = {}

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
        return self.method.exact

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
        parts += [f"{option}={value}" for option, value in self.options]
        name = f"{self.kind}({', '.join(parts)})"
        return f"{name}/n" if self.per_sample else name

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        parameters = {"quantity": self.kind, **self.setting.parameters}
        if self.kind == "interpolation":
            parameters["time"] = str(self.time)
        if self.equivalent:
            parameters["equivalent"] = True
        if self.per_sample:
            parameters["per_sample"] = True
        if self.against is not None:
            parameters["against"] = list(self.against)
        return parameters | dict(self.options)

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes in which widths and samples are given."""
        return self.setting.names

    def problem(self, sizes: Sizes) -> Problem:
        """Return the quantity at ``sizes`` as plain numbers; QuantityError or ValueError for sizes it cannot have."""
        return problem(self.kind, self.setting, sizes, self.equivalent, self.per_sample, self.time, self.against, self.options)

    def sampler(self, sizes: Sizes) -> Sampler:
        """Return the callable (rng, draws) -> array (draws,) or, two-sided, (draws, 3).

        Raises QuantityError where only the exact value was asked for.
        """
        if self.exact_only:
            raise QuantityError(f"{self.name} was asked for its exact value only: leave out exact_only to draw from it")
        key = self.problem(sizes)
        if key not in self._samplers:
            self._samplers[key] = make_sampler(self.method, key)
        sampler: Sampler = self._samplers[key]
        return sampler

    def samplers(self, sizes: Sequence[Sizes], executor: Executor | None = None) -> list[Sampler]:
        """Return the samplers at several sizes, made by all workers where a schedule has to be tuned."""
        missing = [key for key in dict.fromkeys(self.problem(entry) for entry in sizes) if key not in self._samplers]
        if executor is not None and executor.workers > 1 and self.method.slow and len(missing) > 1:
            # The slowest ones, at the largest sizes, first.
            order = missing[::-1]
            self._samplers |= dict(zip(order, executor.map(functools.partial(make_sampler, self.method), order), strict=True))
        return [self.sampler(entry) for entry in sizes]

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return the exact value where there is one: one sample, or a linear model with linear readout.

        None at sizes or noises that are out of its reach, too.
        """
        from theoryck.numerics.errors import ExactError

        if not self.can_exact:
            return None
        try:
            return exact_value(self.problem(sizes), self.setting, digits)
        except ExactError:
            if self.exact_only:
                raise
            return None

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

    def __reduce__(self) -> tuple[Any, ...]:
        # Samplers are made again where they are needed: they may hold tables.
        return functools.partial(
            type(self),
            equivalent=self.equivalent,
            per_sample=self.per_sample,
            time=self.time,
            against=self.against,
            options=self.options,
            exact_only=self.exact_only,
        ), (self.setting,)


class FreeEntropy(LearningQuantity):
    """(1/n) E log Z(D)."""

    kind = "free_entropy"


class FreeEntropyVariance(LearningQuantity):
    """Var((1/n) log Z(D)), from sample variances of eight data sets."""

    kind = "free_entropy_variance"
    data_sets_per_draw = 8


class MutualInformation(LearningQuantity):
    """I_n, all samples together."""

    kind = "mutual_information"


class MutualInformationGap(LearningQuantity):
    """I_n^(L) - I_n^(0), all samples together."""

    kind = "mutual_information_gap"


class CovarianceGap(LearningQuantity):
    """T_1, the covariances' part of I_n^(L) - I_n^(0): an upper bound of it."""

    kind = "covariance_gap"


class GeneralisationError(LearningQuantity):
    """E (Y_new - E[Y_new | D])^2."""

    kind = "generalisation_error"


class GeneralisationGap(LearningQuantity):
    """E^(L) - E^(0)."""

    kind = "generalisation_gap"


class GibbsError(LearningQuantity):
    """E (Y_new - y)^2 with the signal y of one posterior sample."""

    kind = "gibbs_error"


class LinearPredictorGap(LearningQuantity):
    """E_lin - E^(0), the error of the best linear predictor of the network's data less the Bayes error of its linear model."""

    kind = "linear_predictor_gap"


class NishimoriDefect(LearningQuantity):
    """E q(theta_k; D) - E q(theta*; D) of a posterior chain that starts at the teacher."""

    kind = "nishimori_defect"


class Interpolation(LearningQuantity):
    """(1/n) E log Z_t along the path from the network to the equivalent linear model."""

    kind = "interpolation"


class InterpolationDivergence(LearningQuantity):
    """n (f_t - f_1) for f linear: the divergence of the data at t from those of the linear model, up to their covariances."""

    kind = "interpolation_divergence"


def free_entropy(setting: TeacherStudent, *, equivalent: bool = False) -> FreeEntropy:
    """Return f_n = (1/n) E log Z(D), Z(D) = E_theta prod_mu P_out(Y_mu | a . x_L(mu)), in nats.

    ``setting`` is a TeacherStudent with noise > 0; ``equivalent`` measures the equivalent linear model.  Two-sided for phi that is
    not linear.  Raises QuantityError for anything that is no TeacherStudent.

    Source: arXiv:2505.03577, free entropy.

    >>> import numpy as np
    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> free_entropy(setting).draw(np.random.default_rng(0), 100, {}).shape
    (100,)
    """
    return FreeEntropy(setting, equivalent=equivalent)


def free_entropy_variance(
    setting: TeacherStudent, *, equivalent: bool = False, target_width: float | None = None
) -> FreeEntropyVariance:
    """Return Var((1/n) log Z(D)) over data sets, which the concentration theorem bounds by C (1/n + 1/d_min).

    One draw is the unbiased sample variance of eight independent data sets; ``target_width`` as in
    :func:`mutual_information_gap`.  Raises QuantityError for a width where there is no bracket.

    Source: arXiv:2505.03577, concentration of the free entropy.

    >>> import numpy as np
    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> bool(free_entropy_variance(setting).draw(np.random.default_rng(0), 100, {}).min() > 0)
    True
    """
    if equivalent and target_width is not None:
        raise QuantityError("target_width is for the evidence of a network: the equivalent linear model's is known, leave it out")
    options = known_options(setting, target_width=aimed_width(target_width))
    return FreeEntropyVariance(setting, equivalent=equivalent, options=options)


def mutual_information(setting: TeacherStudent, *, equivalent: bool = False, per_sample: bool = False) -> MutualInformation:
    """Return I_n(theta; D) = -E log Z - (n/2) log(2 pi e Delta) in nats, of all n samples together or ``per_sample``.

    For the equivalent linear model its two unknowns v and xi both count.

    Source: arXiv:2505.03577, mutual information.

    >>> import numpy as np
    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=0, widths=(1,)), samples=1)
    >>> bool(0.3 < mutual_information(setting).draw(np.random.default_rng(0), 1000, {}).mean() < 0.5)
    True
    """
    return MutualInformation(setting, equivalent=equivalent, per_sample=per_sample)


def mutual_information_gap(
    setting: TeacherStudent,
    *,
    per_sample: bool = False,
    against: tuple[Any, Any] | None = None,
    target_width: float | None = None,
    exact_only: bool = False,
) -> MutualInformationGap:
    """Return I_n^(L) - I_n^(0) in nats, network minus equivalent linear model, of all samples together or ``per_sample``.

    For f linear it is T_1 - KL (the covariances' part, less a divergence), so that two large numbers are never subtracted.
    ``against`` compares with a linear model of other constants (eta_0, gamma_0) than the network's own, for phi not linear;
    ``target_width`` is the width in nats, of all samples together, at which the two ends of a network's interval aim: 0.01 if
    not given, at least 1e-6;
    ``exact_only`` takes the exact route alone, for one sample.

    Source: arXiv:2505.03577, one-layer and deep reduction.

    >>> import numpy as np
    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> bool(mutual_information_gap(setting).draw(np.random.default_rng(0), 100, {}).max() <= 0)  # linear depth never adds any
    True
    """
    options = known_options(setting, target_width=aimed_width(target_width))
    return MutualInformationGap(
        setting, per_sample=per_sample, against=other_constants(against, setting), options=options, exact_only=exact_only
    )


def covariance_gap(setting: TeacherStudent, *, per_sample: bool = False, against: tuple[Any, Any] | None = None) -> CovarianceGap:
    """Return T_1 = E_X log det (C_L C_0^{-1}) / 2 in nats, C_L and C_0 the covariances of Y given X in network and linear model.

    I_n^(L) - I_n^(0) = T_1 - KL with KL >= 0: T_1 is an upper bound of the gap and needs kernels of the inputs only, so that it is
    measured at any size.  phi not linear, f linear; ``against`` as in :func:`mutual_information_gap`.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("erf", depth=1, widths=(32, 32)), samples=32)
    >>> import numpy as np
    >>> bool(abs(covariance_gap(setting).draw(np.random.default_rng(0), 400, {}).mean() + 0.06) < 0.01)
    True
    """
    return CovarianceGap(setting, per_sample=per_sample, against=other_constants(against, setting))


def generalisation_error(setting: TeacherStudent, *, equivalent: bool = False) -> GeneralisationError:
    """Return the Bayes-optimal error E (Y_new - E[Y_new | D, x_new])^2, which contains the noise Delta.

    Source: arXiv:2505.03577, generalisation error; the slides leave out the expectation, which is meant.

    >>> import numpy as np
    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> bool(0.5 < generalisation_error(setting).draw(np.random.default_rng(0), 100, {}).mean() < 1.5)
    True
    """
    return GeneralisationError(setting, equivalent=equivalent)


def generalisation_gap(setting: TeacherStudent) -> GeneralisationGap:
    """Return E^(L) - E^(0), the Bayes error of the network less that of the equivalent linear model.

    For f linear it is a difference of linear predictors less E |m_L - m_lin|^2, of definite sign: errors are never subtracted.

    >>> import numpy as np
    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> bool(generalisation_gap(setting).draw(np.random.default_rng(0), 100, {}).max() <= 0)
    True
    """
    return GeneralisationGap(setting)


def gibbs_error(setting: TeacherStudent) -> GibbsError:
    """Return E (Y_new - a . x_L(x_new))^2 with (a, W) one sample of the posterior: 2 E^(L) - Delta, above the Bayes error.

    phi not linear, f linear.  Source: the Nishimori identities; teacher and sample are alike given the data.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> gibbs_error(TeacherStudent(DeepNetwork("tanh", depth=1, widths=(4, 4)), samples=4)).two_sided
    True
    """
    return GibbsError(setting)


def linear_predictor_gap(setting: TeacherStudent) -> LinearPredictorGap:
    """Return E_lin - E^(0): error of the best linear predictor of the network's data, less the Bayes error of the linear model.

    An upper bound of :func:`generalisation_gap` that needs kernels of the inputs only.  phi not linear, f linear; at depth >= 2 the
    linear predictor is that of the infinitely wide network.

    >>> import numpy as np
    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("sin", depth=1, widths=(16, 16)), samples=16)
    >>> bool(-0.26 < 16 * linear_predictor_gap(setting).draw(np.random.default_rng(0), 200, {}).mean() < -0.19)
    True
    """
    return LinearPredictorGap(setting)


def nishimori_defect(
    setting: TeacherStudent, statistic: str = "residual", *, student_noise: float | None = None, moves: int = 16
) -> NishimoriDefect:
    """Return E q(theta_k; D) - E q(theta*; D), theta_k after ``moves`` moves of a posterior chain that starts at the teacher: 0.

    The teacher is a sample of the posterior of a student who knows the model, so every statistic keeps its mean along the
    chain. ``statistic`` is "likelihood", "residual" |Y - a . x_L|^2/n, "alignment" with the linear predictor or "power" of the
    predicted signal; ``student_noise`` is what the student believes of Delta, the truth if not given.  phi not linear, f
    linear.  Raises QuantityError for another statistic or moves below 1.

    >>> import numpy as np
    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("tanh", depth=1, widths=(6, 6)), samples=6)
    >>> wrong = nishimori_defect(setting, student_noise=0.25).draw(np.random.default_rng(0), 200, {})
    >>> bool(wrong.mean() < -0.05)  # believing in less noise, the student fits too closely
    True
    """
    from theoryck.theory.learning.draws.regression_chains import Statistic

    known = [entry.value for entry in Statistic]
    if statistic not in known:
        raise QuantityError(f"statistic must be one of {', '.join(known)}, got {statistic!r}")
    if isinstance(moves, bool) or not isinstance(moves, int) or moves < 1:
        raise QuantityError(f"moves must be an integer >= 1 (at the teacher a statistic is compared with itself), got {moves!r}")
    check_setting(setting)
    options: dict[str, Any] = {"statistic": statistic, "moves": moves, "student_noise": positive(student_noise, "student_noise")}
    given = tuple((name, value) for name, value in options.items() if value is not None)
    return NishimoriDefect(setting, options=given)


def interpolation(setting: TeacherStudent, time: Any, *, divergence: bool = False) -> Interpolation | InterpolationDivergence:
    """Return f_t = (1/n) E log Z_t of Y = f(sqrt(1-t) a . x_L + sqrt(t) (eta_0 v . x_0 + sqrt(gamma_0) xi)) + sqrt(Delta) Z.

    ``time`` t from 0 (the network) to 1 (the equivalent linear model); a, W, v and xi are all unknown to the student.  With
    ``divergence`` it is n (f_t - f_1) instead, for f linear.  Raises QuantityError for a time outside [0, 1].

    Source: arXiv:2505.03577, interpolation in the proof of the one-layer reduction.

    >>> import numpy as np
    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("x", depth=1, widths=(8, 8)), samples=8)
    >>> rng = np.random.default_rng(0)
    >>> near, far = (interpolation(setting, t, divergence=True).draw(rng, 100, {}).mean() for t in ("3/4", 0))
    >>> bool(0 < near < far)
    True
    """
    kind = InterpolationDivergence if divergence else Interpolation
    return kind(setting, time=time_of(time))
