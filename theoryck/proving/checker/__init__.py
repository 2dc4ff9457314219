"""Re-verifies a certificate from its record alone: no search, no code of a finder, nothing in the record executed.

``python -m theoryck.proving.checker FILE`` says what is proved, or names the field that is refused.  What each field of a record
asserts, and why the conclusion follows, is the text of ``theoryck.records.certificates``, whose sections are quoted.  Numbers are
balls (Arb), and a comparison of balls holds where it is certain.  Nothing of theoryck outside this folder is imported: besides its
modules, flint and the standard library, nothing has to be trusted.

envelopes     How large an activation is (2.1, section 7)
expansion     Norm deviations to the second order (section 9)
expectations  Gaussian expectations of an activation in proved balls
fields        The fields of a record, and refusals that name them
layers        The numbers of a layer, for every s (2.2)
learning      Linear networks that learn (section 3)
moments       Moments from layer to layer
norms         Norm deviations by comparison with a linear map (sections 2, 5, 7)
overlaps      Overlaps of two inputs, likewise (section 4)
polynomials   Norm deviations of polynomial activations (section 8)
products      Norm deviations of activations with two slopes (section 6)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import ctx

from theoryck.proving.checker.expansion import check_expansion
from theoryck.proving.checker.fields import Reader, Refused, as_it_is, fields, integer, items, need, number
from theoryck.proving.checker.learning import check_free_entropy, check_information_gap, check_linear_model
from theoryck.proving.checker.norms import check_norms
from theoryck.proving.checker.overlaps import check_overlaps
from theoryck.proving.checker.polynomials import check_polynomials
from theoryck.proving.checker.products import check_products

__all__ = ["Refused", "check"]

WIDE = "all widths >= d"
LEAST: dict[str, Reader] = {"least": number}
NORM, RATE = "E| |x_{depth}|^2 - sigma_{depth} |^{power}", "{constant} d^(-{power}/2)"
ABOVE = "for every d >= {from} and all widths >= d"
BOTH = "for every d >= {from}, from below where all widths are d, from above where they are >= d"
NORM_ABOVE, NORM_BOTH = f"{NORM} <= {RATE} {ABOVE}", f"{{least}} d^(-{{power}}/2) <= {NORM} <= {RATE} {BOTH}"
SECOND: dict[str, Reader] = LEAST | {"limit": items(2, number), "remainder": as_it_is}
REST = "{remainder[0]} d^(-1/2) + {remainder[1]} d^(-1)"
NORM_SECOND = (
    f"d^({{power}}/2) {NORM} is ({{power}}-1)!! v^({{power}}/2) up to {REST}, {{limit[0]}} <= v <= {{limit[1]}}; {NORM_BOTH}"
)
OVERLAP = f"E|x_{{depth}} . x'_{{depth}}|^{{power}} <= {RATE} {ABOVE}"
GAP = "|I_n^({depth}) - I_n^(0)|/n <= {constant}/d for every n >= 1, d >= {from} and all widths >= d"
FREE = "Var((1/n) log Z) <= {constant}/d for every d >= {from}, n >= d and all widths >= d"
LINEAR = "0.5/n <= Var((1/n) log Z^(0)) <= {constant}/n for every n >= {from}"
NOISE = ", Delta = {proof[noise]}"

# quantity, method, widths, least depth, power, further fields, check, what is proved; of two the first whose fields are there
KINDS: tuple[tuple[str, str, str, int, Reader, dict[str, Reader], Callable[[dict[str, Any]], None], str], ...] = (
    ("norm-deviation", "comparison", WIDE, 0, integer(1, 16), {}, check_norms, NORM_ABOVE),
    ("norm-deviation", "two-sided", WIDE, 0, integer(2, 16), LEAST, check_norms, NORM_BOTH),
    ("norm-deviation", "product", WIDE, 0, integer(2, 16), LEAST, check_products, NORM_BOTH),
    ("norm-deviation", "product", WIDE, 0, integer(1, 16), {}, check_products, NORM_ABOVE),
    ("norm-deviation", "polynomial", WIDE, 0, integer(2, 16), LEAST, check_polynomials, NORM_BOTH),
    ("norm-deviation", "polynomial", WIDE, 0, integer(1, 16), {}, check_polynomials, NORM_ABOVE),
    ("norm-deviation", "expansion", WIDE, 0, integer(2, 12), SECOND, check_expansion, NORM_SECOND),
    ("overlap", "comparison", WIDE, 1, integer(1, 16), {}, check_overlaps, OVERLAP),
    ("information-gap", "digamma", WIDE, 1, integer(2, 2), {}, check_information_gap, GAP + NOISE),
    ("free-entropy-variance", "poincare", f"samples and {WIDE}", 1, integer(2, 2), {}, check_free_entropy, FREE + NOISE),
    ("linear-model-variance", "poincare", "samples >= d", 1, integer(2, 2), LEAST, check_linear_model, LINEAR + NOISE),
)


def check(record: Any) -> str:
    """Return the sentence that a certificate, as the object that its JSON text spells, proves.

    Raises Refused, with the field, where an inequality is not seen to hold, a number is not as tight as the format asks, or
    anything is missing, unknown or of another kind.

    >>> statement = {"format": 1, "quantity": "norm-deviation", "activation": "tanh(x)", "depth": 0, "power": 2,
    ...     "widths": "all widths >= d", "from": 1, "constant": "2", "method": "comparison",
    ...     "proof": {"range": "1.001", "top": 2, "layers": [], "moments": [["2"]]}}
    >>> check(statement)
    'E| |x_0|^2 - sigma_0 |^2 <= 2 d^(-2/2) for every d >= 1 and all widths >= d, phi(x) = tanh(x)'
    """
    with ctx.workprec(80):
        need(isinstance(record, dict), "certificate", "it is no object")
        named = [kind for kind in KINDS if kind[:2] == (record.get("quantity"), record.get("method"))]
        need(bool(named), "quantity", f"{record.get('quantity')!r} by method {record.get('method')!r} is not known")
        *_, widths, depth, power, extra, prove, said = next((kind for kind in named if {*kind[5]} <= {*record}), named[-1])
        readers = {"format": integer(1, 1), "quantity": as_it_is, "method": as_it_is, "widths": as_it_is}
        readers |= {"activation": as_it_is, "depth": integer(depth, 8), "power": power, "from": integer(1, 10**30)}
        need(record.get("widths") == widths, "widths", f"{record.get('widths')!r} is not {widths!r}")
        prove(fields(**readers, constant=number, proof=as_it_is, **extra)(record, ""))
        return f"{said.format_map(record)}, phi(x) = {record['activation']}"  # numbers as they are written, not rounded
