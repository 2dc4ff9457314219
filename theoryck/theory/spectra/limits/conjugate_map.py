"""The spectral law of a conjugate kernel is algebraic: z and m(z) are rational functions of one variable, layer by layer.

With H the law of the population eigenvalues t of a layer, c its ratio and h(v) = int dH(t)/(t - v), Silverstein's equation says
    z = v (1 - c - c v h(v)),    m(z) = v h(v)/z = h(v)/(1 - c - c v h(v)),    v = -1/(companion transform at z),
and the next layer has t = rho^2 lambda + eps, that is  v' = rho^2 z + eps,  h(v') = m(z)/rho^2.  At the bottom all t are equal.
Going up costs a few operations; what has to be solved is z_L(v) = z for the one v at the bottom.

Which root is right needs no taste.  For Im z > 0 the companion transform is the only solution with a positive imaginary part
(Silverstein, Bai 1995), so v_L in the upper half plane, then z_(L-1) = (v_L - eps)/rho^2 in it too, and so on down: a solution
whose v_l and m_l all lie in the upper half plane is THE solution.  For z < 0 the same holds with v_l < 0 and z_l < 0, because
gamma m~ + c int t m~/(1 + t m~) dH increases in m~ > 0; z_L is moreover a concave increasing function of v there, since
z = -|v| + c int t |v|/(t + |v|) dH is, layer by layer: Newton's method comes to the root from below.  That is done in decimal
arithmetic of as many digits as it takes, because factors cancel without limit as z -> 0.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from theoryck.numerics.errors import NotConverged
from theoryck.quantities.arguments import positive

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Values = Any
"""An array, real or complex, or one number of any kind."""

NEWTON_STEPS = 12
SPLITS = 120
"""A step of the continuation is halved at most this often: it may have to end at 1e-30 where the spectrum begins at 0."""

MOST_STEPS = 1000
"""Of the continuation, halved ones included: a part of a second."""

CLOSE = 1e-12
"""Residual |z(v) - z| relative to |z| + |v|: the map is a few operations of 1e-16 each, and its last Newton step is quadratic."""

REAL = 1e-11
"""Imaginary parts below this, relative, are rounding."""

FAR = 1e8
"""Where |z| is this much above a bound of the spectrum m = -1/z - E lambda/z^2 is exact to (1/FAR)^2."""

NEAR = 1e-5
"""Where |z| is this much below the mean of the spectrum a factor of z(v) may have lost as much: more digits are taken."""

LEAST_DECADES = 0.05
"""A step in |z| shorter than this says that the root was lost."""

HIGHEST = 1e140
"""Bound of the spectrum in units of its mean eigenvalue: squares of it fit a float."""

FORGOTTEN = 1e-17
"""Population eigenvalues that differ by less than this, relative, are equal to float64."""

MOST_DIGITS = 1280
"""More than the ends of the numeric domain take."""


@dataclass(frozen=True, slots=True)
class Level:
    """z and m of one layer with their derivatives in the variable at the bottom, and the v that they came from."""

    v: Values
    dv: Values
    z: Values
    dz: Values
    m: Values
    dm: Values
    q: Values
    g: Values
    """1 + v h = 1 + z m = int lambda/(lambda - z): no point mass at 0 outweighs its imaginary part."""


@dataclass(frozen=True)
class Chain:
    """Ratios (c_0, ..., c_L), and rho^2 and eps of the layers 1..L; the population eigenvalues of layer 0 are all ``bottom``."""

    ratios: tuple[float, ...]
    slopes: tuple[float, ...]
    epsilon: tuple[float, ...]
    bottom: float = 1.0

    def levels(self, v: Values) -> list[Level]:
        """Return what every layer has at ``v`` (any shape, real or complex)."""
        dv, h = 0 * v + 1, 1 / (self.bottom - v)
        dh = h * h
        g, dg = self.bottom * h, self.bottom * dh  # 1 + v h = int t dH/(t - v)
        found: list[Level] = []
        for index, c in enumerate(self.ratios):
            if index:
                below, slope, rest = found[-1], self.slopes[index - 1], self.epsilon[index - 1]
                v, dv, h, dh = slope * below.z + rest, slope * below.dz, below.m / slope, below.dm / slope
                g, dg = g + rest * h, dg + rest * dh
            # One number in two forms: c v h cancels where v and c are large, c g where c = 1 and v -> 0.
            q, dq = (1 - c * g, -c * dg) if c > 1 else (1 - c - c * v * h, -c * (dv * h + v * dh))
            z, dz = v * q, dv * q + v * dq
            m = h / q
            dm = (dh - m * dq) / q
            found.append(Level(v, dv, z, dz, m, dm, q, g))
        return found

    def lost(self, levels: list[Level]) -> Array:
        """Return what rounding is multiplied by: q_l is a difference of terms of size 1 + c_l, and z has its relative error."""
        return np.asarray(sum((1 + c) / np.abs(level.q) for c, level in zip(self.ratios, levels, strict=True)))

    def converted(self, kind: Any) -> Chain:
        """Return the chain with numbers of another kind."""
        ratios, slopes, epsilon = (tuple(map(kind, row)) for row in (self.ratios, self.slopes, self.epsilon))
        return Chain(ratios, slopes, epsilon, kind(self.bottom))

    def top(self) -> float:
        """Return a bound of the spectrum: |A B| <= |A| |B| layer by layer."""
        edge = self.bottom
        for index, c in enumerate(self.ratios):
            edge = (self.slopes[index - 1] * edge + self.epsilon[index - 1] if index else edge) * (1 + c**0.5) ** 2
        return edge

    def means(self) -> list[float]:
        """Return the mean eigenvalue of every layer."""
        means = [self.bottom]
        for slope, rest in zip(self.slopes, self.epsilon, strict=True):
            means.append(slope * means[-1] + rest)
        return means

    def far(self, z: Any) -> Any:
        """Return v where |z| is large: v_l = z_l - c_l E t + O(1/z), and z_(l-1) = (v_l - eps_l)/rho_l^2."""
        means = self.means()
        for index in range(len(self.ratios) - 1, -1, -1):
            z = z - self.ratios[index] * means[index]
            if index:
                z = (z - self.epsilon[index - 1]) / self.slopes[index - 1]
        return z

    def scaled(self) -> tuple[Chain, float]:
        """Return the chain in which every layer has the mean eigenvalue 1, and the mean eigenvalue of the top layer.

        A layer that moves what is below by less than rounding forgets it.  ValueError for a mean beyond the numeric domain.
        """
        means = self.means()
        for layer, mean in enumerate(means):
            positive(mean, f"the mean eigenvalue that rho and epsilon give layer {layer}")
        slopes = [s * low / high for s, low, high in zip(self.slopes, means[:-1], means[1:], strict=True)]
        rests = [e / high for e, high in zip(self.epsilon, means[1:], strict=True)]
        start, reach = 0, 1.0
        for layer, (c, slope, rest) in enumerate(zip(self.ratios[:-1], slopes, rests, strict=True), start=1):
            reach = (reach * (1 + c**0.5) ** 2) * slope  # a bound of slope * lambda
            if reach < FORGOTTEN * rest:
                start, reach = layer, 0.0
            reach += rest
        unit = Chain(self.ratios[start:], tuple(slopes[start:]), tuple(rests[start:]))
        if not unit.top() < HIGHEST:
            raise ValueError(
                f"ratios must have a product of (1 + sqrt(c))^2 below {HIGHEST:g}, got {self.ratios!r}: n/d is too large"
            )
        return unit, means[-1]


def transform(chain: Chain, z: Complex) -> Complex:
    """Return m(z) of the top layer at every ``z`` (N,), Im z > 0 or z < 0 exactly; NotConverged where the root was lost."""
    unit, scale = chain.scaled()
    found = np.empty(z.shape, dtype=np.complex128)
    negative = (z.imag == 0) & (z.real < 0)
    for index in np.flatnonzero(negative):
        found[index] = float(negative_axis(unit, Decimal(float(z[index].real)) / Decimal(scale)) / Decimal(scale))
    # Where |z| is large the two halves of the complex plane are not told apart by float64; the series needs no root.
    far = ~negative & (np.abs(z) / scale > FAR * unit.top())
    found[far] = -1 / z[far] * (1 + scale / z[far])
    rest = np.flatnonzero(~negative & ~far)
    found[rest] = _off_axis(unit, z[rest] / scale) / scale
    return found


def negative_axis(chain: Chain, z: Decimal) -> Decimal:
    """Return m(z) at z < 0 to 18 digits.

    Newton's method on the concave z(v) from a lower bound of v; digits are doubled until two results agree.
    """
    digits, last = 40, None
    while digits <= MOST_DIGITS:
        with decimal.localcontext(decimal.Context(prec=digits, Emin=-(10**9), Emax=10**9, traps=[])):
            found = _from_below(chain.converted(Decimal), z, digits)
            if found is not None and last is not None and abs(found - last) <= Decimal("1e-18") * abs(found):
                return found
            last = found
        digits *= 2
    raise NotConverged(f"the transform at {z:.6g} was not settled by {MOST_DIGITS} digits: take another z")


def _from_below(chain: Chain, z: Decimal, digits: int) -> Decimal | None:
    """None where rounding lost the root."""
    # z = v + c int t |v|/(t + |v|) dH lies above v and at most c E t above it.
    v = chain.far(z)
    for _ in range(200 * digits):
        levels = chain.levels(v)
        if not all(level.v < 0 < level.q for level in levels):
            return None
        step = (z - levels[-1].z) / levels[-1].dz
        if step <= abs(v) * Decimal(10) ** (4 - digits):
            return levels[-1].m
        v += step
    return None


def _off_axis(chain: Chain, z: Complex) -> Complex:
    """Im z > 0: in floats, and where these cancel on from there in more digits."""
    if not z.size:
        return z
    near = np.abs(z) < NEAR
    start = np.where(near, NEAR * np.exp(1j * np.angle(z)), z)
    v = continued(chain, start)
    levels = chain.levels(v)
    found = np.array(levels[-1].m)
    with np.errstate(all="ignore"):
        lost = chain.lost(levels)
    for index in np.flatnonzero(near | ~(lost < 1e4)):
        found[index] = _refined(chain, complex(v[index]), complex(start[index]), complex(z[index]))
    return found


def _refined(chain: Chain, v: complex, here: complex, z: complex) -> complex:
    """Return m(z) by steps of at most 4 in |z| from ``here``, whose v is known to 16 digits."""
    exact, far, ratio = chain.converted(mpmath.mpf), abs(math.log10(abs(z) / abs(here))), 4.0
    root, done, end = mpmath.mpc(v), 0.0, mpmath.mpc(z)
    more = 60 + int(sum(abs(math.log10(c)) for c in chain.ratios))
    while True:
        # From |here| by ``done`` decades towards z; a step that does not come to a root in the upper half plane is halved.
        decades = min(done + ratio, far)
        with mpmath.workdps(more + int(2 * abs(math.log10(abs(here)) + math.copysign(decades, abs(z) - abs(here))))):
            place = end if decades == far else end * mpmath.mpf(10) ** (far - decades)
            levels = _newton_exact(exact, root, place)
        if levels is not None:
            root, done, ratio = levels[0].v, decades, 2 * ratio
            if done == far:
                return complex(levels[-1].m)
        else:
            ratio /= 2
            if ratio < LEAST_DECADES:
                raise NotConverged(_stopped(chain, abs(here) * 10**-done, z, "in many digits"))


def _newton_exact(chain: Chain, v: Any, z: Any) -> list[Level] | None:
    """The levels at the root that is reached from ``v``, None where none is reached or it lies in the wrong half plane."""
    for _ in range(60):
        levels = chain.levels(v)
        move = (levels[-1].z - z) / levels[-1].dz
        v -= move
        if abs(move) <= abs(v) * mpmath.mpf(10) ** (8 - mpmath.mp.dps):
            levels = chain.levels(v)
            return levels if all(level.v.imag > 0 and level.m.imag > 0 for level in levels) else None
    return None


def continued(chain: Chain, z: Values) -> Complex:
    """Return v at the bottom at every ``z`` (N,): Im z > 0, or a real z inside the spectrum as a limit from above.

    Continuation from z + i Y, Y large, by Newton steps that are halved until they are accepted by the rule in the docstring of the
    module.  Raises NotConverged with the place where it stopped.
    """
    flat = np.asarray(z, dtype=np.complex128).ravel()
    budget = [MOST_STEPS]
    height = 32 * (chain.top() + np.abs(flat))
    here = flat + 1j * height
    v, good = _newton(chain, chain.far(here), here)
    if not good.all():
        raise NotConverged(_stopped(chain, here[~good][0], flat[~good][0], "at the start, far from the spectrum"))
    while np.any(here != flat):
        height = height / 2
        # Where the spectrum is 1000 times wider than the distance left, one step leads to the end: it is halved where it fails.
        there = np.where(height < 1e-3 * (chain.top() + np.abs(flat)), flat, flat + 1j * height)
        v = _advance(chain, v, here, there, budget)
        here = there
    return v


def _advance(chain: Chain, v: Complex, here: Complex, there: Complex, budget: list[int], splits: int = 0) -> Complex:
    derivative = chain.levels(v)[-1].dz
    budget[0] -= 1
    found, good = _newton(chain, v + (there - here) / derivative, there)
    if not good.all():
        bad = ~good
        if splits == SPLITS or budget[0] < 0:
            raise NotConverged(_stopped(chain, here[bad][0], there[bad][0], f"after {splits} halvings of a step"))
        middle = (here[bad] + there[bad]) / 2
        half = _advance(chain, v[bad], here[bad], middle, budget, splits + 1)
        found[bad] = _advance(chain, half, middle, there[bad], budget, splits + 1)
    return found


def _stopped(chain: Chain, here: complex, there: complex, how: str) -> str:
    layers = len(chain.ratios) - 1
    return (
        f"the transform of layer {layers} was followed to z = {here:.6g} and not on to {there:.6g} ({abs(there - here):.2g} away), "
        f"of the mean eigenvalue, {how}: another z may do"
    )


def _newton(chain: Chain, v: Complex, z: Complex) -> tuple[Complex, NDArray[np.bool_]]:
    v = v.astype(np.complex128)
    with np.errstate(all="ignore"):  # a wild step is refused below, whatever it overflows to
        for _ in range(NEWTON_STEPS):
            top = chain.levels(v)[-1]
            step = (top.z - z) / top.dz
            v = v - step
            if np.all(np.abs(step) <= 1e-15 * np.abs(v)):
                break
        return v, _accepted(chain, v, z)


def _accepted(chain: Chain, v: Complex, z: Complex) -> NDArray[np.bool_]:
    levels = chain.levels(v)
    good = np.abs(levels[-1].z - z) <= CLOSE * (np.abs(z) + np.abs(levels[-1].v)) + 1e-15 * chain.lost(levels) * np.abs(z)
    # On the real axis a real solution carries rounding for an imaginary part; the true one has sqrt(1e-16) at an edge already.
    least = np.where(z.imag == 0, REAL, 0.0)
    for level in levels:
        seen = np.where(z.imag == 0, level.g.imag > least * np.abs(level.g), level.m.imag > 0)
        good &= (level.v.imag > least * np.abs(level.v)) & seen
    return np.asarray(good)
