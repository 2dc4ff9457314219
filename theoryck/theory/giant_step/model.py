"""Links y = g(z*) and their Gaussian moments; spiked random features as one step makes them.

y = g(<w*, x>), x ~ N(0, I_d), |w*| = 1; A = E y z, B = E y^2, z = <w*, x>.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

from theoryck.numerics.functions.activation import Activation
from theoryck.numerics.functions.expression import x
from theoryck.numerics.functions.pieces import check_slope
from theoryck.numerics.gaussian.means import check_mean_square, enclosed
from theoryck.quantities.arguments import positive, real
from theoryck.quantities.base import QuantityError


def read_link(value: Any, name: str = "link") -> Activation:
    """Return g as an Activation; QuantityError for what is none, or is constant.

    >>> read_link("x**3 - 3*x")
    Activation('x**3 - 3*x')
    """
    try:
        found = value if isinstance(value, Activation) else Activation(value)
    except (TypeError, ValueError) as error:
        raise QuantityError(f"{name} must be a function of x or its text: {error}") from None
    if not found.expression.free_symbols:
        raise QuantityError(f"{name} must depend on x, got the constant {found.text!r}: nothing can be learnt of it")
    return found


def read_target(value: Any, name: str = "link") -> Activation:
    """Return g as an Activation with a finite E g(z)^2, without which labels have no limit; QuantityError for another.

    >>> read_target("exp(x**2/4)")
    Traceback (most recent call last):
        ...
    theoryck.quantities.base.QuantityError: link must have a finite mean square, got 'exp(x**2/4)': E g(z)^2 is infinite or has no
    value: E of exp(x**2/2) does not converge...
    """
    found = read_link(value, name)
    check_mean_square(found.expression, "g(z)^2", name, found.text, QuantityError)
    return found


def read_student(value: Any, name: str = "student") -> Activation:
    """Return s as an Activation whose derivative a step can take; QuantityError for one that jumps.

    >>> read_student("relu"), read_student("relu").derivative()
    (Activation('relu(x)'), Activation('heaviside(x)'))
    """
    found = read_link(value, name)
    check_slope(found, name, QuantityError)
    return found


BUMP = Activation("exp(-x**2/2)")
"""The slope of an erf."""


def read_slope(value: Any) -> Activation:
    """Return s' as a smooth Activation with a finite E s'(z)^2; QuantityError for another.

    >>> read_slope("sech(x)**2")
    Activation('sech(x)**2')
    """
    found = read_target(value, "slope")
    if found.kinks:
        raise QuantityError(f"slope must be smooth, got {found.text!r}, which is not at {float(found.kinks[0]):.6g}")
    return found


@functools.lru_cache(maxsize=256)
def moment(link: Activation, power: int, order: int) -> float:
    """Return E g(z)^power z^order, z ~ N(0, 1), from an enclosure; ValueError where it is infinite.

    >>> moment(Activation("x**2"), 2, 2)
    15.0
    """
    expression = link.expression**power * x**order
    expression = expression.expand() if expression.is_polynomial(x) else expression
    return float(enclosed(expression, 1, f"g(z)^{power} z^{order}, g = {link.text},"))


@dataclass(frozen=True)
class SpikedFeatures:
    """phi_j(x) = s(<w_j, x> + r <v, x>), w_j ~ N(0, c^2 I/d), j = 1..p, and the target y = g(<w*, x>), gamma = <v, w*>, p = beta d.

    ``student`` is s, ``target`` g; ``spike`` r, ``bulk`` c > 0, ``gamma`` in [0, 1).  Raises QuantityError.

    >>> SpikedFeatures("tanh", "tanh", beta=1.5, spike=0.6, gamma=0.5).bulk
    1.0
    """

    student: Any
    target: Any
    beta: float
    spike: float
    gamma: float
    bulk: float = 1.0

    def __post_init__(self) -> None:
        values: dict[str, Any] = {
            "student": read_link(self.student, "student"),
            "target": read_target(self.target, "target"),
            "beta": positive(self.beta, "beta"),
            "spike": real(self.spike, "spike"),
            "gamma": real(self.gamma, "gamma", low=0, strict=False),
            "bulk": positive(self.bulk, "bulk"),
        }
        if values["gamma"] >= 1:
            raise QuantityError(f"gamma must lie in [0, 1), got {self.gamma!r}: the spike is w* then, which no step reaches")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def parameters(self) -> dict[str, Any]:
        """The features as JSON-able data."""
        names = {name: getattr(self, name).text for name in ("student", "target")}
        return names | {name: getattr(self, name) for name in ("beta", "spike", "gamma", "bulk")}

    def __str__(self) -> str:
        return f"{self.student.text}, spike {self.spike:.4g}, gamma {self.gamma:.4g}, beta {self.beta:g}, target {self.target.text}"


def after_one_step(student: Any, target: Any, batch: float, rate: float, beta: float = 1.0) -> SpikedFeatures:
    """Return the features after one giant step w_j + eta (1/b) sum_i y_i s'(<w_j, x_i>) x_i, b = ``batch`` d, eta = ``rate``.

    v = X^T y/|X^T y|: r = eta E s'(z) (A^2 + B/batch)^(1/2), gamma^2 = A^2/(A^2 + B/batch), and what of the gradient is no spike
    adds to the bulk, c^2 = 1 + eta^2 B Var s'(z)/batch.  Raises QuantityError.

    >>> features = after_one_step("tanh", "tanh", batch=0.5, rate=1.0)
    >>> round(features.spike, 10), round(features.bulk, 10), round(features.gamma, 10)
    (0.6510892316, 1.0377408854, 0.5634852284)
    """
    s, g = read_student(student), read_target(target, "target")
    ratio, eta = positive(batch, "batch"), positive(rate, "rate", zero=True)
    slope = moment(s, 1, 1)  # E s' = E s z
    steep = moment(s.derivative(), 2, 0) - slope**2
    first, second = moment(g, 1, 1), moment(g, 2, 0)
    norm = first**2 + second / ratio
    bulk = math.sqrt(1 + eta**2 * second * max(steep, 0.0) / ratio)
    return SpikedFeatures(s, g, beta, eta * slope * math.sqrt(norm), abs(first) / math.sqrt(norm), bulk)
