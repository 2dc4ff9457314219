"""``python -m theoryck``: the program ``theoryck`` of this Python, where no script of that name is on the PATH."""

from theoryck.cli import main

if __name__ == "__main__":
    main(prog_name="theoryck")
