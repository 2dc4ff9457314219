"""Spectra of conjugate kernels K_l = x_l^T x_l at finite sizes: resolvent traces, their variance, an eigenvalue at random.

X has d_0 x n independent N(0, 1/d_0) entries, x_l = phi(W_l x_(l-1))/sqrt(d_l) column by column.  The limits are in
:mod:`theoryck.theory.spectra.limits.conjugate`, the samplers in :mod:`theoryck.theory.spectra.draws`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from theoryck.numerics.proved.formulas import exact_number
from theoryck.quantities.base import Quantity, QuantityError, Sizes
from theoryck.records import Enclosure
from theoryck.theory.learning.draws.evidence import NANOSECONDS_PER_NUMBER
from theoryck.theory.networks.quantities.moments import slope
from theoryck.theory.spectra.draws import EigenvalueSampler, Kernel, TraceSampler

if TYPE_CHECKING:
    from theoryck.theory.networks.model import DeepNetwork
    from theoryck.theory.spectra.gap import GapSampler

EXACT_ORDER = 400
"""The smaller of n and d_0 up to which the exact route is taken: about 2 seconds."""


class SpectralQuantity(Quantity):
    """A number that depends on the conjugate kernel of a network at n samples."""

    can_draw = True
    kind = ""
    per_draw = 1.0

    def __init__(self, network: DeepNetwork, samples: Any) -> None:
        from theoryck.theory.learning.model import TeacherStudent

        if not hasattr(network, "layer_widths"):
            raise QuantityError(f"network must be a theoryck.DeepNetwork, got {network!r}")
        try:
            self.setting = TeacherStudent(network, samples)
        except ValueError as error:
            raise QuantityError(str(error)) from None

    @property
    def network(self) -> DeepNetwork:
        """The network."""
        return self.setting.network

    def options(self) -> dict[str, Any]:
        """The parameters beside the network and the samples, JSON-able."""
        return {}

    @property
    def name(self) -> str:
        """What people read."""
        network, options = self.network, "".join(f", {key}={value}" for key, value in self.options().items())
        return f"{self.kind}({network.activation.text}, depth={network.depth}, samples={self.setting.samples}{options})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The instance as JSON-able data."""
        return {
            "quantity": self.kind,
            "activation": self.network.activation.text,
            "depth": self.network.depth,
            "widths": list(self.network.pattern),
            "samples": str(self.setting.samples),
            **self.options(),
        }

    @property
    def size_names(self) -> tuple[str, ...]:
        """The sizes in which the widths and the samples are given."""
        return self.setting.names

    def conjugate(self, sizes: Sizes) -> Kernel:
        """Return the kernel at ``sizes``."""
        activation = self.network.activation if self.network.depth else None
        return Kernel(activation, self.network.layer_widths(sizes), self.setting.n_samples(sizes))

    def cost(self, sizes: Sizes) -> float:
        """Return the time of a draw in units of 1/7e7 seconds, that of a random number."""
        return self.per_draw * self.conjugate(sizes).nanoseconds / NANOSECONDS_PER_NUMBER


class ResolventTrace(SpectralQuantity):
    """What :func:`resolvent_trace` returns."""

    kind = "resolvent_trace"

    def __init__(self, network: DeepNetwork, samples: Any, shift: Any, against: Any) -> None:
        super().__init__(network, samples)
        self.shift = check_shift(shift)
        self.against = _against(against)

    def options(self) -> dict[str, Any]:
        """The shift, and what is subtracted."""
        centre = self.against.midpoint if isinstance(self.against, Enclosure) else self.against
        return {"shift": str(self.shift)} | ({"against": str(centre)} if centre else {})

    @property
    def can_exact(self) -> bool:  # type: ignore[override]
        """Whether there is an exact route: the spectrum of a Wishart matrix."""
        return self.network.depth == 0

    def sampler(self, sizes: Sizes) -> TraceSampler:
        """Return the sampler at ``sizes``."""
        return TraceSampler(self.conjugate(sizes), float(self.shift), float(self.against))

    def exact(self, sizes: Sizes, digits: int = 20) -> Enclosure | None:
        """Return (d_0 T + n - d_0)/(n gamma) - against, T = (1/d_0) E tr (1 + X X^T/gamma)^-1; None above depth 0 or too large.

        The zeros of the larger Gram matrix make the difference of the two traces.
        """
        kernel = self.conjugate(sizes)
        if self.network.depth or kernel.order > EXACT_ORDER:
            return None
        from theoryck.numerics.proved import arithmetic
        from theoryck.theory.learning.proved.linear_model import wishart_resolvent

        n, width = kernel.samples, kernel.widths[0]
        # The difference to the limit is of relative size 1/n and loses as many digits.
        working = digits + len(str(n)) + 3

        def known(value: Fraction) -> Enclosure:
            return arithmetic.enclose(value, working)

        small = arithmetic.multiply(wishart_resolvent(n, width, 1 / self.shift, working), known(Fraction(width)), working)
        total = arithmetic.add(small, known(Fraction(n - width)), working)
        trace = arithmetic.divide(total, known(n * self.shift), working)
        against = self.against if isinstance(self.against, Enclosure) else known(self.against)
        return arithmetic.subtract(trace, against, digits)


class ResolventVariance(SpectralQuantity):
    """What :func:`resolvent_variance` returns."""

    kind = "resolvent_variance"
    per_draw = 2.0

    def __init__(self, network: DeepNetwork, samples: Any, shift: Any) -> None:
        super().__init__(network, samples)
        self.shift = check_shift(shift)

    def options(self) -> dict[str, Any]:
        """The shift."""
        return {"shift": str(self.shift)}

    def sampler(self, sizes: Sizes) -> TraceSampler:
        """Return the sampler at ``sizes``."""
        return TraceSampler(self.conjugate(sizes), float(self.shift), pairs=True)

    def relative_noise(self, sizes: Sizes) -> float:
        """Return sqrt(2): half the squared difference of two Gaussians is Var times chi-square."""
        return 2**0.5


class Eigenvalue(SpectralQuantity):
    """What :func:`eigenvalue` returns."""

    kind = "eigenvalue"

    def sampler(self, sizes: Sizes) -> EigenvalueSampler:
        """Return the sampler at ``sizes``."""
        return EigenvalueSampler(self.conjugate(sizes))

    def cost(self, sizes: Sizes) -> float:
        """Return the time of a draw in units of 1/7e7 seconds: all eigenvalues of a matrix, or 48 Sturm counts."""
        kernel = self.conjugate(sizes)
        more = 250.0 * kernel.order if self.network.depth == 0 else 4000 + 60.0 * kernel.order**2 + 1.5 * kernel.order**3
        return (kernel.nanoseconds + more) / NANOSECONDS_PER_NUMBER


class EquivalentGap(SpectralQuantity):
    """What :func:`equivalent_gap` returns."""

    kind = "equivalent_gap"

    def __init__(self, network: DeepNetwork, samples: Any, shift: Any, surrogate: Any) -> None:
        super().__init__(network, samples)
        if network.depth < 1:
            raise QuantityError("network must have a layer of random weights, got depth 0: its kernel is the Gram matrix itself")
        self.shift = check_shift(shift)
        self.surrogate = None if surrogate is None else _pair(surrogate)

    def options(self) -> dict[str, Any]:
        """The shift, and the constants of the surrogate."""
        shown = {} if self.surrogate is None else {"rho": self.surrogate[0], "epsilon": self.surrogate[1]}
        return {"shift": str(self.shift)} | shown

    def sampler(self, sizes: Sizes) -> GapSampler:
        """Return the sampler at ``sizes``."""
        from theoryck.theory.spectra.gap import GapSampler

        return GapSampler(self.conjugate(sizes), float(self.shift), self.surrogate)

    def cost(self, sizes: Sizes) -> float:
        """Return the time of a draw in units of 1/7e7 seconds: two kernels and a spectrum beside the trace."""
        kernel = self.conjugate(sizes)
        n = kernel.samples
        entries = 40.0 if slope(self.network.activation) is None else 20.0
        return (kernel.nanoseconds + 6000 + (entries + 60) * n**2 + 2.0 * n**3) / NANOSECONDS_PER_NUMBER


def check_shift(shift: Any) -> Fraction:
    """Return gamma > 0 as it is written.

    >>> check_shift(0.1)
    Fraction(1, 10)
    """
    try:
        value = exact_number(shift, "shift", low=0)
    except ValueError as error:
        raise QuantityError(str(error)) from None
    if not isinstance(value, Fraction):
        raise QuantityError(f"shift must be an exact number > 0 such as 0.1 or '1/10', got {shift!r}")
    return value


def _against(value: Any) -> Fraction | Enclosure:
    try:
        return exact_number(value, "against")
    except ValueError as error:
        raise QuantityError(f"{error}: give the limit that is subtracted") from None


def _pair(value: Any) -> tuple[float, float]:
    try:
        rho, epsilon = (float(entry) for entry in value)
    except (TypeError, ValueError):
        raise QuantityError(f"surrogate must be the pair (rho, epsilon) of a linear model, got {value!r}") from None
    if not (np.isfinite(rho) and np.isfinite(epsilon) and epsilon >= 0):
        raise QuantityError(f"surrogate needs a finite rho and epsilon >= 0, got {value!r}")
    return rho, epsilon


def resolvent_trace(network: DeepNetwork, samples: Any = "n", *, shift: Any, against: Any = 0) -> ResolventTrace:
    """Return E (1/n) tr (K_L + shift)^-1 - against as a quantity; ``against`` is a limit, say, so that the rest is a bias.

    ``samples`` is n, an integer or a width such as "n" or "2*d"; ``shift`` > 0 is exact (0.1 is 1/10).  At depth 0 there is an
    exact route too, proved.  Raises QuantityError.  Source: Louart, Liao, Couillet (2018); Fan, Wang (2020).

    >>> from theoryck.theory.networks import DeepNetwork
    >>> trace = resolvent_trace(DeepNetwork("x", depth=0, widths=("d",)), "d", shift=1)
    >>> float(trace.exact({"d": 1}))
    0.65567...
    >>> draws = trace.draw(np.random.default_rng(0), 10_000, {"d": 1})
    >>> bool(abs(draws.mean() - 0.65567) < 5 * draws.std() / 100)
    True
    """
    return ResolventTrace(network, samples, shift, against)


def resolvent_variance(network: DeepNetwork, samples: Any = "n", *, shift: Any) -> ResolventVariance:
    """Return Var (1/n) tr (K_L + shift)^-1 as a quantity, from independent pairs, which need no mean: unbiased.

    Arguments as for :func:`resolvent_trace`.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> variance = resolvent_variance(DeepNetwork("x", depth=0, widths=("d",)), "d", shift=1)
    >>> variance.draw(np.random.default_rng(0), 3, {"d": 8}).shape
    (3,)
    """
    return ResolventVariance(network, samples, shift)


def eigenvalue(network: DeepNetwork, samples: Any = "n") -> Eigenvalue:
    """Return one eigenvalue of the smaller Gram matrix of x_L (K_L, or x_L x_L^T if d_L < n), chosen at random: statistic of a Law.

    Its limit is ``conjugate_kernel(phi, ratios).law().nonzero()``.  A draw is one matrix: eigenvalues of one matrix repel each
    other, so more than one of them would not be independent.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> statistic = eigenvalue(DeepNetwork("tanh", depth=1, widths=("d", "d")), "d")
    >>> bool((statistic.draw(np.random.default_rng(0), 5, {"d": 8}) > 0).all())
    True
    """
    return Eigenvalue(network, samples)


def equivalent_gap(network: DeepNetwork, samples: Any = "n", *, shift: Any, surrogate: Any = None) -> EquivalentGap:
    """Return E [(1/n) tr (K_L + shift)^-1 - (1/n) tr Qbar], Qbar the deterministic equivalent given the layer below: a quantity.

    Qbar = (Phi/(1 + delta) + shift)^-1 with the exact kernel Phi of the last layer, or with the surrogate rho^2 G + epsilon of a
    pair ``surrogate`` = (rho, epsilon), G the Gram matrix below.  Both traces share that layer, and terms linear and quadratic in
    K_L - Phi, whose mean given the layer below is 0, are taken off.  phi must have mean 0 at the limit variances.  Raises
    QuantityError.  Source: Louart, Liao, Couillet (2018), arXiv:1702.05419.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> gap = equivalent_gap(DeepNetwork("erf(x)", depth=1, widths=("d", "d")), "d", shift=1)
    >>> bool(abs(gap.draw(np.random.default_rng(0), 100, {"d": 16}).mean()) < 0.01)
    True
    """
    return EquivalentGap(network, samples, shift, surrogate)
