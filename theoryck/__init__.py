"""theoryck: a symbolic-numeric verifier for high-dimensional learning theory.

A theorem says "this quantity is at most C times that rate".  theoryck measures the quantity by rigorous high-precision values
and by vectorised Monte Carlo, fits an empirical exponent with an honest error bar and gives a verdict with declared error rates.

>>> import theoryck as tc
>>> tc.Rate.parse("d**(-k/2)", k=4).exponent(tc.ScalingPath(d=tc.doubling(16, 4096)))
Fraction(-2, 1)

Every public name is loaded on first use, so that ``import theoryck`` and the pytest plugin cost nothing where no claim is made.

The engine, for anyone with a table or a sampler; it knows no network:

    records        What is known of a claim: values, results, reports
    rates          The language of rates: expressions in sizes, and the paths along which sizes grow
    fitting        From data to an exponent with an honest interval; knows no claim
    judging        From a statement and its evidence to a verdict with its reason; draws nothing
    planning       Budgets, the smallest violation that can be seen, the sharing of error rates
    montecarlo     Seeds, blocks, streaming moments, executors; knows a sampler only as a callable
    quantities     What can be measured: the base, samplers of users, formulas, exact values, fingerprints
    claims         Identity, Bound, Scaling, Limit, Law; theorem, conjecture, falsehood; finding claims in files
    ledger         Draws that are kept in a file
    proving        Certificates that hold for every size, and the one module that has to be trusted of them
    checking       Where claims meet measurement: profiles, budgets, sessions, hunts
    auditing       Tables of other people's measurements against a rate

The mathematics:

    numerics       Functions of one variable and their Gaussian integrals, proved and in float64; annealing
    theory         What is studied, a folder a subject: model, limits, proved values, draws, quantities

The front:

    report         Records in words, tables, formulas and pictures
    papers         Papers in LaTeX: which theorems name a claim, which marks are older than the record
    cli            The program ``theoryck``
    pytest_plugin  Claims as items of pytest
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from theoryck._lazy import unknown
from theoryck._renderers import announce

__version__ = "0.1.0"

_HOME = {
    "Activation": "theoryck.numerics.functions.activation",
    "Bound": "theoryck.claims",
    "DeepNetwork": "theoryck.theory.networks.model",
    "Enclosure": "theoryck.records",
    "Identity": "theoryck.claims",
    "Law": "theoryck.claims",
    "Limit": "theoryck.claims",
    "Rate": "theoryck.rates",
    "Reference": "theoryck.claims",
    "Report": "theoryck.records",
    "Result": "theoryck.records",
    "Scaling": "theoryck.claims",
    "ScalingPath": "theoryck.rates",
    "TeacherStudent": "theoryck.theory.learning.model",
    "Verdict": "theoryck.records",
    "audit": "theoryck.auditing",
    "check_claims": "theoryck.checking.check",
    "conjecture": "theoryck.claims",
    "doubling": "theoryck.rates",
    "halving": "theoryck.rates",
    "example": "theoryck.claims",
    "falsehood": "theoryck.claims",
    "for_all": "theoryck.claims",
    "norm_deviation": "theoryck.theory.networks.quantities",
    "NoCertificate": "theoryck.quantities",
    "overlap_moment": "theoryck.theory.networks.quantities",
    "prove": "theoryck.proving.prove",
    "quantity": "theoryck.quantities",
    "size": "theoryck.theory.networks.model",
    "theorem": "theoryck.claims",
}
announce({"text": "theoryck.report.text", "derivation": "theoryck.report.proofs", "html": "theoryck.report.html.notebook"})

_MODULES = {
    "activations": "theoryck.numerics.functions.catalogue",
    "quantities": "theoryck.quantities",
    "strategies": "theoryck.theory.networks.strategies",
}


def _subjects() -> list[str]:
    """Return the subjects of the mathematics: the folders of theoryck/theory."""
    return sorted(entry.name for entry in Path(__file__).with_name("theory").iterdir() if (entry / "__init__.py").is_file())


__all__ = sorted([*_HOME, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    elif name in _subjects():
        value = importlib.import_module(f"theoryck.theory.{name}")
    else:
        raise unknown("theoryck", name, [*__all__, *_subjects()])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *_subjects(), "__version__"]
