"""Run a notebook with the Python that runs this file, and write it with its outputs: ``python execute.py NOTEBOOK TARGET``.

A program of its own, since the client of a kernel leaves sockets and an event loop behind.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpec

HANG = 900  # seconds a cell, and to start: a notebook takes 20 s of one core at most


class ThisPython(KernelManager):
    """A kernel of this very Python, whatever kernels are installed."""

    @property
    def kernel_spec(self) -> KernelSpec:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python")


def main(source: Path, target: Path) -> None:
    book = nbformat.read(source, as_version=4)
    folder = target.parent  # nothing of a user's own configuration is read or written
    environment = {**os.environ, "IPYTHONDIR": str(folder / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    # Sockets are files, in a folder whose name is short as theirs have to be: a free port may be taken before it is used.
    with tempfile.TemporaryDirectory(prefix="nb") as sockets:
        manager = ThisPython(transport="ipc", ip=f"{sockets}/k")
        options = {"timeout": HANG, "startup_timeout": HANG, "resources": {"metadata": {"path": str(folder)}}}
        client = nbclient.NotebookClient(book, km=manager, **options)
        try:
            client.execute(env=environment)
        finally:
            manager.shutdown_kernel(now=True)
            nbformat.write(book, target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
