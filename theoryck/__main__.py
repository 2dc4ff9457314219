"""``python -m theoryck``: the program ``theoryck`` of this Python, where no script of that name is on the PATH."""

from theoryck.cli import run

if __name__ == "__main__":
    run()
