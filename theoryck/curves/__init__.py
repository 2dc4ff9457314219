"""curves: what was fitted to a result, refitted from its record: the same record gives the same picture, nothing is measured."""

from theoryck.curves.approach import Approach, approach
from theoryck.curves.directions import Direction
from theoryck.curves.fitted import Curve, Fitted, Line, directions, fitted, lines
from theoryck.curves.logarithms import Signed
from theoryck.curves.marks import Mark, Trace

__all__ = [
    "Approach",
    "Curve",
    "Direction",
    "Fitted",
    "Line",
    "Mark",
    "Signed",
    "Trace",
    "approach",
    "directions",
    "fitted",
    "lines",
]
