"""What names and operators look like: as Unicode characters and as LaTeX."""

from __future__ import annotations

GREEK = {
    "alpha": "\u03b1",
    "beta": "\u03b2",
    "gamma": "\u03b3",
    "delta": "\u03b4",
    "epsilon": "\u03b5",
    "eps": "\u03b5",
    "zeta": "\u03b6",
    "eta": "\u03b7",
    "theta": "\u03b8",
    "iota": "\u03b9",
    "kappa": "\u03ba",
    "lambda": "\u03bb",
    "lam": "\u03bb",
    "mu": "\u03bc",
    "nu": "\u03bd",
    "xi": "\u03be",
    "pi": "\u03c0",
    "rho": "\u03c1",
    "sigma": "\u03c3",
    "tau": "\u03c4",
    "upsilon": "\u03c5",
    "phi": "\u03c6",
    "chi": "\u03c7",
    "psi": "\u03c8",
    "omega": "\u03c9",
    "Gamma": "\u0393",
    "Delta": "\u0394",
    "Theta": "\u0398",
    "Lambda": "\u039b",
    "Xi": "\u039e",
    "Pi": "\u03a0",
    "Sigma": "\u03a3",
    "Upsilon": "\u03a5",
    "Phi": "\u03a6",
    "Psi": "\u03a8",
    "Omega": "\u03a9",
    "oo": "\u221e",
}
TEX_GREEK = {"epsilon": r"\varepsilon", "eps": r"\varepsilon", "phi": r"\varphi", "lam": r"\lambda", "oo": r"\infty"}
LETTERS = {character: name for name, character in GREEK.items() if name not in ("eps", "lam")} | {
    "\u03d5": "phi",
    "\u03f5": "epsilon",
}

BIG = {"sum": "\u2211", "prod": "\u220f", "int": "\u222b"}
# Functions that LaTeX knows; the others are written with \operatorname.
TEX_FUNCTIONS = {"log", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "det", "min", "max", "sup", "inf", "lim", "arg", "ln"}
FUNCTIONS = TEX_FUNCTIONS | {
    *("asin", "acos", "atan", "erf", "relu", "sign", "tr", "Tr", "Var", "Cov", "KL", "Im", "Re", "dist", "floor", "ceil"),
    *("arcsin", "arccos", "arctan", "rank", "argmin", "argmax", "softplus", "gelu", "He"),
}
RENAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "relu": "ReLU"}
# Letters that mean something else where they act on what follows: (character, LaTeX).
DOUBLE_STRUCK = {
    "expectation": ("\U0001d53c", r"\operatorname{\mathbb{E}}"),
    "probability": ("\u2119", r"\operatorname{\mathbb{P}}"),
    "ones": ("\U0001d7cf", r"\mathbf{1}"),
    "normal": ("\U0001d4a9", r"\mathcal{N}"),
    "reals": ("\u211d", r"\mathbb{R}"),
}
LIMITS = {"min", "max", "sup", "inf", "lim"}  # functions whose subscript goes below them in display style
# Names that are words of a language, too: functions only where something follows them that they can act on.
AMBIGUOUS = {"sum", "int", "min", "max", "sup", "inf", "sign", "rank", "floor", "arg", "He", "Im", "Re", "dist", "det", "lim"}

# ASCII spelling: (character, LaTeX).
RELATIONS = {
    "=": ("=", "="),
    "<": ("<", "<"),
    ">": (">", ">"),
    "<=": ("\u2264", r"\le"),
    ">=": ("\u2265", r"\ge"),
    "!=": ("\u2260", r"\ne"),
    "->": ("\u2192", r"\to"),
    "<-": ("\u2190", r"\gets"),
    "=>": ("\u21d2", r"\Rightarrow"),
    "<->": ("\u2194", r"\leftrightarrow"),
    "<=>": ("\u21d4", r"\Leftrightarrow"),
    "~": ("\u223c", r"\sim"),
    "~=": ("\u2248", r"\approx"),
    "<<": ("\u226a", r"\ll"),
    ">>": ("\u226b", r"\gg"),
    "in": ("\u2208", r"\in"),
}
ARITHMETIC = {
    "+": ("+", "+"),
    "-": ("\u2212", "-"),
    "*": ("\u22c5", r"\cdot"),
    "/": ("/", "/"),
    ".": ("\u22c5", r"\cdot"),
    "\u00b7": ("\u22c5", r"\cdot"),
    "+-": ("\u00b1", r"\pm"),
    "-+": ("\u2213", r"\mp"),
    "x": ("\u00d7", r"\times"),
}
OTHERS = {
    ",": (",", ","),
    ";": (";", ";"),
    ":": (":", ":"),
    "|": ("|", r"\mid"),
    "||": ("\u2016", r"\|"),
    "!": ("!", "!"),
    "!!": ("!!", "!!"),
    "...": ("\u2026", r"\dots"),
    "'": ("\u2032", r"\prime"),
    "''": ("\u2033", r"\prime\prime"),
    "^": ("^", r"\hat{}"),
    "_": ("_", r"\_"),
    "%": ("%", r"\%"),
}
OPERATORS = RELATIONS | ARITHMETIC | OTHERS
# Characters that people type instead of the ASCII spelling.
SPELLINGS = {
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\u2192": "->",
    "\u223c": "~",
    "\u2248": "~=",
    "\u2212": "-",
    "\u22c5": "\u00b7",
    "\u00b7": "\u00b7",
    "\u2194": "<->",
    "\u21d2": "=>",
    "\u21d4": "<=>",
    "\u221a": "sqrt",
    "\u00d7": "x",
    "\u2016": "||",
    "\u2225": "||",
    "\u2032": "'",
    "\u2033": "''",
    "\u2208": "in",
    "\u2026": "...",
    "\u00b1": "+-",
    "\u2211": "sum",
    "\u220f": "prod",
    "\u222b": "int",
    "\u27e8": "<",
    "\u27e9": ">",
}
FENCES = {
    "(": ("(", "("),
    ")": (")", ")"),
    "[": ("[", "["),
    "]": ("]", "]"),
    "{": ("{", r"\{"),
    "}": ("}", r"\}"),
    "|": ("|", "|"),
    "||": ("\u2016", r"\|"),
    "<": ("\u27e8", r"\langle "),
    ">": ("\u27e9", r"\rangle "),
    "floor(": ("\u230a", r"\lfloor "),
    "floor)": ("\u230b", r"\rfloor "),
    "ceil(": ("\u2308", r"\lceil "),
    "ceil)": ("\u2309", r"\rceil "),
}
ACCENTS = {"tilde": ("~", r"\tilde"), "hat": ("^", r"\hat"), "bar": ("\u00af", r"\bar")}


# Indices and powers in characters of their own, as what they are of.
LOWERED = {chr(0x2080 + digit): str(digit) for digit in range(10)} | {
    **{"\u208a": "+", "\u208b": "-", "\u2090": "a", "\u2091": "e", "\u2092": "o", "\u2093": "x", "\u1d62": "i", "\u2c7c": "j"},
    **{"\u2095": "h", "\u2096": "k", "\u2097": "l", "\u2098": "m", "\u2099": "n", "\u209a": "p", "\u209b": "s", "\u209c": "t"},
}
RAISED = {
    **{"\u2070": "0", "\u00b9": "1", "\u00b2": "2", "\u00b3": "3", "\u2074": "4", "\u2075": "5", "\u2076": "6", "\u2077": "7"},
    **{"\u2078": "8", "\u2079": "9", "\u207a": "+", "\u207b": "-", "\u207f": "n", "\u1d40": "T", "\u1d4f": "k", "\u2071": "i"},
    **{"\u1d48": "d", "\u1d50": "m"},
}
ABBREVIATIONS = (
    *("i.i.d", "i.e", "e.g", "w.r.t", "w.l.o.g", "w.h.p", "w.p", "a.s", "a.e", "a.k.a", "p.d.f", "c.d.f", "r.v", "s.t", "l.h.s"),
    *("r.h.s", "p.s.d", "d.o.f", "i.o"),
)


def is_letter(name: str) -> bool:
    """Whether a name is one letter, Latin or Greek, or ``oo``, by its character or its name; digits after it are its index."""
    base = name.rstrip("0123456789")
    return len(base) == 1 or base in GREEK
