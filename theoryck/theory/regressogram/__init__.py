"""Regression of a Hoelder function of one variable: the regressogram from above, a prior on bumps from below.

quantities  How fast a Hoelder function of one variable can be learnt: the regressogram from above, a prior on bumps from below
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "quantities": (
            "bump_bayes_risk",
            "regressogram_guarantee",
            "regressogram_precision",
            "regressogram_risk",
        ),
    },
)
