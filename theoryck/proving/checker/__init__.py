"""Re-verifies a certificate from its record alone: no search, no code of a finder, nothing in the record executed.

``python -m theoryck.proving.checker FILE`` says what is proved, or names the field that is refused.  What each field of a record
asserts, and why the conclusion follows, is the text of ``theoryck.records.certificates``, whose sections are quoted.  Numbers are
balls (Arb), and a comparison of balls holds where it is certain.  Nothing of theoryck outside this folder is imported: besides its
modules, flint and the standard library, nothing has to be trusted.

envelopes     How large an activation is (2.1, section 7)
expansion     Norm deviations to the second order (section 9)
expectations  Gaussian expectations of an activation in proved balls
fields        The fields of a record, and refusals that name them
learning      Linear networks that learn (section 3)
norms         Norm deviations by comparison with a linear map (section 2)
polynomials   Norm deviations of polynomial activations (section 8)
products      Norm deviations of activations with two slopes (section 6)
overlaps      Overlaps of two inputs, likewise (section 4)
two_sided     Norm deviations from both sides (section 5)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import ctx

from theoryck.proving.checker.expansion import check_expansion
from theoryck.proving.checker.fields import (
    Reader,
    Refused,
    as_it_is,
    fields,
    integer,
    items,
    need,
    number,
    word,
)
from theoryck.proving.checker.learning import check_free_entropy, check_information_gap, check_linear_model
from theoryck.proving.checker.norms import check_norms
from theoryck.proving.checker.overlaps import check_overlaps
from theoryck.proving.checker.polynomials import check_polynomials
from theoryck.proving.checker.products import check_products
from theoryck.proving.checker.two_sided import check_two_sided

__all__ = ["Refused", "check"]

SECOND: dict[str, Reader] = {"least": number, "limit": items(2, number), "remainder": as_it_is}

# quantity, method, widths, least depth, power, further fields, check; of two with one method the first whose fields are there
KINDS: tuple[tuple[str, str, str, int, Reader, dict[str, Reader], Callable[[list[Any]], str]], ...] = (
    ("norm-deviation", "comparison", "all widths >= d", 0, integer(1, 16), {}, check_norms),
    ("norm-deviation", "two-sided", "all widths >= d", 0, integer(2, 16), {"least": number}, check_two_sided),
    ("norm-deviation", "product", "all widths >= d", 0, integer(2, 16), {"least": number}, check_products),
    ("norm-deviation", "product", "all widths >= d", 0, integer(1, 16), {}, check_products),
    ("norm-deviation", "polynomial", "all widths >= d", 0, integer(2, 16), {"least": number}, check_polynomials),
    ("norm-deviation", "polynomial", "all widths >= d", 0, integer(1, 16), {}, check_polynomials),
    ("norm-deviation", "expansion", "all widths >= d", 0, integer(2, 12), SECOND, check_expansion),
    ("overlap", "comparison", "all widths >= d", 1, integer(1, 16), {}, check_overlaps),
    ("information-gap", "digamma", "all widths >= d", 1, integer(2, 2), {}, check_information_gap),
    ("free-entropy-variance", "poincare", "samples and all widths >= d", 1, integer(2, 2), {}, check_free_entropy),
    ("linear-model-variance", "poincare", "samples >= d", 1, integer(2, 2), {"least": number}, check_linear_model),
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
        *_, widths, depth, power, extra, check_kind = next((kind for kind in named if {*kind[5]} <= {*record}), named[-1])
        first = {"format": integer(1, 1), "quantity": as_it_is, "method": as_it_is, "widths": word(widths)}
        rest = {"activation": as_it_is, "depth": integer(depth, 8), "power": power, "from": integer(1, 10**30)}
        statement = fields(**first, **rest, constant=number, proof=as_it_is, **extra)(record, "")[len(first) :]
        return f"{check_kind(statement).format(**record)}, phi(x) = {record['activation']}"  # numbers as written, not rounded
