"""The parts of the table: each returns rows, a measured share beside what was declared."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.calibration import approaches, audits, digits, evidences, grids, misjudged, statistics_of_draws, unitless
from tests.calibration.claims import (
    ALL_LOOKS,
    HARD,
    HARD_AT_1,
    NEAR_MISSES,
    ONE_LOOK,
    Claim,
    count,
    random_claims,
    refutations,
    session,
    wrong_claims,
)
from tests.calibration.draws import NOISES, STD
from tests.calibration.simulator import SIZES, TEN, Truth
from tests.calibration.tallies import Tally
from theoryck import planning
from theoryck.records import Contract, Kind, Verdict

D = [int(size) for size in SIZES]
REFUTE, SUPPORT = 1e-2, 0.025
DRAWS = (1_000, 10_000, 100_000, 1_000_000)
MOST = 1e8  # draws per size that are worth simulating


@dataclass(frozen=True)
class Row:
    """One line of the table: ``declared`` is the largest share allowed, or with ``least`` the smallest."""

    part: str
    text: str
    tally: Tally | None = None
    declared: float | None = None
    least: bool = False

    @property
    def kept(self) -> bool:
        """Whether the share is what was declared, up to three binomial errors."""
        if self.tally is None or self.declared is None or not self.tally.trials:
            return True
        error = 3 * math.sqrt(self.declared * (1 - self.declared) / max(self.tally.trials, 1))
        return self.tally.share >= self.declared - error if self.least else self.tally.share <= self.declared + error

    def __str__(self) -> str:
        if self.tally is None:
            return f"{self.part:9s} {self.text}"
        if not self.tally.trials:
            return f"{self.part:9s} {self.text:100s} none: nothing was promised"
        promise = "" if self.declared is None else f"  declared {'>=' if self.least else '<='} {self.declared:g}"
        return f"{self.part:9s} {self.text:100s} {self.tally}{promise}{'' if self.kept else '  BROKEN'}"

    def to_json(self) -> dict[str, Any]:
        shown = {"part": self.part, "text": self.text, "declared": self.declared, "kept": self.kept}
        return shown if self.tally is None else {**shown, "hits": self.tally.hits, "trials": self.tally.trials}


def refute(claims: int, seed: int) -> Iterator[Row]:
    """False refutation of true claims, with and without a confirmation, and at the edge of what is tolerated."""
    for within in (0.05, 0.15):
        first, confirmed = refutations(random_claims(claims, seed), Contract(REFUTE, SUPPORT, within), seed)
        text = f"true bounds and scalings of any truth, noise and budget, within {within:g}"
        yield Row("refute", f"{text}, confirmed", confirmed, REFUTE)
        yield Row("refute", f"{text}, first verdict", first, REFUTE)
    for kind in (Kind.BOUND, Kind.SCALING):
        edge = random_claims(claims // 4, seed + 1, excess=0.05, kinds=(kind,))
        first, confirmed = refutations(edge, Contract(REFUTE, SUPPORT, 0.05), seed + 1)
        text = f"{kind.value}s wrong by exactly within = 0.05, any truth, noise and budget"
        yield Row("refute", f"{text}, confirmed", confirmed, REFUTE)
        yield Row("refute", f"{text}, first verdict (no promise)", first)
        found = count(edge[: claims // 40], Contract(REFUTE, SUPPORT, 0.05), seed + 2)
        yield Row("refute", f"{text}: supported", found.tally(Verdict.SUPPORTED), SUPPORT)
    for corner in HARD:
        edge = [c for noise in NOISES for draws in DRAWS[1:] for c in wrong_claims(0.05, draws, noise, claims // 200, [corner])]
        first, confirmed = refutations(edge, Contract(REFUTE, SUPPORT, 0.05), seed + 3)
        text = f"bounds wrong by exactly within = 0.05 at w, B, B2 = {corner}"
        yield Row("refute", f"{text}, confirmed", confirmed, REFUTE)
        yield Row("refute", f"{text}, first verdict", first, REFUTE)


def sessions(claims: int, seed: int, each: int = 20) -> Iterator[Row]:
    """Sessions of true claims, alone or beside wrong ones that Holm's steps put out of the way: is any true one refuted?"""
    contract, half = Contract(REFUTE, SUPPORT, 0.05), each // 2
    wrong = wrong_claims(0.5, 100_000, "gaussian", 1, HARD)
    for text, others in ((f"sessions of {each} true, tight claims", []), (f"{half} of them beside {half} wrong ones", wrong)):
        beside = [others[index % len(others)] for index in range(half)] if others else []
        reported, first, fallen = 0, 0, 0
        for number in range(claims // each):
            true = random_claims(each - len(beside), seed + number, excess=0.0)
            found = session([*true, *beside], contract, seed + number)
            reported += any(one.reported is Verdict.REFUTED for one in found[: len(true)])
            first += any(one.first is Verdict.REFUTED for one in found[: len(true)])
            fallen += sum(one.reported is Verdict.REFUTED for one in found[len(true) :])
        yield Row("session", f"{text}: any true one refuted, confirmed", Tally(reported, claims // each), REFUTE)
        yield Row("session", f"{text}: any true one refuted, first verdict", Tally(first, claims // each), REFUTE)
        if beside:
            yield Row("session", f"{text}: wrong ones refuted (no promise)", Tally(fallen, claims // each * half))


def support(repeats: int, seed: int) -> Iterator[Row]:
    """False support of bounds wrong by exactly ``within`` and by twice that, at the truths that are hardest on the fit."""
    for within in (0.05, 0.1, 0.15):
        for times in (1, 2):
            worst, total = None, Tally(0, 0)
            for noise in NOISES:
                for draws in (10_000, 100_000, 1_000_000):
                    for index, corner in enumerate(HARD):
                        claims = wrong_claims(times * within, draws, noise, repeats, [corner])
                        here = count(claims, Contract(REFUTE, SUPPORT, within), seed + index, fractions=ONE_LOOK)
                        found = here.tally(Verdict.SUPPORTED)
                        total += found
                        if worst is None or found.share > worst[0].share:
                            worst = (found, f"{noise}, {draws} draws, w, B, B2 = {corner}")
            assert worst is not None
            text = f"bounds wrong by {times} * within = {times * within:g}, one look"
            yield Row("support", text, total, SUPPORT)
            yield Row("support", f"{text}, the worst cell: {worst[1]}", worst[0], SUPPORT)


def power(repeats: int, seed: int, violation: float = 0.15) -> Iterator[Row]:
    """Claims wrong by 0.15 are refuted, the confirmation included, where planning says that the budget can see it."""
    for within, correction in ((0.03, None), (0.05, None), (0.1, None), (0.05, 1.0)):
        contract = Contract(1e-3, SUPPORT, within)
        for schedule, fractions in (("one look", ONE_LOOK), ("every look", ALL_LOOKS)):
            last = planning.looks(contract, fractions)[-1].contract
            for noise in NOISES:
                draws = planning.draws_needed(last, D, violation, noise=STD[noise], correction=correction)
                text = f"wrong by {violation}, within {within:g}, correction {correction}, {schedule}, {noise}, {draws:.3g} draws"
                if not draws <= MOST:
                    yield Row("power", f"{text}: out of reach, says planning")
                    continue
                worst, total = Tally(1, 1), Tally(0, 0)
                for index, (w, b, c) in enumerate(HARD if correction is None else HARD_AT_1):
                    claim = Claim(Truth(-0.5 + violation, b, c, w), -0.5, noise, math.ceil(draws), correction=correction)
                    found = count([claim] * repeats, contract, seed + index, fractions=fractions).tally(Verdict.REFUTED)
                    total, worst = total + found, min(worst, found, key=lambda tally: tally.share)
                yield Row("power", text, total, 0.9, least=True)
                yield Row("power", f"{text}, the worst corner", worst, 0.9, least=True)


def logs(repeats: int, seed: int) -> Iterator[Row]:
    """Laws next to d^(-1/2) must not be taken for it.

    The promise is for ``within`` = 0.05, the default of an audit and of the standard profile; a claim that tolerates an excess of
    0.1 or 0.15 tolerates these laws on this window, and how often it says SUPPORTED is only shown.
    """
    for name, curve in NEAR_MISSES.items():
        for within, draws in itertools.product((0.05, 0.1, 0.15), DRAWS):
            claims = [Claim(curve, -0.5, noise, draws) for noise in NOISES for _ in range(repeats)]
            found = count(claims, Contract(REFUTE, SUPPORT, within), seed, fractions=ALL_LOOKS)
            text = f"{name} against d^(-1/2), within {within:g}, {draws} draws, every look"
            yield Row("logs", text, found.tally(Verdict.SUPPORTED), SUPPORT if within == 0.05 else None)
        for draws in DRAWS:
            relative = 1 / math.sqrt(draws)
            spread = [(noise, relative * STD[noise]) for noise in NOISES]
            total = sum((audits.supported(audits.Table(True), curve, *case, repeats, seed) for case in spread), Tally(0, 0))
            yield Row("logs", f"audit of {name} against d^(-1/2), {draws} draws", total, SUPPORT)


def audit(repeats: int, seed: int) -> Iterator[Row]:
    """Coverage of the exponent's interval in audits of tables of every form, among those that give one."""
    for table, noise, relative in itertools.product(audits.TABLES, NOISES, (0.003, 0.05)):
        spread = relative * math.sqrt(table.replicates)  # of a row, so that the mean has the same error
        cells = [audits.coverage(table, truth, noise, spread, repeats, seed + i) for i, truth in enumerate(TEN)]
        total = sum((c.covered for c in cells), Tally(0, 0))
        worst = min((c.covered for c in cells if c.covered.trials), key=lambda tally: tally.share, default=total)
        none, width = sum(c.without for c in cells), float(np.median([c.width for c in cells]))
        text = f"{table}, {noise}, error {relative:g}: width {width:.3f}, {none} without interval, worst truth {worst.share:.2f}"
        yield Row("audit", text, total, 0.93, least=True)


def misjudged_errors(repeats: int, seed: int) -> Iterator[Row]:
    """Audits whose errors are stated too small or too large: neither error rate may notice, nor the coverage of what is shown."""
    for sizes, stated, factor in itertools.product(misjudged.COUNTS, misjudged.STATED, misjudged.FACTORS):
        found = misjudged.judged(sizes, stated, factor, repeats, seed)
        text = f"{sizes} sizes, errors stated as {stated:g} that are {factor * stated:.2g}"
        for kind in (Kind.BOUND, Kind.SCALING):
            yield Row("misjudged", f"{text}: true {kind.value}s refuted", found.share("true", kind, Verdict.REFUTED), REFUTE)
        for name, excess in (("edge", 0.06), ("wrong", 0.25)):
            supported = found.share(name, Kind.BOUND, Verdict.SUPPORTED)
            yield Row("misjudged", f"{text}: bounds wrong by {excess} supported", supported, SUPPORT)
        scalings = [found.share(name, Kind.SCALING, Verdict.SUPPORTED) for name in ("wrong", "other")]
        yield Row("misjudged", f"{text}: scalings wrong by 0.25 supported", sum(scalings, Tally(0, 0)), SUPPORT)
        # Where the scatter is of the size of the values most tables show no interval, and those that do look calmer than they are.
        promised = 2 * found.shown.trials > found.tables
        yield Row("misjudged", f"{text}: intervals that cover", found.shown, 0.93 if promised else None, least=True)
        # So do the few that get a verdict: their share of all tables is what can be promised of those that are misled.
        decided = 0.93 if 2 * found.decided.trials > found.tables else None
        yield Row("misjudged", f"{text}: tables with a verdict that cover", found.decided, decided, least=True)
        misled = Tally(found.decided.trials - found.decided.hits, found.tables)
        yield Row("misjudged", f"{text}: a verdict beside an interval that misses", misled, 0.07)
        for name, verdict in (("true", "SUPPORTED"), ("loose", "SUPPORTED"), ("wrong", "REFUTED")):
            decided = found.share(name, Kind.BOUND, Verdict(verdict))
            yield Row("misjudged", f"{text}: {name} bounds {verdict} (no promise)", decided)


def limits(repeats: int, seed: int) -> Iterator[Row]:
    """Limits ``L + A n^-w (1 + B n^-v)`` and ``L + A/log n``: coverage, false refutation, false support, and what is still seen."""
    for declared, noise in itertools.product((False, True), approaches.NOISE):
        for power in approaches.POWERS:
            found = approaches.count(power, noise, declared, repeats, seed)
            name = "1/log n" if power is None else f"n^-{power:.3g}"
            text = f"limits approached like {name}{', declared' if declared else ''}, errors of {noise:g}"
            yield Row("limits", f"{text}: covered, width {found.width:.2g}", found.covered, 0.93, least=True)
            yield Row("limits", f"{text}: the limit refuted", found.refuted, REFUTE)
            yield Row("limits", f"{text}: a limit wrong by the tolerance supported", found.supported, SUPPORT)
            for within, tally in found.power.items():
                yield Row("limits", f"{text}: the limit supported within {within:g} (no promise)", tally)
    for power, noise in itertools.product((0.2, 0.3, 0.5), (1e-3, 3e-3)):
        wrong, corrected, right = approaches.mistaken(power, noise, repeats, seed)
        text = f"tables of a limit claimed with n^-{power:g}, errors of {noise:g}"
        yield Row("limits", f"{text}: where 1/log n leads elsewhere, supported", wrong, SUPPORT)
        yield Row("limits", f"{text}: where 1/log n with a correction leads elsewhere, supported", corrected, SUPPORT)
        yield Row("limits", f"{text}: true ones supported (no promise)", right)


def statistics(repeats: int, seed: int) -> Iterator[Row]:
    """Intervals and claims of medians, quantiles, variances and probabilities; few draws, not always trusted, are only shown."""
    contract = Contract(REFUTE, SUPPORT, 0.05)
    for source in statistics_of_draws.SOURCES:
        name = f"{source.statistic}, {source.name}"
        for draws in (256, 1_000, 10_000):
            covered = statistics_of_draws.coverage(source, draws, 10 * repeats, seed)
            text = f"{name}, {draws} draws: 95% intervals that cover"
            yield Row(
                "stats", f"{text}, trusted {covered.trusted.trials}", covered.every, 0.93 if draws > 256 else None, least=True
            )
        for draws in (1_000, 10_000):
            true = statistics_of_draws.judged(source, 0.0, draws, repeats, contract, seed)
            wrong = statistics_of_draws.judged(source, contract.within, draws, repeats, contract, seed + 1)
            far = statistics_of_draws.judged(source, 1.0, draws, repeats, contract, seed + 2)
            yield Row("stats", f"{name}, {draws} draws: true scalings refuted", true[Verdict.REFUTED], REFUTE)
            yield Row("stats", f"{name}, {draws} draws: wrong by within refuted", wrong[Verdict.REFUTED], REFUTE)
            yield Row("stats", f"{name}, {draws} draws: wrong by within supported", wrong[Verdict.SUPPORTED], SUPPORT)
            yield Row("stats", f"{name}, {draws} draws: wrong by 1 refuted (no promise)", far[Verdict.REFUTED])


def evidence(repeats: int, seed: int) -> Iterator[Row]:
    """Identities of Bayesian evidences, by importance weights and from both sides: refuted at first and reported, supported."""
    contract = Contract(REFUTE, SUPPORT, 0.05)
    for source, counts in [(each, (1_000, 4_000)) for each in evidences.weights()] + [
        (each, (100, 300)) for each in evidences.ends()
    ]:
        for draws in counts:
            times = repeats if source.quantity.two_sided else 4 * repeats
            right, above, below = (evidences.judged(source, excess, draws, times, contract, seed) for excess in (0.0, 1.0, -1.0))
            text = f"{source.name}, {draws} draws"
            yield Row("evidence", f"{text}: true identities refuted, first verdicts", right.first[Verdict.REFUTED], REFUTE)
            yield Row("evidence", f"{text}: true identities refuted, confirmed", right.refuted, REFUTE)
            for side, found in (("too large", above), ("too small", below)):
                yield Row("evidence", f"{text}: {side} by what is tolerated, supported", found.first[Verdict.SUPPORTED], SUPPORT)
            yield Row("evidence", f"{text}: true identities supported (no promise)", right.first[Verdict.SUPPORTED])


def printed(repeats: int, seed: int) -> Iterator[Row]:
    """Tables without noise, as printed: orders of methods by their number of sizes, and scalings, at each number of digits."""
    for shown, sizes in itertools.product(digits.DIGITS, (4, 5, 7, 9, None)):
        kind, within = (digits.ORDER, 0.25) if sizes else ("scaling", 0.05)
        text = f"{shown} digits, {f'orders, {sizes} sizes' if sizes else 'scalings, 7 sizes'}"

        def tables(key: int, shown: int = shown, sizes: int | None = sizes) -> Iterator[digits.Table]:
            return digits.orders(shown, sizes, repeats, key) if sizes else digits.scalings(shown, repeats, key)

        true = digits.judged(tables(seed), kind)
        offsets = (-1.004 * within, 1.004 * within, 0.5, 1.0)
        wrong = sum((digits.judged(tables(seed + 1), kind, offset).supported for offset in offsets), Tally(0, 0))
        yield Row("digits", f"{text}: true ones refuted", true.refuted, REFUTE)
        yield Row("digits", f"{text}: true ones supported (no promise)", true.supported)
        yield Row("digits", f"{text}: wrong ones supported", wrong, SUPPORT)
        yield Row("digits", f"{text}: intervals of verdicts cover", true.covered, 0.93, least=True)


def meshes(repeats: int, seed: int) -> Iterator[Row]:
    """Orders of errors that scatter from mesh to mesh, or that the rounding of the arithmetic meets."""
    cases: list[tuple[str, Callable[[int], Iterator[digits.Table]]]] = [
        (f"{count} meshes, errors up to {wobble:g} off", functools.partial(digits.wobbling, wobble, count, repeats))
        for count, wobble in itertools.product((5, 6, 7), (0.005, 0.02, 0.05, 0.1))
    ]
    cases += [(f"{count} sizes, roundings 1e-16 n", functools.partial(digits.rounded_off, count, repeats)) for count in (8, 12, 18)]
    for text, tables in cases:
        true = digits.judged(tables(seed), digits.ORDER)
        wrong = sum((digits.judged(tables(seed + 1), digits.ORDER, offset).supported for offset in (-0.5, 0.5)), Tally(0, 0))
        yield Row("meshes", f"{text}: true orders refuted", true.refuted, REFUTE)
        yield Row("meshes", f"{text}: true orders supported (no promise)", true.supported)
        yield Row("meshes", f"{text}: orders wrong by 1/2 supported", wrong, SUPPORT)
        yield Row("meshes", f"{text}: intervals that cover", true.shown, 0.93, least=True)


def without_units(repeats: int, seed: int) -> Iterator[Row]:
    """Audits over step sizes, tokens and operations: corrections are measured at the coarsest size."""
    for window, relative in itertools.product(unitless.WINDOWS, unitless.NOISES):
        found = unitless.judged(window, relative, repeats, seed)
        text = f"{window.name}, errors of {relative:g}"
        yield Row("unitless", f"{text}: true bounds refuted", found.share("true", Verdict.REFUTED), REFUTE)
        for name, excess in (("edge", 0.06), ("wrong", 0.25)):
            yield Row("unitless", f"{text}: bounds wrong by {excess} supported", found.share(name, Verdict.SUPPORTED), SUPPORT)
        yield Row("unitless", f"{text}: intervals that cover", found.covered, 0.93, least=True)
        for name, verdict in (("true", Verdict.SUPPORTED), ("wrong", Verdict.REFUTED)):
            yield Row("unitless", f"{text}: {name} bounds {verdict} (no promise)", found.share(name, verdict))


def grids_of_sizes(repeats: int, seed: int) -> Iterator[Row]:
    """Grids of two sizes: errors that hold or do not, and rates of two terms with constants of their own."""
    cases: list[tuple[str, Callable[[], grids.Found]]] = []
    for across in grids.COUNTS:
        for factor in grids.FACTORS:
            name = f"{across} by {across} sizes, errors stated as {grids.STATED:g} that are {grids.STATED * factor:.2g}"
            cases.append((name, functools.partial(grids.powers, across, factor, repeats, seed)))
        for constants in grids.CONSTANTS:
            name = f"{across} by {across} sizes, {constants[0]:g}/d + {constants[1]:g}/n"
            cases.append((name, functools.partial(grids.sums, across, constants, repeats, seed)))
    for text, judged in cases:
        found = judged()
        yield Row("grids", f"{text}: true bounds refuted", found.share("true", Verdict.REFUTED), REFUTE)
        yield Row("grids", f"{text}: wrong bounds supported", found.share("wrong", Verdict.SUPPORTED), SUPPORT)
        yield Row("grids", f"{text}: wrong bounds refuted (no promise)", found.share("wrong", Verdict.REFUTED))


PARTS: dict[str, Callable[[int], Iterator[Row]]] = {
    "refute": lambda repeats: refute(50 * repeats, 1),
    "session": lambda repeats: sessions(5 * repeats, 2),
    "support": lambda repeats: support(max(2, repeats // 20), 3),
    "power": lambda repeats: power(max(2, repeats // 10), 4),
    "logs": lambda repeats: logs(max(2, repeats // 10), 5),
    "audit": lambda repeats: audit(max(2, repeats // 20), 6),
    "meshes": lambda repeats: meshes(max(2, repeats // 4), 10),
    "digits": lambda repeats: printed(max(2, repeats // 4), 7),
    "misjudged": lambda repeats: misjudged_errors(max(2, repeats // 10), 7),
    "limits": lambda repeats: limits(repeats, 8),
    "statistics": lambda repeats: statistics(max(2, repeats // 2), 8),
    "grids": lambda repeats: grids_of_sizes(max(2, repeats // 4), 11),
    "unitless": lambda repeats: without_units(max(2, repeats // 10), 9),
    "evidence": lambda repeats: evidence(repeats, 12),
}
