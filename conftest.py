"""The doctests of one module alone: its package is imported first.

Pytest would run a module a second time that the package imports, and what it defines would exist twice.
"""

import importlib
from pathlib import Path

HERE = Path(__file__).parent


def pytest_collect_file(file_path):
    """Import the package of a module of theoryck."""
    if file_path.suffix == ".py" and file_path.is_relative_to(HERE / "theoryck"):
        importlib.import_module(".".join(file_path.parent.relative_to(HERE).parts))
