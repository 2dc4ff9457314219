"""The limit of the generalised linear model that is equivalent to a teacher-student setting."""

from __future__ import annotations

from theoryck.numerics.proved.formulas import Number
from theoryck.theory.learning.limits.glm import GlmLimit, glm_limit
from theoryck.theory.learning.model import TeacherStudent
from theoryck.theory.networks.proved.constants import network_constants


def teacher_limit(setting: TeacherStudent, alpha: Number, *, labels: str = "real", digits: int | None = None) -> GlmLimit:
    """Return the limit, n = ``alpha`` d_0, of the model Y = f(eta_0 v.x_0 + sqrt(gamma_0) xi) + sqrt(Delta) Z equivalent to
    ``setting``.

    eta_0 and gamma_0 are those of the network of ``setting`` (1 and 0 at depth 0), f its readout, Delta its noise; its widths and
    its number of samples play no part.  The rest is as in :func:`~theoryck.theory.learning.limits.glm.glm_limit`, whose errors it
    raises.

    Source: Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577, main theorem.

    >>> from theoryck.theory.networks import DeepNetwork
    >>> setting = TeacherStudent(DeepNetwork("erf", depth=2), noise="0.05", readout="tanh(2*x)")
    >>> limit = teacher_limit(setting, 1.5)
    >>> round(limit.overlap, 4), round(limit.error, 5)
    (0.6915, 0.23886)
    """
    if not isinstance(setting, TeacherStudent):
        raise ValueError(f"setting must be a theoryck.TeacherStudent, got {setting!r}")
    network = setting.network
    constants = network_constants(network.activation, network.depth, max(25, (digits or 0) + 15))
    return glm_limit(alpha, setting.noise, setting.readout, constants.eta0, constants.gamma0, labels=labels, digits=digits)
