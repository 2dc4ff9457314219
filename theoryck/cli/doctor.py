"""``theoryck doctor``: what is installed, what works, and what to do about what does not."""

from __future__ import annotations

import sys

import click

from theoryck.cli.common import check_outputs, write_json_data
from theoryck.cli.installed import NEEDED_FOR, Doctor, Package, Part, examine
from theoryck.report.layout import Style, fields, pad, style_for, wrap


@click.command("doctor")
@click.option("--json", "json_path", is_flag=False, flag_value="-", metavar="FILE|-", help="Write JSON to FILE, or print it.")
def command(json_path: str | None) -> None:
    """Say what is installed, what works, and what to do about what does not.

    Packages and their versions against what theoryck asks for; the number of worker processes, the BLAS and its threads, the
    memory, the terminal; and each part tried on something small: draws, rigorous values, instances, worker processes,
    pictures, the ledger, the pytest plugin.  Please add the output to a report of a fault.

    \b
    Examples:
      theoryck doctor
      theoryck doctor --json doctor.json

    Exit status: 0 all that is needed works, 1 something needed does not, 2 wrong usage.
    """
    check_outputs({"--json": json_path})
    found = examine()
    if json_path != "-":
        click.echo("\n".join(told(found, style_for(sys.stdout))), color=True)
    if json_path is not None:
        write_json_data(found.to_json(), json_path)
    sys.exit(0 if found.ok else 1)


def told(found: Doctor, style: Style) -> list[str]:
    """Return the lines for people: what does not work first of all."""
    lines = _verdict(found, style)
    lines += ["", *fields([*found.facts.items()], style, indent=0)]
    lines += ["", style.paint("Packages", "head"), *_packages(found.packages, style)]
    lines += ["", style.paint("Parts", "head")]
    reach = max(len(part.name) for part in found.parts)
    for part in found.parts:
        lines += wrap(f"{_sign(part)} {pad(part.name, reach)}  {part.text}", style.width, first="  ", rest=" " * (reach + 6))
        if part.advice:
            lines += wrap(f"what to do: {part.advice}", style.width, first=" " * (reach + 6))
    return lines


def _verdict(found: Doctor, style: Style) -> list[str]:
    if found.ok:
        return [style.paint("All that theoryck needs works.", "good")]
    bad = [package.name for package in found.packages if not package.ok] + [part.name for part in found.parts if not part.ok]
    lines = wrap(f"NOT WELL: {', '.join(bad)}.", style.width)
    names = [f"'{package.name}{package.wanted}'" for package in found.packages if not package.ok]
    if names:
        lines += ["What to do:", f"  {sys.executable} -m pip install {' '.join(names)}"]
    return [style.paint(lines[0], "bad"), *lines[1:]]


def _packages(packages: tuple[Package, ...], style: Style) -> list[str]:
    if not packages:
        return wrap(
            "theoryck is imported from a folder, not installed: which packages it asks for is not known here. Install it with "
            "python -m pip install -e FOLDER",
            style.width,
            first="  ",
        )
    reach = max(len(package.name) for package in packages)
    lines = []
    for package in packages:
        text = f"{package.installed or '-'} (wanted {package.wanted or 'any'})"
        text += f": {package.fault}" if package.fault else ""
        text += ", optional" if package.optional else ""
        needed = NEEDED_FOR.get(package.name)
        text += f", for {needed}" if needed and package.fault else ""
        lines += wrap(f"{_sign(package)} {pad(package.name, reach)}  {text}", style.width, first="  ", rest=" " * (reach + 6))
    return lines


def _sign(each: Package | Part) -> str:
    """``ok``, ``--`` for what theoryck can do without, ``!!`` for what it cannot."""
    fine = not each.fault if isinstance(each, Package) else each.works
    return "ok" if fine else "--" if each.ok else "!!"
