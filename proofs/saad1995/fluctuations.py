"""How far a run at finite N is from the equations of online learning (Saad, Solla 1995).

Setting.   As in the trajectories of Saad and Solla (1995), all runs from the same start: only the samples differ.
Claim.     Order parameters of a run scatter around the equations by N^(-1/2); their means differ from them by 1/N.
Truth.     Both are attained.  The sources say that order parameters are self-averaging, and give no rates.
"""

from hypothesis.strategies import sampled_from

import theoryck as tc
from theoryck.theory.dynamics import OnlineTask, OrderParameters, linear_error, online_bias, online_order, online_variance

from . import SAAD1995
from .tasks import START, task

sizes = tc.ScalingPath(N=tc.doubling(8, 128))
one = OrderParameters(q=0.3, r=0.1, v=0.8)


@tc.conjecture("saad1995/scatter", SAAD1995)
@tc.for_all(read=sampled_from([("Q", (0, 0)), ("R", (0, 0)), ("R", (1, 1)), ("v", (0,)), ("eg", ())]))
def scatter(read):
    """E (order parameter of a run - equations)^2 ~ 1/N at t = 1, 3 (mean), K = M = 2, eta = 1: by N^(-1/2)"""
    return tc.Scaling(online_variance(task(1.0), START, (1, 3), *read), sizes, exponent=-1, rivals=["-1/2", -2], correction=1)


@tc.conjecture("saad1995/mean", SAAD1995)
def mean():
    """E R - equations = O(1/N) at t = 1, one unit against one, eta = 4, v = 0.8 not trained, and not faster"""
    bias = online_bias(OnlineTask(1, 1, 4.0, readout_rate=0), one, [1], "R", (0, 0))
    return tc.Bound(bias, rate="1/N", along=tc.ScalingPath(N=(4, 8, 16, 32)), rivals=["N**(-2)"], correction=1, within=0.3)


@tc.theorem("saad1995/mean-linear", SAAD1995)
@tc.for_all(rate=sampled_from([0.5, 1.0, 3.0]))
def mean_of_linear(rate):
    """E eg - equations ~ 1/N at t = 1 for g = x and a fixed second layer, by the recursion"""
    learnt = OnlineTask(1, 1, rate, "x", readout_rate=0)
    start = OrderParameters(q=0.25, r=0.0, v=0.5)
    exact, begin = online_order(learnt, start, [1]), online_order(learnt, start, [0])
    limit = linear_error(rate / 4, 1, float(begin.exact({"N": 8})))
    gap = tc.quantities.formula(
        lambda N: float(exact.exact({"N": N})) - limit, name="E eg - equations, linear", sizes=("N",), relative_error=1e-6
    )
    return tc.Scaling(gap, tc.ScalingPath(N=tc.doubling(16, 512)), exponent=-1, rivals=["-1/2", -2], correction=1)
