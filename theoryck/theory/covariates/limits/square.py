"""Square loss in the Gaussian covariate model: the fixed point is one scalar equation, the rest is in closed form.

With kappa = lambda/V_hat and df_j = <(omega/(kappa + omega))^j> the equations V = <omega/(lambda + V_hat omega)>,
V_hat = alpha/(1 + V) become  kappa (alpha - df_1(kappa)) = lambda.  Its left side is convex in kappa, zero at 0, so the root is
unique and Newton's iteration from above decreases to it.  What remains is linear in q:
    m = (c/gamma) <t/(kappa + omega)>,   E = E_0/(1 - df_2/alpha),   q = (E/alpha) df_2 + (c^2/gamma) <t omega/(kappa + omega)^2>,
c = 1 for regression on y = nu, sqrt(2/(pi rho)) for y = sign(nu).  All differences of near numbers are written as sums of positive
terms, so that small errors keep their digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from theoryck.numerics.errors import NotConverged
from theoryck.theory.covariates.model import Array, CovariateModel

MAX_STEPS = 400
"""A step at least halves the distance in scale: more would be needed only beyond the range of floats."""


@dataclass(frozen=True, slots=True)
class SquareSolution:
    """The order parameters for square loss; ``error`` is E (y - w.v/sqrt(p))^2 of a new label, ``shrink`` is 1/(1 + V)."""

    kappa: float
    V: float
    q: float
    m: float
    V_hat: float
    q_hat: float
    m_hat: float
    error: float
    shrink: float
    gap: float
    steps: int


def solve_kappa(model: CovariateModel, alpha: float, penalty: float, start: float | None = None) -> tuple[float, int]:
    """Return the root kappa of kappa (alpha - df_1(kappa)) = penalty and the number of steps; 0 where the penalty is 0 and alpha
    exceeds the rank.

    Raises NotConverged, which says where it stopped.
    """
    omega, _, weights = model.arrays
    # alpha - df_1 = excess + <kappa/(kappa + omega)>: for alpha near the rank no digits cancel; for small alpha as it stands.
    excess, small = alpha - model.rank, alpha < model.rank / 2
    if penalty == 0 and excess >= 0:
        return 0.0, 0
    above = (penalty + float(weights @ omega)) / alpha
    if excess > 0:
        above = min(above, penalty / excess)
    kappa, last = above if start is None or not start > 0 else start, math.inf
    for step in range(1, MAX_STEPS + 1):
        share, kept = kappa / (kappa + omega), omega / (kappa + omega)
        value = kappa * (alpha - float(weights @ kept) if small else excess + float(weights @ share)) - penalty
        slope = alpha - float(weights @ kept**2) if small else excess + float(weights @ (share * (1 + kept)))
        if not slope > 0:  # left of the minimum of the convex left side: start again from the bound
            kappa, last = above, math.inf
            continue
        change = value / slope
        # From the second step on the iteration decreases; when it no longer does, rounding is all that is left.
        if abs(change) <= 4e-16 * kappa or (step > 2 and value <= 0) or change >= last:
            return kappa - change, step
        last = change if change > 0 else math.inf
        kappa = kappa - change if kappa > change else kappa / 2
    raise NotConverged(
        f"kappa was not reached in {MAX_STEPS} steps: it stopped at {kappa:.6g} with a residual {value:.3g}: take a larger penalty"
    )


def solve_square(
    model: CovariateModel, alpha: float, penalty: float, noise: float, signs: bool, start: float | None = None
) -> SquareSolution:
    """Return the solution for labels y = nu + noise, or their signs; NotConverged at alpha = rank without penalty."""
    omega, diagonal, weights = model.arrays
    kappa, steps = solve_kappa(model, alpha, penalty, start)
    rho, residual, gamma = model.rho + noise, model.residual + noise, model.gamma
    c = math.sqrt(2 / (math.pi * rho)) if signs else 1.0
    kept = omega / (kappa + omega)
    lost = kappa / (kappa + omega)
    df1, df2 = float(weights @ kept), float(weights @ kept**2)
    # 1 - df_2/alpha with alpha - df_2 = (alpha - rank) + <1 - kept^2>
    small = alpha < model.rank / 2
    fraction = (alpha - df2 if small else (alpha - model.rank) + float(weights @ (lost * (1 + kept)))) / alpha
    if not fraction > 0:
        raise NotConverged(
            f"the error is infinite at alpha = {alpha:g}, the rank of Omega over p, without penalty: take penalty > 0, or another "
            "alpha"
        )
    signal = diagonal / omega
    unexplained = (1 - 2 / math.pi if signs else 0.0) + c * c * (residual + float(weights @ (signal * lost**2)) / gamma)
    error = unexplained / fraction
    m = c / gamma * float(weights @ (signal * kept))
    q = error / alpha * df2 + c * c / gamma * float(weights @ (signal * kept**2))
    V_hat = penalty / kappa if penalty > 0 else alpha - df1 if kappa == 0 else 0.0
    shrink = V_hat / alpha
    return SquareSolution(
        kappa=kappa,
        V=df1 / V_hat if V_hat > 0 else math.inf,
        q=q,
        m=m,
        V_hat=V_hat,
        q_hat=error * shrink * shrink * alpha,
        m_hat=c * V_hat / math.sqrt(gamma),
        error=error,
        shrink=shrink,
        gap=rho * error / alpha * df2 + c * c * alignment_gap(model, kept, residual),
        steps=steps,
    )


def alignment_gap(model: CovariateModel, kept: Array, residual: float) -> float:
    """Return (1/gamma) [rho <(t/omega) x^2> - (1/gamma) <(t/omega) x>^2], x = ``kept``, rho = residual + (1/gamma) <t/omega>.

    It is what the coherent part of w adds to rho q - m^2; Cauchy-Schwarz is an identity for the variance of x.
    """
    omega, diagonal, weights = model.arrays
    mass = weights * diagonal / omega
    total = float(mass.sum())
    if total == 0:
        return 0.0
    centre = float(mass @ kept) / total
    spread = float(mass @ (kept - centre) ** 2)
    return (residual * float(mass @ kept**2) + total * spread / model.gamma) / model.gamma
