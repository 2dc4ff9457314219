"""Predictions for ridge regression with kernels and random features, as quantities along n: power laws and the sphere.

All of them are deterministic equivalents (:mod:`theoryck.theory.ridge.limits.kernel_ridge` and its neighbours), evaluated at any
size up to the range of floats.  What they are equivalent to is drawn in :mod:`theoryck.theory.ridge.draws.design` and
:mod:`theoryck.theory.ridge.draws.sphere`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal, get_args

from theoryck.quantities.base import QuantityError
from theoryck.quantities.formulas import Formula, formula
from theoryck.theory.ridge.limits.kernel_ridge import KernelRidge, kernel_ridge_equivalent
from theoryck.theory.ridge.limits.power_law import PowerLaw, exact_exponent, optimal_ridge
from theoryck.theory.ridge.limits.random_features import RandomFeaturesRidge, random_features_equivalent
from theoryck.theory.ridge.limits.sphere import sphere_spectrum
from theoryck.theory.ridge.model import nonnegative, nonnegative_array, positive

Part = Literal["excess_risk", "bias", "variance"]

RELATIVE_ERROR = 1e-10
"""Ten times what the sums of a power law are known to: risks are quotients of a few of them."""

MINIMISER_ERROR = 1e-6
"""A minimum is flat: its place is known to the root of the rounding of its value."""


def ridge_risk(capacity: Any, source: Any, ridge: Any, noise: float = 0.0, part: Part = "excess_risk") -> Formula:
    """Return the equivalent risk of kernel ridge regression with eta_k = k^(-alpha), f_k = k^(-alpha r - 1/2), lambda = n^(-l).

    A formula in the size ``n``; ``capacity`` is alpha > 1, ``source`` r > 0, ``ridge`` l > 0 (of (1/n) sum (y - f)^2 + lambda
    |f|^2), ``noise`` the variance of the labels' noise, ``part`` "excess_risk", "bias" or "variance".  Raises QuantityError
    or ValueError.

    Source: Cui, Loureiro, Krzakala, Zdeborova (2021), arXiv:2105.15004.

    >>> risk = ridge_risk(2, "1/2", 1)
    >>> values = [float(risk.exact({"n": n})) for n in (2**30, 2**31)]
    >>> round(values[0] / values[1], 4)  # 2 l r = 1
    2.0
    """
    spectrum, noise = PowerLaw(capacity, source), nonnegative(noise, "noise")
    ell = exact_exponent(ridge, "ridge")
    part = _part(part)
    function = functools.partial(_ridge_risk, spectrum, float(ell), noise, part)
    parameters = {"capacity": str(spectrum.capacity), "source": str(spectrum.source), "ridge": str(ell), "noise": noise}
    return _formula(function, f"ridge_risk[{part}]", ("n",), parameters)


def _ridge_risk(spectrum: PowerLaw, ell: float, noise: float, part: Part, n: int) -> float:
    return _take(kernel_ridge_equivalent(spectrum, n, positive(n, "n") ** -ell, noise), part)


def optimal_ridge_risk(capacity: Any, source: Any, noise: float = 1.0) -> Formula:
    """Return the least equivalent excess risk over lambda, for noise > 0, as a formula in the size ``n``.

    Source: Caponnetto, De Vito (2007); Cui, Loureiro, Krzakala, Zdeborova (2021), arXiv:2105.15004.

    >>> round(float(optimal_ridge_risk(2, "1/2").exact({"n": 2**20})), 8)
    0.00012325
    """
    return _optimal(capacity, source, noise, "optimal_ridge_risk", _optimal_risk, RELATIVE_ERROR)


def optimal_ridge_size(capacity: Any, source: Any, noise: float = 1.0) -> Formula:
    """Return the lambda that attains :func:`optimal_ridge_risk`, as a formula in the size ``n``.

    >>> size = optimal_ridge_size(2, "1/2")
    >>> float(size.exact({"n": 2**20})) > float(size.exact({"n": 2**22})) > 0
    True
    """
    return _optimal(capacity, source, noise, "optimal_ridge_size", _optimal_size, MINIMISER_ERROR)


def _optimal(capacity: Any, source: Any, noise: float, name: str, function: Callable[..., float], error: float) -> Formula:
    spectrum, noise = PowerLaw(capacity, source), nonnegative(noise, "noise")
    if noise == 0:
        raise QuantityError("noise must be > 0: without noise the least risk is at ridge 0, got 0")
    parameters = {"capacity": str(spectrum.capacity), "source": str(spectrum.source), "noise": noise}
    return _formula(functools.partial(function, spectrum, noise), name, ("n",), parameters, error)


def _optimal_risk(spectrum: PowerLaw, noise: float, n: int) -> float:
    return _best(spectrum.capacity, spectrum.source, noise, n)[1].excess_risk


def _optimal_size(spectrum: PowerLaw, noise: float, n: int) -> float:
    return _best(spectrum.capacity, spectrum.source, noise, n)[0]


@functools.lru_cache(maxsize=256)
def _best(capacity: Fraction, source: Fraction, noise: float, n: int) -> tuple[float, KernelRidge]:
    """The minimum and its place: claims about the one and about the other are made along the same sizes."""
    return optimal_ridge(PowerLaw(capacity, source), n, noise)


def features_risk(capacity: Any, source: Any, ridge: Any, noise: float = 0.0, part: Part = "excess_risk") -> Formula:
    """Return the equivalent risk of ridge regression with p random features, the spectrum and lambda those of :func:`ridge_risk`.

    A formula in the sizes ``n`` and ``p``: a path gives p as a power of n.

    Source: Defilippis, Loureiro, Misiakiewicz (2024), arXiv:2405.15699; their lambda, that of
    :func:`~theoryck.theory.ridge.random_features_equivalent`, belongs to the sum over samples and is n times this one.

    >>> few, many = (float(features_risk(2, "1/2", 2).exact({"n": 2**20, "p": p})) for p in (2**10, 2**30))
    >>> few / many > 10**6  # few features cannot use the samples
    True
    """
    spectrum, noise = PowerLaw(capacity, source), nonnegative(noise, "noise")
    ell = exact_exponent(ridge, "ridge")
    part = _part(part)
    function = functools.partial(_features_risk, spectrum, float(ell), noise, part)
    parameters = {"capacity": str(spectrum.capacity), "source": str(spectrum.source), "ridge": str(ell), "noise": noise}
    return _formula(function, f"features_risk[{part}]", ("n", "p"), parameters)


def _features_risk(spectrum: PowerLaw, ell: float, noise: float, part: Part, n: int, p: int) -> float:
    ridge = positive(n, "n") ** (1 - ell)
    if ridge == 0:
        raise QuantityError(f"ridge = {ell:g} makes lambda = n^(-ridge) 0 in floats at n = {n}: take a smaller exponent")
    return _take(random_features_equivalent(spectrum, n, p, ridge, noise), part)


def sphere_risk(coefficients: Sequence[float], target: Sequence[float], ridge: float = 0.0, noise: float = 0.0) -> Formula:
    """Return the equivalent excess risk of the kernel sum_m a_m <x, x'/d>^m on the sphere, for a target of power ``target[k]`` in
    degree k, at a fixed lambda = ``ridge``, as a formula in the sizes ``d`` and ``n``.

    Source: Mei, Misiakiewicz, Montanari (2022), arXiv:2101.10588.

    >>> risk = sphere_risk([1, 1, 0.5, 1 / 6], [0, 0, 1], ridge=1e-3)
    >>> float(risk.exact({"d": 64, "n": 64})) > 0.9  # degree 2 needs n ~ d^2/2
    True
    """
    a, powers = _sphere_arguments(coefficients, target)
    ridge, noise = nonnegative(ridge, "ridge"), nonnegative(noise, "noise")
    function = functools.partial(_sphere_risk, a, powers, ridge, noise)
    parameters = {"coefficients": list(a), "target": list(powers), "ridge": ridge, "noise": noise}
    return _formula(function, "sphere_risk", ("d", "n"), parameters)


def _sphere_risk(a: tuple[float, ...], target: tuple[float, ...], ridge: float, noise: float, d: int, n: int) -> float:
    return kernel_ridge_equivalent(sphere_spectrum(a, d, target), n, ridge, noise).excess_risk


def sphere_features_risk(coefficients: Sequence[float], target: Sequence[float], ridge: float) -> Formula:
    """Return the equivalent excess risk of p random features whose kernel is that of :func:`sphere_risk`, at lambda = ``ridge``
    > 0, as a formula in the sizes ``d``, ``n`` and ``p``.

    Here lambda belongs to the mean, (1/n) sum_i (y_i - f)^2 + lambda |a|^2, as for kernels;
    :func:`~theoryck.theory.ridge.random_features_equivalent` takes the sum, so its ``ridge`` is n times this one.

    Source: Mei, Misiakiewicz, Montanari (2022), arXiv:2101.10588; Defilippis, Loureiro, Misiakiewicz (2024), arXiv:2405.15699.

    >>> risk = sphere_features_risk([1, 1, 0.5, 1 / 6], [0, 1], ridge=1e-3)
    >>> float(risk.exact({"d": 64, "n": 4096, "p": 16})) > 0.5 > float(risk.exact({"d": 64, "n": 4096, "p": 4096}))
    True
    """
    a, powers = _sphere_arguments(coefficients, target)
    ridge = positive(ridge, "ridge")
    function = functools.partial(_sphere_features_risk, a, powers, ridge)
    parameters = {"coefficients": list(a), "target": list(powers), "ridge": ridge}
    return _formula(function, "sphere_features_risk", ("d", "n", "p"), parameters)


def _sphere_features_risk(a: tuple[float, ...], target: tuple[float, ...], ridge: float, d: int, n: int, p: int) -> float:
    return random_features_equivalent(sphere_spectrum(a, d, target), n, p, n * ridge).excess_risk


def _sphere_arguments(coefficients: Sequence[float], target: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both as tuples of floats; what is bad is refused now rather than when it is measured."""
    a, powers = nonnegative_array(coefficients, "coefficients"), nonnegative_array(target, "target")
    sphere_spectrum(a, 3, powers)
    return tuple(a.tolist()), tuple(powers.tolist())


def _part(part: Any) -> Part:
    if part not in get_args(Part):
        raise QuantityError(f"part must be one of {', '.join(get_args(Part))}, got {part!r}")
    return part


def _take(equivalent: KernelRidge | RandomFeaturesRidge, part: Part) -> float:
    return float(getattr(equivalent, part))


def _formula(
    function: Callable[..., float], name: str, sizes: Sequence[str], parameters: dict[str, Any], error: float = RELATIVE_ERROR
) -> Formula:
    return formula(function, name=name, sizes=sizes, relative_error=error, parameters=parameters)
