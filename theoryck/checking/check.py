"""The one module where claims meet measurement: budgets, looks, routes, confirmation.

A claim's instance is measured by every route its quantity offers, at the sizes of its path.  After each look (a declared
fraction of the budget) the evidence is judged with that look's share of the error rates; drawing stops as soon as the verdict is
settled.  A refutation by Monte Carlo is confirmed with a fresh seed and at least twice the draws before it is reported.

The false-refute rate of a session is divided over its claims and instances.  ``check_claims`` divides it as Holm does: what is left
undecided is judged again when all is measured, at the rate that refuted statements leave to it.  ``check_claim`` and the pytest
plugin, whose items are decided one by one, keep the equal shares of Bonferroni.

A result is had again by the command that measures its claim with the same seed, error rates and, where it matters, draws.
"""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from theoryck import __version__, planning
from theoryck.checking.ahead import Ahead
from theoryck.checking.certificates import affordable
from theoryck.checking.interrupts import came_from_ctrl_c
from theoryck.checking.measurement import BY_THE_CLOCK, GUARD_DIGITS, Known, Measurement, certificate_seconds, known
from theoryck.checking.profiles import Profile, profile_named
from theoryck.checking.session import Progress, Session
from theoryck.claims.claim import Claim, describe_instance, written_about
from theoryck.claims.statements import Statement
from theoryck.judging import certified, judge, rival_problem, tolerated
from theoryck.ledger import Ledger, LedgerError
from theoryck.montecarlo import Executor
from theoryck.montecarlo.jobs import run
from theoryck.records import Contract, Judgement, Point, Prediction, Report, Result, Verdict
from theoryck.records.arguments import text_of


def repeat_command(claim: Claim, session: Session, flags: Sequence[str] = (), points: Sequence[Point] = ()) -> str:
    """Return the command that measures the claim again with the same seed, error rates and, where it matters, draws.

    Where the clock set the budget the draws of each size are named: with them the same bits are drawn.
    """
    path = os.path.relpath(claim.path)
    words = ["theoryck", "check", claim.path if path.startswith("..") else path, "--only", claim.id]
    words += ["--profile", session.profile.name, "--seed", str(session.seed)]
    if session.claims > 1:
        words += ["--sharing", str(session.claims)]
    drawn = [point.estimate.draws for point in points if point.estimate is not None]
    if session.draws is not None:
        fixed = [session.draws] if isinstance(session.draws, int) else list(session.draws)
        words += ["--draws", ",".join(map(str, fixed))]
    elif BY_THE_CLOCK in flags and drawn:
        words += ["--draws", ",".join(map(str, drawn))]
    return shlex.join(words)


HOLM = "Holm"


def check_claims(
    claims: Claim | Iterable[Claim],
    profile: Profile | str = "quick",
    seed: int = 0,
    executor: Executor | None = None,
    workers: int | None = None,
    draws: int | Sequence[int] | None = None,
    progress: Progress | None = None,
    sharing: int | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
) -> Report:
    """Measure and judge claims and return the report; Ctrl-C returns what was finished, marked as interrupted.

    Arguments:

    * ``claims``: one claim or several, made by :func:`theoryck.theorem`, :func:`theoryck.conjecture` or
      :func:`theoryck.falsehood`;
    * ``profile``: "quick" (the default, about 10 s a claim), "standard" (2 minutes) or "thorough" (20 minutes);
    * ``seed``: an integer >= 0; the same seed gives the same draws, for any number of workers;
    * ``workers``: processes that draw, all available CPUs by default; or ``executor``, anything with ``map`` and ``close``;
    * ``draws``: the number of draws of every size (or one number for each size) instead of the profile's budget;
    * ``progress``: called with a mapping of what is going on, at every look;
    * ``sharing``: the number of claims that share the false-refute rate, by default those given: say how many a run had, to
      repeat one of them;
    * ``ledger``: a file, or a :class:`theoryck.ledger.Ledger`, that keeps every block: a second run continues where the first
      stopped.

    A claim whose measurement raises is reported as VACUOUS with the message, so that the others are not lost.  Raises TypeError
    for what is no claim, ValueError for another argument, LedgerError for a ledger that cannot be used.

    >>> import theoryck as tc
    >>> @tc.theorem("example/tanh")
    ... def tanh_identity():
    ...     "rho_1 = 1 - sigma_1 for tanh"
    ...     return tc.Identity(tc.networks.rho("tanh", 1), 1 - tc.networks.sigma("tanh", 1), rivals=[1])
    >>> @tc.conjecture("example/norm")
    ... def norm():
    ...     "E (|x_0|^2 - 1)^2 <= 3/d"
    ...     path = tc.ScalingPath(d=(4, 8, 16), input_dim="d")
    ...     return tc.Bound(tc.norm_deviation(tc.DeepNetwork("x", depth=0)), rate="1/d", along=path, constant=3, rivals=["d**(-2)"])
    >>> report = check_claims([tanh_identity, norm], draws=100)
    >>> [result.verdict.value for result in report.results], report.exit_code
    (['SUPPORTED', 'CERTIFIED'], 0)
    >>> print(report.results[1].reason)
    proved for every d >= 4: the quantity is at most 2 * (d**(-1)) and at least 2 * (d**(-1)); measured: exact values on d = 4..16:
    the quantity is at most 0.666667 times the bound 3 * (d**(-1)), reached at d = 4
    >>> print(report.results[1].draws, report.seed, report.profile)
    300 0 quick
    >>> check_claims(norm, profile="quik")
    Traceback (most recent call last):
        ...
    ValueError: profile must be one of quick, standard, thorough, got 'quik' (did you mean 'quick'?)
    """
    wanted = [claims] if isinstance(claims, Claim) else list(claims) if isinstance(claims, Iterable) else [claims]
    for claim in wanted:
        if not isinstance(claim, Claim):
            raise TypeError(f"claims must be claims made by theorem, conjecture or falsehood, got {claim!r}")
    settings = profile_named(profile)
    found: list[Examined] = []
    interrupted = False
    try:
        with Session(settings, seed, executor, sharing or max(1, len(wanted)), workers, draws, progress, ledger) as session:
            with Ahead(session, wanted, lambda claim: _examined_or_failed(claim, session)) as ahead:
                try:
                    for claim, examined in ahead:
                        found += examined
                        session.end(claim.id)
                except KeyboardInterrupt:
                    found += itertools.chain(*ahead.finished())
                    raise
            found = _step_down(found, session)
    except KeyboardInterrupt:  # also while the workers stop: what was judged stays
        interrupted = True
    results = tuple(examined.result for examined in found)
    return Report(settings.name, seed, results, __version__, interrupted, *written_about(wanted))


async def _examined_or_failed(claim: Claim, session: Session) -> list[Examined]:
    try:
        return await _examine(claim, session, keep_going=True)
    except LedgerError:  # a fault of the ledger says nothing about the claim
        raise
    except (Exception, SystemExit) as error:
        _raise_ctrl_c(error)
        return [Examined(failed_result(claim, session, error))]


def _raise_ctrl_c(error: BaseException) -> None:
    """Raise KeyboardInterrupt where Ctrl-C is behind an error, which then says nothing about the claim."""
    if came_from_ctrl_c(error):
        raise KeyboardInterrupt from error


def failed_result(claim: Claim, session: Session, error: BaseException, instance: Mapping[str, Any] | None = None) -> Result:
    """Return the VACUOUS result of a claim whose statement or measurement raised ``error``."""
    return _vacuous(claim, session, f"nothing was tested: {type(error).__name__}: {text_of(error)}", instance)


def _vacuous(claim: Claim, session: Session, reason: str, instance: Mapping[str, Any] | None = None) -> Result:
    contract = session.contract(1, None)
    return _result(claim, session, instance or {}, None, Judgement(Verdict.VACUOUS, reason), (), contract, contract, 0, 0.0)


@dataclass(frozen=True)
class Examined:
    """A result, the share of its claim's error rate, and, where nothing was decided, what a second judgement needs."""

    result: Result
    weight: float = 1.0
    undecided: Undecided | None = None


@dataclass(frozen=True)
class Undecided:
    """An instance that its last look left open, with the contract of that look."""

    claim: Claim
    prediction: Prediction
    measurement: Measurement
    contract: Contract


def check_claim(claim: Claim, session: Session, keep_going: bool = False) -> list[Result]:
    """Measure and judge every instance of one claim, each at its own share of the session's error rate (Bonferroni).

    An error in one instance is raised as it is, or with ``keep_going`` becomes its VACUOUS result and the others go on.
    """
    with checking([claim], session, keep_going) as ahead:
        return ahead.take(0)


def checking(claims: Iterable[Claim], session: Session, keep_going: bool = False) -> Ahead[Claim, list[Result]]:
    """Return claims of which some are in work while an earlier one is taken, each as :func:`check_claim` gives it."""

    async def examined(claim: Claim) -> list[Result]:
        results = [each.result for each in await _examine(claim, session, keep_going)]
        session.end(claim.id)
        return results

    return Ahead(session, claims, examined)


async def _examine(claim: Claim, session: Session, keep_going: bool) -> list[Examined]:
    instances = session.instances(claim)
    if not instances:
        reason = "no instance met the assumptions of the claim: widen its strategies or its assume()"
        return [Examined(_vacuous(claim, session, reason))]
    # Every prediction is made before anything is drawn: a name that is no size and no parameter is an error here.
    digits = session.profile.exact_digits
    session.begin(claim.id, describe_instance(instances[0][0]), 1, len(instances))
    found = [
        (parameters, statement, each.prediction or statement.prediction(parameters, digits + GUARD_DIGITS), each)
        for (parameters, statement), each in zip(instances, await known(claim, session), strict=True)
    ]
    # Asked here only where no worker has been: costs are declared, but to declare them takes an import.
    ahead = all(each.certified is not None for *_, each in found)
    granted = [False] * len(found) if ahead else affordable([each[1] for each in found], certificate_seconds(claim, session))
    results = []
    for number, (parameters, statement, prediction, each) in enumerate(found, 1):
        if number > 1:
            session.begin(claim.id, describe_instance(parameters), number, len(found))
        try:
            shared = (each, granted[number - 1], len(found))
            results.append(await _check_instance(claim, session, parameters, statement, prediction, *shared))
        except LedgerError:
            raise
        except (Exception, SystemExit) as error:
            _raise_ctrl_c(error)
            if not keep_going:
                raise
            failed = failed_result(claim, session, error, describe_instance(parameters))
            results.append(Examined(failed, 1.0 / len(found)))
    return results


async def _check_instance(
    claim: Claim,
    session: Session,
    parameters: Mapping[str, Any],
    statement: Statement,
    prediction: Prediction,
    found: Known,
    granted: bool,
    instances: int,
) -> Examined:
    start, weight = session.spent(), 1.0 / instances
    instance = describe_instance(parameters)
    declared = tolerated(prediction, statement.sizes(), session.contract(instances, statement.within))
    problem = rival_problem(prediction, tuple(Point(sizes) for sizes in statement.sizes()))
    if problem:  # said before anything is drawn: this check could not fail
        judgement = Judgement(Verdict.VACUOUS, problem, flags=("rival-cannot-be-rejected",))
        seconds = session.spent() - start
        return Examined(_result(claim, session, instance, prediction, judgement, (), declared, declared, 0, seconds), weight)
    measurement = Measurement(claim.id, instance, statement, session, weight)
    measurement.take(found)
    measurement.drawing.watch = session.watch(claim.id, instance)
    judgement, contract = await _look_until_settled(measurement, prediction, declared, session)
    measurement.certify(parameters, prediction, granted)
    result = await _concluded(claim, session, measurement, prediction, judgement, contract, declared)
    undecided = Undecided(claim, prediction, measurement, contract) if result.verdict is Verdict.INCONCLUSIVE else None
    return Examined(replace(result, seconds=session.spent() - start), weight, undecided)


async def _concluded(
    claim: Claim,
    session: Session,
    measurement: Measurement,
    prediction: Prediction,
    judgement: Judgement,
    contract: Contract,
    declared: Contract,
) -> Result:
    """Return the result of a measurement that was judged, after confirmation if it was REFUTED by draws, with what is proved."""
    start, draws, first = session.spent(), measurement.draws, measurement.points()
    if judgement.verdict is Verdict.REFUTED and measurement.decided_by_draws(judgement):
        measurement = measurement.confirmation()
        confirmed, contract = await _look_until_settled(measurement, prediction, declared, session)
        draws += measurement.draws
        judgement = _after_confirmation(judgement, confirmed)
    proved = measurement.certified
    judgement = certified(judgement, prediction, measurement.points(), contract, None if proved is None else proved.scope)
    judgement = replace(judgement, flags=(*judgement.flags, *sorted(measurement.flags)))
    result = _result(
        claim,
        session,
        measurement.instance,
        prediction,
        judgement,
        measurement.points(),
        contract,
        declared,
        draws,
        session.spent() - start,
    )
    # To repeat a confirmed refutation is to draw what was drawn first: the confirmation follows from it.
    return replace(result, repeat=repeat_command(claim, session, judgement.flags, first))


def _step_down(found: list[Examined], session: Session) -> list[Examined]:
    """Judge again what is undecided at the rates that refuted hypotheses leave to it, until nothing more falls (Holm).

    An instance refuted at its own share keeps its verdict; one left open is judged from the draws it has, at its last look's
    share of the larger rate: a refutation at a rate is one at every larger rate, so these are the nested tests that Holm's
    step-down needs.
    """
    rate = session.profile.false_refute_rate
    others = max(session.claims - sum(examined.weight for examined in found), 0.0)
    while True:
        rejected = [examined.result.verdict is Verdict.REFUTED for examined in found]
        rates = planning.holm_rates(rate, [examined.weight for examined in found], rejected, others)
        again = [_judged_again(examined, session, larger) for examined, larger in zip(found, rates, strict=True)]
        if [examined.result.verdict is Verdict.REFUTED for examined in again] == rejected:
            return again
        found = again


def _judged_again(examined: Examined, session: Session, rate: float) -> Examined:
    """Return what the evidence says at a larger error rate, if it says more, confirmed with other seeds."""
    undecided = examined.undecided
    factor = rate / examined.result.false_refute_rate
    if undecided is None or factor <= 1 + 1e-9:
        return examined
    contract = replace(undecided.contract, false_refute_rate=undecided.contract.false_refute_rate * factor)
    judgement = judge(undecided.prediction, undecided.measurement.points(), contract)
    if judgement.verdict is not Verdict.REFUTED:
        return examined
    declared = replace(contract, false_refute_rate=rate, false_support_rate=session.profile.false_support_rate)
    concluding = _concluded(undecided.claim, session, undecided.measurement, undecided.prediction, judgement, contract, declared)
    result = run(concluding)
    note = f"{result.judgement.reason} (at the error rate that refuted statements leave to it, Holm)"
    told = replace(result.judgement, reason=note, flags=(*result.judgement.flags, HOLM))
    seconds = examined.result.seconds + result.seconds
    return Examined(replace(result, judgement=told, seconds=seconds), examined.weight)


def _after_confirmation(first: Judgement, second: Judgement) -> Judgement:
    if second.verdict is Verdict.REFUTED:
        return replace(second, reason=f"{second.reason} (confirmed with a fresh seed and a larger budget)")
    return replace(
        second,
        verdict=Verdict.INCONCLUSIVE,
        reason="refuted at first, but a fresh seed with a larger budget did not confirm it: take a larger profile. "
        f"First: {first.reason} Then: {second.reason}",
        settled=False,
    )


async def _look_until_settled(
    measurement: Measurement, prediction: Prediction, contract: Contract, session: Session
) -> tuple[Judgement, Contract]:
    """Return the judgement and the contract of the look that gave it."""
    profile = session.profile
    measurement.measure_exactly(profile.exact_digits)
    if not measurement.quantity.can_draw:
        return judge(prediction, measurement.points(), contract), contract
    await measurement.prepare()
    schedule = planning.looks(contract, measurement.looks(profile.looks))
    for look in schedule:
        final = look is schedule[-1]
        await measurement.draw_up_to(look.fraction)
        judgement = judge(prediction, measurement.points(), look.contract, final=final)
        settled = judgement.settled
        if settled and profile.every_route_settles and judgement.verdict is not Verdict.REFUTED:
            settled = _draws_settle(judgement, judge(prediction, measurement.points(exact=False), look.contract, final=False))
        session.tell(measurement.claim, measurement.instance, measurement.draws, look.fraction, judgement)
        if settled and not final and judgement.verdict is Verdict.INCONCLUSIVE:
            judgement = judge(prediction, measurement.points(), look.contract)  # says what would decide: no more draws follow
        if settled or final:
            return judgement, look.contract
    raise AssertionError("a schedule has at least one look")


def _draws_settle(judgement: Judgement, alone: Judgement) -> bool:
    """Whether Monte Carlo has decided at its share of the error rates, or no number of draws would decide."""
    undecided = any(route.name == "montecarlo" and route.verdict is Verdict.INCONCLUSIVE for route in judgement.routes)
    return alone.settled and (not undecided or alone.verdict is Verdict.INCONCLUSIVE)


def _result(
    claim: Claim,
    session: Session,
    instance: Mapping[str, Any],
    prediction: Prediction | None,
    judgement: Judgement,
    points: Sequence[Point],
    contract: Contract,
    declared: Contract,
    draws: int,
    seconds: float,
) -> Result:
    return Result(
        claim=claim.id,
        status=claim.status,
        instance=dict(instance),
        judgement=judgement,
        prediction=prediction,
        points=tuple(points),
        contract=contract,
        false_refute_rate=declared.false_refute_rate,
        draws=draws,
        seconds=seconds,
        seed=session.seed,
        statement=claim.statement,
        reference=str(claim.reference or ""),
        repeat=repeat_command(claim, session, judgement.flags, points),
    )
