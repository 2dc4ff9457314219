"""The equations of online learning: Gaussian means of two-layer networks, and trajectories to 1e-9, to 1e-8 with kinks.

    w^k <- w^k - (eta/sqrt(N)) v^k Delta g'(lambda^k) x,    v^k <- v^k - (eta_v/N) Delta g(lambda^k),
    Delta = sum_j v^j g(lambda^j) - sum_n v~^n g~(nu^n),    t = steps/N,
and with h_1^{kj} = E g''(lambda^k) g(lambda^j), h_2^{kj} = E g'(lambda^k) g'(lambda^j), h_4^{kn} = E g''(lambda^k) g~(nu^n),
h_5^{kn} = E g'(lambda^k) g~'(nu^n), h_6^{kl} = E g'(lambda^k) g'(lambda^l) Delta^2, for every eigenvalue rho
    dr^{km}/dt = -eta v^k {rho sum_j v^j [r^{km} h_1^{kj} + r^{jm} h_2^{kj}] - sum_n v~^n [rho r^{km} h_4^{kn} + t~^{nm} h_5^{kn}/sqrt(delta)]}
    dq^{kl}/dt = -eta v^k {rho sum_j v^j [q^{kl} h_1^{kj} + q^{jl} h_2^{kj}] - sum_n v~^n [rho q^{kl} h_4^{kn} + r^{ln} h_5^{kn}/sqrt(delta)]}
                 + (k <-> l) + eta^2 rho v^k v^l h_6^{kl},
    dv^k/dt = -eta_v E Delta g(lambda^k).
In the source the term j = k stands apart, as h_3^k = h_1^{kk} + h_2^{kk}.

For erf(x/sqrt 2) every mean is algebraic or an arcsine (Saad and Solla 1995).  For other activations all of them are means over one
lattice of standard normal points: the trapezoidal rule, which converges faster than any power of its step for analytic functions;
the step is the one at which a finer one changes the right-hand side no more, at all times asked for.  A lattice resolves no kinks:
piecewise linear activations have means on orthants (:mod:`theoryck.theory.dynamics.linear_pieces`), other kinked ones are allowed
for one unit against one, by panels that end at kinks.  With kinks the right-hand sides have roots of 1 - r in them, r the
correlation of two fields, and the equations do not tell whether units of the student that begin equal stay so.  The algorithm
does: its steps for w^k = a w and v^k = c v, c = a or -a, are those for w, v times a and c if g(a x) = c g(x), g'(a x) = (a/c) g'(x)
for all x, and such units stay multiples of one.  It is followed alone, with the sum of c v^k/v = a^2 over them before its output.
"""  # noqa: E501 - an equation a line

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from theoryck.numerics.errors import NotConverged
from theoryck.numerics.functions.pieces import check_slope
from theoryck.numerics.gaussian.means import kinks_of, nodes_of, panel_edges
from theoryck.records.arguments import LARGEST
from theoryck.theory.dynamics.linear_pieces import Plan, linear_pieces, plan
from theoryck.theory.dynamics.model import ROUNDING, OnlineTask, OrderParameters, array
from theoryck.theory.projections.limits import check_covariance
from theoryck.theory.projections.model import erf_kernel

Array = NDArray[np.float64]

TOLERANCE = 1e-12
"""Of a step of the integrator, relative: the errors of a trajectory stay below 1e-9 unless it is itself unstable."""

STEPS = tuple(0.7 * 0.8**k for k in range(12))
MOST_POINTS = 1_000_000
AGREED = 1e-8
"""Two steps of the lattice must agree to this, relative to the largest mean: the finer one is nearer by two digits more."""

LATTICE_TOLERANCE = 1e-10

SAME = 1e-12
"""Relative: correlations this near to 1 and second layers this near to each other are equal, but for rounding."""

EFFORT = 10.0
"""Seconds after which a trajectory is given up, counted in right-hand sides: 1e-4 s, 1e-3 s and 1.5e-5 s an orthant of three
fields, 3e-3 s by panels, 1e-7 s a point and field."""

PANEL_REACH = 9.0
"""Standard deviations to which panels reach: e^(-81/2) = 3e-18."""


@dataclass(frozen=True)
class Means:
    """The Gaussian means of the equations: ``h1``, ``h2``, ``h6`` (K, K), ``h4``, ``h5`` (K, M), ``outputs`` E Delta g (K,), ``eg``
    = E Delta^2/2."""

    h1: Array
    h2: Array
    h4: Array
    h5: Array
    h6: Array
    outputs: Array
    eg: float


def online_means(task: OnlineTask, Q: ArrayLike, R: ArrayLike, v: ArrayLike) -> Means:
    """Return the means of the equations at Q (K, K), R (K, M) and v (K,), T and v~ being those of the ``task``.

    Raises ValueError for second moments that no fields have and fields of no width at a kink, NotConverged where an activation is
    not resolved.

    >>> found = online_means(OnlineTask(T=1, v_teacher=1, rate=1), 1, 0, 1)
    >>> round(float(found.h2[0, 0] * math.pi / 2 * 3**0.5), 12), round(found.eg, 12)  # g' = sqrt(2/pi) e^(-x^2/2)
    (1.0, 0.333333333333)
    """
    second = array(v, "v", 1)
    q, r = array(Q, "Q", 2, (len(second), len(second))), array(R, "R", 2, (len(second), task.units))
    check_covariance(q, r, task.T)
    return _means(task, q, r, second, _step(task, q, r, second))


def _means(task: OnlineTask, q: Array, r: Array, v: Array, step: float | None) -> Means:
    if step is not None:
        return _lattice_means(task, q, r, v, step)
    if task.arcsines:
        return _arcsine_means(task, q, r, v)
    pieced = _plan(task, len(v))
    return _panel_means(task, q, r, v) if pieced is None else _orthant_means(task, q, r, v, pieced)


def _plan(task: OnlineTask, count: int) -> Plan | None:
    """What the means of piecewise linear activations are made of; None for others."""
    student, teacher = linear_pieces(task.student), linear_pieces(task.teacher)
    return None if student is None or teacher is None else plan(student, teacher, count, task.units)


def _orthant_means(task: OnlineTask, q: Array, r: Array, v: Array, pieced: Plan) -> Means:
    count = len(v)
    whole = np.block([[q, r], [r.T, task.T]])
    signs = np.concatenate([v, -task.v_teacher])
    slopes, values, noise = pieced.sums(whole)
    curved = pieced.curved(whole, count)
    return Means(
        h1=curved[:, :count],
        h2=slopes[:, :count],
        h4=curved[:, count:],
        h5=slopes[:, count:],
        h6=noise @ signs @ signs,
        outputs=values[:count] @ signs,
        eg=float(signs @ values @ signs) / 2,
    )


def _arcsine_means(task: OnlineTask, q: Array, r: Array, v: Array) -> Means:
    count = len(v)
    c = np.empty((count + task.units, count + task.units))
    c[:count, :count], c[:count, count:], c[count:, :count], c[count:, count:] = q, r, r.T, task.T
    signs = np.concatenate([v, -task.v_teacher])
    own = 1 + np.diagonal(c)
    left = own[:count, None]
    cross = c[:count]
    # Var 1 + C of two fields: (1 + C_11)(1 + C_33) - C_13^2
    pair = left * own - cross * cross
    slopes = 2 / math.pi / np.sqrt(pair)
    curved = -slopes * cross / left
    kernel = erf_kernel(own[:, None] - 1, c, own - 1)
    # Lambda_4 (k, l), Lambda_1 (k, l, a), Lambda_0 (k, l, a, b) of the four-point mean
    determinant = pair[:, :count]
    mine, yours = cross[:, None, :], cross[None, :, :]
    both = cross[:, :count, None]
    first, second = left[:, :, None], own[None, :count, None]
    one = determinant[:, :, None] * own - yours**2 * first - mine**2 * second + 2 * both * mine * yours
    zero = determinant[:, :, None, None] * c - (yours * first)[..., :, None] * yours[..., None, :]
    zero -= (mine * second)[..., :, None] * mine[..., None, :]
    zero += (both * mine)[..., :, None] * yours[..., None, :] + (both * yours)[..., :, None] * mine[..., None, :]
    ratio = zero / np.sqrt(one[..., :, None] * one[..., None, :])
    sines = np.arcsin(np.clip(ratio, -1.0, 1.0)) @ signs @ signs
    return Means(
        h1=curved[:, :count],
        h2=slopes[:, :count],
        h4=curved[:, count:],
        h5=slopes[:, count:],
        h6=(2 / math.pi) ** 2 / np.sqrt(determinant) * sines,
        outputs=kernel[:count] @ signs,
        eg=float(signs @ kernel @ signs) / 2,
    )


@functools.lru_cache(maxsize=8)
def _lattice(dimension: int, step: float, radius: float) -> tuple[Array, Array]:
    """Points (n, dimension) of a lattice in a ball and their weights of the standard normal law, one of every pair z, -z."""
    ticks = step * np.arange(-math.ceil(radius / step), math.ceil(radius / step) + 1)
    ball = math.pi ** (dimension / 2) / math.gamma(dimension / 2 + 1) * (radius / step) ** dimension
    if ball > 2 * MOST_POINTS:
        raise NotConverged(f"{dimension} fields need more than {MOST_POINTS} points at the step {step:.2g}: take fewer, or erf")
    axes = np.stack(np.meshgrid(*[ticks] * dimension, indexing="ij"), axis=-1).reshape(-1, dimension)
    square = (axes**2).sum(axis=1)
    keep = square <= radius**2
    keep &= (np.sign(axes) @ 3.0 ** np.arange(dimension)[::-1]) >= 0  # the first coordinate that is not 0 is positive
    points, square = axes[keep], square[keep]
    weights = np.exp(-square / 2) * np.where(square > 0, 2.0, 1.0)
    return points, weights / weights.sum()


def _radius(task: OnlineTask, dimension: int) -> float:
    """Where the normal weight, times the power of the radius that the integrands grow by, has fallen to e^-28."""
    with np.errstate(over="ignore"):
        growth = max(float(np.log2(np.abs(phi(40.0) / phi(20.0)))) for phi in (task.student, task.teacher))
    power = 4 * min(max(growth, 0.0), 6.0) + dimension - 2
    radius = 7.5
    for _ in range(20):
        radius = math.sqrt(2 * (28 + power * math.log(radius)))
    return radius


def _lattice_means(task: OnlineTask, q: Array, r: Array, v: Array, step: float) -> Means:
    count = len(v)
    whole = np.block([[q, r], [r.T, task.T]])
    values, basis = np.linalg.eigh(whole)
    root = basis * np.sqrt(np.maximum(values, 0.0))
    points, weights = _lattice(len(whole), step, _radius(task, len(whole)))
    parts = [_lattice_sums(task, root, points, weights, v, count)]
    if not all(phi.properties.odd.value for phi in (task.student, task.teacher)):
        # Every mean is one of even functions if both are odd; else the other half of the lattice counts as well.
        parts.append(_lattice_sums(task, root, -points, weights, v, count))
    return Means(*(sum(entries) / len(parts) for entries in zip(*parts)))


def _lattice_sums(task: OnlineTask, root: Array, points: Array, weights: Array, v: Array, count: int) -> tuple[Any, ...]:
    fields = points @ root.T
    mine, taught = np.ascontiguousarray(fields[:, :count]), np.ascontiguousarray(fields[:, count:])
    g, slope, curve = task.student(mine), task.student.derivative()(mine), task.student.derivative(2)(mine)
    h, teacher_slope = task.teacher(taught), task.teacher.derivative()(taught)
    delta = g @ v - h @ task.v_teacher
    weighted, curved = slope * weights[:, None], curve * weights[:, None]
    return (
        curved.T @ g,
        weighted.T @ slope,
        curved.T @ h,
        weighted.T @ teacher_slope,
        (weighted * (delta**2)[:, None]).T @ slope,
        (weights * delta) @ g,
        float(weights @ delta**2) / 2,
    )


def _panel_means(task: OnlineTask, q: Array, r: Array, v: Array) -> Means:
    """The means of one unit against one by panels that end at kinks: E g'' F = E (u g' F - Q g' F_u - R g' F_w)/Q."""
    (Q,), (R,), (T,), (vk,), (vt,) = q[0], r[0], task.T[0], v, task.v_teacher
    root, g, h = math.sqrt(Q), task.student, task.teacher
    rest = math.sqrt(max(T - R * R / Q, 0.0))
    z, outer = nodes_of(panel_edges([kink / root for kink in kinks_of(g)], -PANEL_REACH, PANEL_REACH, 1.0), 14)
    u = root * z
    middle = R / root * z
    if rest > 1e-12 * math.sqrt(T):
        base = panel_edges([], -PANEL_REACH, PANEL_REACH, 1.0)
        cuts = (np.array(kinks_of(h)) - middle[:, None]) / rest if kinks_of(h) else np.zeros((len(z), 0))
        edges = np.concatenate([np.broadcast_to(base, (len(z), len(base))), np.clip(cuts, -PANEL_REACH, PANEL_REACH)], axis=1)
        y, inner = nodes_of(np.sort(edges, axis=1), 14)
        inner = inner * np.exp(-y * y / 2) / math.sqrt(2 * math.pi)
        field = middle[:, None] + rest * y
    else:
        field, inner = middle[:, None], np.ones((len(z), 1))
    weights = outer * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    taught, slope_taught = h(field), h.derivative()(field)
    # Given u: the means of h, h' and h^2.
    one, slope_one, two = ((inner * values).sum(axis=1) for values in (taught, slope_taught, taught**2))
    own, slope = g(u), g.derivative()(u)
    delta = vk * own - vt * one
    square = (vk * own) ** 2 - 2 * vk * own * vt * one + vt * vt * two

    def mean(values: Array) -> Array:
        return np.array([[float(weights @ values)]])

    h2, h5 = mean(slope**2), mean(slope * slope_one)
    return Means(
        h1=(mean(u * slope * own) - Q * h2) / Q,
        h2=h2,
        h4=(mean(u * slope * one) - R * h5) / Q,
        h5=h5,
        h6=mean(slope**2 * square),
        outputs=mean(delta * own)[0],
        eg=float(weights @ square) / 2,
    )


def _gap(one: Means, two: Means) -> float:
    """The largest difference of two sets of means, relative to the largest entry of its kind; eg counts where it is not small."""
    gaps = []
    for name in ("h1", "h2", "h4", "h5", "h6", "outputs", "eg"):
        a, b = np.asarray(getattr(one, name)), np.asarray(getattr(two, name))
        gaps.append(float(np.abs(a - b).max()) / max(float(np.abs(b).max()), 1.0))
    return max(gaps)


def _step(task: OnlineTask, q: Array, r: Array, v: Array, largest: float = math.inf) -> float | None:
    """The first step of the lattice, below the ``largest``, with which the next coarser one agrees; NotConverged if none does.

    None where no lattice is needed: for arcsines, for piecewise linear activations, and for one unit against one with kinks.
    """
    if task.arcsines:
        return None
    for phi, name in ((task.student, "student"), (task.teacher, "teacher")):
        check_slope(phi, name)  # h_5 has the slope of the teacher, by Stein
    pieced = _plan(task, len(v)) is not None
    if (task.student.kinks or (task.teacher.kinks and not pieced)) and not (np.diagonal(q) > 0).all():
        kinked = task.student if task.student.kinks else task.teacher
        raise ValueError(
            f"q must give every field of the student a width, Q_kk > 0, got the diagonal {np.diagonal(q).tolist()}: with kinks "
            f"as of {kinked.text!r} the equations divide by it; start from weights that are not 0 where the inputs vary"
        )
    if pieced:
        return None
    for phi, name in ((task.student, "student"), (task.teacher, "teacher")):
        if not phi.kinks:
            continue
        if len(v) + task.units > 2:
            raise NotConverged(
                f"{name} must be smooth, or both must be piecewise linear, got {phi.text!r}: a lattice does not resolve its kinks; "
                "take one unit each"
            )
        return None
    before = None
    for step in STEPS:
        now = _lattice_means(task, q, r, v, step)
        if before is not None and step <= largest and _gap(before, now) < AGREED:
            return step
        before = now
    raise NotConverged(f"the means of {task} were not resolved by lattices down to the step {STEPS[-1]:.2g}")


@dataclass(frozen=True)
class Trajectory:
    """Order parameters in time: ``times`` (n,), ``Q`` (n, K, K), ``R`` (n, K, M), ``v`` (n, K), ``eg`` (n,), half the mean squared
    error; ``q`` (n, bins, K, K) and ``r`` (n, bins, K, M) by eigenvalue."""

    times: Array
    Q: Array
    R: Array
    v: Array
    eg: Array
    q: Array
    r: Array


def trajectory(task: OnlineTask, start: OrderParameters, times: ArrayLike) -> Trajectory:
    """Return what online gradient descent does in the limit N -> infinity at the ``times`` (increasing, >= 0; steps = time N).

    The corrected equations of Goldt et al. (2021), with one eigenvalue those of Saad and Solla (1995), by an explicit Runge-Kutta
    method of order 8.  With kinks (relu, abs, ...), units that begin equal, v too, stay equal, as those of the algorithm do: they
    are followed as one (n of them: one with n v, rate/n and n readout_rate), and so are opposite ones of abs or hard tanh.  Raises
    ValueError for arguments that do not fit, for weights of 0 with kinks, and where equal units are not told from different ones;
    NotConverged where the student diverges, where means are not resolved, and where it would take more than about 10 seconds.

    >>> task = OnlineTask(T=1, v_teacher=1, rate=0.5, student="x", readout_rate=0)
    >>> found = trajectory(task, OrderParameters(q=0.25, r=0.0, v=1), [0, 2])  # R = 1 - e^(-eta t), eg ~ e^(-(2 eta - eta^2) t)
    >>> round(float(found.R[1, 0, 0] + math.exp(-1)), 10), round(float(found.eg[1] / found.eg[0] / math.exp(-1.5)), 9)
    (1.0, 1.0)
    """
    if not isinstance(task, OnlineTask) or not isinstance(start, OrderParameters):
        raise ValueError(f"task and start must be an OnlineTask and OrderParameters, in this order, got {task!r} and {start!r}")
    moments = array(times, "times", 1)
    if (np.diff(moments) <= 0).any() or moments[0] < 0:
        raise ValueError(f"times must increase and be >= 0, got {moments.tolist()}")
    check_start(task, start)
    Q, R = task.summed(start.q, start.r)
    check_covariance(Q, R, task.T)
    step = _step(task, Q, R, start.v)
    shapes = _shapes(task, start, Q)
    first = [int(np.argmax(row != 0)) for row in shapes[0].T]
    alone = OrderParameters(start.q[:, first][:, :, first], start.r[:, first], start.v[first])
    left = EFFORT
    while True:
        found, left = _integrated(task, alone, moments, step, left, (shapes[0] ** 2).sum(axis=0))
        if step is None:
            return found if len(first) == len(start.v) else _spread_out(found, *shapes)
        # Fields that have grown may ask for a finer lattice than they did at the start: then all is done again with that.
        finest = min(_step(task, Q, R, v, step) or step for Q, R, v in zip(found.Q, found.R, found.v))
        if finest >= step:
            return found
        step = finest


def _shapes(task: OnlineTask, start: OrderParameters, q: Array) -> tuple[Array, Array]:
    """Return a and c (K, groups) of units that stay multiples of the first of their group, w^k = a w and v^k = c v; ``q`` is Q.

    Each unit is its own group without kinks, whose equations tell what becomes of equal units.  Raises ValueError where units stay
    multiples, but their outputs do not, or their products in bins are not those of multiples.
    """
    count, g = len(start.v), linear_pieces(task.student)
    if g is None or not g.kinks:
        return np.eye(count), np.eye(count)
    top = max(abs(line[1]) for line in g.lines)
    weights, second = np.zeros((count, 0)), np.zeros((count, 0))
    for k in range(count):
        for group in range(weights.shape[1]):
            first = int(np.argmax(weights[:, group] != 0))
            a = math.copysign(math.sqrt(q[k, k] / q[first, first]), q[k, first])
            if abs(q[k, first]) < (1 - SAME) * math.sqrt(q[k, k] * q[first, first]):
                continue
            ends = sorted({*g.kinks, *(kink / a for kink in g.kinks)})
            places = np.array([ends[0] - 1, *((x + y) / 2 for x, y in itertools.pairwise(ends) if y - x > SAME), ends[-1] + 1])
            slope, phi = task.student.derivative(), task.student
            near = [c for c in (a, -a) if abs(start.v[k] - c * start.v[first]) <= SAME * abs(start.v[k])]
            # On every piece between the kinks of g(x) and g(a x): the slopes, then the values.
            c = next((c for c in near if np.abs(c * slope(a * places) - a * slope(places)).max() <= SAME * abs(a) * top), None)
            if c is None:
                continue
            gap = np.abs(phi(a * places) - c * phi(places)).max()
            alike = np.abs(start.q[:, k] - a * start.q[:, first]).max() <= ROUNDING * np.abs(start.q).max()
            alike &= np.abs(start.r[:, k] - a * start.r[:, first]).max() <= ROUNDING * max(np.abs(start.r).max(), 1e-300)
            if gap <= SAME * np.abs(phi(a * places)).max() and alike:
                weights[k, group], second[k, group] = a, c
                break
            if not alike or not task.readout_rate:
                raise ValueError(
                    f"the start must be generic, got units {first} and {k} of the student whose fields and v are multiples of each "
                    f"other: with the kinks of {task.student.text!r} the equations do not tell whether they stay so; make them one "
                    "unit, with the sum of their v, or start from weights that differ"
                )
        else:
            own = np.arange(count)[:, None] == k
            weights, second = np.hstack([weights, own]), np.hstack([second, own])
    return weights, second


def _spread_out(found: Trajectory, weights: Array, second: Array) -> Trajectory:
    """The trajectory of all units, those of a group being multiples of its first."""
    Q, q = (weights @ part @ weights.T for part in (found.Q, found.q))
    return Trajectory(found.times, Q, weights @ found.R, found.v @ second.T, found.eg, q, weights @ found.r)


def check_start(task: OnlineTask, start: OrderParameters) -> None:
    """Raise ValueError unless the start has the bins and units of the task, and second moments that some weights have."""
    shape, bins = start.r.shape, len(task.eigenvalues)
    if shape[0] != bins or shape[2] != task.units:
        raise ValueError(
            f"start must have {bins} bins and {task.units} units of the teacher, as the task has, got r of the shape {shape}"
        )
    # The products of Gamma^k and W^m within a bin.
    whole = np.concatenate(
        [np.concatenate([start.q, start.r], 2), np.concatenate([np.swapaxes(start.r, 1, 2), task.overlaps], 2)], 1
    )
    least = np.linalg.eigvalsh(whole)[:, 0]
    worst = int(np.argmin(least))
    if least[worst] < -ROUNDING * np.abs(whole).max():
        raise ValueError(
            f"start must have [[q, r], [r^T, overlaps]] positive semidefinite, got the eigenvalue {least[worst]:.6g} in "
            f"bin {worst}: no weights have these products"
        )


def _effort(task: OnlineTask, units: int, step: float | None) -> float:
    """The seconds of one right-hand side."""
    if task.arcsines:
        return 1e-4 + 1e-7 * units**2 * (units + task.units) ** 2
    if step is None:
        pieced = _plan(task, units)
        return 3e-3 if pieced is None else 1e-3 + 1.5e-5 * pieced.rows
    dimension = units + task.units
    return 1e-4 + 1e-7 * dimension * len(_lattice(dimension, step, _radius(task, dimension))[0])


def _integrated(
    task: OnlineTask, start: OrderParameters, moments: Array, step: float | None, left: float, many: Array
) -> tuple[Trajectory, float]:
    """The trajectory with means by arcsines, or by the lattice of that ``step``, and the effort that is ``left`` then.

    The output of a unit counts ``many`` times, its rates once."""
    shape, bins, count = start.r.shape, len(task.eigenvalues), len(start.v)
    ends = np.cumsum([start.q.size, start.r.size])
    rho = task.eigenvalues[:, None, None]
    root = math.sqrt(task.delta)

    def parted(y: Array) -> tuple[Array, Array, Array]:
        q, r, v = np.split(y, ends)
        return q.reshape(bins, count, count), r.reshape(shape), v

    each = _effort(task, count, step)

    def slope(time: float, y: Array) -> Array:
        nonlocal left
        left -= each
        if left < 0:
            raise NotConverged(
                f"the equations of {task} take more than about {EFFORT:g} s, and are given up at t = {time:.3g}: take a smaller "
                "rate, shorter times, fewer units, or an activation that varies less"
            )
        q, r, v = parted(y)
        found = _means(task, *task.summed(q, r), many * v, step)
        decay = found.h1 @ (many * v) - found.h4 @ task.v_teacher
        mixing = found.h2 * (many * v)
        pull = found.h5 * task.v_teacher / root
        scaled = task.rate * v[:, None]
        dr = -scaled * (rho * (decay[:, None] * r + mixing @ r) - pull @ task.overlaps)
        half = -scaled * (rho * (decay[:, None] * q + mixing @ q) - pull @ np.swapaxes(r, 1, 2))
        dq = half + np.swapaxes(half, 1, 2) + task.rate**2 * rho * np.outer(v, v) * found.h6
        return np.concatenate([dq.ravel(), dr.ravel(), -task.readout_rate * found.outputs])

    def grown(_: float, y: Array) -> float:
        return LARGEST - float(np.abs(y).max())

    grown.terminal = True  # type: ignore[attr-defined]
    tolerance = TOLERANCE if task.arcsines else LATTICE_TOLERANCE
    y = np.concatenate([start.q.ravel(), start.r.ravel(), start.v])
    states = []
    for before, now in itertools.pairwise([0.0, *moments.tolist()]):
        if now > before:  # every time is the end of a step, where the method has its full order
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                solved = solve_ivp(slope, (before, now), y, method="DOP853", rtol=tolerance, atol=tolerance / 100, events=grown)
            y = solved.y[:, -1]
            if solved.status != 0 or not np.isfinite(y).all():
                raise NotConverged(f"online learning diverges before t = {now:g} at the rate {task.rate:g}: take a smaller rate")
        states.append(y)
    q, r, v = (np.stack(part) for part in zip(*map(parted, states)))
    Q, R = task.summed(q, r)
    eg = np.array([_means(task, *entry, step).eg for entry in zip(Q, R, many * v)])
    return Trajectory(moments, Q, R, v, eg, q, r), left
