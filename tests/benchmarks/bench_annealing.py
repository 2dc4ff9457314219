"""Variance times processor seconds of log Z of one data set: ours, plain averages over the prior, and an established package.

Run with ``OPENBLAS_NUM_THREADS=1 python tests/benchmarks/bench_annealing.py [--blackjax PYTHON]``; PYTHON is an interpreter that
can import jax and blackjax (an environment of its own: neither is needed by the project).  tanh, depth 1, n = d, Delta = .3, a few
data sets; every method repeats its runs on the same data sets.  Printed: mean squared error about a long run of importance sampling
from the untilted prior (variance + bias^2: the log of a mean is biased downwards), times processor seconds of a run, and the ratio.

BlackJAX: adaptive_tempered_smc, HMC, systematic resampling, everything jitted, compilation not counted, one thread, float32 (its
default; ours is float64), several settings of which the best counts; state W with the readout integrated out, and (W, a).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NOISE = 0.3


def child(path: str) -> None:
    """Run BlackJAX on the data sets of an .npz file and print a line of JSON per setting; needs jax and blackjax only."""
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import blackjax
    import blackjax.smc.resampling as resampling
    import jax
    import jax.numpy as jnp
    import numpy as np

    data = np.load(path)
    inputs, outputs, runs = jnp.asarray(data["inputs"]), jnp.asarray(data["outputs"]), int(data["runs"])
    d, n = inputs.shape[1:]

    def features(w, x):
        return jnp.tanh(w @ x) / jnp.sqrt(d)

    def marginal(state, x, y):
        f = features(state["w"], x)
        factor = jnp.linalg.cholesky(f.T @ f + NOISE * jnp.eye(n))
        half = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return -0.5 * half @ half - jnp.log(jnp.diag(factor)).sum() - 0.5 * n * jnp.log(2 * jnp.pi)

    def joint(state, x, y):
        rest = y - features(state["w"], x).T @ state["a"]
        return -0.5 * rest @ rest / NOISE - 0.5 * n * jnp.log(2 * jnp.pi * NOISE)

    def prior(state):
        return -0.5 * sum(jnp.vdot(leaf, leaf) for leaf in jax.tree_util.tree_leaves(state))

    def smc(likelihood, with_readout, particles, steps, step_size, leaps):
        def run(key, x, y):
            algorithm = blackjax.adaptive_tempered_smc(
                prior,
                lambda state: likelihood(state, x, y),
                blackjax.hmc.build_kernel(),
                blackjax.hmc.init,
                {
                    "step_size": jnp.array([step_size]),
                    "inverse_mass_matrix": jnp.ones((1, d * d + (d if with_readout else 0))),
                    "num_integration_steps": jnp.array([leaps]),
                },
                resampling.systematic,
                0.5,
                num_mcmc_steps=steps,
            )
            first, second, key = jax.random.split(key, 3)
            start = {"w": jax.random.normal(first, (particles, d, d))}
            if with_readout:
                start["a"] = jax.random.normal(second, (particles, d))

            def body(carry):
                state, key, total, count = carry
                key, now = jax.random.split(key)
                state, info = algorithm.step(now, state)
                return state, key, total + info.log_likelihood_increment, count + 1

            carry = (algorithm.init(start), key, jnp.zeros(()), 0)
            return jax.lax.while_loop(lambda c: (c[0].tempering_param < 1.0) & (c[3] < 500), body, carry)[2]

        return jax.jit(run)

    settings = [
        (name, likelihood, readout, particles, steps, step, leaps)
        for name, likelihood, readout, step in (("a marginalised", marginal, False, 0.25), ("state (W, a)", joint, True, 0.12))
        for particles, steps, leaps in ((1000, 1, 1), (1000, 1, 2), (1000, 1, 5), (250, 5, 5), (1000, 5, 5))
    ]
    for name, likelihood, readout, particles, steps, step, leaps in settings:
        run = smc(likelihood, readout, particles, steps, step, leaps)
        run(jax.random.PRNGKey(0), inputs[0], outputs[0]).block_until_ready()
        start = time.process_time()
        found = [[float(run(jax.random.PRNGKey(1 + r), x, y)) for r in range(runs)] for x, y in zip(inputs, outputs)]
        seconds = (time.process_time() - start) / (runs * len(inputs))
        label = f"BlackJAX adaptive_tempered_smc, {name}, {particles} particles, {steps} x HMC({leaps})"
        print(json.dumps({"label": label, "seconds": seconds, "found": found}), flush=True)


def repeated(function, runs):
    """Return (sets, runs) values of a function of the run number, and processor seconds per data set and run."""
    import numpy as np

    start = time.process_time()
    values = np.stack([function(run) for run in range(runs)], axis=1)
    return values, (time.process_time() - start) / values.size


def figures(label, values, reference, seconds):
    """Return (label, variance x seconds, mean squared error x seconds) and print them."""
    import numpy as np

    variance = float(values.var(axis=1, ddof=1).mean())
    error = float(np.square(values - reference[:, None]).mean())
    print(
        f"  {label:86s} {seconds * 1e3:9.2f} ms  var {variance:9.2e}  mse {error:9.2e}  mse x s {error * seconds:9.2e}", flush=True
    )
    return label, error * seconds


def compare(d: int, sets: int, runs: int, blackjax: str | None) -> None:
    """Print a table for n = d: ours, plain averages, BlackJAX."""
    import numpy as np

    from theoryck.montecarlo import block_generator
    from theoryck.numerics.annealing.paths import Schedule, log_mean_exp, log_weights
    from theoryck.numerics.functions.activation import Activation
    from theoryck.theory.learning.draws import evidence
    from theoryck.theory.learning.draws.network_data import posterior
    from theoryck.theory.learning.draws.network_target import NetworkTarget, last_layer, tilt
    from theoryck.theory.learning.problem import Problem

    phi = Activation("tanh")
    # E tanh(Z)^2 = .394294, rho = 1 - sigma for tanh (tanh' = 1 - tanh^2).
    sigma = 0.39429449039746
    rho = 1.0 - sigma
    setting = Problem((d, d), d, NOISE, phi, Activation("x"), rho, sigma - rho**2)

    def generator(number):
        return block_generator(number, "bench annealing", {}, {}, 0)

    drawn = posterior(setting, generator(0), sets, tilted=False)
    inputs, outputs, zero = drawn.target.inputs, drawn.outputs, np.zeros(sets)
    plan = evidence.plan(setting, 0.01)
    prior = NetworkTarget(phi, setting.widths, inputs, outputs, NOISE, zero)
    reference = log_weights(prior, drawn.teachers, Schedule(60000), generator(1)).low

    def ours(run):
        proposal = None
        if plan.tilted:
            proposal = tilt(inputs, outputs, (setting.gamma0 + NOISE) * np.eye(d), rho**2, d)
        target = NetworkTarget(phi, setting.widths, inputs, outputs, NOISE, zero, proposal)
        return log_weights(target, drawn.teachers, plan.schedule, generator(10 + run)).low

    def marginalised(run):
        return log_weights(prior, drawn.teachers, Schedule(2000), generator(1000 + run)).low

    def unmarginalised(run, draws=20000, piece=500):
        rng, logs = generator(2000 + run), np.empty((sets, draws))
        for start in range(0, draws, piece):
            hidden = last_layer(phi, inputs[:, None], [rng.standard_normal((sets, piece, d, d))])
            rest = outputs[:, None] - np.einsum("scin,sci->scn", hidden, rng.standard_normal((sets, piece, d)))
            logs[:, start : start + piece] = -0.5 * np.square(rest).sum(axis=-1) / NOISE
        return log_mean_exp(logs) - 0.5 * d * np.log(2 * np.pi * NOISE)

    print(f"tanh, n = d = {d}, Delta = {NOISE}, {sets} data sets x {runs} runs; ours: {plan.schedule.paths} paths, ", end="")
    print(f"{len(plan.schedule.temperatures)} temperatures, tilted {plan.tilted}")
    rows = [figures("ours", *_with(reference, *repeated(ours, runs)))]
    rows.append(figures("prior average, a marginalised, 2000 draws", *_with(reference, *repeated(marginalised, runs))))
    rows.append(figures("prior average over (W, a), 20000 draws", *_with(reference, *repeated(unmarginalised, min(runs, 6)))))
    if blackjax:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.npz"
            np.savez(path, inputs=inputs, outputs=outputs, runs=min(runs, 6))
            lines = subprocess.run(
                [blackjax, __file__, "--child", str(path)], check=True, capture_output=True, text=True
            ).stdout.splitlines()
        for line in map(json.loads, lines):
            rows.append(figures(line["label"], np.array(line["found"]), reference, line["seconds"]))
    for label, product in rows[1:]:
        print(f"  ratio to ours: {product / rows[0][1]:12.1f}  {label}")


def _with(reference, values, seconds):
    return values, reference, seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--blackjax", help="an interpreter that can import jax and blackjax")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child)
        return
    compare(24, 6, 30, None)
    compare(16, 4, 30, arguments.blackjax)


if __name__ == "__main__":
    sys.exit(main())
