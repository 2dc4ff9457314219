"""How each kind of quantity is measured in each regime: one table of samplers, and the exact values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.base import QuantityError
from theoryck.quantities.pilots import Pilot
from theoryck.records import Enclosure

if TYPE_CHECKING:
    from theoryck.theory.learning.model import TeacherStudent
    from theoryck.theory.learning.problem import Problem

LINEAR, NETWORK, READOUT = "a linear network", "a network that is not linear", "a readout that is not linear"
"""The regimes; the equivalent linear model with linear readout is a linear network of depth 0."""

NOISE_RANGE = (1e-6, 1e6)
"""Noise variances at which evidence is annealed: outside, exponents and covariances lose all their digits."""

EXACT = frozenset({"mutual_information", "mutual_information_gap", "generalisation_error", "free_entropy", "interpolation"})
"""Kinds that have an exact value at some sizes."""


@dataclass(frozen=True, slots=True)
class Method:
    """``make`` builds a sampler from a Problem and options, ``two_sided`` or not.

    ``pilots`` gives what is still to be found out before, where that is slow.
    """

    make: Callable[..., Any]
    two_sided: bool = False
    pilots: Callable[..., Sequence[Pilot]] | None = None


@dataclass(frozen=True, slots=True)
class Scaled:
    """A sampler times a positive number."""

    sampler: Any
    factor: float

    @property
    def cost(self) -> float:
        """The cost of the sampler."""
        return float(self.sampler.cost)

    @property
    def version(self) -> int:
        """The version of the sampler."""
        return int(self.sampler.version)

    def __call__(self, rng: np.random.Generator, draws: int) -> NDArray[np.float64]:
        """Return the scaled draws."""
        values: NDArray[np.float64] = self.sampler(rng, draws) * self.factor
        return values


# The modules that draw are loaded when the first sampler is made: scipy takes half a second.


def _linear() -> Any:
    from theoryck.theory.learning.draws import deep_linear

    return deep_linear


def _model(problem: Problem) -> Any:
    from theoryck.theory.learning.draws.deep_linear_model import model_of

    return model_of(problem)


def _evidence() -> Any:
    from theoryck.theory.learning.draws import evidence

    return evidence


def _regression() -> Any:
    from theoryck.theory.learning.draws import regression

    return regression


def _chains() -> Any:
    from theoryck.theory.learning.draws import chains

    return chains


def _readout() -> Any:
    from theoryck.theory.learning.draws import readout

    return readout


def _evidence_pilots(problem: Problem, **options: Any) -> Sequence[Pilot]:
    return _evidence().pilots(problem, against_noise=True, **options)


def _gap_pilots(problem: Problem, **options: Any) -> Sequence[Pilot]:
    return _evidence().pilots(problem, against_noise=False, **options)


def _variance_pilots(problem: Problem, **options: Any) -> Sequence[Pilot]:
    return _evidence().variance_pilots(problem, **options)


_FREE_ENTROPY = {
    LINEAR: Method(lambda problem: _linear().FreeEntropy(_model(problem))),
    NETWORK: Method(lambda problem: _evidence().free_entropy(problem), two_sided=True, pilots=_evidence_pilots),
    READOUT: Method(lambda problem: _readout().FreeEntropy(problem), two_sided=True),
}

METHODS: dict[str, dict[str, Method]] = {
    "free_entropy": _FREE_ENTROPY,
    "free_entropy_variance": {
        LINEAR: Method(lambda problem: _linear().FreeEntropyVariance(_model(problem))),
        NETWORK: Method(lambda problem, **options: _evidence().free_entropy_variance(problem, **options), pilots=_variance_pilots),
        READOUT: Method(lambda problem: _readout().FreeEntropyVariance(problem)),
    },
    "mutual_information": {
        # The effective noise of the linear model is one of its unknowns, that of the channel is not.
        LINEAR: Method(lambda problem: _linear().MutualInformation(_model(problem), problem.noise)),
        NETWORK: Method(lambda problem: _evidence().mutual_information(problem), two_sided=True, pilots=_evidence_pilots),
        READOUT: Method(lambda problem: _readout().MutualInformation(problem), two_sided=True),
    },
    "mutual_information_gap": {
        LINEAR: Method(lambda problem: _linear().InformationGap(_model(problem))),
        NETWORK: Method(lambda problem, **kept: _evidence().information_gap(problem, **kept), two_sided=True, pilots=_gap_pilots),
        READOUT: Method(lambda problem: _readout().InformationGap(problem), two_sided=True),
    },
    "covariance_gap": {NETWORK: Method(lambda problem: _evidence().CovarianceGap(problem))},
    "generalisation_error": {
        LINEAR: Method(lambda problem: _linear().GeneralisationError(_model(problem))),
        NETWORK: Method(lambda problem: _regression().generalisation_error(problem), two_sided=True),
        READOUT: Method(lambda problem: _readout().GeneralisationError(problem), two_sided=True),
    },
    "generalisation_gap": {
        LINEAR: Method(lambda problem: _linear().GeneralisationGap(_model(problem))),
        NETWORK: Method(lambda problem: _regression().generalisation_gap(problem), two_sided=True),
        READOUT: Method(lambda problem: _readout().GeneralisationGap(problem), two_sided=True),
    },
    "gibbs_error": {NETWORK: Method(lambda problem: _regression().gibbs_error(problem), two_sided=True)},
    "linear_predictor_gap": {NETWORK: Method(lambda problem: _regression().linear_gap(problem))},
    "nishimori_defect": {NETWORK: Method(lambda problem, **options: _chains().nishimori_defect(problem, **options))},
    "interpolation": _FREE_ENTROPY,
    "interpolation_divergence": {
        LINEAR: Method(lambda problem: _linear().PathDivergence(_model(problem))),
        NETWORK: Method(lambda problem: _evidence().path_divergence(problem), two_sided=True, pilots=_gap_pilots),
    },
}
"""Kind x regime -> how it is measured."""


def regime_of(setting: TeacherStudent, linear_model: bool) -> str:
    """Return the regime in which ``setting``, or its equivalent linear model, is measured."""
    if not setting.linear_readout:
        return READOUT
    return LINEAR if linear_model or setting.linear_activation else NETWORK


def method_of(kind: str, regime: str) -> Method:
    """Return how ``kind`` is measured in a regime; QuantityError where it cannot be."""
    if regime not in METHODS[kind]:
        possible = ", ".join(name for name, methods in METHODS.items() if regime in methods)
        raise QuantityError(f"{kind} cannot be measured for {regime}; these can: {possible}")
    return METHODS[kind][regime]


def make_sampler(kind: str, regime: str, options: dict[str, Any], per_sample: bool, problem: Problem) -> Any:
    """Return the sampler of a problem, divided by n where it is wanted per sample."""
    try:
        sampler = method_of(kind, regime).make(problem, **options)
    except np.linalg.LinAlgError as error:
        where = f"{kind} of {problem.activation.text} at widths {problem.widths}, n = {problem.n}, noise {problem.noise:g}"
        if type(error) is not np.linalg.LinAlgError:
            raise QuantityError(f"{where}: {error}") from error
        raise QuantityError(
            f"{where}: {error}; the covariance of the outputs is singular up to rounding errors: take more noise, or an activation "
            "that grows less fast"
        ) from error
    return Scaled(sampler, 1.0 / problem.n) if per_sample else sampler


def exact_value(kind: str, problem: Problem, setting: TeacherStudent, per_sample: bool, digits: int) -> Enclosure | None:
    """Return the exact value of a problem, or None where it has none.

    The linear model with linear readout, at any size, through the law of the eigenvalues of a Wishart matrix; one sample, with any
    activation and readout, by quadrature.
    """
    from theoryck.numerics.proved import arithmetic

    if setting.linear_readout and not problem.has_network:
        value = _exact_linear_model(kind, problem, setting, digits)
    else:
        value = _exact_one_sample(kind, problem, setting)
    if value is not None and per_sample:
        value = arithmetic.divide(value, arithmetic.enclose(problem.n), digits)
    return value


def _exact_one_sample(kind: str, problem: Problem, setting: TeacherStudent) -> Enclosure | None:
    """One sample of a network that is not linear, or of a linear model, with any readout."""
    from theoryck.theory.learning.proved.one_sample import one_sample_gap, one_sample_glm_information, one_sample_information

    # The law of a deep linear network's norm has a heavy tail, for which the quadrature takes up to a minute.
    slow = setting.linear_activation and problem.depth > 0
    if problem.n != 1 or slow or kind not in ("mutual_information", "mutual_information_gap"):
        return None
    if kind == "mutual_information_gap":
        value = one_sample_gap
    else:
        value = one_sample_glm_information if problem.depth > 0 and not problem.has_network else one_sample_information
    return value(problem.activation, problem.widths, setting.noise, problem.readout)


def _exact_linear_model(kind: str, problem: Problem, setting: TeacherStudent, digits: int) -> Enclosure | None:
    from theoryck.numerics.proved import arithmetic
    from theoryck.theory.learning.proved.linear_model import glm_error, glm_information
    from theoryck.theory.networks.proved.constants import network_constants

    found = network_constants(problem.activation, problem.depth, digits + 10)
    arguments = (found.eta0, found.gamma0, setting.noise, problem.n, problem.widths[0], digits)
    if kind == "mutual_information":
        return glm_information(*arguments)
    if kind == "generalisation_error":
        return glm_error(*arguments)
    if kind in ("free_entropy", "interpolation"):
        information = arithmetic.divide(glm_information(*arguments), arithmetic.enclose(problem.n), digits)
        return arithmetic.subtract(
            arithmetic.enclose(0), arithmetic.add(information, _noise_entropy(setting, digits), digits), digits
        )
    return None


def _noise_entropy(setting: TeacherStudent, digits: int) -> Enclosure:
    """Return log(2 pi e Delta)/2."""
    import sympy

    from theoryck.quantities.exact import closed_form

    variance = sympy.Rational(setting.noise.numerator, setting.noise.denominator)
    return closed_form(sympy.log(2 * sympy.pi * sympy.E * variance) / 2).exact({}, digits)
