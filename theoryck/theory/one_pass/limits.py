"""Mean gradients, the equation that overlaps follow as d grows, growth rates and times of blow-up.

phi(m) = E f(Z) s(z) for z of overlaps m with Z ~ N(0, I_r) has the gradient E grad f(Z) s'(z) = sum over Hermite tensors
(s_k/sqrt k!) k <E f H_k, m^(k-1)>, and the mean step on the sphere is (I - m m^T) grad phi.  As d grows with a step c/d and time
n/d,
    dm/dt = c (I - m m^T) grad phi - (c^2/2) m E y^2 s'(z)^2,
the last from the normalisation.  Where the start is a fixed point, distances d^(-1/2) from it grow like exp(rho t), so that n/d =
log d/(2 rho) + O(1).  With a first Hermite tensor of order 3 the step is c d^(-3/2), mu = sqrt d m, time t = n/d^2:
    d mu_k = c (s_3/sqrt 6) 3 <E f H_3, mu^2>_k dt - (c^2/2) E y^2 E s'^2 mu_k dt + c sqrt(E y^2 Z_k^2 E s'^2) dW_k,  mu(0) ~ N(0,
    I).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from theoryck.numerics.gaussian.means import nodes_of
from theoryck.quantities.base import QuantityError
from theoryck.records.arguments import integer
from theoryck.theory.one_pass.model import OnePass
from theoryck.theory.weak_recovery.model import Link, as_link, evaluate, kink_arguments

Array = NDArray[np.float64]

MOST_EVALUATIONS = 20_000
"""Of the velocity of overlaps: about 10 s for one or two indices."""

MOST_STEPS = 40_000
"""Of the equation for mu, about 10 s for 2000 runs of three indices."""

HIGHEST = 6
"""The highest order of a Hermite tensor that is looked at."""


# Means over the indices --------------------------------------------------------------------------------------------------------


PRECISION = 1e-10
"""Two rules whose means agree to this, relative to the root of the mean square, are taken to know them."""


def _hermite(count: int) -> tuple[Array, Array]:
    node, weight = np.polynomial.hermite_e.hermegauss(count)
    return node, weight / math.sqrt(2 * math.pi)


def _trapezoid(per_unit: int) -> tuple[Array, Array]:
    """Return the infinite trapezoidal rule, which errs by exp(-2 pi y per_unit) for what is analytic within y of the real line."""
    node = np.arange(-9 * per_unit, 9 * per_unit + 1) / per_unit
    return node, np.exp(-(node**2) / 2) / (per_unit * math.sqrt(2 * math.pi))


def _panels(count: int) -> tuple[Array, Array]:
    """Return a rule for what has a kink at 0, between panels of so many nodes."""
    z, w = nodes_of(np.array([0.0, 1.5, 3.5, 8.5]), count)
    w = w * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return np.concatenate([-z[::-1], z]), np.concatenate([w[::-1], w])


def _first_that_knows(
    rules: Sequence[tuple[Array, Array]], means: Callable[[Array, Array], Array], what: str
) -> tuple[Array, Array]:
    """Return the first rule whose means, of which the first is a mean square, agree with those of the next one."""
    with np.errstate(all="ignore"):  # what is not finite agrees with nothing
        found = [means(*rules[0])]
        for rule, finer in itertools.pairwise(rules):
            found.append(means(*finer))
            scale = PRECISION * math.sqrt(abs(float(found[-1][0]))) * max(1.0, math.sqrt(abs(float(found[-1][0]))))
            if np.isfinite(found[-1]).all() and np.abs(found[-1] - found[-2]).max() <= scale:
                return rule
    raise QuantityError(
        f"Gaussian means of {what} are not known to {PRECISION:g}: it is too steep, or has a pole, kinks elsewhere than at 0 or no "
        "mean square; take a smoother one, or draws"
    )


@functools.lru_cache(maxsize=16)
def _rule(link: Link) -> tuple[Array, Array]:
    """Return nodes and weights of one Gaussian index: the first rule that knows E f^2, E f He_k and the mean squares of grad f."""
    r = link.indices
    if r > 3:
        raise QuantityError(f"means are taken over at most 3 indices, got {r} in {link}")
    kinks = bool(kink_arguments(link.expression))
    slopes = [] if kinks else [sympy.diff(link.expression, symbol) for symbol in link.symbols]
    if kinks:
        rules = [_panels(count) for count in ((12, 18) if r > 2 else (12, 24, 48))]
    else:  # exact up to degree 27 for three indices, and 47 for fewer
        rules = [_hermite(count) for count in ((14, 28, 42) if r > 2 else (24, 48, 96))]
        rules += [_trapezoid(count) for count in {1: (16, 32, 64), 2: (12, 16)}.get(r, ())]

    def means(node: Array, weight: Array) -> Array:
        z = np.stack(np.meshgrid(*[node] * r, indexing="ij"), axis=-1).reshape(-1, r)
        w = functools.reduce(np.multiply.outer, [weight] * r).ravel()
        f = link.values(z)
        columns = {symbol: z[:, j] for j, symbol in enumerate(link.symbols)}
        squares = [w @ np.broadcast_to(evaluate(slope, columns), len(z)) ** 2 for slope in slopes]
        moments = (w * f) @ np.concatenate([np.polynomial.hermite_e.hermevander(z[:, j], 3) for j in range(r)], axis=1)
        return np.array([w @ f**2, *squares, *moments])

    return _first_that_knows(rules, means, str(link))


@functools.lru_cache(maxsize=16)
def _slope_rule(sgd: OnePass, least: int) -> tuple[Array, Array]:
    """Return nodes and weights for means of s' and its square over what is left of z: the first rule, from ``least`` nodes on, that
    knows them where that is all of it, and half of its variance about -1, 0 and 2."""
    rules = [_hermite(least), _hermite(2 * least), _hermite(4 * least), *(_trapezoid(count) for count in (16, 32, 64))]

    def means(node: Array, weight: Array) -> Array:
        around = [sgd.slopes(node), *(sgd.slopes(centre + math.sqrt(0.5) * node) for centre in (-1.0, 0.0, 2.0))]
        return np.array([weight @ each**power for power in (2, 1) for each in around])

    return _first_that_knows(rules, means, f"the slope {sgd.slope}")


@functools.lru_cache(maxsize=16)
def _indices(link: Link) -> tuple[Array, Array, Array]:
    """Return nodes Z (m, r), weights and f(Z)."""
    node, weight = _rule(link)
    r = link.indices
    z = np.stack(np.meshgrid(*[node] * r, indexing="ij"), axis=-1).reshape(-1, r)
    w = functools.reduce(np.multiply.outer, [weight] * r).ravel()
    kept = w > 1e-20
    return z[kept], w[kept], link.values(z[kept])


def hermite_tensor(link: Link, order: int) -> dict[tuple[int, ...], float]:
    """Return the means E f(Z) prod_j He_(k_j)(Z_j) over all k of the given total order, those above 1e-9.

    >>> hermite_tensor(Link("z1*z2"), 2)
    {(1, 1): 1.0}
    """
    found = _coefficients(link)
    scale = 1e-9 * math.sqrt(float(_indices(link)[1] @ _indices(link)[2] ** 2))
    orders = itertools.product(range(order + 1), repeat=link.indices)
    return {powers: round(float(found[powers]), 14) for powers in orders if sum(powers) == order and abs(found[powers]) > scale}


@functools.lru_cache(maxsize=16)
def _coefficients(link: Link) -> Array:
    """Return E f(Z) prod_j He_(k_j)(Z_j) for k_j up to HIGHEST, an axis an index."""
    node, weight = _rule(link)
    polynomials = weight[:, None] * np.polynomial.hermite_e.hermevander(node, HIGHEST)
    found = link.values(np.stack(np.meshgrid(*[node] * link.indices, indexing="ij"), axis=-1))
    for _ in range(link.indices):
        found = np.tensordot(found, polynomials, axes=(0, 0))
    return found


def information_exponent(link: Link | str) -> int:
    """Return the order of the first Hermite tensor of order >= 1 that is not 0; QuantityError if there is none up to 6.

    >>> [information_exponent(link) for link in ("z**2", "z**3 - 3*z", "z1*z2", "sign(z1*z2*z3)", "z1 + z1*z2")]
    [2, 3, 2, 3, 1]
    """
    of = as_link(link)
    for order in range(1, HIGHEST + 1):
        if hermite_tensor(of, order):
            return order
    raise QuantityError(f"no Hermite tensor of {of} up to order {HIGHEST} is told from 0")


def leap(link: Link | str) -> int:
    """Return the leap: the monomials of the Hermite expansion are ordered so that each brings as few new indices as possible, a
    new index counted with its power, and the leap is the largest number of these.  Raises QuantityError where orders up to 6 do not
    reach every index.

    >>> [leap(link) for link in ("z1 + z1*z2", "z1 + z1*z2*z3", "z1*z2*z3", "z1 + z1*z2 + z1*z2*z3", "z**2")]
    [1, 2, 3, 1, 2]
    """
    of = as_link(link)
    monomials = [powers for order in range(1, HIGHEST + 1) for powers in hermite_tensor(of, order)]
    known: set[int] = set()
    largest = 0
    while len(known) < of.indices:
        costs = {powers: sum(k for j, k in enumerate(powers) if j not in known) for powers in monomials}
        new = {powers: cost for powers, cost in costs.items() if cost > 0}
        if not new:
            raise QuantityError(f"no Hermite monomial of {of} up to order {HIGHEST} has all of its indices")
        least = min(new.values())
        largest = max(largest, least)
        for powers, cost in new.items():
            if cost == least:
                known |= {j for j, k in enumerate(powers) if k}
                break
    return largest


def gradient(link: Link, sgd: OnePass, overlaps: Array) -> Array:
    """Return grad phi(m), (r,): E grad f(Z) s'(z), or for a link with kinks the sum over its Hermite tensors, s' of degree <= 5.

    >>> gradient(Link("z1*z2"), OnePass("z1*z2", "sqrt(2)*z", "1/d"), np.array([0.5, 0.25])).round(6).tolist()  # sqrt 2 m_1 m_2
    [0.353553, 0.707107]
    """
    if kink_arguments(link.expression):
        return _gradient_of_tensors(link, sgd, overlaps)
    z, w, _ = _indices(link)
    slope = _mean_over_rest(sgd, z, overlaps, lambda values: values)
    columns = {symbol: z[:, j] for j, symbol in enumerate(link.symbols)}
    parts = [np.broadcast_to(evaluate(sympy.diff(link.expression, symbol), columns), len(z)) for symbol in link.symbols]
    return np.array([float((w * slope) @ part) for part in parts])


def _gradient_of_tensors(link: Link, sgd: OnePass, overlaps: Array) -> Array:
    """phi(m) = sum_p E f He_p m^p/p! E s^(|p|), and E s^(k) = E s' He_(k-1)."""
    degree = sgd.slope_degree
    if degree is None or degree >= HIGHEST:
        raise QuantityError(f"{link} is not smooth: its gradient needs a slope of degree at most {HIGHEST - 1}, got {sgd.slope!r}")
    node, weight = _hermite(24)
    means = (weight * sgd.slopes(node)) @ np.polynomial.hermite_e.hermevander(node, HIGHEST)
    found = np.zeros(link.indices)
    for order in range(1, degree + 2):
        for powers, value in hermite_tensor(link, order).items():
            factor = value * means[order - 1] / math.prod(math.factorial(k) for k in powers)
            for j, k in enumerate(powers):
                if k:
                    found[j] += factor * k * math.prod(float(m) ** (q - (i == j)) for i, (m, q) in enumerate(zip(overlaps, powers)))
    return found


def _mean_over_rest(sgd: OnePass, z: Array, overlaps: Array, function: Any) -> Array:
    """Return E function(s'(m.Z + sqrt(1 - |m|^2) e)) over e for every Z."""
    node, weight = _slope_rule(sgd, 14 if len(overlaps) > 2 else 24)
    rest = math.sqrt(max(1 - float(overlaps @ overlaps), 0.0))
    found: Array = function(sgd.slopes((z @ overlaps)[:, None] + rest * node)) @ weight
    return found


# Limits ------------------------------------------------------------------------------------------------------------------------


def _constant(sgd: OnePass, power: float) -> float:
    """Return c of a step c d^(-power); QuantityError for another step."""
    found = [sgd.step_at(d) * d**power for d in (64, 4096)]
    if abs(found[0] / found[1] - 1) > 1e-12:
        raise QuantityError(f"this limit needs a step of order d**({-power:g}), got {sgd.step!r}")
    return found[1]


def velocity(sgd: OnePass, overlaps: Array) -> Array:
    """Return dm/dt, (r,), for a step c/d and time n/d.

    >>> velocity(OnePass("z1*z2", "sqrt(2)*z", "0.2/d"), np.array([0.5, 0.25])).round(6).tolist()
    [0.002855, 0.107494]
    """
    link, c = sgd.link, _constant(sgd, 1.0)
    z, w, f = _indices(link)
    ascent = gradient(link, sgd, overlaps)
    energy = float((w * (f**2 + link.noise)) @ _mean_over_rest(sgd, z, overlaps, np.square))
    found: Array = c * (ascent - overlaps * (overlaps @ ascent)) - c**2 / 2 * overlaps * energy
    return found


def limiting_time(sgd: OnePass) -> float:
    """Return the limit of n/d at which min_k |m_k| reaches the level, started at m = 0: leap 1, step c/d.

    Raises QuantityError where it is not reached: where m = 0 is a fixed point, or the level beyond another.

    >>> round(limiting_time(OnePass("z1 + z1*z2", "1/2 + sqrt(2)*z", "0.2/d")), 8)
    7.12508399
    """

    r, c = sgd.link.indices, _constant(sgd, 1.0)
    if not np.any(np.abs(velocity(sgd, np.zeros(r))) > 1e-12 * c):
        raise QuantityError(f"m = 0 is a fixed point for {sgd}: the time is of order log d, see growth_rate")

    def reached(_: float, m: Array) -> float:
        return float(np.abs(m).min()) - sgd.level

    reached.terminal = True  # type: ignore[attr-defined]
    done = _until_still(sgd, np.ones(r), 1e-11, reached)
    if not len(done.t_events[1]):
        raise QuantityError(f"the level {sgd.level} is not reached by {sgd}: overlaps stop at {done.y[:, -1].round(4).tolist()}")
    return float(done.t_events[1][0])


def _until_still(sgd: OnePass, moving: Array, tolerance: float, *events: Any) -> Any:
    """The solution of dm/dt from m = 0 for those overlaps that are ``moving``, until they stand still or an event."""
    evaluations, c = 0, _constant(sgd, 1.0)

    def still(_: float, m: Array) -> float:
        return float(np.abs(velocity(sgd, m) * moving).max()) - 1e-9 * c

    def slope(time: float, m: Array) -> Array:
        nonlocal evaluations
        evaluations += 1
        if evaluations > MOST_EVALUATIONS:
            raise QuantityError(f"the equation of {sgd} is followed to n/d = {time:.4g} only: take a step nearer to 1/d")
        found: Array = velocity(sgd, m) * moving
        return found

    still.terminal = True  # type: ignore[attr-defined]
    stops = (still, *events)
    start = np.zeros(sgd.link.indices)
    with np.errstate(over="ignore", invalid="ignore"):  # a trial step far off the sphere is taken back
        return solve_ivp(slope, (0, 1e5 / c), start, "DOP853", events=stops, rtol=tolerance, atol=tolerance / 100)


def growth_rate(sgd: OnePass) -> float:
    """Return rho, at which overlaps of order d^(-1/2) grow: leap 2, step c/d, so that the median of n/d is log d/(2 rho) + O(1).

    What is reached at once (z1 in z1 + z1*z2*z3) stands at its fixed point.  Raises QuantityError for a rate <= 0.

    >>> round(1 / (2 * growth_rate(OnePass("z1*z2", "sqrt(2)*z", "0.2/d"))), 6)
    2.058946
    """
    c, start = _constant(sgd, 1.0), np.zeros(sgd.link.indices)
    moving = np.abs(velocity(sgd, start)) > 1e-12 * c
    if moving.any():
        start = _until_still(sgd, moving.astype(float), 1e-9).y[:, -1]
    rest = np.flatnonzero(~moving)
    h = 1e-4
    jacobian = np.zeros((len(rest), len(rest)))
    for column, j in enumerate(rest):
        plus, minus = start.copy(), start.copy()
        plus[j] += h
        minus[j] -= h
        jacobian[:, column] = (velocity(sgd, plus) - velocity(sgd, minus))[rest] / (2 * h)
    rate = float(np.linalg.eigvals(jacobian).real.max()) if len(rest) else 0.0
    if rate <= 1e-9 * c:
        raise QuantityError(f"nothing grows from {start.round(4).tolist()} for {sgd}: take a smaller step, or another neuron")
    return rate


def blow_up_median(sgd: OnePass, runs: int = 2000, seed: int = 0) -> tuple[float, float]:
    """Return the limit of the median of n/d^2 and its standard error, by simulation: first tensor of order 3, step c d^(-3/2).

    The time from mu = 60 on is that of the equation without noise, 1/(60 k) with the growth k |mu|^2 along the best direction.
    Raises QuantityError for another step, for a tensor of order 1 or 2 that is not 0, a neuron that does not see the third (E s'
    He_2 = 0), and where half of the ``runs`` (64 to 100,000) have not blown up after 40,000 steps, as for c far from 1.

    >>> median, error = blow_up_median(OnePass("z1*z2*z3", "(3*z**2 - 3)/sqrt(6)", "0.3*d**(-3/2)"), runs=1000)
    >>> abs(median - 2.32) < 4 * error + 0.02, error < 0.1
    (True, True)
    """
    link, c = sgd.link, _constant(sgd, 1.5)
    integer(runs, "runs", 64, 100_000, QuantityError)
    integer(seed, "seed", 0, error=QuantityError)
    if hermite_tensor(link, 1) or hermite_tensor(link, 2):
        raise QuantityError(f"the first Hermite tensor of {link} is not of order 3")
    z, w, f = _indices(link)
    r = link.indices
    node, weight = _slope_rule(sgd, 40)
    slope = sgd.slopes(node)
    energy = float(weight @ slope**2)
    third = float((weight * slope) @ (node**2 - 1)) / 6  # s_3/sqrt 6 = E s He_3/6 = E s' He_2/6
    if abs(third) <= 1e-9 * math.sqrt(energy):
        raise QuantityError(f"slope must have E s'(z) He_2(z) != 0, got {sgd.slope!r}: its neuron does not see a tensor of order 3")
    tensor = hermite_tensor(link, 3)
    if not tensor:
        raise QuantityError(f"the first Hermite tensor of {link} is not of order 3")
    square = float(w @ f**2) + link.noise
    spread = np.sqrt(energy * np.array([float((w * f**2) @ z[:, k] ** 2) + link.noise for k in range(r)])) * c
    # A step is a fraction of the times of growth, of decay and of diffusion, at |mu| + 1: what is large moves fast.
    pull, decay = 3 * c * abs(third) * max(map(abs, tensor.values())), c**2 / 2 * square * energy
    rng = np.random.default_rng(seed)
    mu = rng.standard_normal((r, runs))
    if sgd.start == "positive":
        mu = np.abs(mu)
    time, times, far = np.zeros(runs), np.full(runs, np.inf), 60.0
    alive = np.arange(runs)
    for _ in range(MOST_STEPS):
        force = np.zeros_like(mu)
        for powers, value in tensor.items():
            count = 6 / math.prod(math.factorial(k) for k in powers)  # places of the tensor with these indices
            for k in range(r):
                if powers[k]:
                    factors = [mu[j] ** (powers[j] - (j == k)) for j in range(r)]
                    force[k] += count * value * powers[k] / 3 * math.prod(factors)
        drift = 3 * c * third * force - decay * mu
        reach = 1 + np.abs(mu).max(axis=0)
        h = 1 / (250 * pull * reach + 100 * decay + 100 * float(spread.max()) ** 2 / reach**2)
        mu = mu + drift * h + spread[:, None] * np.sqrt(h) * rng.standard_normal(mu.shape)
        time = time + h
        size = np.abs(mu).max(axis=0)
        out = size > far
        if out.any():
            growth = np.abs(drift).max(axis=0)[out] / size[out] ** 2
            times[alive[out]] = time[out] + 1 / (size[out] * growth)
            alive, mu, time = alive[~out], mu[:, ~out], time[~out]
        if len(alive) < 0.25 * runs:
            break
    ordered = np.sort(times)
    rank = math.sqrt(runs) / 2
    low, high = ordered[int(runs / 2 - rank)], ordered[int(runs / 2 + rank)]
    if high == math.inf:
        raise QuantityError(
            f"half of the runs of {sgd} have not blown up after {MOST_STEPS} steps: the noise keeps overlaps small if c is large, "
            f"and is slow to turn those that point away if it is small; take c nearer to 1 than {c:g}"
        )
    return float(ordered[runs // 2]), float(high - low) / 2
