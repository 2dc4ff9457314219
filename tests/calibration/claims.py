"""Claims by the thousand: a truth, a noise and a budget, looked at as ``check`` looks, refutations confirmed with fresh draws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from tests.calibration.draws import BLOCKS, NOISES, Array, Bank, bank, means
from tests.calibration.fast import estimates
from tests.calibration.simulator import COEFFICIENTS, SIZES, Truth
from tests.calibration.tallies import Tally
from theoryck import planning
from theoryck.checking.measurement import CONFIRMATION_FACTOR
from theoryck.checking.profiles import PROFILES
from theoryck.judging import judge
from theoryck.records import Contract, Estimate, Judgement, Kind, Point, Prediction, Verdict

ONE_LOOK = (1.0,)
ALL_LOOKS = PROFILES["quick"].looks
LOOKS = ALL_LOOKS[::2]  # every other look: what is not drawn for is not judged, and the thousands are done in half the time
RATES = {-0.25: "d**(-1/4)", -0.5: "d**(-1/2)", -1.0: "1/d", -2.0: "d**(-2)", 0.5: "sqrt(d)"}


Curve = Callable[[Array], Array]


@dataclass(frozen=True)
class Claim:
    """A statement about ``truth``: a bound ``d**claimed`` or, with ``kind=SCALING``, the exponent ``claimed`` itself."""

    truth: Truth | Curve
    claimed: float
    noise: str = "gaussian"
    draws: int = 10_000  # per size, for all looks together
    kind: Kind = Kind.BOUND
    correction: float | None = None
    sizes: tuple[int, ...] = tuple(int(size) for size in SIZES)

    @property
    def prediction(self) -> Prediction:
        if self.kind is Kind.SCALING:
            return Prediction(Kind.SCALING, "Q", base="d", exponent=self.claimed, correction=self.correction)
        return Prediction(Kind.BOUND, "Q", base="d", rate=RATES[self.claimed], correction=self.correction)


@dataclass
class _Running:
    """Power sums of all draws so far, size by size."""

    claim: Claim
    bank: Bank
    rng: np.random.Generator
    draws: int = 0
    sums: Array = field(init=False)
    points: list[Point] = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros((len(self.claim.sizes), 4))
        self.curve = self.claim.truth(np.array(self.claim.sizes, dtype=float))

    def up_to(self, draws: int) -> list[Point]:
        self.sums = self.sums + self.bank.sums(self.rng, (len(self.sums),), draws - self.draws)
        self.draws = draws
        found = means(self.sums, draws)
        columns = zip(self.claim.sizes, self.curve * found.values, self.curve * found.stderrs, found.skewness)
        self.points = [Point({"d": d}, Estimate(float(v), float(e), draws, (), float(s))) for d, v, e, s in columns]
        return self.points


FEWEST = 64  # draws per size before which ``check`` does not look


def look_until_settled(
    claim: Claim, contract: Contract, running: _Running, fractions: Sequence[float]
) -> tuple[Judgement, Contract]:
    """Judge at every look until nothing is left to draw for, as ``check`` does; return the contract of the last look too.

    ``final=False`` only spares the search for the budget that would decide; the tests are the same.
    """
    worth = tuple(fraction for fraction in fractions if claim.draws * fraction >= FEWEST or fraction == 1)
    for look in planning.looks(contract, worth):
        points = running.up_to(max(2, math.ceil(claim.draws * look.fraction)))
        judgement = judge(claim.prediction, points, look.contract, final=False)
        if judgement.settled:
            break
    return judgement, look.contract


@dataclass(frozen=True)
class Verdicts:
    """What was found at first, and what is reported: a refutation that fresh draws do not confirm is INCONCLUSIVE."""

    first: Verdict
    reported: Verdict
    running: _Running
    last: Contract  # of the look that gave the first verdict

    def at(self, claim: Claim, contract: Contract, factor: float) -> Verdicts:
        """Judge what is open again from the same draws, at ``factor`` times its last look's error rate, as Holm allows."""
        if self.first is not Verdict.INCONCLUSIVE:
            return self
        larger = replace(self.last, false_refute_rate=factor * self.last.false_refute_rate)
        first = judge(claim.prediction, self.running.points, larger, final=False).verdict
        if first is not Verdict.REFUTED:
            return self
        wider = replace(contract, false_refute_rate=factor * contract.false_refute_rate)
        return Verdicts(first, _confirmed(claim, wider, self.running), self.running, larger)


def _confirmed(claim: Claim, contract: Contract, running: _Running) -> Verdict:
    """What fresh draws say of a refutation, looked at as ``check`` does: one that they do not confirm is INCONCLUSIVE.

    The looks are at 2, 4, 8... times the draws of the first run, as far as twice the budget.
    """
    factor = CONFIRMATION_FACTOR
    while 2 * factor * running.draws <= CONFIRMATION_FACTOR * claim.draws:
        factor *= 2
    fractions = [2.0**-step for step in range((factor // CONFIRMATION_FACTOR).bit_length() - 1, -1, -1)]
    larger = replace(claim, draws=factor * running.draws)
    again, _ = look_until_settled(larger, contract, _Running(larger, running.bank, running.rng), fractions)
    return again.verdict if again.verdict is Verdict.REFUTED else Verdict.INCONCLUSIVE


def verdicts(
    claim: Claim, contract: Contract, rng: np.random.Generator, *, fractions: Sequence[float] = LOOKS, blocks: int = BLOCKS
) -> Verdicts:
    """Simulate the measurement of one claim, and its confirmation where it is refuted."""
    source = bank(claim.noise, blocks)
    running = _Running(claim, source, rng)
    judgement, last = look_until_settled(claim, contract, running, fractions)
    first = judgement.verdict
    reported = _confirmed(claim, contract, running) if first is Verdict.REFUTED else first
    return Verdicts(first, reported, running, last)


def session(claims: Sequence[Claim], contract: Contract, seed: int, *, blocks: int = BLOCKS) -> list[Verdicts]:
    """Judge claims that share the false-refute rate of ``contract``, with Holm's steps after the last one."""
    shared = replace(contract, false_refute_rate=planning.share(contract.false_refute_rate, len(claims)))
    found = [verdicts(claim, shared, np.random.default_rng([seed, index]), blocks=blocks) for index, claim in enumerate(claims)]
    while True:
        rejected = [one.reported is Verdict.REFUTED for one in found]
        rates = planning.holm_rates(contract.false_refute_rate, [1.0] * len(claims), rejected)
        factors = [rate / shared.false_refute_rate for rate in rates]
        found = [one.at(claim, shared, factor) for one, claim, factor in zip(found, claims, factors)]
        if [one.reported is Verdict.REFUTED for one in found] == rejected:
            return found


@dataclass(frozen=True)
class Counts:
    """How often each verdict was found at first, and reported."""

    first: Counter[Verdict]
    reported: Counter[Verdict]

    def tally(self, wanted: Verdict, *, confirmed: bool = True) -> Tally:
        counts = self.reported if confirmed else self.first
        return Tally(counts[wanted], counts.total())


def count(
    claims: Sequence[Claim], contract: Contract, seed: int, *, fractions: Sequence[float] = LOOKS, blocks: int = BLOCKS
) -> Counts:
    """Judge every claim on draws of its own."""
    found = [
        verdicts(claim, contract, np.random.default_rng([seed, index]), fractions=fractions, blocks=blocks)
        for index, claim in enumerate(claims)
    ]
    return Counts(Counter(v.first for v in found), Counter(v.reported for v in found))


HARD = ((0.5, 2.0, -2.0), (0.5, -2.0, -2.0), (0.5, 2.0, 2.0), (0.5, -2.0, 2.0), (0.5, 2.0, 0.0), (1.0, -2.0, -2.0))
HARD_AT_1 = ((1.0, 2.0, -2.0), (1.0, -2.0, -2.0), (1.0, 2.0, 2.0), (1.0, -2.0, 2.0))
"""Corners (w, B, B2) of the family, where the bias of a fit is largest."""


def random_claims(
    number: int, seed: int, *, excess: float | None = None, kinds: Sequence[Kind] = (Kind.BOUND, Kind.SCALING)
) -> list[Claim]:
    """Return true claims: any truth of the family, any noise, 1e3 to 1e6 draws per size; half of the bounds on their edge.

    ``excess`` is the exponent of quantity/rate; without it 0 for scalings and for half of the bounds, else uniform in [-1/2, 0].
    """
    rng, claims = np.random.default_rng(seed), []
    for index in range(number):
        kind = kinds[index % len(kinds)]
        claimed = float(rng.choice(list(RATES)))
        loose = -0.5 * rng.random() if rng.random() < 0.5 and kind is Kind.BOUND else 0.0
        first, second = (float(rng.choice(COEFFICIENTS)) if rng.random() < 0.5 else float(rng.uniform(-2, 2)) for _ in range(2))
        truth = Truth(claimed + (loose if excess is None else excess), first, second, float(rng.choice([0.5, 1.0])))
        draws = int(10 ** rng.uniform(3, 6))
        claims.append(Claim(truth, claimed, str(rng.choice(NOISES)), draws, kind))
    return claims


def wrong_claims(excess: float, draws: int, noise: str, repeats: int, corners: Sequence[tuple[float, float, float]]) -> list[Claim]:
    """Return bounds ``d**(-1/2)`` on quantities whose exponent is larger by ``excess``, ``repeats`` for each corner."""
    truths = [Truth(-0.5 + excess, first, second, power) for power, first, second in corners]
    return [Claim(truth, -0.5, noise, draws) for truth in truths for _ in range(repeats)]


def log_factor(sizes: Array) -> Array:
    """``sqrt(log d / d)``: not of the order of d^(-1/2), and on d = 16..1024 next to it."""
    return np.sqrt(np.log(sizes) / sizes)


NEAR_MISSES: dict[str, Truth | Curve] = {"sqrt(log d / d)": log_factor, "d^-0.45 (1 + 2 d^-1/2)": Truth(-0.45, 2.0, 0.0, 0.5)}
"""Laws that are larger than d^(-1/2) by less than a window shows: a claim of d^(-1/2) about them is wrong."""


def refutations(claims: Sequence[Claim], contract: Contract, seed: int, *, blocks: int = BLOCKS) -> tuple[Tally, Tally]:
    """Return how many claims are REFUTED at any look, at first and confirmed, asking the judge only where it might say so.

    Many fits at once leave out the looks whose limits at the look's error rate lie inside the tolerance, where the judge cannot
    refute.  Support does not stop the looking here, so that what is counted is rather too much.
    """
    schedules, rows = [], []
    for index, claim in enumerate(claims):
        running = _Running(claim, bank(claim.noise, blocks), np.random.default_rng([seed, index]))
        schedules.append(running)
        worth = tuple(f for f in LOOKS if claim.draws * f >= FEWEST or f == 1)
        for look in planning.looks(contract, worth):
            points = running.up_to(max(2, math.ceil(claim.draws * look.fraction)))
            rows.append((index, look.contract, running.draws, points))
    scale = np.array([[size ** -claims[index].claimed for size in SIZES] for index, *_ in rows])
    values = np.array([[point.estimate.value for point in points] for *_, points in rows]) * scale  # type: ignore[union-attr]
    stderrs = np.array([[point.estimate.stderr for point in points] for *_, points in rows]) * scale  # type: ignore[union-attr]
    estimate, spread, easy = estimates(SIZES, values, stderrs)
    first: set[int] = set()
    confirmed: set[int] = set()
    for (index, share, draws, points), centre, error, known in zip(rows, estimate, spread, easy):
        claim = claims[index]
        reach = -NormalDist().inv_cdf(share.false_refute_rate / 2) * error  # of a scaling; a bound's is shorter by 10% and more
        limit = 0.8 * reach if claim.kind is Kind.BOUND else 0.99 * reach
        inside = centre - limit <= contract.within and (claim.kind is Kind.BOUND or centre + limit >= -contract.within)
        if (
            index in first
            or (known and inside)
            or judge(claim.prediction, points, share, final=False).verdict is not Verdict.REFUTED
        ):
            continue
        first.add(index)
        schedules[index].draws = draws
        if _confirmed(claim, contract, schedules[index]) is Verdict.REFUTED:
            confirmed.add(index)
    return Tally(len(first), len(claims)), Tally(len(confirmed), len(claims))
