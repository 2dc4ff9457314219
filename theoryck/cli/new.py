"""``theoryck new``: a file with a conjecture of one's own, which runs as it is.

There is one template for each kind of statement, and one about a deep network.  Each comes out SUPPORTED with its rivals
rejected, within about five seconds under the profile quick.  The statements in words do not repeat what a line marked EDIT
claims, so that after one edit they are still true of the claim.  ``$name`` is the claim's id, ``$function`` the function's name.
"""

from __future__ import annotations

import builtins
import keyword
import re
import shlex
from pathlib import Path
from string import Template

import click

from theoryck.claims.collecting import is_module
from theoryck.cli.common import DEFAULT_PATH, Usage
from theoryck.cli.options import Choice

BOUND = '''\
"""$name: a conjecture.  EDIT: write here what is random, and what the letters mean.

Setting.   x ~ N(0, I_d / d).
"""

import theoryck as tc


@tc.quantity(cost=lambda sizes: sizes["d"])  # random numbers a draw takes
def deviation(rng, draws, *, d):
    """Return an array of `draws` independent numbers; their mean is the quantity."""
    x = rng.standard_normal((draws, d))  # EDIT: what is random
    return abs((x**2).mean(axis=1) - 1)  # EDIT: the number that each draw gives


@tc.conjecture("$name")
def $function():
    """E | |x|^2 - 1 | decays at least like the claimed rate"""  # EDIT: the statement, as reports show it
    return tc.Bound(
        deviation,
        rate="d**(-1/2)",  # EDIT: the claimed rate; try "d**(-3/4)", which is false
        along=tc.ScalingPath(d=tc.doubling(16, 1024)),  # the sizes that are measured
        rivals=["d**(-1)"],  # a faster rate that the same draws must reject
    )
'''

SCALING = '''\
"""$name: a conjecture.  EDIT: write here what is random, and what the letters mean.

Setting.   z_1, ..., z_d independent, each uniform on [0, 1].
"""

import theoryck as tc


@tc.quantity(cost=lambda sizes: sizes["d"])  # random numbers a draw takes
def gap(rng, draws, *, d):
    """Return an array of `draws` independent numbers; their mean is the quantity."""
    z = rng.random((draws, d))  # EDIT: what is random
    return 1 - z.max(axis=1)  # EDIT: the number that each draw gives


@tc.conjecture("$name")
def $function():
    """E (1 - max_i z_i) follows the claimed power of d, no faster and no slower"""  # EDIT: the statement, as reports show it
    return tc.Scaling(
        gap,
        exponent=-1,  # EDIT: the claimed power of d; try "-1/2", which is false
        constant=1,  # EDIT: the claimed factor before it; leave the line out if none is claimed
        along=tc.ScalingPath(d=tc.doubling(16, 1024)),  # the sizes that are measured
        rivals=["-3/4", "-5/4"],  # other powers that the same draws must reject
        correction=1,  # the next term is smaller by 1/d; leave the line out if that is not known
    )
'''

LIMIT = '''\
"""$name: a conjecture.  EDIT: write here what is random, and what the letters mean.

Setting.   x ~ N(0, I_d).
"""

import math

import theoryck as tc


@tc.quantity(cost=lambda sizes: sizes["d"])  # random numbers a draw takes
def norm(rng, draws, *, d):
    """Return an array of `draws` independent numbers; their mean is the quantity."""
    x = rng.standard_normal((draws, d))  # EDIT: what is random
    return abs(x).mean(axis=1)  # EDIT: the number that each draw gives


@tc.conjecture("$name")
def $function():
    """E |x|_1 / d tends to the claimed value as d grows"""  # EDIT: the statement, as reports show it
    return tc.Limit(
        norm,
        value=math.sqrt(2 / math.pi),  # EDIT: the claimed limit; try 0.75, which is false
        tolerance=0.01,  # how far from the limit still counts as equal
        along=tc.ScalingPath(d=tc.doubling(16, 1024)),  # the sizes that are measured
        rivals=[0.7, 0.9],  # other limits that the same draws must reject
    )
'''

LAW = '''\
"""$name: a conjecture.  EDIT: write here what is random, and what the letters mean.

Setting.   e_1, ..., e_d independent, each exponential with mean 1.
"""

from scipy.stats import norm

import theoryck as tc


@tc.quantity(cost=lambda sizes: 1)  # random numbers a draw takes; EDIT: d of them, sizes["d"], for a sample of d
def sum_of_errors(rng, draws, *, d):
    """Return an array of `draws` independent numbers: their law is what the claim is about."""
    total = rng.standard_gamma(d, draws)  # EDIT: what is random; e_1 + ... + e_d itself has the law Gamma(d)
    return (total - d) / d**0.5  # EDIT: the number that each draw gives


@tc.conjecture("$name")
def $function():
    """(e_1 + ... + e_d - d) / sqrt(d) tends to the claimed law, at the claimed rate"""  # EDIT: the statement, as reports show it
    return tc.Law(
        sum_of_errors,
        distribution=norm(0, 1),  # EDIT: the claimed law, any continuous one of scipy.stats
        rate="1/d",  # EDIT: of the SQUARED distance of the laws; try "1/d**2", which is false
        along=tc.ScalingPath(d=tc.doubling(8, 128)),  # the sizes that are measured
        rivals=["1/d**3"],  # a faster rate that the same draws must reject
        correction=1,  # the next term is smaller by 1/d; leave the line out if that is not known
    )
'''

IDENTITY = '''\
"""$name: a conjecture.  EDIT: write here what the letters mean.

Setting.   Z ~ N(0, 1),  sigma_1 = E phi(Z)^2,  rho_1 = E phi'(Z).
"""

import theoryck as tc


@tc.conjecture("$name")
def $function():
    """rho_1 = 1 - sigma_1"""  # EDIT: the statement, as reports show it
    phi = tc.Activation("tanh(x)")  # EDIT: the activation, a formula in x; try "atan(x)", for which it is false
    return tc.Identity(
        tc.networks.rho(phi, 1),  # EDIT: the left-hand side
        1 - tc.networks.sigma(phi, 1),  # EDIT: the right-hand side
        rivals=[0.6],  # another value that must be excluded
    )
'''

NETWORK = '''\
"""$name: a conjecture.  EDIT: write here what is random, and what the letters mean.

Setting.   x_0 ~ N(0, I/d),  x_l = phi(W_l x_{l-1}) / sqrt(d),  entries of W_l iid N(0, 1),  l = 1, ..., depth.
"""

from hypothesis.strategies import integers, sampled_from

import theoryck as tc


@tc.conjecture("$name")
@tc.for_all(phi=sampled_from(tc.activations.smooth_odd), depth=integers(1, 3))  # EDIT: for which networks
def $function(phi, depth):
    """E (|x_L|^2 - sigma_L)^2 decays at least like the claimed rate"""  # EDIT: the statement, as reports show it
    network = tc.DeepNetwork(phi, depth=depth)
    return tc.Bound(
        tc.norm_deviation(network, power=2),  # EDIT: the quantity; see `theoryck measure --help`
        rate="1/d",  # EDIT: the claimed rate; try "d**(-5/4)", which is false
        along=tc.ScalingPath(d=tc.doubling(16, 1024), width="d", input_dim="d"),  # the sizes that are measured
        rivals=["d**(-3/2)"],  # a faster rate that the same evidence must reject
        correction=1,  # the next term is smaller by 1/d; leave the line out if that is not known
    )
'''

TEMPLATES = {"bound": BOUND, "scaling": SCALING, "limit": LIMIT, "law": LAW, "identity": IDENTITY, "network": NETWORK}


def filled(kind: str, name: str, function: str) -> str:
    """Return the file of a kind for a claim of that name.

    >>> [line for line in filled("law", "max-gap", "max_gap").splitlines() if "max" in line][1:]
    ['@tc.conjecture("max-gap")', 'def max_gap():']
    """
    return Template(TEMPLATES[kind]).substitute(name=name, function=function)


MOST_LETTERS = 100
KINDS = tuple(kind for kind in TEMPLATES if kind != "network")


@click.command("new")
@click.argument("name", metavar="[NAME]", required=False)
@click.argument("path", required=False)
@click.option(
    "--kind", type=Choice(KINDS), default="bound", show_default=True,
    help="At most a rate; like a power; tends to a number; tends to a law; equals, exactly.",
)  # fmt: skip
@click.option("--network", is_flag=True, help="A bound on a quantity of a deep network, for all activations and depths.")
@click.option("--paper", metavar="FOLDER", help="A repository for one paper: claims, LaTeX with marks, workflows that check both.")
@click.option(
    "--theoryck",
    "requirement",
    metavar="REQUIREMENT",
    help="With --paper: what pip installs there instead of this version, an address or a path.",
)
@click.pass_context
def command(
    ctx: click.Context, name: str | None, path: str | None, kind: str, network: bool, paper: str | None, requirement: str | None
) -> None:
    """Write a file with a conjecture of one's own, or a repository for one paper, which runs as it is.

    The file measures an example with a sampler of ten lines and is SUPPORTED; comments marked EDIT say which lines to
    change into a conjecture of your own.  The claim is called NAME.  The file is PATH, or NAME.py in the folder PATH; without
    PATH it is proofs/NAME.py where there is a folder proofs, else NAME.py, "-" in NAME becoming "_".  A file that exists is never
    overwritten.

    \b
    Examples:
      theoryck new spectral-gap
      theoryck new edge-law --kind law my_conjectures/edge.py
      theoryck new norm-of-outputs --network
      theoryck new --paper my_paper
      theoryck new --paper my_paper --theoryck git+https://HOST/theoryck.git

    Exit status: 0 the file is written; 2 wrong usage, or the file exists.
    """
    if paper is not None:
        if name is not None or network or _given(ctx, "kind"):
            raise Usage("--paper writes a folder with claims of its own: leave out NAME, --kind and --network")
        from theoryck.cli.new_paper import write

        write(paper, requirement)
        return
    if requirement is not None:
        raise Usage("--theoryck says what a repository installs: it belongs to --paper FOLDER")
    if name is None:
        raise click.MissingParameter(ctx=ctx, param=ctx.command.params[0])
    _check_name(name)
    if path == "":
        raise Usage("PATH must be a file that ends in .py, or a folder that exists, got an empty text")
    if network and _given(ctx, "kind"):
        raise Usage("--network writes a bound on a quantity of a network: leave out --kind, or --network")
    file = _file(name, path)
    chosen = "network" if network else kind
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(filled(chosen, name, _function(name)))
    except FileExistsError as error:
        raise Usage(f"{file} exists and is not overwritten: choose another NAME, or name the file: {_elsewhere(name)}") from error
    except OSError as error:
        raise Usage(f"cannot write {file}: {error.strerror}; name a file in a folder that exists and can be written") from error
    what = "a bound about deep networks" if network else f"{'an' if kind == 'identity' else 'a'} {kind}"
    lines = [f"Wrote {file}: {what}, which runs as it is:", f"  theoryck check {shlex.quote(str(file))}"]
    lines += ["Then change the lines marked EDIT into your conjecture, and check it again."]
    if network:
        lines += ["To search all its networks for a counterexample:", f"  theoryck hunt {name} {shlex.quote(str(file))}"]
    click.echo("\n".join(lines))


def _given(ctx: click.Context, option: str) -> bool:
    """Whether an option was written, and is not what it is without."""
    return ctx.get_parameter_source(option) is not click.core.ParameterSource.DEFAULT


def _check_name(name: str) -> None:
    """Refuse what cannot name a claim, a file and a function alike, and say what could."""
    if "/" in name or "\\" in name:
        tail = re.split(r"[/\\]", name.rstrip("/\\"))[-1].removesuffix(".py")
        raise Usage(
            f"NAME must be a name, not a path, got {name!r}: name the claim and then its file: "
            f"theoryck new {_proposal(tail)} {shlex.quote(name if name.endswith('.py') else name + '.py')}"
        )
    if len(name) > MOST_LETTERS:
        raise Usage(f"NAME must have at most {MOST_LETTERS} characters, to be the name of a file, got {len(name)}: {name[:20]}...")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise Usage(
            f"NAME must consist of letters a-z, digits, - and _, and start with a letter or digit, got {name!r}: "
            f"write for example {_proposal(name)}"
        )


def _proposal(name: str) -> str:
    """Return the nearest good name.

    >>> _proposal("My gap!"), _proposal("---")
    ('My-gap', 'my-conjecture')
    """
    return re.sub(r"[^A-Za-z0-9_]+", "-", name.removesuffix(".py")).strip("-_") or "my-conjecture"


def _function(name: str) -> str:
    """Return the name of the function.

    >>> _function("spectral-gap"), _function("lambda"), _function("2026-gap"), _function("deviation")
    ('spectral_gap', 'lambda_', 'claim_2026_gap', 'deviation_')
    """
    identifier = name.replace("-", "_")
    if identifier[0].isdigit():
        return f"claim_{identifier}"
    names = {word for template in TEMPLATES.values() for word in re.findall(r"\w+", template)}
    taken = keyword.iskeyword(identifier) or identifier in names or hasattr(builtins, identifier)
    return f"{identifier}_" if taken else identifier


def _file(name: str, path: str | None) -> Path:
    """Return the file to be written; one that would hide a module that is installed, or has no folder, is refused."""
    stem = name.replace("-", "_")
    if path is None:
        file = (Path(DEFAULT_PATH) if Path(DEFAULT_PATH).is_dir() else Path()) / f"{stem}.py"
    else:
        file = Path(path) / f"{stem}.py" if Path(path).is_dir() else Path(path)
    if file.suffix != ".py":
        raise Usage(f"PATH must be a file that ends in .py, or a folder that exists, got {str(file)!r}: try {file}.py")
    if file.stem == "conftest":
        raise Usage(f"{file} would be read by pytest as its own: choose another name")
    if not file.exists() and is_module(file.stem):
        raise Usage(
            f"{file} would be called like the Python module {file.stem!r} and could hide it: choose another NAME, or name the "
            f"file: {_elsewhere(name)}"
        )
    return file


def _elsewhere(name: str) -> str:
    return f"theoryck new {name} my_{name.replace('-', '_')}.py"
