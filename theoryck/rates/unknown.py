"""An exponent that is to be measured, such as alpha in ``n**(-alpha)*log(n)``, and the rate that is known beside it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fractions import Fraction

from theoryck.rates.monomials import RateError, made, merged, shown
from theoryck.rates.parsing import read_tree
from theoryck.rates.rate import Rate
from theoryck.records import Interval


@dataclass(frozen=True, slots=True)
class Unknown:
    """A rate ``known * size**(slope * name)``, of which ``name`` is to be measured.

    >>> asked = Unknown.of("n**(-alpha/2)*log(n)")
    >>> asked.name, asked.size, str(asked.known)
    ('alpha', 'n', 'log(n)')
    >>> asked.solved(Interval(-0.25, -0.3, -0.2, 0.95))
    Interval(estimate=0.5, low=0.4, high=0.6, level=0.95)
    >>> Unknown.of("n**(-1/2)") is None
    True
    """

    name: str
    size: str
    slope: Fraction
    known: Rate

    @classmethod
    def of(cls, text: str) -> Unknown | None:
        """Return what is unknown in a rate, or None; RateError for more than one unknown, or for one that is no such factor."""
        names = {
            (node.left.id, each.id)
            for node in ast.walk(read_tree(text, "rate"))
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.left, ast.Name)
            for each in ast.walk(node.right)
            if isinstance(each, ast.Name)
        }
        if not names:
            return None
        if len(names) > 1:
            unknown = ", ".join(sorted({name for _, name in names}))
            law = "; a limit and a power of each size, E + A/N**a + B/D**b, are kind loss-law without a rate"
            hint = law if len({size for size, _ in names}) > 1 else ""
            raise RateError(f"rate {shown(text)}: {unknown} are unknown: measure one exponent of one size at a time{hint}")
        ((size, name),) = names
        first, second, third = (Rate.parse(text, **{name: value}) for value in (1, 2, 3))
        slope = _power(second, size) - _power(first, size)
        # What is linear in the exponent on three values, in every term, is a factor of the whole.
        if not slope or _times(first, size, slope) != second or _times(second, size, slope) != third:
            raise RateError(
                f"rate {shown(text)}: the unknown power must be a factor of the whole, as in n**(-alpha)*log(n); beside a limit it "
                "is measured without a rate, with limit unknown"
            )
        return cls(name, size, slope, _times(first, size, -slope))

    def solved(self, exponent: Interval) -> Interval:
        """Return the interval of the unknown, given that of the power of the size beside what is known."""
        centre, *ends = (end / float(self.slope) for end in (exponent.estimate, exponent.low, exponent.high))
        return Interval(centre, min(ends), max(ends), exponent.level)


def _power(rate: Rate, size: str) -> Fraction:
    return dict(rate.terms[0].powers).get(size, Fraction(0))


def _times(rate: Rate, size: str, power: Fraction) -> Rate:
    terms = tuple(
        made(term.coefficient, term.roots, merged([*term.powers, (size, power)]), term.logs, term.others) for term in rate.terms
    )
    found = Rate(tuple(sorted(terms, key=lambda term: term.order)))
    return Rate(found.terms, str(found))
