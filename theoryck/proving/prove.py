"""prove: a bound at every size, by a certificate of its quantity that the checker accepts, and what it says along a path."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, overload

from theoryck.claims.claim import Claim, describe_instance
from theoryck.claims.statements import Bound, Scaling, Statement
from theoryck.numerics.errors import ExactError
from theoryck.proving import checker
from theoryck.proving.along import Along, from_which
from theoryck.quantities import NoCertificate, Quantity
from theoryck.quantities.base import apart
from theoryck.rates.paths import ScalingPath
from theoryck.rates.rate import Rate
from theoryck.records import Kind, Prediction, Proof, Scope, Toward
from theoryck.records.arguments import integer

_INSTANCES = 4  # of a claim, as under the profile quick


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
def prove(what: Claim, *, start: int | None = None, instances: int | None = None, seed: int | None = None) -> tuple[Proof, ...]: ...
@overload
def prove(what: Statement, *, start: int | None = None, parameters: Mapping[str, Any] | None = None) -> Proof: ...
@overload
def prove(what: Quantity, *, start: int | None = None) -> Proof: ...
def prove(
    what: Claim | Statement | Quantity,
    *,
    start: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    instances: int | None = None,
    seed: int | None = None,
) -> Proof | tuple[Proof, ...]:
    """Return a proof that holds for every size, one for each instance of a claim; nothing is drawn.

    Arguments:

    * ``what``: a claim, a :class:`theoryck.Bound` or a :class:`theoryck.Scaling` without a constant (then from both sides) along
      one path, or a quantity (then the rate is that at which it decays, and d its smallest size);
    * ``start``: the first size, by default the smallest of the path, 1 for a quantity: the larger, the smaller the constant (of
      a bound without a constant the first from which on the method applies, where that is larger);
    * ``parameters``: values of the names in the rates of a statement that are no sizes;
    * ``instances`` and ``seed``: which instances of a claim are generated, by default those of the profile quick.

    A bound with a constant is proved with that constant or not at all.  Raises NoCertificate, a ValueError that says which
    inequality fails and what would do; TypeError for what is none of the three,
    and for an argument that it does not take.

    >>> import theoryck as tc
    >>> path = tc.ScalingPath(d=tc.doubling(16, 256), width="2*d", input_dim="d")
    >>> moment = tc.norm_deviation(tc.DeepNetwork("tanh", depth=1), power=2)
    >>> proof = prove(tc.Bound(moment, rate="1/d", along=path), start=1024)
    >>> proof.scope.start, proof.scope.constant < 1, proof.certificate.start
    (1024, True, 1024)
    """
    if start is not None:
        start = integer(start, "start", 1)
    given: dict[str, Any] = {"parameters": parameters, "instances": instances, "seed": seed}
    if isinstance(what, Claim):
        _refuse_unused(given, "a claim", taken=("instances", "seed"))
        count = _INSTANCES if instances is None else integer(instances, "instances", 1)
        made = what.instances(count, what.structure_seed(0 if seed is None else integer(seed, "seed", 0)))
        return tuple(proved_or_broken(statement, values, start=start, claim=what) for values, statement in made)
    if isinstance(what, Statement):
        _refuse_unused(given, "a statement", taken=("parameters",))
        if not isinstance(parameters, Mapping | None):
            raise TypeError(f"parameters must be a mapping from names to values, such as {{'k': 2}}, got {parameters!r}")
        return proved_or_broken(what, parameters or {}, start=start)
    if isinstance(what, Quantity):
        _refuse_unused(given, "a quantity", taken=())
        return _of_quantity(what, start or 1)
    raise TypeError(f"prove takes a claim, a statement or a quantity, got {what!r}")


def _refuse_unused(given: Mapping[str, Any], what: str, taken: Sequence[str]) -> None:
    for name, value in given.items():
        if value is not None and name not in taken:
            also = f"start and {' and '.join(taken)}" if taken else "start"
            raise TypeError(f"prove takes no {name} for {what}, got {name} = {value!r}: leave it out; {what} takes {also}")


def _of_quantity(quantity: Quantity, start: int) -> Proof:
    found, seconds, checked = _certificate(quantity, None, None, start, both=False)
    limit = quantity.limiting_constant([Fraction(1)] * len(quantity.certified_sizes))
    least = None if found.least is None else Decimal(found.least)
    scope = Scope("d", found.start, Decimal(found.constant), least, found.method, limit)
    rate = str(Rate.parse(f"d**({_exponent(found)})"))
    return Proof(quantity.name, rate, scope, found, seconds=seconds, checked=checked)


def proved_or_broken(
    statement: Statement, parameters: Mapping[str, Any], *, start: int | None = None, claim: Claim | None = None
) -> Proof:
    """Return the proof of a bound, as ``proved``; NoCertificate names the size at which an exact value exceeds it, if one does."""
    try:
        return proved(statement, parameters, start=start, claim=claim)
    except NoCertificate as error:
        if error.breaks is None:
            _refuse_if_broken(statement, parameters, error)
        raise


def _refuse_if_broken(statement: Statement, parameters: Mapping[str, Any], reason: NoCertificate) -> None:
    """Hold exact values along the path, as far as there are any, against a bound with a constant that no method proves."""
    path, prediction = statement.path(), statement.prediction(parameters)
    if not isinstance(statement, Bound) or path is None or prediction.rate is None or prediction.constant is None:
        return
    quantity, rate = statement.measured(), Rate.parse(prediction.rate, **prediction.parameters)
    for point in path.points:
        try:
            value = quantity.exact(point)
        except ExactError:  # what cannot be enclosed exceeds nothing: the reason for which there is no proof stands
            return
        if value is None:
            return
        allowed = prediction.constant * float(rate(point))
        if float(value.low) > allowed * (1 + 1e-9):  # far above the rounding of these floats
            size = int(point[path.base])
            found, most = apart(float(value.low), allowed, digits=4)
            shown = f"({rate})" if len(rate.terms) > 1 else str(rate)
            raise NoCertificate(
                f"{quantity.name} exceeds {prediction.constant:.10g} * {shown} at {path.base} = {size}, where it is "
                f"{found}, above {most}; moreover {reason}",
                breaks=size,
            ) from reason


def proved(
    statement: Statement,
    parameters: Mapping[str, Any],
    *,
    prediction: Prediction | None = None,
    start: int | None = None,
    claim: Claim | None = None,
) -> Proof:
    """Return the proof of a bound along its path from the base size ``start`` on; NoCertificate where there is none.

    Without ``start`` it is the smallest size of the path or, of a bound without a constant, from where on the method applies.
    """
    if start is None:
        try:
            return _proved(statement, parameters, prediction, None, claim)
        except NoCertificate as error:
            if error.start is None or getattr(statement, "constant", None) is not None:
                raise
            start = error.start
    return _proved(statement, parameters, prediction, start, claim)


def _proved(
    statement: Statement, parameters: Mapping[str, Any], prediction: Prediction | None, start: int | None, claim: Claim | None
) -> Proof:
    prediction = prediction or statement.prediction(parameters)
    path = statement.path()
    both = isinstance(statement, Scaling)
    rate = prediction.rate_text
    constant = both and prediction.constant is not None  # which it tends to, and no bound says that
    if constant or not (both or isinstance(statement, Bound)) or rate is None or path is None:
        what = f"{_article(prediction.kind)}{' with a constant' if constant else ''}"
        raise NoCertificate(
            f"a certificate proves a Bound, or a Scaling without a constant, along a path, not {what}: theoryck check measures it"
        )
    quantity = statement.measured()
    if not quantity.certified_sizes:
        quantity.for_every_size()  # says why not
    if path.toward is not Toward.INFINITY or not path.whole:
        raise NoCertificate(f"a certificate holds for every whole size, but {path.base} of the path is none that grows: {path!r}")
    first = min(int(size) for size in path.sizes) if start is None else start
    at = partial(Along.of, quantity.certified_sizes, Rate.parse(rate, **prediction.parameters), path)
    along = at(first)
    if along.first < 1:
        raise NoCertificate(f"the smallest size is below 1 at {path.base} = {first}: take a larger start")
    try:
        allowed = along.allowed(prediction.constant)
        found, seconds, checked = _certificate(quantity, along.exponent, allowed, along.first, both=both)
    except CertificateRefused:
        raise
    except NoCertificate as error:
        raise _said_along(error, quantity, along, at, prediction, path) from error
    limit = None if along.ratios is None else quantity.limiting_constant(along.ratios)
    scope = along.scope(found, limit)
    if both and scope.least is None:
        raise NoCertificate(
            f"a Scaling is proved from both sides, and {quantity.name} is bounded from below at its own rate where all of its "
            f"sizes are equal, not {rate} along {path!r}: claim a Bound"
        )
    if prediction.constant is not None and scope.constant > Decimal(str(prediction.constant)):
        raise NoCertificate(f"the constant that is proved is {scope.constant}, above the claimed {prediction.constant:g}")
    about = (claim.id, claim.statement, describe_instance(parameters)) if claim is not None else ("", "", {})
    return Proof(quantity.name, rate, scope, found, path.describe(), *about, prediction.constant, seconds, checked)


def _said_along(
    error: NoCertificate, quantity: Quantity, along: Along, at: Callable[[int], Along], prediction: Prediction, path: ScalingPath
) -> NoCertificate:
    """Return a refusal in the base of the path: its sizes, rates and values are those where all sizes are the smallest one."""
    base = path.base
    if error.start is not None:
        later = from_which(at, along.start, error.start)
        said = f"; along the path that is {base} >= {later}" if along.plain else f", d the smallest size; that is {base} >= {later}"
        return NoCertificate(f"{error}{said}", start=later)
    if along.plain or (error.rate is None and error.breaks is None):
        return error
    if error.rate is None:  # where all sizes are the smallest one: along the path the values may be smaller
        return NoCertificate(f"{error}; that is where all sizes are d, and a certificate bounds the value by its smallest size")
    own = f"{base}**({error.rate * along.smallest.power})"
    rate = Rate.parse(prediction.rate_text or "", **prediction.parameters)
    grown = _grown(quantity, rate, path) if prediction.constant is None else None
    said = f"is proved to decay like {own}, not like {rate}"
    if grown is not None:
        said = (
            f"decays like {own}, no faster: over {rate} it is {grown[0]:.4g} at {base} = {grown[1]}, {grown[2]:.4g} at {grown[3]}"
        )
    text = f"{quantity.name} along the path {said}; take the rate {own}"
    return NoCertificate(text, breaks=None if grown is None else grown[3])


def _grown(quantity: Quantity, rate: Rate, path: ScalingPath) -> tuple[float, int, float, int] | None:
    """Return two ratios of exact values to the rate along the path, the second twice the first, each with its size; None else."""
    first: tuple[float, int] | None = None
    for point in path.points:
        try:
            value = quantity.exact(point)
        except ExactError:
            continue
        if value is None:
            return None
        low, high, size = float(value.low) / float(rate(point)), float(value.high) / float(rate(point)), int(point[path.base])
        if first is not None and low > 2 * first[0]:
            return (*first, low, size)
        if first is None and low > 0:
            first = high, size
    return None


def _certificate(
    quantity: Quantity, rate: Fraction | None, constant: Decimal | None, start: int, *, both: bool
) -> tuple[Any, float, float]:
    """Find a certificate, from ``both`` sides where that is asked, and have it checked; return it with the seconds of both."""
    before = time.process_time()
    found = quantity.for_every_size(rate, constant=constant, start=start, both=both)
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
