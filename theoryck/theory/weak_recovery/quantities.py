"""Thresholds and overlaps of weak recovery as quantities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from theoryck.quantities.arguments import positive
from theoryck.quantities.base import Quantity, QuantityError, Sizes, need_sizes
from theoryck.quantities.exact import ExactQuantity
from theoryck.records import Enclosure
from theoryck.records.arguments import integer
from theoryck.theory.weak_recovery.draws import TOLD, FirstStepSampler, GampSampler, SpectralSampler, ToldSampler, UnfoldingSampler
from theoryck.theory.weak_recovery.limits.spectral import spectral_overlap
from theoryck.theory.weak_recovery.limits.state_evolution import StateEvolution
from theoryck.theory.weak_recovery.limits.thresholds import leading_eigenvalue, weak_recovery_threshold
from theoryck.theory.weak_recovery.model import Link, as_link, check_real


def _dimension(who: Quantity, link: Link, sizes: Sizes) -> int:
    """Return d, which is at least the number of indices."""
    need_sizes(who.name, who.needs, sizes)
    return integer(sizes["d"], f"the size 'd' of {who.name}, with {link.indices} indices,", link.indices, error=QuantityError)


def known(value: float, relative_error: float) -> Enclosure:
    """Return a value computed in floating point, with the error it is known to: not rigorous.

    >>> known(2.0, 1e-12).radius
    Decimal('2E-12')
    """
    middle = Decimal(value)
    return Enclosure(middle, abs(middle) * Decimal(repr(relative_error)), rigorous=False)


NO_THRESHOLD = "no number of samples of order d suffices; state recovery_eigenvalue, which is 0"


def _number(
    title: str, of: Link, value: float, relative_error: float, *, infinite: str = NO_THRESHOLD, **parameters: Any
) -> ExactQuantity:
    if math.isinf(value):
        raise QuantityError(f"{title} is {value}: {infinite}")
    return ExactQuantity(title, lambda digits: known(value, relative_error), {"quantity": title, "link": str(of), **parameters})


def recovery_threshold(link: Link | str, *, noise: float = 0.0, flips: float = 0.0, rest: bool = False) -> ExactQuantity:
    """Return alpha_c of :func:`weak_recovery_threshold` as an exact quantity; with ``rest`` that of the directions that are not
    trivial.  Raises QuantityError where it is infinite or not told from that.

    >>> round(float(recovery_threshold("sign(z1*z2)").exact()), 12)  # pi^2/4
    2.467401100272
    """
    of = as_link(link, noise=noise, flips=flips)
    found = weak_recovery_threshold(of)
    value = found.rest if rest else found.alpha
    if rest and math.isnan(value):
        if not len(found.trivial):
            raise QuantityError(f"rest = True for {of}, no direction of which is trivial: leave it out")
        raise QuantityError(
            f"rest = True for {of}: what its trivial directions leave is known for max(z1, z2) and min(z1, z2) only"
        )
    return _number(f"alpha_c[{of}]" + (" given the trivial directions" if rest else ""), of, value, found.relative_error)


@dataclass(frozen=True, repr=False)
class recovery_eigenvalue(Quantity):
    """lambda, the largest eigenvalue of F(M) = E[G M G] (of E E[z | y] E[z | y]^T where a direction is trivial): 1/alpha_c.

    ``link`` is a text or a :class:`Link`.  It is drawn too for links whose G has a closed form: z, z**2, abs(z), z**3 - 3*z, z1*z2,
    abs(z1*z2), sign(z1*z2), z1**2 + z2**2 + z3**2, max(z1, z2), without noise.

    >>> import numpy as np
    >>> quantity = recovery_eigenvalue("z1*z2")
    >>> draws = quantity.draw(np.random.default_rng(0), 100_000, {})
    >>> bool(abs(draws.mean() - float(quantity.exact({}))) < 5 * draws.std() / 100_000**0.5)
    True
    """

    title = "lambda[{link}]"
    can_exact = True
    link: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", as_link(self.link))

    @property
    def can_draw(self) -> bool:  # type: ignore[override]
        """Whether G has a closed form."""
        return self.link.text in TOLD and not self.link.noise and not self.link.flips

    def sampler(self, sizes: Sizes) -> ToldSampler:
        if not self.can_draw:
            raise QuantityError(f"no closed form of E[z z^T - I | y] is known for {self.link}: use exact(sizes, digits)")
        return ToldSampler(self.link)

    def cost(self, sizes: Sizes) -> float:
        return 20.0 + self.link.indices

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure:
        value, relative_error, floor = leading_eigenvalue(self.link)
        return known(value, relative_error) if value or not floor else Enclosure(Decimal(0), Decimal(repr(floor)), rigorous=False)


def bessel_eigenvalue() -> ExactQuantity:
    """Return (2/pi) int_0^inf u^2 K_1(u)^2/K_0(u) du, the eigenvalue of z1*z2, as an exact quantity: by quadrature of Bessel
    functions.

    >>> round(float(bessel_eigenvalue().exact()), 12)
    1.684207411143
    """

    def compute(digits: int) -> Enclosure:
        from flint import arb

        from theoryck.numerics.balls import BITS_PER_DIGIT, precision

        def integrand(s: Any) -> Any:
            # u = exp(s - exp(-s)) makes both ends decay faster than any power, so that the trapezoidal rule converges like one.
            u = (s - (-s).exp()).exp()
            scaled = u.bessel_k(1, scaled=True) ** 2 / u.bessel_k(0, scaled=True)
            return u**3 * scaled * (-u).exp() * (1 + (-s).exp())

        def rule(per_unit: int) -> Any:
            reach = 1 + math.ceil(math.log(3 * digits + 20) * per_unit)  # exp(-u) and u = exp(-exp(-s)) are far below 10^-digits
            return sum((integrand(arb(k) / per_unit) for k in range(-reach, reach)), arb(0)) * 2 / (arb.pi() * per_unit)

        # K_0(u) from its series at 0 loses 2 u/log 2 bits, u <= 3 digits + 25.
        with precision(int((2 * digits + 20) * BITS_PER_DIGIT + 3 * (3 * digits + 25))):
            coarse, fine = rule(math.ceil(1.2 * digits)), rule(math.ceil(1.7 * digits))
            middle, error = Decimal(fine.mid().str(digits + 10, radius=False)), float(abs(coarse - fine).upper())
        return Enclosure(middle, Decimal(error) + Decimal(10) ** -(digits + 2), rigorous=False)

    return ExactQuantity("(2/pi) int u^2 K_1^2/K_0", compute, {"quantity": "bessel_eigenvalue"})


def spectral_limit(link: Link | str, alpha: float, direction: Any = None) -> ExactQuantity:
    """Return the limit of cos^2 of the optimal spectral method, :func:`spectral_overlap`, as an exact quantity.

    >>> round(float(spectral_limit("z1*z2", 2).exact()), 12)
    0.432538632809
    """
    of = as_link(link)
    value = spectral_overlap(of, alpha, direction=direction).overlap
    return _number(f"spectral cos^2[{of}, alpha={alpha:g}]", of, value, 1e-11, alpha=alpha)


def full_recovery_threshold(link: Link | str) -> ExactQuantity:
    """Return sup_q alpha(q), from which on message passing finds everything, as an exact quantity; one index, or a
    product of indices that enter alike.

    alpha(q) tends to 1/(1 - p) as q -> 1 for labels that are at rest with probability p, to r for a product of r indices.  Raises
    QuantityError where the sup is infinite: with noise, or if f is a step function, q = 1 is never reached.

    >>> round(float(full_recovery_threshold("z**2").exact()), 12)
    1.128471406672
    """
    of = as_link(link)
    never = "no number of samples of order d recovers everything, q < 1 at every alpha; state fixed_point"
    evolution = StateEvolution(of)
    return _number(f"full recovery[{of}]", of, evolution.full_recovery(), 1e-6 if evolution.product else 1e-11, infinite=never)


def fixed_point(link: Link | str, alpha: float) -> ExactQuantity:
    """Return q at which message passing that starts from nothing stops, as an exact quantity; one index, or a
    product of indices that enter alike.

    >>> round(float(fixed_point("z**2", 1).exact()), 10)
    0.4762635855
    """
    of, alpha = as_link(link), positive(alpha, "alpha")
    evolution = StateEvolution(of)
    error = 1e-6 if evolution.product else 1e-10
    return _number(f"q*[{of}, alpha={alpha:g}]", of, evolution.fixed_point(alpha), error, alpha=alpha)


@dataclass(frozen=True, repr=False)
class InDimension(Quantity):
    """What depends on n = round(alpha d) samples in d dimensions; size ``d``."""

    needs = ("d",)
    can_draw = True


@dataclass(frozen=True, repr=False)
class spectral_cos2(InDimension):
    """cos^2 between the top eigenvector of the optimal spectral method and the direction it seeks, n = round(alpha d), drawn.

    ``link`` is z**2, abs(z), z1*z2, abs(z1*z2), sign(z1*z2) or z1**2 + z2**2 + z3**2; size ``d``.  Raises QuantityError.

    >>> import numpy as np
    >>> draws = spectral_cos2("z**2", 3).draw(np.random.default_rng(0), 20, {"d": 40})
    >>> bool(0.5 < draws.mean() < 1)
    True
    """

    title = "spectral_cos2({link}, alpha={alpha})"
    link: Any
    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", as_link(self.link))
        object.__setattr__(self, "alpha", positive(self.alpha, "alpha"))
        if self.link.text not in TOLD or TOLD[self.link.text][0] or self.link.noise or self.link.flips:
            able = ", ".join(text for text, (trivial, _, _) in TOLD.items() if not trivial)
            raise QuantityError(f"link must be one whose G has a closed form ({able}), got {str(self.link)!r}")

    def sampler(self, sizes: Sizes) -> SpectralSampler:
        d = _dimension(self, self.link, sizes)
        return SpectralSampler(self.link, d, max(round(self.alpha * d), 1))

    def cost(self, sizes: Sizes) -> float:
        """Return the time of one draw in units of random numbers: n d normals, their product, an eigenvector."""
        d = sizes["d"]
        return 2000 + 1.2 * self.alpha * d**2 + (0.0045 + 0.002 * self.alpha) * d**3


@dataclass(frozen=True, repr=False)
class first_step_cos2(InDimension):
    """cos^2 between a trivial direction v and sum_i E[z_v | y_i] x_i, the first step of the best algorithm, n = round(alpha d),
    drawn.

    It tends to alpha lambda_1/(1 + alpha lambda_1).  ``link`` is z, z**3 - 3*z or max(z1, z2); size ``d``.  Raises QuantityError.

    >>> import numpy as np
    >>> draws = first_step_cos2("z**3 - 3*z", 1.0).draw(np.random.default_rng(0), 200, {"d": 400})
    >>> bool(abs(draws.mean() - 0.4004) < 0.02)
    True
    """

    title = "first_step_cos2({link}, alpha={alpha})"
    link: Any
    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", as_link(self.link))
        object.__setattr__(self, "alpha", positive(self.alpha, "alpha"))
        if self.link.text not in TOLD or not TOLD[self.link.text][0] or self.link.noise or self.link.flips:
            able = ", ".join(text for text, (trivial, _, _) in TOLD.items() if trivial)
            raise QuantityError(f"link must be one with a trivial direction in closed form ({able}), got {str(self.link)!r}")

    def sampler(self, sizes: Sizes) -> FirstStepSampler:
        d = _dimension(self, self.link, sizes)
        return FirstStepSampler(self.link, d, max(round(self.alpha * d), 1))

    def cost(self, sizes: Sizes) -> float:
        return 4000 + 12 * self.alpha * sizes["d"]


@dataclass(frozen=True, repr=False)
class gamp_overlap(InDimension):
    """The overlap of approximate message passing for y = z^2 after ``steps`` from overlap ``start``, n = round(alpha d).

    Raises QuantityError for an overlap that is not between 0 and 1.

    >>> import numpy as np
    >>> draws = gamp_overlap(0.9, start=0.1, steps=1).draw(np.random.default_rng(0), 20, {"d": 400})
    >>> bool(abs(draws.mean() - 0.13) < 0.03)
    True
    """

    title = "gamp_overlap(z**2, alpha={alpha}, start={start}, steps={steps})"
    alpha: float
    start: float = 0.1
    steps: int = 1

    def __post_init__(self) -> None:
        for name in ("alpha", "start"):
            object.__setattr__(self, name, positive(getattr(self, name), name))
        if not self.start < 1:
            raise QuantityError(f"start must be an overlap between 0 and 1, got {self.start!r}")
        object.__setattr__(self, "steps", integer(self.steps, "steps", 1, 1000, QuantityError))

    def sampler(self, sizes: Sizes) -> GampSampler:
        need_sizes(self.name, self.needs, sizes)
        d = int(sizes["d"])
        return GampSampler(d, max(round(self.alpha * d), 1), self.start, self.steps)

    def cost(self, sizes: Sizes) -> float:
        d = sizes["d"]
        return 1000 + (0.6 + 0.05 * self.steps) * self.alpha * d * d


@dataclass(frozen=True, repr=False)
class unfolding_error(Quantity):
    """1 - the mean squared overlap of the unfolded third Hermite tensor with the directions of ``link``; sizes ``d``, ``n``.

    >>> import numpy as np
    >>> draws = unfolding_error().draw(np.random.default_rng(0), 4, {"d": 12, "n": 1000})
    >>> bool(draws.mean() < 0.5)
    True
    """

    title = "unfolding_error({link})"
    needs = ("d", "n")
    can_draw = True
    link: Any = "sign(z1*z2*z3)"

    def __post_init__(self) -> None:
        object.__setattr__(self, "link", as_link(self.link))
        check_real(self.link)

    def sampler(self, sizes: Sizes) -> Any:
        return _Complement(UnfoldingSampler(self.link, _dimension(self, self.link, sizes), int(sizes["n"])))

    def cost(self, sizes: Sizes) -> float:
        d, n = sizes["d"], sizes["n"]
        return 3000 + n * d + 0.5 * n * n * (1 + d / 200)


@dataclass(frozen=True, slots=True)
class _Complement:
    """1 - the draws of another sampler."""

    sampler: Any

    def __call__(self, rng: Any, draws: int) -> Any:
        return 1 - self.sampler(rng, draws)
