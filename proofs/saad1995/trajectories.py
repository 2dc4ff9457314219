"""What online gradient descent does at finite N tends to the solution of the equations (Saad, Solla 1995).

Setting.   Two units against two, g = erf(x/sqrt 2), both layers trained or the first alone; g = tanh too, whose means are
           numerical.  Runs begin at the same Q, R and v.
Claim.     Errors and order parameters at time t tend to the equations' (Saad and Solla 1995).  A statement is about several times
           at once: the mean over them.
"""

from hypothesis.strategies import booleans, sampled_from

import theoryck as tc
from theoryck.theory.dynamics import OnlineTask, OrderParameters, online_order, trajectory

from . import SAAD1995
from .tasks import START, task

sizes = tc.ScalingPath(N=(16, 32, 64))
TIMES = (1, 3, 6)


@tc.theorem("saad1995/error", SAAD1995)
@tc.for_all(second_layer=booleans(), rate=sampled_from([0.5, 1.0]))
def error(second_layer, rate):
    """eg at t = 1, 3, 6 (mean) -> the equations, K = M = 2, with and without training the second layer"""
    learnt = task(rate, second_layer=second_layer)
    value = float(trajectory(learnt, START, TIMES).eg.mean())
    slower = float(trajectory(task(rate / 2, second_layer=second_layer), START, TIMES).eg.mean())
    return tc.Limit(
        online_order(learnt, START, TIMES), sizes, value=value, rivals=[slower, 2 * value], tolerance=value / 50, correction=1
    )


@tc.theorem("saad1995/order-parameters", SAAD1995)
@tc.for_all(read=sampled_from([("Q", (0, 1)), ("Q", (1, 1)), ("R", (0, 0)), ("R", (1, 1)), ("v", (1,))]))
def order_parameters(read):
    """Q, R and v at t = 6 -> the equations, K = M = 2, eta = 1, both layers trained"""
    what, entry = read
    found = trajectory(task(1.0), START, [3, 6])
    value, before = (float(getattr(found, what)[(time, *entry)]) for time in (1, 0))
    return tc.Limit(
        online_order(task(1.0), START, [6], what, entry), sizes, value=value, rivals=[before], tolerance=0.02, correction=1
    )


@tc.theorem("saad1995/other-activation", SAAD1995)
@tc.for_all(student=sampled_from(["tanh", "sin", "atan(2*x)", "relu"]))
def other_activations(student):
    """R at t = 2 and 4 -> the equations with numerical means, one unit of another g against one, both layers trained"""
    learnt, start = OnlineTask(1, 1, 0.5, student), OrderParameters(q=0.3, r=0.1, v=0.8)
    value = float(trajectory(learnt, start, [2, 4]).R.mean())
    sooner = float(trajectory(learnt, start, [1, 2]).R.mean())
    measured = online_order(learnt, start, [2, 4], "R", (0, 0))
    return tc.Limit(measured, sizes, value=value, rivals=[sooner], tolerance=0.02, correction=1)
