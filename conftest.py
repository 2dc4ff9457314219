"""Doctests of one module alone: its package is imported first, or pytest would run a module a second time that the package imports."""

import importlib
from pathlib import Path

HERE = Path(__file__).parent


def pytest_collect_file(file_path):
    if file_path.suffix == ".py" and file_path.is_relative_to(HERE / "theoryck"):
        importlib.import_module(".".join(file_path.parent.relative_to(HERE).parts))
