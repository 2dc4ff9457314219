"""What a network's data tell beyond the equivalent linear model: gaps, slacks, variances and errors with their standard errors.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_information.py [PARTS] [--seed 0] [--share 1]``; PARTS is any
of the letters below, all of them if not given (about 17 processor minutes).  The seed, the sizes and the numbers of draws were
fixed before the first run with seed 0; ``--share`` multiplies the draws.  "low" and "high" are the ends between which a quantity
lies in the mean, "value" is the best guess; +- is one standard error.  Every part prints its processor seconds.

A  n = d, one hidden layer, Delta = 1/2: I^(1) - I^(0) against its limit; the slack of the bound (1 + sqrt(n/d) + n/d)/sqrt(d).
B  the same at two and three hidden layers, widths equal and not.
C  the width of the interval of one data set at n = d = 32, tanh, Delta = .3.
D  n Var((1/n) log Z) over 1/2 + (m_1^2/2) sum_l n/d_l, m_1 = (1/n) E tr K (K + Delta)^(-1), K = eta_0^2 X^T X + gamma_0;
   "by layers" is the ratio to 1/2 + sum_l ((m^(l))^2/2) n/d_l, m^(l) = (1/n) E tr (prod_(k>l) rho_k^2) K_l (K + Delta)^(-1) with
   the linear-equivalent kernel K_l of layer l: what comes below the last layer is passed on through its linear part only.
E  d (E^(L) - E^(0)) against its limit; the order Bayes < Gibbs and Bayes <= best linear predictor.
F  n = d^2 with sin(2x), where the difference per sample does not vanish, beside n = d, where it does.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

import theoryck as tc
from theoryck.judging import judge
from theoryck.montecarlo import Key, block_generator
from theoryck.montecarlo.sampling import sample, sample_two_sided
from theoryck.records import Bracket, Contract, Kind, Point, Prediction
from theoryck.theory.learning.limits.linear import deep_linear_error_limit
from theoryck.theory.learning.limits.nonlinear import one_layer_error_limit, one_layer_gap_limit
from theoryck.theory.networks.proved.constants import network_constants

Q = tc.quantities
REDUCTION = "(1 + sqrt(n/d) + n/d) / sqrt(d)"
NORMAL = 1.959964  # 97.5% point: two-sided 95%


class Bench:
    """Draws at the seed and share given on the command line."""

    def __init__(self, seed: int, share: float) -> None:
        self.seed, self.share = seed, share

    def measure(self, quantity: Any, sizes: Mapping[str, int], draws: int) -> Any:
        """Return the moments of ``draws`` draws: one- or two-sided, from generators that depend on seed, quantity and sizes."""
        key = Key(self.seed, "bench information", quantity.parameters, sizes)
        draw = sample_two_sided if quantity.two_sided else sample
        draws = max(round(draws * self.share), 8)
        return draw(quantity.sampler(sizes), key, draws=draws, block_draws=quantity.block_draws(sizes))


def setting(phi: str, depth: int, noise: str = "1/2", widths: tuple[int, ...] | None = None) -> Any:
    """Return the teacher with widths in units of d and n samples."""
    network = tc.DeepNetwork(phi, depth=depth, widths=(widths or (1,) * (depth + 1)) * tc.size("d"))
    return tc.TeacherStudent(network, samples="n", noise=noise)


def ends(moments: Any, scale: float = 1.0) -> str:
    """Return low, high and value with their standard errors, and flags, times ``scale``."""
    bracket, value = moments.bracket(), moments.estimate()
    parts = [(bracket.low, bracket.low_stderr), (bracket.high, bracket.high_stderr), (value.value, value.stderr)]
    text = "  ".join(
        f"{name} {scale * mean:8.5f} +- {scale * error:.5f}" for name, (mean, error) in zip(("low", "high", "value"), parts)
    )
    return f"{text}  {' '.join(value.flags)}"


def half_width(moments: Any) -> float:
    """Return half the 95% interval that holds both ends, relative to the value."""
    b = moments.bracket()
    width = b.high + NORMAL * b.high_stderr - b.low + NORMAL * b.low_stderr
    return 0.5 * width / abs(moments.estimate().value)


def line(sizes: list[int], values: list[float], errors: list[float]) -> tuple[float, float, float, float]:
    """Return a, its standard error, b and chi^2 of the weighted least squares fit a + b/d."""
    weights = 1.0 / np.array(errors)
    design = np.stack([np.ones(len(sizes)), 1.0 / np.array(sizes)], axis=1) * weights[:, None]
    wanted = np.array(values) * weights
    covariance = np.linalg.inv(design.T @ design)
    a, b = covariance @ design.T @ wanted
    return float(a), math.sqrt(covariance[0, 0]), float(b), float(np.square(wanted - design @ (a, b)).sum())


def slack(brackets: list[tuple[int, Bracket]]) -> None:
    """Print what the judge says of the bound on |I^(L) - I^(0)|/n, given brackets of the totals at n = d."""
    points = [
        Point({"d": d, "n": d}, bracket=Bracket(b.low / d, b.high / d, b.low_stderr / d, b.high_stderr / d)) for d, b in brackets
    ]
    prediction = Prediction(
        Kind.BOUND,
        "mutual_information_gap/n",
        base="d",
        path={"n": "d"},
        rate=REDUCTION,
        rivals=("d**(-2)",),
        correction=1,
        amplitude=0.4,
    )
    found = judge(prediction, points, Contract())
    tightness = found.tightness.value if found.tightness else "-"
    interval = "no interval"
    if found.slack is not None:
        s = found.slack
        inside = "inside" if s.low >= 0.45 and s.high <= 0.55 else "wider than"
        interval = f"slack {s.estimate:.3f}, 95% [{s.low:.3f}, {s.high:.3f}] = centre {(s.low + s.high) / 2:.3f} +- "
        interval += f"{(s.high - s.low) / 2:.3f}: {inside} [.45, .55]"
    rivals = ", ".join(f"{rival.rate} {'rejected' if rival.rejected else 'NOT rejected'}" for rival in found.rivals)
    print(f"    judge: {found.verdict.value} {tightness}, {interval}; rival {rivals}; {' '.join(found.flags)}", flush=True)


def part_a(bench: Bench) -> None:
    """One hidden layer, n = d, Delta = 1/2."""
    draws = {
        "erf(x)": {4: 10000, 8: 8000, 16: 10000, 32: 2400, 64: 150},
        "tanh(x)": {4: 10000, 8: 8000, 16: 10000, 32: 2000, 64: 100},
        "sin(x)": {4: 10000, 8: 8000, 16: 4000, 32: 400, 64: 60},
    }
    for phi, plan in draws.items():
        limit = one_layer_gap_limit(phi, 1, "1/2")
        quantity = Q.mutual_information_gap(setting(phi, 1), target_width=0.005)
        print(f"  {phi}, total nats, limit {limit:.6f}")
        moments = {}
        for d, count in plan.items():
            start = time.process_time()
            m = moments[d] = bench.measure(quantity, {"d": d, "n": d}, count)
            relative = m.estimate().stderr / abs(m.estimate().value)
            print(
                f"    d {d:3d}  {m.count:6d} sets  {ends(m)}  error {relative:.1%}, half-width of 95% {half_width(m):.1%}, "
                f"{time.process_time() - start:.0f} s",
                flush=True,
            )
        estimates = [m.estimate() for m in moments.values()]
        a, error, b, chi2 = line(list(moments), [e.value for e in estimates], [e.stderr for e in estimates])
        print(f"    value = a + b/d: a {a:.5f} +- {error:.5f}, z {(a - limit) / error:+.2f} of the limit, ", end="")
        print(f"a/limit {a / limit:.3f}, b {b:.4f}, chi^2 {chi2:.1f} of {len(moments) - 2}")
        brackets = [(d, m.bracket()) for d, m in moments.items()]
        low = line(list(moments), [b.low for _, b in brackets], [b.low_stderr for _, b in brackets])
        high = line(list(moments), [b.high for _, b in brackets], [b.high_stderr for _, b in brackets])
        print(f"    the same of low: a {low[0]:.5f} +- {low[1]:.5f}; of high: a {high[0]:.5f} +- {high[1]:.5f}")
        slack(brackets)


def part_b(bench: Bench) -> None:
    """Two and three hidden layers, n = d, Delta = 1/2."""
    draws = {
        (1, 1, 1): {4: 5000, 8: 4000, 16: 1200, 32: 300},
        (1, 2, 1): {4: 5000, 8: 4000, 16: 1200, 32: 200},
        (1, 1, 1, 1): {4: 5000, 8: 4000, 16: 1000, 32: 120},
    }
    for phi in ("erf(x)", "sin(x)"):
        for widths, plan in draws.items():
            quantity = Q.mutual_information_gap(setting(phi, len(widths) - 1, widths=widths), target_width=0.01)
            print(f"  {phi}, L = {len(widths) - 1}, widths {widths} d, total nats")
            brackets = []
            for d, count in plan.items():
                start = time.process_time()
                m = bench.measure(quantity, {"d": d, "n": d}, count)
                brackets.append((d, m.bracket()))
                print(f"    d {d:3d}  {m.count:6d} sets  {ends(m)}  {time.process_time() - start:.0f} s", flush=True)
            slack(brackets)


def part_c(bench: Bench) -> None:
    """The annealing bracket at n = d = 32."""
    for target in (0.01, 0.005):
        quantity = Q.mutual_information_gap(setting("tanh(x)", 1, "3/10"), target_width=target)
        start = time.process_time()
        m = bench.measure(quantity, {"d": 32, "n": 32}, 200)
        gap = m.gap.estimate()
        print(
            f"  tanh, n = d = 32, Delta = .3, {m.count} data sets, target {target}: high - low {gap.value:.4f} +- {gap.stderr:.4f} "
            f"nats {' '.join(gap.flags)}  {ends(m)}  {time.process_time() - start:.0f} s",
            flush=True,
        )


def shares(bench: Bench, problem: Any, count: int = 4000) -> tuple[list[float], float]:
    """Return m^(1), ..., m^(L) at finite size by simulation of the inputs, and the standard error of the last, m_1."""
    d, n, depth = problem.widths[0], problem.n, len(problem.widths) - 1
    instance = {"phi": problem.activation.text, "L": depth}
    rng = block_generator(bench.seed, "bench information: m_1", instance, {"d": d, "n": n}, 0)
    x = rng.standard_normal((count, d, n)) / math.sqrt(d)
    gram = np.linalg.eigvalsh(np.swapaxes(x, 1, 2) @ x)
    whole = problem.eta0**2 * gram + problem.gamma0 + problem.noise
    found = network_constants(problem.activation, depth, 20)
    rho2 = [float(value) ** 2 for value in found.rho]
    means, kernel = [], gram
    for layer in range(depth):
        kernel = rho2[layer] * kernel + float(found.epsilon[layer])
        values = (math.prod(rho2[layer + 1 :]) * kernel / whole).mean(axis=1)
        means.append(float(values.mean()))
    return means, float(values.std(ddof=1) / math.sqrt(count))


def part_d(bench: Bench) -> None:
    """The variance of the free entropy."""
    linear = [("x", depth, n, d, 20000) for depth in (1, 2, 3) for n, d in ((16, 16), (32, 32), (64, 64), (64, 32))]
    nonlinear = [
        (phi, depth, n, d, 1400)
        for phi in ("tanh(x)", "erf(x)", "sin(2*x)")
        for depth in (1, 2)
        for n, d in ((8, 8), (16, 16), (16, 8))
    ]
    nonlinear += [("tanh(x)", depth, 32, 16, 1400) for depth in (1, 2)]
    outside = 0
    for phi, depth, n, d, groups in linear + nonlinear:
        start = time.process_time()
        model = setting(phi, depth)
        quantity = Q.free_entropy_variance(model, **({} if phi == "x" else {"target_width": 0.3}))
        sizes = {"d": d, "n": n}
        estimate = bench.measure(quantity, sizes, groups).estimate()
        layers, error = shares(bench, quantity.problem(sizes))
        share = layers[-1]
        strength = depth * n / d
        predicted = 0.5 + 0.5 * share**2 * strength
        ratio = n * estimate.value / predicted
        stderr = math.hypot(n * estimate.stderr / predicted, ratio * share * strength * error / predicted)
        by_layers = predicted / (0.5 + 0.5 * sum(m**2 for m in layers) * n / d)
        off = max(0.95 - ratio, ratio - 1.05)
        outside += off > 0
        note = f"OUTSIDE [.95, 1.05] by {off / stderr:.1f} standard errors" if off > 0 else ""
        print(
            f"  {phi:9s} L {depth}  n {n:3d}  d {d:3d}  {8 * estimate.draws:6d} sets  m_1 {share:.4f}  predicted {predicted:.4f}  "
            f"ratio {ratio:.3f} +- {stderr:.3f}  by layers {ratio * by_layers:.3f} +- {stderr * by_layers:.3f}  "
            f"{note} {' '.join(estimate.flags)}  {time.process_time() - start:.0f} s",
            flush=True,
        )
    print(f"  {len(linear)} linear and {len(nonlinear)} nonlinear points, {outside} outside [.95, 1.05]")


def part_e(bench: Bench) -> None:
    """Generalisation errors."""
    for depth in (1, 3):
        limit = deep_linear_error_limit(1, "1/2", (1,) * (depth + 1))
        quantity = Q.generalisation_gap(setting("x", depth))
        for d, count in ((64, 4000), (128, 4000), (256, 2000)):
            e = bench.measure(quantity, {"d": d, "n": d}, count).estimate()
            print(
                f"  linear, L {depth}, n = d = {d}: d (E^(L) - E^(0)) {d * e.value:.5f} +- {d * e.stderr:.5f}, limit {limit:.5f}, "
                f"ratio {d * e.value / limit:.4f} +- {d * e.stderr / abs(limit):.4f}",
                flush=True,
            )
    for phi in ("erf(x)", "sin(x)"):
        limit, model = one_layer_error_limit(phi, 1, "1/2"), setting(phi, 1)
        for d, count in ((8, 100), (16, 100), (32, 40)):
            start = time.process_time()
            gap = bench.measure(Q.generalisation_gap(model), {"d": d, "n": d}, count)
            value = gap.estimate()
            print(
                f"  {phi}, L 1, n = d = {d:3d}: d (E^(1) - E^(0)) {ends(gap, d)}, limit {limit:.5f}, "
                f"ratio {d * value.value / limit:.3f} +- {d * value.stderr / abs(limit):.3f} {time.process_time() - start:.0f} s",
                flush=True,
            )
        sizes = {"d": 16, "n": 16}
        base = float(Q.generalisation_error(model, equivalent=True).exact(sizes))
        bayes = bench.measure(Q.generalisation_error(model), sizes, 100)
        gibbs = bench.measure(Q.gibbs_error(model), sizes, 100)
        linear = bench.measure(Q.linear_predictor_gap(model), sizes, 20000).estimate()
        print(f"  {phi}, n = d = 16: E^(0) exact {base:.5f}\n    Bayes  {ends(bayes)}\n    Gibbs  {ends(gibbs)}")
        print(f"    best linear predictor {base + linear.value:.5f} +- {linear.stderr:.5f}")
        high, low = bayes.bracket(), gibbs.bracket()
        for name, above, error in (("Gibbs", low.low, low.low_stderr), ("linear", base + linear.value, linear.stderr)):
            difference, stderr = above - high.high, math.hypot(error, high.high_stderr)
            print(f"    {name} less upper end of Bayes {difference:.5f} +- {stderr:.5f}, z {difference / stderr:+.1f}", flush=True)


def part_f(bench: Bench) -> None:
    """sin(2x) per sample."""
    for noise in ("1/10", "1/2"):
        model = setting("sin(2*x)", 1, noise)
        # Totals at n = d^2 are of order n: an interval of a tenth of a nat does.
        for label, target, plan in (
            ("n = d^2", 0.1, {2: (4, 2000), 3: (9, 1000), 4: (16, 400), 5: (25, 250)}),
            ("n = d", 0.02, {4: (4, 2000), 8: (8, 1000), 16: (16, 200)}),
        ):
            quantity = Q.mutual_information_gap(model, per_sample=True, target_width=target)
            for d, (n, count) in plan.items():
                start = time.process_time()
                m = bench.measure(quantity, {"d": d, "n": n}, count)
                print(
                    f"  sin(2x), Delta = {noise:4s} {label:7s} d {d:2d}  {m.count:5d} sets  per sample {ends(m)}  "
                    f"{time.process_time() - start:.0f} s",
                    flush=True,
                )


PARTS = {"A": part_a, "B": part_b, "C": part_c, "D": part_d, "E": part_e, "F": part_f}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="?", default="".join(PARTS), help="letters of the parts, such as ACE")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="multiplies the draws")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.parts) - set(PARTS))
    if unknown:
        parser.error(f"parts must be letters of {''.join(PARTS)}, got {''.join(unknown)}")
    print(f"seed {arguments.seed}, share {arguments.share}")
    bench = Bench(arguments.seed, arguments.share)
    for name in arguments.parts:
        start = time.process_time()
        print(f"{name}  {PARTS[name].__doc__}")
        PARTS[name](bench)
        print(f"{name}  {time.process_time() - start:.0f} CPU seconds\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
