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
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.learning.model import TeacherStudent

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

    @property
    def is_linear_model(self) -> bool:
        """Whether what is measured is linear in its input by construction, whatever phi is."""
        return self.equivalent or len(self.widths) == 1 or (self.kind == "interpolation" and self.time == 1)


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

    >>> from theoryck.numerics.functions import Activation
    >>> constants(Activation("2*x"), 3), constants(Activation("tanh"), 0)
    ((8.0, 0.0), (1.0, 0.0))
    """
    from theoryck.theory.networks.proved.constants import network_constants

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
        raise QuantityError(f"{kind} cannot be measured for {what}; these can: {', '.join(table)}")
    method = table[kind]
    return replace(method, exact=kind in EXACT, least_noise=range_[0], most_noise=range_[1])


def make_sampler(method: Method, key: Problem) -> Any:
    """Return the sampler of a problem, divided by n where it is wanted per sample."""
    try:
        sampler = method.make(key)
    except np.linalg.LinAlgError as error:
        where = f"{key.kind} of {key.activation.text} at widths {key.widths}, n = {key.n}, noise {key.noise:g}"
        if type(error) is not np.linalg.LinAlgError:
            raise QuantityError(f"{where}: {error}") from error
        raise QuantityError(
            f"{where}: {error}; the covariance of the outputs is singular up to rounding errors: take more noise, or an activation "
            "that grows less fast"
        ) from error
    return Scaled(sampler, 1.0 / key.n) if key.per_sample else sampler


def _by(home: str, name: str, arguments: Callable[[Problem], tuple[Any, ...]]) -> Callable[[Problem], Any]:
    """Return the function that builds a sampler: ``name`` of the module ``home``, loaded when it is first needed."""

    def make(key: Problem) -> Any:
        builder = getattr(importlib.import_module(f"theoryck.theory.learning.draws.{home}"), name)
        # The evidence counts the width of an interval as the gap between its ends.
        options = {"target_gap" if option == "target_width" else option: value for option, value in key.options}
        return builder(*arguments(key), **options)

    return make


# Linear activation and readout -------------------------------------------------------------------------------------------------


def _linear_model(key: Problem) -> tuple[Any, ...]:
    from theoryck.theory.learning.draws.deep_linear_model import LinearModel

    if key.eta0 == 0:
        raise QuantityError(f"eta_0 = 0 for {key.activation.text}: its linear model does not see the input, and nothing is learned")
    widths = key.widths[:1] if key.is_linear_model else key.widths
    tau = 0.0 if key.is_linear_model else key.time
    return (LinearModel(widths, n=key.n, noise=key.noise + key.gamma0, eta2=key.eta0**2, tau=tau),)


def _with_noise(key: Problem) -> tuple[Any, ...]:
    # The effective noise of the linear model is one of its unknowns, that of the channel is not.
    return *_linear_model(key), key.noise


LINEAR: dict[str, Method] = {
    "free_entropy": Method(_by("deep_linear", "FreeEntropy", _linear_model)),
    "free_entropy_variance": Method(_by("deep_linear", "FreeEntropyVariance", _linear_model)),
    "mutual_information": Method(_by("deep_linear", "MutualInformation", _with_noise)),
    "mutual_information_gap": Method(_by("deep_linear", "InformationGap", _linear_model)),
    "generalisation_error": Method(_by("deep_linear_errors", "GeneralisationError", _linear_model)),
    "generalisation_gap": Method(_by("deep_linear_errors", "GeneralisationGap", _linear_model)),
    "interpolation": Method(_by("deep_linear", "FreeEntropy", _linear_model)),
    "interpolation_divergence": Method(_by("deep_linear", "PathDivergence", _linear_model)),
}

# A network that is not linear, with linear readout --------------------------------------------------------------------------------


def _plain(key: Problem) -> tuple[Any, ...]:
    return key.activation, key.widths, key.n, key.noise, key.eta0, key.gamma0


def _timed(key: Problem) -> tuple[Any, ...]:
    return *_plain(key), key.time


NETWORK: dict[str, Method] = {
    "free_entropy": Method(_by("evidence", "free_entropy", _plain), slow=True, two_sided=True),
    "free_entropy_variance": Method(_by("evidence", "free_entropy_variance", _plain), slow=True),
    "mutual_information": Method(_by("evidence", "mutual_information", _plain), slow=True, two_sided=True),
    "mutual_information_gap": Method(_by("evidence", "gap", _plain), slow=True, two_sided=True),
    "covariance_gap": Method(_by("covariance", "covariance_gap", _plain)),
    "interpolation": Method(_by("evidence", "interpolation", _timed), slow=True, two_sided=True),
    "interpolation_divergence": Method(_by("evidence", "interpolation_gap", _timed), slow=True, two_sided=True),
    "generalisation_error": Method(_by("regression_bayes", "generalisation_error", _plain), two_sided=True),
    "generalisation_gap": Method(_by("regression_bayes", "generalisation_gap", _plain), two_sided=True),
    "gibbs_error": Method(_by("regression_bayes", "gibbs_error", _plain), two_sided=True),
    "linear_predictor_gap": Method(_by("regression", "linear_gap", _plain)),
    "nishimori_defect": Method(_by("regression_chains", "nishimori_defect", _plain)),
}


# A readout that is not linear ---------------------------------------------------------------------------------------------------


def _readout_model(key: Problem) -> tuple[Any, ...]:
    from theoryck.theory.learning.draws.readout_model import ReadoutModel

    model = ReadoutModel(key.widths, key.n, key.noise, key.activation, key.readout, eta0=key.eta0, gamma0=key.gamma0, time=key.time)
    return (model.linear if key.equivalent else model,)


READOUT: dict[str, Method] = {
    "free_entropy": Method(_by("readout", "FreeEntropy", _readout_model), two_sided=True),
    "free_entropy_variance": Method(_by("readout", "FreeEntropyVariance", _readout_model)),
    "mutual_information": Method(_by("readout", "MutualInformation", _readout_model), two_sided=True),
    "mutual_information_gap": Method(_by("readout", "InformationGap", _readout_model), two_sided=True),
    "generalisation_error": Method(_by("readout_errors", "GeneralisationError", _readout_model), two_sided=True),
    "generalisation_gap": Method(_by("readout_errors", "GeneralisationGap", _readout_model), two_sided=True),
    "interpolation": Method(_by("readout", "FreeEntropy", _readout_model), two_sided=True),
}

# Exact values --------------------------------------------------------------------------------------------------------------------


def exact_value(key: Problem, setting: TeacherStudent, digits: int) -> Enclosure | None:
    """Return the exact value of a problem, or None where it has none.

    The linear model with linear readout, at any size, through the law of the eigenvalues of a Wishart matrix; one sample, with any
    activation and readout, by quadrature.
    """
    from theoryck.numerics.proved import arithmetic

    if setting.linear_readout and key.is_linear_model:
        value = _exact_linear_model(key, setting, digits)
    else:
        value = _exact_one_sample(key, setting)
    if value is not None and key.per_sample:
        value = arithmetic.divide(value, arithmetic.enclose(key.n), digits)
    return value


def _exact_one_sample(key: Problem, setting: TeacherStudent) -> Enclosure | None:
    """One sample of a network that is not linear, or of a linear model, with any readout."""
    from theoryck.theory.learning.proved.one_sample import one_sample_gap, one_sample_glm_information, one_sample_information

    # The law of a deep linear network's norm has a heavy tail, for which the quadrature takes up to a minute.
    slow = setting.linear_activation and len(key.widths) > 1
    if key.n != 1 or slow or key.kind not in ("mutual_information", "mutual_information_gap"):
        return None
    if key.kind == "mutual_information_gap":
        value = one_sample_gap
    else:
        value = one_sample_glm_information if key.is_linear_model and len(key.widths) > 1 else one_sample_information
    return value(key.activation, key.widths, setting.noise, key.readout)


def _exact_linear_model(key: Problem, setting: TeacherStudent, digits: int) -> Enclosure | None:
    from theoryck.numerics.proved import arithmetic
    from theoryck.theory.learning.proved.linear_model import glm_error, glm_information
    from theoryck.theory.networks.proved.constants import network_constants

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

    from theoryck.quantities.exact import closed_form

    variance = sympy.Rational(setting.noise.numerator, setting.noise.denominator)
    return closed_form(sympy.log(2 * sympy.pi * sympy.E * variance) / 2).exact({}, digits)
