"""The students of online learning in soft committee machines (Saad, Solla 1995): two units against two, and where they begin.

Setting.   x ~ N(0, I_N), T = E nu nu^T of the teacher's fields; every run begins at the given Q, R and v.
"""

from theoryck.theory.dynamics import OnlineTask, OrderParameters

START = OrderParameters(q=[[[0.2, 0.02], [0.02, 0.25]]], r=[[[0.1, -0.05], [0.03, 0.08]]], v=[0.5, -0.4])
T = ((1.0, 0.3), (0.3, 1.2))


def task(rate, *, second_layer=True, student="erf_scaled"):
    """The task at the rate eta; the second layer is trained at the same one, or not at all."""
    return OnlineTask(T, [1, 1], rate, student, readout_rate=None if second_layer else 0)
