"""prove: a bound at every size, by a certificate of its quantity that the checker accepts, and what it says along a path.

A certificate speaks of the smallest size m of a quantity (its smallest width): ``value <= C m^e`` for every m >= N.  Along a path
that size is at least c d^q, d the base, and the claimed rate at least a d^p, so that for every d with c d^q >= N

    value <= C (c d^q)^e = K (a d^p),    K = (C c^e / a) d^(q e - p),

which is bounded exactly where p >= q e, by its value at the first d.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from typing import Any, overload

from theoryck.claims.claim import Claim, describe_instance
from theoryck.claims.statements import Bound, Statement
from theoryck.proving import checker
from theoryck.quantities import NoCertificate, Quantity
from theoryck.rates.monomials import Monomial, RateError
from theoryck.rates.parsing import Extremum, parse_sum
from theoryck.rates.paths import ScalingPath
from theoryck.rates.rate import Rate
from theoryck.records import Kind, Prediction, Proof, Scope, Toward
from theoryck.records.arguments import integer

SHOWN_DIGITS = 6  # of a constant along a path, rounded up
Power = tuple[Fraction, Fraction]
"""c d^q: a coefficient and a power of the base."""


class CertificateRefused(NoCertificate):
    """A certificate was found that the checker does not accept: one of the two has a bug.

    >>> raise CertificateRefused("q", "constant: it does not follow")
    Traceback (most recent call last):
        ...
    theoryck.proving.prove.CertificateRefused: the certificate that was found for q is refused by the checker, constant: it does
    not follow; one of the two has a bug
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"the certificate that was found for {name} is refused by the checker, {reason}; one of the two has a bug")
        self.reason = reason


@overload
def prove(what: Claim, *, start: int | None = None, instances: int = 4, seed: int = 0) -> tuple[Proof, ...]: ...
@overload
def prove(what: Statement | Quantity, *, start: int | None = None, parameters: Mapping[str, Any] | None = None) -> Proof: ...
def prove(
    what: Claim | Statement | Quantity,
    *,
    start: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    instances: int = 4,
    seed: int = 0,
) -> Proof | tuple[Proof, ...]:
    """Return a proof that holds for every size, one for each instance of a claim; nothing is drawn.

    Arguments:

    * ``what``: a claim, a :class:`theoryck.Bound` along one path, or a quantity (then the rate is that at which it decays, and d
      its smallest size);
    * ``start``: the first size, by default the smallest of the path, 1 for a quantity: the larger, the smaller the constant;
    * ``parameters``: values of the names in the rates of a statement that are no sizes;
    * ``instances`` and ``seed``: which instances of a claim are generated, by default those of the profile quick.

    A bound with a constant is proved with that constant or not at all.  Raises NoCertificate, a ValueError that says which
    inequality fails and what would do; TypeError for what is none of the three.

    >>> import theoryck as tc
    >>> path = tc.ScalingPath(d=tc.doubling(16, 256), width="2*d", input_dim="d")
    >>> moment = tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2)
    >>> proof = prove(tc.Bound(moment, rate="1/d", along=path), start=1024)
    >>> proof.scope.start, proof.scope.constant < 1, proof.certificate.start
    (1024, True, 1024)
    """
    if start is not None:
        start = integer(start, "start", 1)
    if isinstance(what, Claim):
        made = what.instances(instances, what.structure_seed(seed))
        return tuple(proved(statement, values, start=start, claim=what) for values, statement in made)
    if isinstance(what, Statement):
        return proved(what, parameters or {}, start=start)
    if isinstance(what, Quantity):
        return _of_quantity(what, start or 1)
    raise TypeError(f"prove takes a claim, a statement or a quantity, got {what!r}")


def _of_quantity(quantity: Quantity, start: int) -> Proof:
    found, seconds, checked = _certificate(quantity, None, None, start)
    scope = Scope("d", found.start, Decimal(found.constant), method=found.method)
    equal = [Fraction(1)] * len(quantity.certified_sizes)
    scope = replace(scope, limit=quantity.limiting_constant(equal))
    rate = str(Rate.parse(f"d**({_exponent(found)})"))
    return Proof(quantity.name, rate, scope, found, seconds=seconds, checked=checked)


def proved(
    statement: Statement,
    parameters: Mapping[str, Any],
    *,
    prediction: Prediction | None = None,
    start: int | None = None,
    claim: Claim | None = None,
) -> Proof:
    """Return the proof of a bound along its path from the base size ``start`` on; NoCertificate where there is none."""
    prediction = prediction or statement.prediction(parameters)
    path = statement.path()
    if not isinstance(statement, Bound) or prediction.rate is None or path is None:
        raise NoCertificate(
            f"a certificate proves a Bound along a path, got {_article(prediction.kind)}: theoryck check measures it"
        )
    quantity = statement.measured()
    if not quantity.certified_sizes:
        quantity.for_every_size()  # says why not
    if path.toward is not Toward.INFINITY or not path.whole:
        raise NoCertificate(f"a certificate holds for every whole size, but {path.base} of the path is none that grows: {path!r}")
    first = min(int(size) for size in path.sizes) if start is None else start
    smallest, ratios = _smallest(quantity, path, first)
    rates = _powers(Rate.parse(prediction.rate, **prediction.parameters), path)
    coefficient, power = smallest
    claimed = max((p for _, p in rates), default=None)
    if claimed is None:
        raise NoCertificate(f"the rate {prediction.rate} is no sum of powers of {path.base} along this path")
    least = _lower(coefficient, power, first)
    if least < 1:
        raise NoCertificate(f"the smallest size is below 1 at {path.base} = {first}: take a larger start")
    allowed = _allowed(prediction, smallest, rates, first)
    found, seconds, checked = _certificate(quantity, claimed / power, allowed, least)
    constant = _along(Decimal(found.constant), _exponent(found), smallest, rates, first)
    if constant is None:
        raise NoCertificate(f"the certificate proves {path.base}**({_exponent(found) * power}) only, less than {prediction.rate}")
    if prediction.constant is not None and constant > Decimal(prediction.constant):
        raise NoCertificate(f"the constant that is proved is {constant}, above the claimed {prediction.constant:g}")
    limit = None if ratios is None else _limit(quantity.limiting_constant(ratios), _exponent(found), smallest, rates)
    scope = Scope(path.base, first, constant, method=found.method, limit=limit)
    about = (claim.id, claim.statement, describe_instance(parameters)) if claim is not None else ("", "", {})
    return Proof(quantity.name, prediction.rate, scope, found, path.describe(), *about, prediction.constant, seconds, checked)


def _certificate(quantity: Quantity, rate: Fraction | None, constant: Decimal | None, start: int) -> tuple[Any, float, float]:
    """Find a certificate and have it checked; return it with the seconds of both."""
    before = time.process_time()
    found = quantity.for_every_size(rate, constant=constant, start=start)
    between = time.process_time()
    try:
        checker.check(found.to_json())
    except checker.Refused as error:
        raise CertificateRefused(quantity.name, str(error)) from error
    return found, between - before, time.process_time() - between


def _exponent(found: Any) -> Fraction:
    return Fraction(-found.power, 2)


def _article(kind: Kind) -> str:
    return f"{'an' if kind.value[0] in 'aeiou' else 'a'} {kind.value}"


# Along a path -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _NoPower(Exception):
    """A size that follows no power of the base."""

    text: str


def _smallest(quantity: Quantity, path: ScalingPath, start: int) -> tuple[Power, list[Fraction] | None]:
    """Return (c, q) with every size of the certificate >= c d^q for every d >= start, and their ratios where all grow alike."""
    try:
        sizes = [_power(text, path) for text in quantity.certified_sizes]
    except (_NoPower, RateError) as error:
        text = error.text if isinstance(error, _NoPower) else str(error)
        raise NoCertificate(f"the sizes of {quantity.name} must be powers of {path.base} along the path, got {text}") from None
    slowest = min(q for _, q in sizes)
    if slowest <= 0:
        fixed = next(text for text, (_, q) in zip(quantity.certified_sizes, sizes) if q <= 0)
        raise NoCertificate(
            f"the size {fixed} of {quantity.name} does not grow along the path, and a certificate bounds the value by a power of "
            "the smallest size alone: let all of them grow"
        )
    # A size c d^q with q >= slowest, less the half that rounding may take, over d^slowest grows with d: its least is at the start.
    least = min(_scaled(_rounded(c, q, start), q - slowest, start) for c, q in sizes)
    exact = [c for c, q in sizes if q == slowest and c.denominator == 1 and slowest.denominator == 1]
    coefficient = min(exact) if exact and min(exact) <= least else least
    ratios = [c / coefficient for c, _ in sizes] if all(q == slowest for _, q in sizes) else None
    return (coefficient, slowest), ratios


def _rounded(c: Fraction, q: Fraction, start: int) -> Fraction:
    """Return c' with c d^q, rounded to a whole number, at least c' d^q for every d >= start."""
    if c.denominator == 1 and q.denominator == 1:
        return c
    return max(c - Fraction(1, 2) / _lower(Fraction(1), q, start), Fraction(0))


def _scaled(c: Fraction, q: Fraction, start: int) -> Fraction:
    return c if q == 0 else c * _lower(Fraction(1), q, start)


def _lower(c: Fraction, q: Fraction, d: int) -> int:
    """Return the whole part of c d^q: floor((c^b d^a)^(1/b)) for q = a/b."""
    a, b = q.numerator, q.denominator
    inside = c**b * Fraction(d) ** a
    root = round(float(inside) ** (1 / b))
    while Fraction(root) ** b > inside:
        root -= 1
    while Fraction(root + 1) ** b <= inside:
        root += 1
    return root


def _power(text: str, path: ScalingPath) -> Power:
    """Return (c, q) such that a size, a text in the names of the path, is c d^q; _NoPower where it is none."""
    if text == path.base:
        return Fraction(1), Fraction(1)
    rule = parse_sum(text, {}, what="size", allow_extremum=True)
    if isinstance(rule, Extremum) or len(rule) != 1:
        raise _NoPower(text)
    return _composed(rule[0], path, text)


def _composed(term: Monomial, path: ScalingPath, text: str) -> Power:
    if term.roots or term.logs or term.others:
        raise _NoPower(text)
    coefficient, power = term.coefficient, Fraction(0)
    for name, exponent in term.powers:
        described = path.describe().get(name, "")
        if name != path.base and (not described or "," in described):
            raise _NoPower(f"{text} with {name} = {described or 'nothing'}")
        c, q = _power(name if name == path.base else described, path)
        if exponent.denominator != 1 and c != 1:
            raise _NoPower(text)
        coefficient *= c ** int(exponent) if c != 1 else 1
        power += q * exponent
    return coefficient, power


def _powers(rate: Rate, path: ScalingPath) -> list[Power]:
    """Return the powers of the base in a rate, of each power one: their sum is at most the rate."""
    found: dict[Fraction, Fraction] = {}
    for term in rate.terms:
        try:
            a, p = _composed(term, path, str(term))
        except _NoPower:
            continue
        found[p] = found.get(p, Fraction(0)) + a
    return [(a, p) for p, a in found.items()]


def _limit(constant: float | None, e: Fraction, smallest: Power, rates: Sequence[Power]) -> float | None:
    """Return the limit of value/rate from that of value/m^e; None where it is not known, or the rate is no multiple of m^e."""
    (c, q), (a, p) = smallest, max(rates, key=lambda term: term[1])
    return None if constant is None or p != q * e else constant * float(_raised(c, e) / _ratio(a))


def _along(constant: Decimal, e: Fraction, smallest: Power, rates: Sequence[Power], start: int) -> Decimal | None:
    """Return K with ``constant (c d^q)^e <= K rate(d)`` for every d >= start, rounded up; None where there is none."""
    c, q = smallest
    found = []
    for a, p in rates:
        if p >= q * e:
            with localcontext() as context:
                context.prec, context.rounding = 40, ROUND_CEILING
                exact = c == 1 and a == 1 and p == q * e
                found.append(constant if exact else _up(constant * _raised(c, e) / _ratio(a) * _raised(Fraction(start), q * e - p)))
    return min(found, default=None)


def _allowed(prediction: Prediction, smallest: Power, rates: Sequence[Power], start: int) -> Decimal | None:
    """Return the largest constant of a certificate that covers the claimed one, None where only growth is claimed."""
    if prediction.constant is None:
        return None
    c, q = smallest
    a, p = max(rates, key=lambda term: term[1])
    with localcontext() as context:
        context.prec = 40
        # Of a claim with a slower rate the exponent that is proved is not known yet: it is compared with the constant afterwards.
        return Decimal(prediction.constant) * _ratio(a) / _raised(c, p / q)


def _raised(base: Fraction, power: Fraction) -> Decimal:
    """Return base^power in 40 digits, rounded up by one unit of the 38th: far below what is shown."""
    if base == 1 or power == 0:
        return Decimal(1)
    with localcontext() as context:
        context.prec = 40
        value = (_ratio(base).ln() * _ratio(power)).exp()
        return value * (1 + Decimal("1e-35"))


def _ratio(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _up(value: Decimal) -> Decimal:
    """Return a value rounded up to SHOWN_DIGITS."""
    with localcontext() as context:
        context.prec, context.rounding = SHOWN_DIGITS, ROUND_CEILING
        return +value
