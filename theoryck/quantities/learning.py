"""From a teacher-student setting to the sampler or exact value that measures it: one table of methods."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theoryck.quantities.base import QuantityError, Sizes
from theoryck.records import Enclosure

if TYPE_CHECKING:
    from theoryck.models import Activation, TeacherStudent

FLOAT_DIGITS = 20
"""Digits to which eta_0 and gamma_0 are computed before they are rounded to a float."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A quantity at given sizes as plain numbers: widths (d_0, ..., d_L), n samples, noise Delta, the constants of the network."""

    kind: str
    activation: Activation
    readout: Activation
    widths: tuple[int, ...]
    n: int
    noise: float
    eta0: float
    gamma0: float
    equivalent: bool
    per_sample: bool
    time: float
    options: tuple[tuple[str, Any], ...] = ()
    """What only some kinds know: the width an interval aims at, the noise a student believes in, the statistic of a chain."""


@dataclass(frozen=True, slots=True)
class Method:
    """How a kind of quantity is measured: ``make`` builds the sampler, ``two_sided`` and ``exact`` say what to expect,
    ``slow`` that a sampler takes long to make."""

    make: Callable[[Problem], Any]
    two_sided: bool = False
    exact: bool = False
    slow: bool = False
    least_noise: float = 0.0
    most_noise: float = math.inf


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


@functools.lru_cache(maxsize=256)
def constants(activation: Activation, depth: int) -> tuple[float, float]:
    """Return (eta_0, gamma_0) as floats.

    >>> from theoryck.models import Activation
    >>> constants(Activation("2*x"), 3), constants(Activation("tanh"), 0)
    ((8.0, 0.0), (1.0, 0.0))
    """
    from theoryck.exact import network_constants

    found = network_constants(activation, depth, FLOAT_DIGITS)
    return float(found.eta0), float(found.gamma0)


def problem(
    kind: str,
    setting: TeacherStudent,
    sizes: Sizes,
    equivalent: bool,
    per_sample: bool,
    time: Fraction,
    against: tuple[float, float] | None = None,
    options: tuple[tuple[str, Any], ...] = (),
) -> Problem:
    """Return the quantity at ``sizes`` as plain numbers; ``against`` replaces (eta_0, gamma_0) of the linear model."""
    eta0, gamma0 = against or constants(setting.network.activation, setting.network.depth)
    if eta0 == 0 and kind in ("mutual_information_gap", "generalisation_gap"):
        raise QuantityError(f"eta_0 = 0 for {setting.network}: the equivalent linear model does not see the input")
    return Problem(
        kind,
        setting.network.activation,
        setting.readout,
        setting.layer_widths(sizes),
        setting.n_samples(sizes),
        float(setting.noise),
        eta0,
        gamma0,
        equivalent,
        per_sample,
        float(time),
        options,
    )


NOISE_RANGE = (1e-6, 1e6)
"""Noise variances at which evidence is annealed: outside, exponents and covariances lose all their digits."""

EXACT = frozenset({"mutual_information", "mutual_information_gap", "generalisation_error", "free_entropy", "interpolation"})
"""Kinds that have an exact value at some sizes."""


def method_of(kind: str, setting: TeacherStudent, equivalent: bool, time: Fraction) -> Method:
    """Return how ``kind`` is measured in ``setting``; QuantityError where it cannot be."""
    linear_model = equivalent or setting.network.depth == 0 or (kind == "interpolation" and time == 1)
    if not setting.linear_readout:
        table, what, range_ = READOUT, "a readout that is not linear", NOISE_RANGE
    elif linear_model or setting.linear_activation:
        table, what, range_ = LINEAR, "a linear network", (0.0, math.inf)
    else:
        table, what, range_ = NETWORK, "a network that is not linear", NOISE_RANGE
    if kind not in table:
        raise QuantityError(f"{kind} cannot be measured for {what}: it can for {', '.join(name for name in table)}")
    method = table[kind]
    return replace(method, exact=kind in EXACT, least_noise=range_[0], most_noise=range_[1])


def make_sampler(method: Method, key: Problem) -> Any:
    """Return the sampler of a problem, divided by n where it is wanted per sample."""
    try:
        sampler = method.make(key)
    except np.linalg.LinAlgError as error:
        raise QuantityError(
            f"{key.kind} of {key.activation.text} at widths {key.widths}, n = {key.n}, noise {key.noise:g}: {error}; the "
            "covariance of the outputs is singular up to rounding errors: take more noise, or an activation that grows less fast"
        ) from error
    return Scaled(sampler, 1.0 / key.n) if key.per_sample else sampler


# Linear activation and readout -------------------------------------------------------------------------------------------------


def _linear_model(key: Problem) -> Any:
    from theoryck.quantities.deep_linear_model import LinearModel

    if key.eta0 == 0:
        raise QuantityError(f"eta_0 = 0 for {key.activation.text}: its linear model does not see the input, and nothing is learned")
    linear_model = key.equivalent or len(key.widths) == 1 or (key.kind == "interpolation" and key.time == 1)
    widths = key.widths[:1] if linear_model else key.widths
    tau = 0.0 if linear_model else key.time
    return LinearModel(widths, n=key.n, noise=key.noise + key.gamma0, eta2=key.eta0**2, tau=tau)


def _deep_linear(name: str) -> Callable[[Problem], Any]:
    def make(key: Problem) -> Any:
        from theoryck.quantities import deep_linear, deep_linear_errors

        home = deep_linear if hasattr(deep_linear, name) else deep_linear_errors
        return getattr(home, name)(_linear_model(key))

    return make


def _linear_information(key: Problem) -> Any:
    from theoryck.quantities.deep_linear import MutualInformation

    return MutualInformation(_linear_model(key), channel_noise=key.noise)


LINEAR: dict[str, Method] = {
    "free_entropy": Method(_deep_linear("FreeEntropy")),
    "free_entropy_variance": Method(_deep_linear("FreeEntropyVariance")),
    "mutual_information": Method(_linear_information),
    "mutual_information_gap": Method(_deep_linear("InformationGap")),
    "generalisation_error": Method(_deep_linear("GeneralisationError")),
    "generalisation_gap": Method(_deep_linear("GeneralisationGap")),
    "interpolation": Method(_deep_linear("FreeEntropy")),
    "interpolation_divergence": Method(_deep_linear("PathDivergence")),
}

# A network that is not linear, with linear readout --------------------------------------------------------------------------------


def _plain(key: Problem) -> tuple[Any, ...]:
    return key.activation, key.widths, key.n, key.noise, key.eta0, key.gamma0


def _errors(home: str, name: str) -> Callable[[Problem], Any]:
    def make(key: Problem) -> Any:
        module = importlib.import_module(f"theoryck.quantities.{home}")
        return getattr(module, name)(*_plain(key), **dict(key.options))

    return make


def _covariance(key: Problem) -> Any:
    from theoryck.quantities.covariance import covariance_gap

    return covariance_gap(*_plain(key))


def _evidence(name: str, timed: bool = False) -> Callable[[Problem], Any]:
    def make(key: Problem) -> Any:
        from theoryck.quantities import evidence

        return getattr(evidence, name)(*_plain(key), *((key.time,) if timed else ()), **dict(key.options))

    return make


NETWORK: dict[str, Method] = {
    "free_entropy": Method(_evidence("free_entropy"), slow=True, two_sided=True),
    "free_entropy_variance": Method(_evidence("free_entropy_variance"), slow=True),
    "mutual_information": Method(_evidence("mutual_information"), slow=True, two_sided=True),
    "mutual_information_gap": Method(_evidence("gap"), slow=True, two_sided=True),
    "covariance_gap": Method(_covariance),
    "interpolation": Method(_evidence("interpolation", timed=True), slow=True, two_sided=True),
    "interpolation_divergence": Method(_evidence("interpolation_gap", timed=True), slow=True, two_sided=True),
    "generalisation_error": Method(_errors("regression_bayes", "generalisation_error"), two_sided=True),
    "generalisation_gap": Method(_errors("regression_bayes", "generalisation_gap"), two_sided=True),
    "gibbs_error": Method(_errors("regression_bayes", "gibbs_error"), two_sided=True),
    "linear_predictor_gap": Method(_errors("regression", "linear_gap")),
    "nishimori_defect": Method(_errors("regression_chains", "nishimori_defect")),
}


# A readout that is not linear ---------------------------------------------------------------------------------------------------


def _readout(home: str, name: str) -> Callable[[Problem], Any]:
    def make(key: Problem) -> Any:
        from theoryck.quantities.nonlinear_readout_model import ReadoutModel

        model = ReadoutModel(
            key.widths, key.n, key.noise, key.activation, key.readout, eta0=key.eta0, gamma0=key.gamma0, time=key.time
        )
        module = importlib.import_module(f"theoryck.quantities.{home}")
        return getattr(module, name)(model.linear if key.equivalent else model)

    return make


READOUT: dict[str, Method] = {
    "free_entropy": Method(_readout("nonlinear_readout", "FreeEntropy"), two_sided=True),
    "free_entropy_variance": Method(_readout("nonlinear_readout", "FreeEntropyVariance")),
    "mutual_information": Method(_readout("nonlinear_readout", "MutualInformation"), two_sided=True),
    "mutual_information_gap": Method(_readout("nonlinear_readout", "InformationGap"), two_sided=True),
    "interpolation": Method(_readout("nonlinear_readout", "FreeEntropy"), two_sided=True),
}

# Exact values --------------------------------------------------------------------------------------------------------------------


def exact_value(key: Problem, setting: TeacherStudent, digits: int) -> Enclosure | None:
    """Return the exact value of a problem, or None where it has none.

    The linear model with linear readout, at any size, through the law of the eigenvalues of a Wishart matrix; one sample, with any
    activation and readout, by quadrature.
    """
    from theoryck.exact import arithmetic

    linear_model = key.equivalent or len(key.widths) == 1 or (key.kind == "interpolation" and key.time == 1)
    if setting.linear_readout and linear_model:
        value = _exact_linear_model(key, setting, digits)
    else:
        value = _exact_one_sample(key, setting, linear_model)
    if value is not None and key.per_sample:
        value = arithmetic.divide(value, arithmetic.enclose(key.n), digits)
    return value


def _exact_one_sample(key: Problem, setting: TeacherStudent, linear_model: bool) -> Enclosure | None:
    """One sample of a network that is not linear, or of a linear model, with any readout."""
    from theoryck.exact.one_sample import one_sample_gap, one_sample_glm_information, one_sample_information

    # The law of a deep linear network's norm has a heavy tail, for which the quadrature takes up to a minute.
    slow = setting.linear_activation and len(key.widths) > 1
    if key.n != 1 or slow or key.kind not in ("mutual_information", "mutual_information_gap"):
        return None
    if key.kind == "mutual_information_gap":
        value = one_sample_gap
    else:
        value = one_sample_glm_information if linear_model and len(key.widths) > 1 else one_sample_information
    return value(key.activation, key.widths, setting.noise, key.readout)


def _exact_linear_model(key: Problem, setting: TeacherStudent, digits: int) -> Enclosure | None:
    from theoryck.exact import arithmetic, glm_error, glm_information, network_constants

    found = network_constants(setting.network.activation, setting.network.depth, digits + 10)
    arguments = (found.eta0, found.gamma0, setting.noise, key.n, key.widths[0], digits)
    if key.kind == "mutual_information":
        return glm_information(*arguments)
    if key.kind == "generalisation_error":
        return glm_error(*arguments)
    if key.kind in ("free_entropy", "interpolation"):
        information = arithmetic.divide(glm_information(*arguments), arithmetic.enclose(key.n), digits)
        return arithmetic.subtract(
            arithmetic.enclose(0), arithmetic.add(information, _noise_entropy(setting, digits), digits), digits
        )
    return None


def _noise_entropy(setting: TeacherStudent, digits: int) -> Enclosure:
    """Return log(2 pi e Delta)/2."""
    import sympy

    from theoryck.quantities.constants import closed_form

    variance = sympy.Rational(setting.noise.numerator, setting.noise.denominator)
    return closed_form(sympy.log(2 * sympy.pi * sympy.E * variance) / 2).exact({}, digits)
