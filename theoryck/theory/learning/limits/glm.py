"""The replica formula of the generalised linear model: overlap, Bayes error, free entropy and mutual information in the limit.

Barbier, Krzakala, Macris, Miolane, Zdeborova (2019), arXiv:1708.03395, proved, for n = alpha d samples,
    lim (1/n) E log Z = (1/alpha) sup_q inf_r [ psi(r) + alpha Psi(q) - r q/2 ],   psi(r) = (r - log(1 + r))/2 for v ~ N(0, I),
with Psi of :mod:`theoryck.theory.learning.limits.channels`.  Stationarity is q = r/(1 + r), r = 2 alpha Psi'(q) = alpha E g_out^2;
the potential at q is (q + log(1 - q))/2 + alpha Psi(q).  Where several q are stationary, the one of largest potential is the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from scipy.optimize import brentq

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.proved.formulas import Number, evaluate
from theoryck.records.arguments import exact_number
from theoryck.theory.learning.limits.channels import Channel, GaussianChannel, Integrals, SignChannel
from theoryck.theory.learning.limits.linear import linear_error, linear_information
from theoryck.theory.learning.model import TeacherStudent
from theoryck.theory.networks.proved.constants import network_constants
from theoryck.theory.spectra.limits.marchenko_pastur import tau_formula

TOLERANCE = 5e-13
LEVELS = (1.0, 1.5, 2.25, 3.375, 5.0, 7.0, 10.0)
LOWEST, SCAN = -16.0, 0.5
"""The scan for fixed points takes steps of 0.5 in log r; where q = 0 is stationary, it begins at r = e^-16."""


@dataclass(frozen=True, slots=True)
class GlmLimit:
    """The limit of the Bayes-optimal generalised linear model; information in nats per sample.

    ``overlap`` is q, ``deficit`` 1 - q (accurate also where q is near 1), ``error`` the mean-square error E^(0) of a new label,
    noise included, ``misclassification`` the error rate of the Bayes vote (sign labels only), ``free_entropy`` lim (1/n) E log Z,
    ``mutual_information`` lim I_n/n, ``fixed_points`` all overlaps found to be stationary, in increasing order, ``accuracy`` the
    largest change of a number above under the last refinement of the grids (0 for the closed form).

    >>> limit = glm_limit(alpha=1, noise=0.5, eta0=1, gamma0=0)
    >>> limit.overlap, limit.error, round(limit.mutual_information, 6)  # half of the variance of v . x is learned
    (0.5, 1.0, 0.443147)
    """

    alpha: float
    overlap: float
    deficit: float
    error: float
    misclassification: float | None
    free_entropy: float
    mutual_information: float
    fixed_points: tuple[float, ...]
    accuracy: float


def glm_limit(
    alpha: Number,
    noise: Number,
    readout: Activation | str = "x",
    eta0: Number = 1,
    gamma0: Number = 0,
    *,
    labels: str = "real",
) -> GlmLimit:
    """Return the limit of Y = f(eta_0 v.x + sqrt(gamma_0) xi) + sqrt(Delta) Z, n = alpha d, x ~ N(0, I/d), v ~ N(0, I),
    Bayes-optimal.

    ``readout`` is f: an Activation, a name or a text; f(x) = x has a closed form and may have noise 0 (its mutual information is
    then infinite), any other needs noise > 0.  With ``labels="sign"`` the labels are Y = sign(eta_0 v.x + sqrt(gamma_0) xi +
    sqrt(Delta) Z), the readout stays "x" and noise may be 0.  f should be smooth between finitely many kinks.  Raises ValueError
    for bad arguments and :class:`~theoryck.numerics.errors.NotConverged` (a ValueError) where two refinements of the
    grids do not agree to 5e-13.

    >>> limit = glm_limit(1.5, 0.05, "tanh(2*x)", eta0=0.5292612, gamma0=0.0397916)
    >>> round(limit.overlap, 4), round(limit.error, 5), limit.fixed_points == (limit.overlap,)
    (0.6915, 0.23886, True)
    """
    a = exact_number(alpha, "alpha", low=0)
    delta, eta = exact_number(noise, "noise", low=0, strict=False), exact_number(eta0, "eta0")
    gamma = exact_number(gamma0, "gamma0", low=0, strict=False)
    f = readout if isinstance(readout, Activation) else Activation(readout)
    if labels not in ("real", "sign"):
        raise ValueError(f"labels must be 'real' or 'sign', got {labels!r}")
    if float(eta) == 0:
        raise ValueError(f"eta0 must not be 0, got {eta0!r}: without it the samples say nothing of v")
    if labels == "sign":
        if f.text != "x":
            raise ValueError(
                f"readout must be 'x' for sign labels (the sign of a monotone odd f is that of its argument), got {f.text!r}"
            )
        return replica_limit(float(a), SignChannel(float(delta), abs(float(eta)), float(gamma)))
    if f.text == "x":
        return _linear(a, delta, eta, gamma)
    if delta == 0:
        raise ValueError(f"noise must be > 0 for the readout {f.text}, got 0: the labels of a smooth f give away its argument")
    return replica_limit(float(a), GaussianChannel(f, float(delta), abs(float(eta)), float(gamma)))


def teacher_limit(setting: TeacherStudent, alpha: Number, *, labels: str = "real") -> GlmLimit:
    """Return the limit, n = ``alpha`` d_0, of the model Y = f(eta_0 v.x_0 + sqrt(gamma_0) xi) + sqrt(Delta) Z equivalent to
    ``setting``.

    eta_0 and gamma_0 are those of the network of ``setting`` (1 and 0 at depth 0), f its readout, Delta its noise; its widths and
    its number of samples play no part.  The rest is as in :func:`glm_limit`, whose errors it raises.

    >>> from theoryck.theory.learning import TeacherStudent
    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("erf", depth=2), noise="0.05", readout="tanh(2*x)")
    >>> limit = teacher_limit(setting, 1.5)
    >>> round(limit.overlap, 4), round(limit.error, 5)
    (0.6915, 0.23886)
    """
    if not isinstance(setting, TeacherStudent):
        raise ValueError(f"setting must be a theoryck.TeacherStudent, got {setting!r}")
    constants = network_constants(setting.network.activation, setting.network.depth, 25)
    return glm_limit(alpha, setting.noise, setting.readout, constants.eta0, constants.gamma0, labels=labels)


def _linear(alpha: Any, delta: Any, eta: Any, gamma: Any) -> GlmLimit:
    """The closed form (Marchenko-Pastur)."""
    error = linear_error(alpha, delta, eta, gamma)
    a, noise = float(alpha), float(delta)
    deficit = evaluate(lambda iv, a, d, e, g: tau_formula(iv, a, e * e / (g + d)), (alpha, delta, eta, gamma))
    if noise > 0:
        known = linear_information(alpha, delta, eta, gamma)
        entropy = -known - math.log(2 * math.pi * math.e * noise) / 2
    else:
        # Without noise xi plays its part: the density of the labels is that of the model with noise gamma_0 and no xi.
        known = math.inf
        entropy = -linear_information(alpha, gamma, eta, 0) - math.log(2 * math.pi * math.e * float(gamma)) / 2
    return GlmLimit(a, 1 - deficit, deficit, error, None, entropy, known, (1 - deficit,), 0.0)


def replica_limit(alpha: float, channel: Channel) -> GlmLimit:
    """Return the limit for any :class:`~theoryck.theory.learning.limits.channels.Channel` (see :func:`glm_limit` for the built-in
    ones)."""
    points = _scan(alpha, channel)
    before: GlmLimit | None = None
    for level in LEVELS:
        polished = [_polish(alpha, channel, r, level) for r in points]
        points = sorted(r for r, _ in polished)
        r, integrals = max(polished, key=lambda point: _potential(alpha, point[0], point[1].psi))
        limit = _limit(alpha, channel, r, integrals, tuple(s / (1 + s) for s in points))
        if before is not None:
            change = _change(before, limit)
            if change <= TOLERANCE:
                return replace(limit, accuracy=change)
        before = limit
    raise NotConverged(
        f"two refinements still differ by {change:.3g} (tolerance {TOLERANCE:g}) at q = {r / (1 + r):.15g}: f is too steep or not "
        "smooth between its kinks, or two fixed points are about to merge"
    )


def _potential(alpha: float, r: float, psi: float) -> float:
    """(q + log(1 - q))/2 + alpha Psi(q) at q = r/(1 + r)."""
    return (r / (1 + r) - math.log1p(r)) / 2 + alpha * psi


def _limit(alpha: float, channel: Channel, r: float, integrals: Integrals, points: tuple[float, ...]) -> GlmLimit:
    entropy = _potential(alpha, r, integrals.psi) / alpha
    return GlmLimit(
        alpha=alpha,
        overlap=r / (1 + r),
        deficit=1 / (1 + r),
        error=channel.noise_power + channel.signal_power - integrals.predicted,
        misclassification=channel.misclassification(r) if isinstance(channel, SignChannel) else None,
        free_entropy=entropy,
        mutual_information=-entropy - channel.conditional_entropy,
        fixed_points=points,
        accuracy=math.inf,
    )


def _change(one: GlmLimit, two: GlmLimit) -> float:
    return max(
        abs(one.overlap - two.overlap),
        abs(one.deficit / two.deficit - 1) if two.deficit else 0.0,
        abs(one.error - two.error) / two.error if two.error else 0.0,
        abs(one.free_entropy - two.free_entropy) / (1 + abs(two.free_entropy)),
    )


def _scan(alpha: float, channel: Channel) -> list[float]:
    """Return rough r of every fixed point seen on a grid of log r, where log(alpha E g^2) - log r changes sign.

    r = alpha E g_out^2 is at most alpha times the limit of the Fisher information, so that nothing lies above the last point.
    Where there is no such limit (a jump, no gamma_0) the Fisher information grows only like sqrt(r), and the scan ends well above
    the last fixed point.
    """

    def excess(x: float) -> float:
        fisher = channel.at(math.exp(x), 0.75).fisher
        return math.log(alpha * fisher) - x if fisher > 1e-300 else -math.inf

    top = alpha * channel.fisher_limit
    last = math.log(top) + SCAN if math.isfinite(top) else 40.0
    # q = 0 is stationary where g_out vanishes there (even channels); its Fisher information is then rounding only.
    least = channel.at(0.0, 1.0).fisher
    found = [0.0] if least < 1e-20 else []
    # The Fisher information grows with q (Psi is convex): no fixed point lies below its value at q = 0.
    x = LOWEST if least < 1e-20 else math.log(alpha * least) - SCAN / 2
    value = excess(x)
    while x < last or value > 0:
        ahead = x + SCAN
        beyond = excess(ahead)
        if (value > 0) != (beyond > 0):
            found.append(math.exp(float(brentq(excess, x, ahead, xtol=1e-6)) if math.isfinite(beyond) else ahead))
        x, value = ahead, beyond
        if x > 45:
            raise NotConverged(
                f"no fixed point below q = 1 - {math.exp(-x):.1e}: "
                "the overlap is 1 to the accuracy of floats; take more noise or a smaller alpha"
            )
        if not math.isfinite(top) and value < 0 and len(found) and x > math.log(found[-1] + 1e-300) + 6 * SCAN:
            break
    return found


def _polish(alpha: float, channel: Channel, start: float, level: float) -> tuple[float, Integrals]:
    """Solve log(alpha E g^2(r)) = log r by secants from ``start``."""
    if start == 0:
        return 0.0, channel.at(0.0, level)
    x = math.log(start)
    integrals = channel.at(start, level)
    value = math.log(alpha * integrals.fisher) - x
    slope, last = -0.5, math.inf
    for _ in range(40):
        step = -value / slope
        # At the accuracy of the integrals steps stop shrinking; the comparison of two levels judges what was reached.
        if abs(step) < 3e-15 * max(1.0, abs(x)) or (abs(step) < 1e-10 and abs(step) >= last / 2):
            return math.exp(x), integrals
        last = abs(step)
        new = x + min(max(step, -1.0), 1.0)
        integrals = channel.at(math.exp(new), level)
        change = math.log(alpha * integrals.fisher) - new
        if abs(new - x) > 1e-12:
            slope = (change - value) / (new - x)
        x, value = new, change
    q = 1 / (1 + math.exp(-x))
    raise NotConverged(
        f"the fixed point was not reached: at q = {q:.15g} the equation log(alpha E g^2) = "
        f"log r misses {value:.3g}; take another alpha, or more noise"
    )
