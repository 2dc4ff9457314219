"""The arrows between rooms, as pyproject.toml declares them for import-linter; no circle of files anywhere."""

import functools
import graphlib
from pathlib import Path

import grimp
import pytest
from importlinter.api import read_configuration
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract

ROOT = Path(__file__).parents[2]
KINDS = {"forbidden": ForbiddenContract, "layers": LayersContract}
OPTIONS = read_configuration(str(ROOT / "pyproject.toml"))
CONTRACTS = {each["name"]: each for each in OPTIONS["contracts_options"]}


@functools.cache
def graph():
    """Who imports whom, local imports and those for types included."""
    return grimp.build_graph("theoryck", include_external_packages=True, cache_dir=None)


def kept(name, imports):
    options = dict(CONTRACTS[name])
    contract = KINDS[options.pop("type")](name, OPTIONS["session_options"], options)
    return contract.check(imports, verbose=False).kept


@pytest.mark.parametrize("name", CONTRACTS)
def test_arrows_are_kept(name):
    assert kept(name, graph()), "`lint-imports` shows the imports that break it"


# For each contract one import that breaks it.
TURNED = {
    "arrows between rooms never turn round": ("theoryck.rates.rate", "theoryck.fitting.fit"),
    "the engine knows no network": ("theoryck.checking.check", "theoryck.theory.networks.model"),
    "who fits, plans and judges draws nothing": ("theoryck.judging.verdict", "theoryck.montecarlo.seeds"),
    "who computes and draws judges nothing": ("theoryck.theory.networks.model", "theoryck.judging.verdict"),
    "a claim states, and measures nothing": ("theoryck.claims.statements", "theoryck.montecarlo.seeds"),
    "a report sees records, and so does a paper": ("theoryck.report.text", "theoryck.fitting.fit"),
    "an audit sees a table": ("theoryck.auditing.audit", "theoryck.claims.statements"),
    "who checks and who collects computes nothing": ("theoryck.checking.check", "theoryck.numerics.gaussian"),
    "a checker trusts no finder": ("theoryck.proving.checker", "theoryck.numerics.proved"),
    "balls belong to the mathematics": ("theoryck.report.text", "flint"),
    "draws know no limit and no proved value": ("theoryck.theory.networks.draws", "theoryck.theory.networks.limits"),
}


def test_a_turned_arrow_would_be_seen():
    assert set(TURNED) == set(CONTRACTS)
    turned = grimp.build_graph("theoryck", include_external_packages=True, cache_dir=None)
    for name, (importer, imported) in TURNED.items():
        assert {importer, imported} <= turned.modules, name
        turned.add_import(importer=importer, imported=imported)
        assert not kept(name, turned), name
        turned.remove_import(importer=importer, imported=imported)


def circle(arrows):
    """A circle of files, each imported by the one after it; empty where there is none."""
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def arrows():
    imports = graph()
    return {name: imports.find_modules_directly_imported_by(name) for name in imports.modules}


def test_no_circle_of_files():
    assert circle(arrows()) == []


def test_a_circle_would_be_seen():
    turned = arrows()
    turned["theoryck.records.values"] = turned["theoryck.records.values"] | {"theoryck.records.results"}
    assert {"theoryck.records.values", "theoryck.records.results"} <= {*circle(turned)}
