"""Every message that a user of theoryck can meet, read from the source with ``ast``.

A message is the text of a raised exception or of a warning, what a command writes to standard error, and, outside the rooms that
only draw what records say, every other text of at least three words that is no docstring and no help of an option: reasons of
verdicts, what would decide, what a check declined.  Holes of a formatted text are shown as ``{expression}``, alternatives of a
conditional text as ``[this | that]``.
"""

import ast
from pathlib import Path

import theoryck

PACKAGE = Path(theoryck.__file__).parent
# Rooms whose other texts are labels, help and layout of what the records say, reviewed by their own golden files.
SHOWING = ("report/", "cli/", "pytest_plugin/")
NOT_SHOWN = {"help", "short_help", "epilog", "metavar", "prog_name", "param_hint"}
SQL = ("SELECT ", "INSERT ", "CREATE ", "DELETE ", "PRAGMA ")
FEWEST_WORDS = 3


def sources():
    """Path and text of every module of the package, in order."""
    return [(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))]


def rendered():
    """The whole text: per file its messages, in the order of the source, each on a line."""
    blocks = []
    for name, source in sources():
        found = messages(source, showing=name.startswith(SHOWING))
        if found:
            blocks.append("\n".join([f"theoryck/{name}", *(f"  {kind}: {text}" for kind, text in found)]))
    return "\n\n".join(blocks) + "\n"


def messages(source, showing=False):
    """Pairs (kind, text) of a module's messages: the name of the exception, ``warning``, ``stderr`` or ``text``."""
    tree = ast.parse(source)
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            child.parent = parent
    found, told = [], set()
    for node in in_order(tree):
        kind, arguments = announced(node)
        for argument in arguments:
            told |= {id(inner) for inner in ast.walk(argument)}
            found.append((argument, kind, shown(argument)))
    if not showing:
        found += [(node, "text", text) for node, text in prose(tree) if id(node) not in told]
    found.sort(key=lambda each: (each[0].lineno, each[0].col_offset))
    return [(kind, text) for _, kind, text in found if text]


def announced(node):
    """Kind and argument expressions of a raise, a warning or a line to standard error; no arguments for anything else."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        call = node.exc
        named = [k.value for k in call.keywords if k.arg not in NOT_SHOWN]
        return called(call), [a for a in [*call.args, *named] if is_text(a)]
    if isinstance(node, ast.Call):
        name = called(node)
        to_stderr = any(k.arg == "err" and getattr(k.value, "value", False) is True for k in node.keywords)
        if name in ("warn", "warn_explicit"):
            return "warning", node.args[:1]
        if name in ("echo", "secho") and to_stderr:
            return "stderr", node.args[:1]
        if name in ("BadParameter", "UsageError", "ClickException", "BadOptionUsage", "fail") and not isinstance(
            node.parent, ast.Raise
        ):
            return name, [a for a in node.args if is_text(a)]
    return "", []


def prose(tree):
    """Every other text of at least three words, outermost expression first."""
    for node in in_order(tree):
        if not is_text(node) or isinstance(node.parent, ast.Expr) or any(is_text(up) for up in chain(node)):
            continue
        ups = [node, *chain(node)]
        if any(isinstance(up, ast.keyword) and up.arg in NOT_SHOWN for up in ups):
            continue
        text = shown(node)
        if not text.startswith(SQL) and len([word for word in text.split() if any(c.isalpha() for c in word)]) >= FEWEST_WORDS:
            yield node, text


def chain(node):
    """The enclosing expressions of a node, nearest first, up to its statement."""
    while not isinstance(node.parent, ast.stmt | ast.Module | ast.mod):
        node = node.parent
        yield node


def is_text(node):
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and (is_text(node.left) or is_text(node.right))
    if isinstance(node, ast.IfExp):
        return is_text(node.body) or is_text(node.orelse)
    return isinstance(node, ast.JoinedStr)


def shown(node):
    """A text expression as its reader meets it, holes as ``{expression}``."""
    if isinstance(node, ast.Constant):
        return str(node.value).replace("\n", "\\n")
    if isinstance(node, ast.JoinedStr):
        return "".join(shown(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        conversion = f"!{chr(node.conversion)}" if node.conversion != -1 else ""
        return "{" + plain(node.value) + conversion + "}"
    if isinstance(node, ast.BinOp) and is_text(node):
        return shown(node.left) + shown(node.right)
    if isinstance(node, ast.IfExp) and is_text(node):
        return f"[{shown(node.body)} | {shown(node.orelse)}]"
    return "{" + plain(node) + "}"


class Flat(ast.NodeTransformer):
    """Formatted texts inside an expression become plain ones: how nested quotes are printed depends on the version of Python."""

    def visit_JoinedStr(self, node):
        return ast.Constant(shown(node))


def plain(node):
    return ast.unparse(ast.fix_missing_locations(Flat().visit(ast.parse(ast.unparse(node), mode="eval"))))


def called(call):
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def in_order(tree):
    """All nodes in the order of the source (``ast.walk`` goes level by level)."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        yield from in_order(child)


if __name__ == "__main__":
    print(rendered(), end="")
