"""What is learnt online, from which inputs, and where the student begins; generators of inputs reduced to a spectrum.

The equations know the generator through Omega = E x x^T (N, N) and Phi = E x c^T (N, D) alone, and these through a few numbers for
every eigenvalue rho of Omega: with eigenvectors psi of norm sqrt(N), Gamma^k = w^k . psi/sqrt(N), W^m = w~^m . Phi^T psi/sqrt(N),
    q^{kl}(rho) = <Gamma^k Gamma^l>,   r^{km}(rho) = <Gamma^k W^m>,   t~^{mn}(rho) = <W^m W^n>,
means over the eigenvectors of that eigenvalue, and Q = <rho q>, R = <r>/sqrt(delta), means over all eigenvalues, delta = D/N.
What x tells of nu has the covariance S = <t~/rho>/delta, so that T - S is positive semidefinite, and T = S where c is a function of
x: of Gaussian inputs x = Omega^(1/2) c, for which t~ = rho T if the teacher prefers no direction.

A layer sigma(F x) of inputs x of mean 0 and variance s acts like a + b F x + c xi, xi independent noise of variance 1 (Gaussian
equivalence), a = E sigma(u), b = E sigma'(u), c^2 = E sigma(u)^2 - a^2 - b^2 s, u ~ N(0, s).  Here a is taken off.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.pieces import check_slope
from theoryck.numerics.gaussian.means import enclosed
from theoryck.quantities.arguments import positive
from theoryck.records.arguments import LARGEST, integer
from theoryck.theory.covariates.model import marchenko_pastur_nodes
from theoryck.theory.projections.model import ERF, read_activation

Array = NDArray[np.float64]


def array(value: Any, name: str, dimensions: int, shape: tuple[int | None, ...] | None = None) -> Array:
    """Return numbers as an array that cannot be changed; ValueError unless they are finite and have the ``shape`` (None: any).

    >>> array([1, 2], "v", 1).tolist()
    [1.0, 2.0]
    """
    try:
        found = np.array(value)
        if np.iscomplexobj(found):  # a cast would drop what is imaginary
            raise ValueError
        found = found.astype(float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of real numbers, got {value!r}") from None
    if found.ndim < dimensions:
        found = found.reshape((1,) * (dimensions - found.ndim) + found.shape)
    wanted = shape or (None,) * dimensions
    if not found.size:
        raise ValueError(f"{name} must hold at least one number, got {value!r}")
    if found.ndim != len(wanted) or any(size not in (None, got) for size, got in zip(wanted, found.shape)):
        sizes = ", ".join("any" if size is None else str(size) for size in wanted)
        raise ValueError(f"{name} must have the shape ({sizes}), got {found.shape}: {str(value)[:120]}")
    if not (np.abs(found) <= LARGEST).all():
        raise ValueError(f"{name} must hold finite numbers of size at most {LARGEST:g}, got {str(value)[:120]}")
    found.flags.writeable = False
    return found


ROUNDING = 1e-9
"""What numbers given to some digits may be inconsistent by, relative."""


def _second_moments(values: Array, name: str) -> None:
    least = float(np.linalg.eigvalsh(values).min())
    if least < -ROUNDING * np.abs(values).max():
        raise ValueError(f"{name} must be positive semidefinite, second moments, got the eigenvalue {least:.6g}")


def _activation(value: Any, name: str) -> Activation:
    try:
        return read_activation(value, name)
    except (TypeError, ValueError) as error:
        problem = str(error)
        raise ValueError(problem if problem.startswith(name) else f"{name} must be an activation or its text: {problem}") from None


def _symmetric(values: Array, name: str) -> None:
    gap = np.abs(values - np.swapaxes(values, -1, -2)).max()
    if gap > 1e-12 * np.abs(values).max():
        raise ValueError(f"{name} must be symmetric, got an asymmetry of {gap:.3g}")


@dataclass(frozen=True, eq=False)
class OrderParameters:
    """Where a student is: ``q`` (bins, K, K), ``r`` (bins, K, M) for every eigenvalue, and its second layer ``v`` (K,).

    Without the first axis they are those of one bin, and numbers do for K = M = 1.  Raises ValueError.

    >>> OrderParameters(q=0.3, r=0.1, v=0.8).q.shape
    (1, 1, 1)
    """

    q: Any
    r: Any
    v: Any

    def __post_init__(self) -> None:
        v = array(self.v, "v", 1)
        q = array(self.q, "q", 3, (None, len(v), len(v)))
        r = array(self.r, "r", 3, (len(q), len(v), None))
        _symmetric(q, "q")
        for name, value in (("q", q), ("r", r), ("v", v)):
            object.__setattr__(self, name, value)

    @property
    def parameters(self) -> dict[str, Any]:
        """The order parameters as JSON-able data."""
        return {name: getattr(self, name).tolist() for name in ("q", "r", "v")}


@dataclass(frozen=True, eq=False)
class OnlineTask:
    """A teacher sum_m v~^m g~(nu^m), the inputs, and how a student sum_k v^k g(lambda^k) follows by online gradient descent.

    ``T`` (M, M) = E nu nu^T; ``v_teacher`` (M,); ``rate`` eta; ``student`` g and ``teacher`` g~ (g if not given);
    ``readout_rate`` that of the second layer (eta if not given, 0 for one that is not trained); ``eigenvalues`` (bins,) of Omega,
    ``weights`` their shares (equal if not given), ``overlaps`` t~ (bins, M, M) (rho T if not given, for delta = 1: x =
    Omega^(1/2) c), ``delta`` D/N.  Numbers do for M = 1.  Raises ValueError, also for a T below what the overlaps say of it.

    >>> task = OnlineTask(T=[[1, 0.3], [0.3, 1.2]], v_teacher=[1, 1], rate=0.2)
    >>> task.units, task.overlaps.tolist() == [task.T.tolist()]
    (2, True)
    >>> OnlineTask(T=1, v_teacher=1, rate=0.1, eigenvalues=[0.5, 1.5]).overlaps.ravel().tolist()
    [0.5, 1.5]
    >>> OnlineTask(T=1, v_teacher=1, rate=-1)
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: rate must be a number > 0, got -1
    """

    T: Any
    v_teacher: Any
    rate: Any
    student: Any = ERF
    teacher: Any = None
    readout_rate: Any = field(default=None, kw_only=True)
    eigenvalues: Any = field(default=1.0, kw_only=True)
    weights: Any = field(default=None, kw_only=True)
    overlaps: Any = field(default=None, kw_only=True)
    delta: Any = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        v = array(self.v_teacher, "v_teacher", 1)
        t = array(self.T, "T", 2, (len(v), len(v)))
        rho = array(self.eigenvalues, "eigenvalues", 1)
        if (rho < 0).any():
            raise ValueError(f"eigenvalues must be >= 0, those of a covariance, got {float(rho.min())!r}")
        weights = np.full(len(rho), 1 / len(rho)) if self.weights is None else array(self.weights, "weights", 1, (len(rho),))
        if (weights < 0).any() or abs(weights.sum() - 1) > 1e-9:
            raise ValueError(f"weights must be >= 0 and have the sum 1, got the sum {float(weights.sum())!r}")
        delta = positive(self.delta, "delta")
        if self.overlaps is None and delta != 1:
            raise ValueError(f"overlaps must be given where delta is not 1, got delta = {delta!r}: x is no Omega^(1/2) c then")
        overlaps = rho[:, None, None] * t if self.overlaps is None else self.overlaps
        overlaps = array(overlaps, "overlaps", 3, (len(rho), len(v), len(v)))
        _symmetric(t, "T")
        _symmetric(overlaps, "overlaps")
        _second_moments(t, "T")
        _second_moments(overlaps, "overlaps")
        if not (np.diagonal(t) > 0).all():
            raise ValueError(f"T must have a diagonal > 0, got {np.diagonal(t).tolist()}: a teacher of no length teaches nothing")
        student = _activation(self.student, "student")
        check_slope(student, "student")
        teacher = student if self.teacher is None else _activation(self.teacher, "teacher")
        rate = positive(self.rate, "rate")
        readout = rate if self.readout_rate is None else positive(self.readout_rate, "readout_rate", zero=True)
        values = (t, v, rate, student, teacher, readout, rho, weights, overlaps, delta)
        names = ("T", "v_teacher", "rate", "student", "teacher", "readout_rate", "eigenvalues", "weights", "overlaps", "delta")
        for name, value in zip(names, values):
            object.__setattr__(self, name, value)
        blind = np.abs(overlaps[~self._seen]).max(initial=0.0)
        if blind > 1e-9 * max(np.abs(overlaps).max(), 1e-300):
            raise ValueError(f"overlaps must be 0 where the eigenvalue is, got {blind:.6g}: x does not vary there")
        least = float(np.linalg.eigvalsh(t - self.explained)[0])
        if least < -ROUNDING * np.abs(t).max():
            raise ValueError(
                f"T must be at least <overlaps/eigenvalues>/delta = {self.explained.tolist()}, what the inputs tell of the "
                f"teacher's fields, got {t.tolist()}: enlarge T, or take smaller overlaps (from_covariances: a smaller phi)"
            )

    @property
    def _seen(self) -> NDArray[np.bool_]:
        return np.asarray(self.eigenvalues > 1e-12 * self.eigenvalues.max(initial=0.0))

    @property
    def explained(self) -> Array:
        """S = <t~/rho>/delta (M, M), the covariance of what x tells of nu: at most T."""
        seen = self._seen
        found: Array = np.einsum("t,tmn->mn", self.weights[seen] / self.eigenvalues[seen], self.overlaps[seen]) / self.delta
        return found

    @property
    def units(self) -> int:
        """M."""
        return len(self.v_teacher)

    @property
    def arcsines(self) -> bool:
        """Whether g = g~ = erf(x/sqrt 2), for which everything has a closed form."""
        return bool(self.student == ERF and self.teacher == ERF)

    def summed(self, q: Array, r: Array) -> tuple[Array, Array]:
        """Return Q = <rho q> and R = <r>/sqrt(delta) of q (..., bins, K, K) and r (..., bins, K, M)."""
        shares = self.weights * self.eigenvalues
        return np.einsum("t,...tkl->...kl", shares, q), np.einsum("t,...tkm->...km", self.weights, r) / math.sqrt(self.delta)

    @property
    def parameters(self) -> dict[str, Any]:
        """The task as JSON-able data."""
        arrays = {name: getattr(self, name).tolist() for name in ("T", "v_teacher", "eigenvalues", "weights", "overlaps")}
        names = {name: getattr(self, name).text for name in ("student", "teacher")}
        return arrays | names | {name: getattr(self, name) for name in ("rate", "readout_rate", "delta")}

    def __str__(self) -> str:
        second = ", second layer too" if self.readout_rate else ""
        return f"{self.student.text}, M={self.units}, rate {self.rate:g}{second}, {len(self.eigenvalues)} eigenvalues"


# Generators ------------------------------------------------------------------------------------------------------------------


def generator_coefficients(activation: Activation | str, variance: float = 1.0) -> tuple[float, float, float]:
    """Return a = E sigma(u), b = E sigma'(u) and c = (E sigma(u)^2 - a^2 - b^2 s)^(1/2) for u ~ N(0, s), s = ``variance``.

    Raises ValueError where a mean is infinite.

    >>> [round(value, 12) for value in generator_coefficients("x**3")]  # E u^4 = 3, E u^6 = 15
    [0.0, 3.0, 2.449489742783]
    """
    phi, s = read_activation(activation), positive(variance, "variance")
    what = f"of {phi.text}"
    # E sigma' = E sigma u/s, which asks for no derivative: 1e-16 is kept although squares are subtracted.
    mean, square, slope = (enclosed(e, s, what) for e in (phi.expression, phi.expression**2, phi.expression * x))
    rest = square - mean**2 - slope**2 / Fraction(s)
    return float(mean), float(slope / Fraction(s)), math.sqrt(max(float(rest), 0.0))


def one_layer(
    activation: Activation | str,
    delta: float,
    rate: float,
    *,
    units: int = 1,
    spread: float = 1.0,
    aligned: Sequence[float] = (0.0,),
    v: Sequence[float] = (1.0,),
    readout_rate: float | None = 0.0,
    student: Activation | str = ERF,
) -> tuple[OnlineTask, OrderParameters]:
    """Return the limit of x = sigma(F c) - E sigma(u), F (N, D) with entries N(0, 1/D), D = ``delta`` N, as a task and a start.

    The teacher has ``units`` M directions w~^m ~ N(0, I_D), T = I, v~ = 1; the student, K = M, begins with w^k = ``spread`` xi^k +
    ``aligned``[k] F w~^k, xi^k ~ N(0, I_N), and the second layer ``v``.  Omega = b^2 F F^T + c^2 has the law of Marchenko and
    Pastur, as points of a quadrature: with e = (rho - c^2)/b^2, q = spread^2 + aligned^2 e, r = aligned b e, t~ = b^2 e.  Raises
    ValueError, for an activation with b = 0 too.

    >>> task, start = one_layer("x", delta=2.0, rate=0.1, aligned=[0.5])
    >>> Q, R = task.summed(start.q, start.r)  # E rho = 1, E rho^2 = 1 + 1/delta; R = aligned/sqrt(delta)
    >>> round(float(Q[0, 0]), 12), round(float(R[0, 0] * 2**0.5), 12)
    (1.375, 0.5)
    """
    _, b, c = generator_coefficients(activation)
    m = integer(units, "units", 1)
    direct = array(aligned, "aligned", 1, (m,))
    if b == 0:
        raise ValueError(f"activation must have E sigma' != 0, got {activation!r}: its outputs are not correlated with c")
    # No pole enters here: means over rho are of polynomials and of trajectories, which are smooth in rho.
    points, weights = marchenko_pastur_nodes(1 / positive(delta, "delta"), 1.0)
    keep = weights > 1e-14 * weights.max()
    points, weights = points[keep], weights[keep] / weights[keep].sum()
    eye = np.eye(m)[None]
    task = OnlineTask(
        np.eye(m),
        np.ones(m),
        rate,
        student,
        readout_rate=readout_rate,
        eigenvalues=b**2 * points + c**2,
        weights=weights,
        overlaps=b**2 * points[:, None, None] * eye,
        delta=delta,
    )
    q = spread**2 * eye + points[:, None, None] * np.diag(direct**2)
    return task, OrderParameters(q, b * points[:, None, None] * np.diag(direct), v)


def deep_covariances(rng: np.random.Generator, activation: Activation | str, widths: Sequence[int]) -> tuple[Array, Array]:
    """Return Omega (N, N) and Phi (N, D) of x = sigma(F_L ... sigma(F_1 c)), ``widths`` (D, N_1, ..., N), F_l drawn, linearised.

    The entries of F_l are normal, of variance 1/D, D the number of its columns; every layer is replaced by its equivalent
    b F x + c xi, its mean taken off: Omega_l = b^2 F Omega_{l-1} F^T + c^2, Phi_l = b F Phi_{l-1}, with b and c at the variance
    that the layer before has.  Raises ValueError.

    >>> omega, phi = deep_covariances(np.random.default_rng(0), "erf", [30, 20, 10])
    >>> omega.shape, phi.shape, bool(abs(np.trace(omega) / 10 - 0.39) < 0.1)
    ((10, 10), (10, 30), True)
    """
    sizes = [integer(width, "widths", 1) for width in widths]
    if len(sizes) < 2:
        raise ValueError(f"widths must be (D, N_1, ..., N), two at least, got {widths!r}")
    omega, phi, variance = np.eye(sizes[0]), np.eye(sizes[0]), 1.0
    for before, now in itertools.pairwise(sizes):
        _, b, c = generator_coefficients(activation, variance)
        layer = rng.standard_normal((now, before)) / math.sqrt(before)
        omega, phi = b**2 * layer @ omega @ layer.T + c**2 * np.eye(now), b * layer @ phi
        variance = b**2 * variance + c**2
    return omega, phi


def from_covariances(
    omega: ArrayLike,
    phi: ArrayLike,
    weights: ArrayLike,
    teacher_weights: ArrayLike,
    *,
    v: ArrayLike,
    v_teacher: ArrayLike,
    rate: float,
    readout_rate: float | None = None,
    student: Activation | str = ERF,
    teacher: Activation | str | None = None,
) -> tuple[OnlineTask, OrderParameters]:
    """Return the task and the start that ``omega`` (N, N), ``phi`` (N, D) and the weights W (K, N), W~ (M, D) come to: N bins.

    Omega = E x x^T and Phi = E x c^T may be those of any generator, estimated too; lambda = W x/sqrt(N), nu = W~ c/sqrt(D).
    Raises ValueError for arrays that do not fit.

    >>> task, start = from_covariances(np.eye(2), np.eye(2), [[1, 0]], [[1, 1]], v=[1], v_teacher=[1], rate=0.1)
    >>> [matrix.tolist() for matrix in task.summed(start.q, start.r)]
    [[[0.5]], [[0.5]]]
    """
    second = array(phi, "phi", 2)
    n, d = second.shape
    first = array(omega, "omega", 2, (n, n))
    _symmetric(first, "omega")
    student_weights = array(weights, "weights", 2, (None, n))
    taught = array(teacher_weights, "teacher_weights", 2, (None, d))
    values, basis = np.linalg.eigh(first)
    if values[0] < -1e-10 * values[-1]:
        raise ValueError(f"omega must be positive semidefinite, got the eigenvalue {values[0]:.3g}")
    # psi = sqrt(N) times a unit vector, which cancels the 1/sqrt(N) of Gamma and W.
    gamma, seen = student_weights @ basis, taught @ second.T @ basis
    task = OnlineTask(
        taught @ taught.T / d,
        v_teacher,
        rate,
        student,
        teacher,
        readout_rate=readout_rate,
        eigenvalues=np.maximum(values, 0.0),
        overlaps=np.einsum("mt,nt->tmn", seen, seen),
        delta=d / n,
    )
    return task, OrderParameters(np.einsum("kt,lt->tkl", gamma, gamma), np.einsum("kt,mt->tkm", gamma, seen), v)
