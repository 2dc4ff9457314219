"""Reports made by hand, one for each case that a renderer must show well; no measurement behind them, but for fitted curves."""

from dataclasses import replace
from decimal import Decimal

from theoryck.judging import judge
from theoryck.records import (
    About,
    Contract,
    Enclosure,
    Estimate,
    Interval,
    Judgement,
    Kind,
    Point,
    Prediction,
    Report,
    Result,
    Rival,
    Route,
    Scope,
    Status,
    Tightness,
    Verdict,
)

DIGITS = Decimal("1e-12")
PREDICTION = Prediction(
    Kind.BOUND,
    "norm_deviation(tanh(x), depth=2, power=2)",
    base="d",
    path={"d": "16, 32, ..., 4096", "width": "d", "input_dim": "d"},
    rate="d**(-k/2)",
    rivals=("d**(-(k+1)/2)",),
    parameters={"k": "2"},
    correction=1.0,
)
JUDGEMENT = Judgement(
    Verdict.SUPPORTED,
    "the ratio to the rate stays bounded on the same grid: its exponent is at most 0.05 at level 97.5%",
    tightness=Tightness.TIGHT,
    exponent=Interval(-1.002, -1.011, -0.993, 0.95),
    claimed_exponent=-1.0,
    slack=Interval(0.002, -0.007, 0.011, 0.95),
    constant=Interval(0.8412, 0.8331, 0.8493, 0.95),
    window=(16, 4096),
    routes=(
        Route("exact", Verdict.SUPPORTED, Interval(-1.00001, -1.00002, -1.0, 0.95), rigorous=True),
        Route("montecarlo", Verdict.SUPPORTED, Interval(-1.002, -1.011, -0.993, 0.95)),
    ),
    rivals=(Rival("d**(-(k+1)/2)", True),),
    assuming="on d = 16..4096, assuming corrections O(d^-1)",
    correction=1.0,
)
RESULT = Result(
    claim="camilli2025/moment-control",
    status=Status.THEOREM,
    instance={"phi": "tanh(x)", "depth": 2, "k": 2},
    judgement=JUDGEMENT,
    prediction=PREDICTION,
    points=tuple(
        Point(
            {"d": d, "width": d, "input_dim": d},
            Estimate(0.84 / d, 0.001 / d, 100_000),
            Enclosure(Decimal("0.84") / d, DIGITS),
        )
        for d in (16, 64, 256, 1024, 4096)
    ),
    contract=Contract(false_refute_rate=1e-3),
    false_refute_rate=4e-3,
    draws=2_100_000,
    seconds=3.21,
    seed=0,
    statement="E | |x_l|^2 - sigma_l |^k = O(d_min^(-k/2))",
    reference="Camilli, Tieplova, Bergamin, Barbier (2025), arXiv:2505.03577",
    repeat="theoryck check proofs/camilli2025/moment_control.py --only 'camilli2025/moment-control' --profile quick --seed 0",
)


def judged(result=RESULT, /, *, judgement=(), **changes):
    """A result like RESULT, with other fields of its judgement or of itself."""
    return replace(result, judgement=replace(result.judgement, **dict(judgement)), **changes)


REFUTED = judged(
    instance={"phi": "relu(x)", "depth": 3, "k": 4},
    judgement={
        "verdict": Verdict.REFUTED,
        "reason": "the whole interval of the exponent lies above the claimed one (confirmed with a fresh seed and a larger budget)",
        "tightness": None,
        "exponent": Interval(-0.4121, -0.4203, -0.4042, 0.95),
        "claimed_exponent": -2.0,
        "slack": Interval(-1.5879, -1.5958, -1.5797, 0.95),
        "routes": (
            Route("exact", Verdict.REFUTED, Interval(-0.41, -0.42, -0.40, 0.95), reason="both ends lie above -2"),
            Route("montecarlo", Verdict.REFUTED, Interval(-0.4121, -0.4203, -0.4042, 0.95)),
        ),
        "rivals": (Rival("d**(-(k+1)/2)", True),),
        "flags": ("heavy-tail",),
    },
    prediction=replace(PREDICTION, parameters={"k": "4"}),
)
INCONCLUSIVE = judged(
    claim="spectral-gap",
    status=Status.CONJECTURE,
    instance={},
    reference="",
    statement="the gap closes like 1/sqrt(d)",
    judgement={
        "verdict": Verdict.INCONCLUSIVE,
        "reason": "the interval of the exponent is wider than 0.15; about 3.2e7 draws a size would decide",
        "tightness": None,
        "exponent": Interval(-0.48, -0.71, -0.25, 0.95),
        "claimed_exponent": -0.5,
        "slack": Interval(-0.02, -0.25, 0.21, 0.95),
        "routes": (),
        "rivals": (Rival("1/d", False),),
        "window": (8, 512),
        "settled": False,
    },
    draws=40_000,
)
FALSEHOOD = judged(
    REFUTED,
    claim="camilli2025/one-power-too-many",
    status=Status.FALSEHOOD,
    statement="E | |x_l|^2 - sigma_l |^k = O(d_min^(-(k+1)/2))",
    judgement={"rivals": ()},
)
STANDING = judged(claim="camilli2025/one-power-too-many", status=Status.FALSEHOOD, judgement={"rivals": ()})
VACUOUS = judged(
    claim="camilli2025/kernel",
    judgement={
        "verdict": Verdict.VACUOUS,
        "reason": "no instance met the assumptions of the claim: widen its strategies or its assume()",
        "tightness": None,
        "exponent": None,
        "claimed_exponent": None,
        "slack": None,
        "constant": None,
        "window": None,
        "routes": (),
        "rivals": (),
        "assuming": "",
        "correction": None,
    },
    instance={},
    prediction=None,
    points=(),
    draws=0,
    seconds=0.0,
)
IDENTITY = judged(
    VACUOUS,
    claim="camilli2025/telescoping",
    statement="sigma_L = eta_0^2 + gamma_0",
    instance={"phi": "erf(x)", "depth": 3},
    judgement={
        "verdict": Verdict.CERTIFIED,
        "reason": "both sides agree to 1e-30",
        "rivals": (Rival("0.5", True),),
    },
    prediction=Prediction(Kind.IDENTITY, "sigma(erf, 3)", value=Enclosure(Decimal("0.31830988618"), Decimal("1e-25"))),
    points=(Point({}, exact=Enclosure(Decimal("0.31830988618"), Decimal("2e-25"))),),
)
LOOSE = judged(
    claim="camilli2025/main-theorem",
    judgement={"tightness": Tightness.LOOSE, "claimed_exponent": -0.5, "slack": Interval(0.502, 0.49, 0.51, 0.95)},
)
RIVAL = judged(claim="camilli2025/main-theorem", judgement={"rivals": (Rival("1/d", True), Rival("d**(-3/2)", False))})


def extreme(value):
    """A result whose numbers are all ``value``, an end of the numeric domain."""
    interval = Interval(value, 0.99 * value, 1.01 * value, 0.95)
    slack = Interval(0.0, -0.01 * value, 0.01 * value, 0.95)
    return judged(
        claim=f"extreme/{value}",
        judgement={
            "exponent": interval,
            "claimed_exponent": value,
            "slack": slack,
            "constant": interval,
        },
        draws=10**15,
        seconds=123456.7,
    )


LONG = judged(
    claim="a-paper-with-a-very-long-folder-name-2025/and-a-claim-whose-name-says-everything-about-it-in-one-go",
    instance={
        "phi": "x*exp(-x**2/2) + tanh(x)/sqrt(2) - erf(x/sqrt(2))/3",
        "widths": [64, 128, 64, 192],
        "noise": "lognormal",
        "k": 3,
    },
)
ALIKE = [
    judged(claim=f"camilli2025/the-deterministic-equivalent-of-the-resolvent-{which}-along-the-proportional-path-{end}")
    for which, end in (("at-fixed-width", "for-odd"), ("at-growing-width", "for-odd"), ("at-growing-width", "for-even"))
]
AT_THESE_SIZES = judged(
    claim="camilli2025/input-norm",
    instance={"k": 2},
    statement="E (|x_0|^2 - 1)^2 <= 2/d",
    prediction=replace(PREDICTION, constant=2.0),
    judgement={"verdict": Verdict.CERTIFIED, "reason": "exact values on d = 16..4096: the quantity is at most 0.5 times the bound"},
    draws=0,
)
AT_EVERY_SIZE = judged(
    claim="camilli2025/moment-control-every-size",
    judgement={
        "verdict": Verdict.CERTIFIED,
        "reason": "proved for every d >= 16: the quantity is at most 1.31 * (d**(-1)) and at least 0.6 * (d**(-1)); measured: on "
        "d = 16..4096: its exponent is at most 0.05",
        "routes": (*JUDGEMENT.routes, Route("certificate", Verdict.CERTIFIED, rigorous=True, decided=True)),
        "scope": Scope("d", 16, Decimal("1.31"), Decimal("0.6"), "two-sided", limit=0.84, largest=0.8412),
    },
)
OPEN_BUT_PROVED = judged(
    AT_EVERY_SIZE,
    claim="camilli2025/moment-control-open-rival",
    judgement={
        "verdict": Verdict.INCONCLUSIVE,
        "reason": "proved for every d >= 16: the quantity is at most 1.31 * (d**(-1)); measured: on d = 16..64: but the rival "
        "d**(-3/2) is not rejected: take a larger profile",
        "tightness": None,
        "rivals": (Rival("d**(-(k+1)/2)", False),),
    },
)
HOSTILE = judged(
    claim="paper/\x1b[31mred<script>alert(1)</script>&amp;$_%{}",
    instance={"phi": "first\nsecond\t\x07", "名前": "東京"},
    statement="line one\nline two </title><b>",
)
NAN = judged(
    REFUTED,
    claim="nan/from-a-sampler",
    judgement={"exponent": Interval(float("nan"), float("-inf"), float("inf"), 0.95), "slack": None, "constant": None},
    points=(
        Point({"d": 16}, Estimate(0.25, 0.01, 1000)),
        Point({"d": 32}, Estimate(float("nan"), float("nan"), 1000)),
        Point({"d": 64}, Estimate(0.06, float("inf"), 1)),
    ),
)
BROKEN = judged(
    VACUOUS,
    claim="nan/from-a-sampler-that-was-found-out",
    instance={"phi": "log(x)", "depth": 1},
    judgement={
        "reason": "nothing was tested: SamplerError: the sampler returned 1 of 65536 draws that are not finite in block 0: the "
        "first is nan at position 0; mend the sampler (work with logarithms, avoid 0/0) instead of dropping draws"
    },
)
NEAR_ZERO = judged(
    claim="extreme/no-decay-at-all",
    judgement={
        "exponent": Interval(1e-7, -2.4e-5, 2.4e-5, 0.95),
        "claimed_exponent": 0.0,
        "slack": Interval(-1e-7, -2.4e-5, 2.4e-5, 0.95),
        "window": (4, 4),
    },
)

CITATION = {
    "authors": "Camilli, Tieplova, Bergamin, Barbier",
    "year": "2025",
    "title": "Information-theoretic reduction of deep neural networks to linear models in the overparametrized proportional regime",
    "arxiv": "2505.03577",
}
ABOUT = (
    About(
        RESULT.claim,
        setting="Norm concentration in deep random networks.\n\n"
        "Setting.   x0 ~ N(0, I/d0),  x_l = phi(W_l x_{l-1}) / sqrt(d_l),  entries of W_l iid N(0, 1).\n"
        "Claim.     E | |x_l|^2 - sigma_l |^k  <=  C_k / d_min^(k/2)   for every k.",
        details="The constant C_k depends on phi and on the depth, not on the widths.",
        folder="camilli2025",
        assumptions={
            "phi": "sampled_from([tanh(x), erf(x), x/(1 + x**2)])",
            "depth": "integers(min_value=1, max_value=4)",
            "k": "integers(min_value=1, max_value=8)",
        },
        place="proofs/camilli2025/moment_control.py:21",
        citation=CITATION | {"note": "moment control"},
    ),
    *(
        About(
            claim,
            setting="Norm concentration in deep random networks, with one hypothesis changed.",
            folder="camilli2025",
            place=f"proofs/camilli2025/{file}.py:{line}",
            citation=CITATION,
        )
        for claim, file, line in (
            (FALSEHOOD.claim, "falsehoods", 12),
            (VACUOUS.claim, "kernel", 9),
            (IDENTITY.claim, "telescoping", 14),
            (LOOSE.claim, "main_theorem", 40),
        )
    ),
    About(INCONCLUSIVE.claim, place="my_conjecture.py:8"),
    About(
        HOSTILE.claim,
        setting="A <b>bold</b> setting & \x1b[31mred \\input{/etc/passwd} 100% #1 x_1^2 {",
        details="</details><script>alert(2)</script>",
        folder="paper",
        assumptions={"<phi>": "just('\"><img src=x onerror=alert(3)>')", "名前": "sampled_from(['東京'])"},
        place="proofs/paper/<hostile>.py:1",
        citation={"authors": "O'Brien & {Söhne}", "year": "2025", "title": "<i>100% of $x_1$</i>", "note": "\\write18"},
    ),
)
FOLDERS = {
    "camilli2025": "Camilli, Tieplova, Bergamin, Barbier (2025).\n\n"
    "Symbols.   d_0 input dimension, d_l widths, L depth, sigma_l = E phi(z)^2 with z ~ N(0, sigma_{l-1}).",
    "paper": "A folder </script><!-- of hostile names.",
}


def with_curves(result):
    """A result with the curves that a judge of its points hands over; without rivals, which coincide with some claims here."""
    if result.prediction is None or not result.points:
        return result
    try:
        curves = judge(replace(result.prediction, rivals=()), result.points, result.contract).curves
    except ValueError:  # values that are not finite, which no judge takes
        return result
    return replace(result, judgement=replace(result.judgement, curves=curves))


def report(*results, **changes):
    """A report on the given results, with what was written about those of their claims that are in ABOUT."""
    claims = {result.claim for result in results}
    about = tuple(about for about in ABOUT if about.claim in claims)
    folders = {about.folder: FOLDERS[about.folder] for about in about if about.folder}
    return Report(
        **{
            "profile": "quick",
            "seed": 0,
            "results": tuple(map(with_curves, results)),
            "version": "0.1.0",
            "about": about,
            "folders": folders,
            **changes,
        }
    )


def session_of(claims):
    """A session of many claims in papers of 25, all but a few of which are well."""
    few = {17: REFUTED, 101: INCONCLUSIVE, 102: INCONCLUSIVE, 180: VACUOUS, 240: STANDING}
    found = []
    for number in range(claims):
        like = few.get(number, (RESULT, IDENTITY, LOOSE, FALSEHOOD)[number % 4])
        found.append(replace(like, claim=f"paper{2000 + number // 25}/result-{number}", reference="", repeat=""))
    return report(*found)


REPORTS = {
    "all-well": report(RESULT, judged(instance={"phi": "erf(x)", "depth": 1, "k": 3}), IDENTITY, LOOSE, FALSEHOOD),
    "every-size": report(AT_EVERY_SIZE, AT_THESE_SIZES, OPEN_BUT_PROVED),
    "refuted": report(RESULT, REFUTED, IDENTITY),
    "inconclusive": report(RESULT, INCONCLUSIVE),
    "vacuous": report(VACUOUS, RESULT),
    "falsehood-stands": report(RESULT, STANDING),
    "rival-stands": report(RIVAL),
    "long-names": report(LONG, *ALIKE, REFUTED),
    "extremes": report(extreme(1e-30), extreme(1e30), NEAR_ZERO),
    "hostile-names": report(HOSTILE),
    "nan": report(NAN, BROKEN),
    "interrupted": report(RESULT, interrupted=True),
    "zero-claims": report(),
}
LARGE = {"many-claims": session_of(275)}  # for renderers whose golden file it does not bloat
