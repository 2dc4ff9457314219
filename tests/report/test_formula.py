"""Statements, rates and predictions as formulas: well formed, escaped, nothing lost, whatever the text."""

import ast
import re
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis.strategies import lists, sampled_from, text

from theoryck.records import Enclosure, Kind, Prediction
from theoryck.report.formula import latex, mathml, prediction_latex, prediction_mathml, rate_latex, rate_mathml
from theoryck.report.formula.reader import read
from theoryck.report.formula.tree import Words
from theoryck.report.formula.writing import read_rate

PROOFS = Path(__file__).parents[2] / "proofs"
ELEMENTS = {
    *("x", "math", "mi", "mn", "mo", "mtext", "mspace", "mrow", "mfrac", "msqrt"),
    *("msub", "msup", "msubsup", "munder", "munderover", "mover", "code"),
}
CHILDREN = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "munderover": 3, "mover": 2}
PIECES = ["E ", "|x|", "|", "^", "_", "(", ")", "[", "]", "{", "}", "<w,x>", "<", ">", "d^(-k/2)", "sum_j ", "sqrt(", "/", "'"]
PIECES += ["a", "phi", "the", "two-layer", ",", "->", "~", "*", "!", "\\", "$", "+", "-", "=", "&", "%", "1e-6", "1", "."]
PIECES += [" ", "E ", " a", "\u03c3", "\u6771", "\x00"]


def statements():
    """The first lines of the docstrings of everything that is decorated in proofs/, read without running it."""
    found = []
    for path in sorted(PROOFS.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.decorator_list and ast.get_docstring(node):
                found.append(ast.get_docstring(node).splitlines()[0])
    return found


STATEMENTS = statements()


def faults(html):
    """What is wrong with HTML that a formula was written into; nothing where all is well."""
    try:
        tree = ElementTree.fromstring(f"<x>{html}</x>")
    except ElementTree.ParseError as error:
        return [str(error)]
    found = [f"element {node.tag}" for node in tree.iter() if node.tag not in ELEMENTS]
    found += [f"{node.tag} of {len(node)}" for node in tree.iter() if len(node) != CHILDREN.get(node.tag, len(node))]
    mixed = [node for node in tree.iter() if node.tag.startswith("m") and len(node) and (node.text or "").strip()]
    found += [f"text beside elements in {node.tag}" for node in mixed]
    return found


def unbalanced(tex):
    """Whether braces or dollar signs of LaTeX do not come in pairs, or a character means something it was not meant to."""
    bare = re.sub(r"\\[\\{}$&#%_^~]", "", tex)  # characters, and accents over letters
    depth = 0
    for character in bare:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return True
    outside = "".join(bare.split("$")[::2])
    return depth != 0 or bare.count("$") % 2 == 1 or bool(re.search(r"[&#%]", bare)) or bool(re.search(r"[_^~]", outside))


def test_the_checks_see_faults():
    assert faults("<math><mi>x</math>")
    assert faults("<script>1</script>")
    assert faults("<msup><mi>x</mi></msup>")
    assert all(unbalanced(tex) for tex in ("{", "}{", "$x", "a_b", "5%"))
    assert not unbalanced(r"$x_{1}$ \{ \% \_")


@pytest.mark.skipif(not PROOFS.is_dir(), reason="the proofs are not part of an installed package")
def test_every_statement_of_the_proofs_is_well_formed():
    assert len(STATEMENTS) > 200
    wrong = {text: faults(mathml(text)) for text in STATEMENTS if faults(mathml(text))}
    assert not wrong
    assert not [text for text in STATEMENTS if unbalanced(latex(text))]


@pytest.mark.parametrize("statement", STATEMENTS[::7] or ["no proofs here"])
def test_no_word_of_prose_is_lost(statement):
    shown = "".join(ElementTree.fromstring(f"<x>{mathml(statement)}</x>").itertext())
    prose = "".join(piece if isinstance(piece, str) else " " for piece in read(statement))
    for word in re.findall(r"[A-Za-z]{3,}", prose):
        assert word in shown


@given(lists(sampled_from(PIECES), max_size=20).map("".join))
@example("odd ( brackets ] and } stay | as they are ^ _ '")
@example("x^^2_{_}")
@example("x^+- y_-*")
@example("'" * 3)
@example("")
def test_no_text_is_refused(statement):
    assert not faults(mathml(statement))
    assert not unbalanced(latex(statement))


@given(text(max_size=40))
def test_no_character_is_refused(statement):
    assert not faults(mathml(statement))
    assert latex(statement).isascii()
    assert not unbalanced(latex(statement))


def test_deep_and_long_texts_are_shown_as_they_are():
    deep = "(" * 900 + "x" + ")" * 900
    assert not faults(mathml(deep))
    assert mathml("x " * 2000) == ("x " * 2000).strip()


def test_html_stays_text():
    shown = mathml('<img src=x onerror="alert(1)"> & </math><script>')
    assert not faults(shown)
    assert not re.search("<(img|script)", shown)


def test_prose_stays_outside_of_formulas_so_that_lines_can_break():
    assert mathml("not known") == "not known"
    assert mathml("at n = d, linear phi").count("<math>") == 2


def test_long_formulas_may_break_at_relations_and_signs_and_short_ones_do_not():
    assert mathml("E |x|^k = O(d^(-k/2))").count("<math>") == 2
    assert mathml("n = d = 8").count("<math>") == 1
    assert mathml("x = " + " + ".join(["a_1 phi(b_1 x)"] * 4)).count("<math>") == 4
    assert mathml("x = " + " + ".join(["a_1"] * 4)).count("<math>") == 1


def test_code_in_a_docstring_stays_code():
    line = "the claims (``rate=1/d``) of :mod:`a.b_c` at n = d ``x``"
    assert re.findall("<code>(.*?)</code>", mathml(line)) == ["rate=1/d", "a.b_c", "x"]
    assert latex(line).startswith(r"the claims (\texttt{rate=\allowbreak{}1/\allowbreak{}d}) of \texttt{a")
    assert latex(line).endswith(r" at $n = d$ \texttt{x}")
    assert mathml("``<b>``") == "<code>&lt;b&gt;</code>"


def test_display_style_is_asked_for():
    assert mathml("sum_j x_j", display=True).startswith('<math displaystyle="true">')


RATES = {
    "(1+sqrt(n/d)+n/d)/sqrt(d)": r"$\frac{1 + \sqrt{n/d} + n/d}{\sqrt{d}}$",
    "d**(-k/2)": r"$d^{-k/2}$ at $k = 3$",
    "d**(-(k+1)/2)": r"$d^{-(k + 1)/2}$ at $k = 3$",
    "2*sqrt(n*d)*log(d)**2/n**1.5": r"$2\sqrt{nd}(\log d)^{2}/n^{1.5}$",
    "3*2*d": r"$3 \cdot 2d$",
    "a/b/c": "$a/b/c$",
    "a/(b*c)": r"$\frac{a}{bc}$",
    "(a*b)**2": "$(ab)^{2}$",
    "1*d**1/1": "$d$",
    "1/sqrt(d_min)": r"$1/\sqrt{d_{\min}}$",
    "min(d, n)": r"$\min (d, n)$",
    "1e-3*d": "$0.001d$",
    "alpha*width": r"$\alpha \operatorname{width}$",
    "3/2*d": r"$\frac{3}{2}d$",
    "(3/2)*d": r"$\frac{3}{2}d$",
    "1/d*n": r"$\frac{1}{d}n$",
    "d**(k/2*j)": r"$d^{(k/2)j}$ at $k = 3$",
    "-1/2*d**(-1/2)": r"$-\frac{1}{2}d^{-1/2}$",
    "x*(y/z)*w": r"$x\frac{y}{z}w$",
    "log(d)*n": r"$\log (d)n$",
    "n*log(d)": r"$n\log d$",
    "n*log(d)/d": r"$n\log (d)/d$",
    "log(d)*3": r"$\log (d) \cdot 3$",
}


@pytest.mark.parametrize("rate", RATES)
def test_rates(rate):
    assert rate_latex(rate, {"k": "3", "unused": "1"}) == RATES[rate]
    assert not faults(rate_mathml(rate, {"k": "3"}))


STATEMENTS_READ = {
    "x ** 2, d ** (-1/2) and x^ 2": r"$x^{2}$, $d^{-1/2}$ and $x^{2}$",
    "(a+b) ^ 2 and width ** 2": r"$(a + b)^{2}$ and $\operatorname{width}^{2}$",
    "x^- y, x^+ and x_-": r"$x^{-}y$, $x^{+}$ and $x_{-}$",
    "x^ is no power": r"$\hat{x}$ is no power",
    "v~^m g~(nu^m) - g~'(x)": r"${\tilde{v}}^{m}\tilde{g}(\nu^{m}) - {\tilde{g}}^{\prime}(x)$",
    "E f*(x) is no n*(d+1), nor x~y": r"$\operatorname{\mathbb{E}}f^{*}(x)$ is no $n \cdot (d + 1)$, nor $x \sim y$",
    "q <= (a - b)_+^2": r"$q \le (a - b)_{+}^{2}$",
    "||x|-|y|| <= |x-y|": r"$||x| - |y|| \le |x - y|$",
    "|E|x| - 1|, |E| and |E||V|": r"$|\operatorname{\mathbb{E}}|x| - 1|$, $|E|$ and $|E||V|$",
    "||x - y|| and 1/||x||": r"$\|x - y\|$ and $1/\|x\|$",
    "KL(p || q) and KL(p||q)": r"$\operatorname{KL}(p \| q)$ and $\operatorname{KL}(p \| q)$",
    "E x y = 2 x y": r"$\operatorname{\mathbb{E}}xy = 2xy$",
    "d x n": r"$d \times n$",
    "i.e. d = 3, e.g. n, i.i.d. N(0,1), w.r.t. x": r"i.e. $d = 3$, e.g. $n$, i.i.d. $\mathcal{N}(0, 1)$, w.r.t. $x$",
    "the (k+1)-th, o(1)-close": r"the $(k + 1)$-th, $o(1)$-close",
    "1-Lipschitz, 2-layer, a beta-function": r"1-Lipschitz, 2-layer, a $\beta$-function",
    "1-exp(-x) and (1-x)-y": r"$1 - \exp (-x)$ and $(1 - x) - y$",
    "a <-> b <=> c": r"$a \leftrightarrow b \Leftrightarrow c$",
    "x_i_j": "$x_{i, j}$",
    "x\u2081\u2082 + y\u207b\u00b9 + z\u1d62\u2c7c": "$x_{12} + y^{-1} + z_{ij}$",
    "\u221a2\u00b7x and 2\u221an": r"$\sqrt{2} \cdot x$ and $2\sqrt{n}$",
    "1e-3d, 1e-3*d and 2e-3 /d": r"$10^{-3}d$, $10^{-3} \cdot d$ and $2\times 10^{-3}/d$",
    "3/2 d and 1/2 (a+b)": r"$\frac{3}{2}d$ and $\frac{1}{2}(a + b)$",
    "1/log d and x/E y^2": r"$1/\log d$ and $x/\operatorname{\mathbb{E}}y^{2}$",
    "kappa_star^2 = kappa_*^2": r"$\kappa_{*}^{2} = \kappa_{*}^{2}$",
    "K_** - k_*^T A^(-1) k_*, x** 2": r"$K_{**} - k_{*}^{\top}A^{-1}k_{*}$, $x^{2}$",
    "z_-, |z_-|^2 and (z_+ + |z_-|)/sqrt 2": r"$z_{-}$, $|z_{-}|^{2}$ and $\frac{z_{+} + |z_{-}|}{\sqrt{2}}$",
    "z_+- = z1 +- z2, |x - |y||": r"$z_{\pm} = z_{1} \pm z_{2}$, $|x - |y||$",
    "Q (K, K), v~ (M,) and X' (n, d - 2)": r"$Q$ ($K \times K$), $\tilde{v}$ ($M$) and $X^{\prime}$ ($n \times (d - 2)$)",
    "x_l^T x_l (n x n), roots P (4,)": r"$x_{l}^{\top}x_{l}$ ($n \times n$), roots $P$ ($4$)",
    "rows (draws, k), G (..., n, N_p)": r"rows ($\operatorname{draws} \times k$), $G$ ($\dots \times n \times N_{p}$)",
    "is f at (n, d) or order (lambda, nu)": r"is $f$ at $(n, d)$ or order $(\lambda , \nu)$",
    "widths (d_0, ..., d_L), rows (2, 3)": r"widths $(d_{0}, \dots , d_{L})$, rows $(2, 3)$",
    "sqrt(N) (1, 0, ..., 0) and N (0, 1)": r"$\sqrt{N}(1, 0, \dots , 0)$ and $N(0, 1)$",
    "[0, oo), (-oo, 0] and [0, 1": r"$[0, \infty)$, $(-\infty , 0]$ and [0, 1",
    "no interval: [see (a, b], the [first, second)": r"no interval: [see $(a, b]$, the [first, second)",
    "N -> infinity, N = oo, x_inf, \u221e": r"$N \to \infty$, $N = \infty$, $x_{\infty}$, $\infty$",
    "at infinity, d to infinity, -> inf_q f(q)": r"at infinity, $d$ to $\infty$, $\to \inf_{q}f(q)$",
    "x in R^d, a sphere of R^D, a sum of R^2": r"$x$ in $\mathbb{R}^{d}$, a sphere of $\mathbb{R}^{D}$, a sum of $R^{2}$",
    "layers 1..L, l = 1..L": r"layers 1, ..., $L$, $l = 1$, ..., $L$",
    "of Omega (p of them": r"of $\Omega$ ($p$ of them",
    "-1.2 for -0.5, +1 or -1": "-1.2 for -0.5, +1 or -1",
    "w* enters X, G_ij = dF/dQ_ij": r"$w^{*}$ enters $X$, $G_{\operatorname{ij}} = \,dF/{\,dQ}_{\operatorname{ij}}$",
    "sqrt 2 y - log det A is x": r"$\sqrt{2}y - \log \det A$ is $x$",
}


@pytest.mark.parametrize("statement", STATEMENTS_READ)
def test_statements(statement):
    assert latex(statement) == STATEMENTS_READ[statement]
    assert not faults(mathml(statement))


NO_RATES = ["oops(", "__import__('os')", "x.y", "a if b else c", "[1]", "f(x=1)", "1 < 2", "True", "-" * 600, "((" * 300]


@pytest.mark.parametrize("rate", NO_RATES)
def test_what_is_no_rate_is_shown_as_it_was_written(rate):
    assert read_rate(rate) == Words(rate)
    assert not faults(rate_mathml(rate))
    assert not unbalanced(rate_latex(rate))


PATH = {"d": "16, 32, ..., 4096", "n": "d**2", "width": "d"}
ALONG = r", along $d =$ 16, 32, \ensuremath{\dots}, 4096, $n = d^{2}$, $\operatorname{width} = d$"
NAME = r"\texttt{q(\allowbreak{}depth=\allowbreak{}2)}"
PREDICTIONS = [
    (Prediction(Kind.BOUND, "q(depth=2)", "d", PATH, rate="d**(-k/2)", parameters={"k": "2"}), r"$\le Cd^{-k/2}$, $k = 2$" + ALONG),
    (Prediction(Kind.BOUND, "q(depth=2)", "d", PATH, rate="1/d", constant=2.5), r"$\le 2.5/d$" + ALONG),
    (Prediction(Kind.BOUND, "q(depth=2)", "d", {}, rate="1/d/n", constant=2.0), r"$\le 2/d/n$"),
    (Prediction(Kind.BOUND, "q(depth=2)", "d", {}, rate="2/d/n", constant=2.0), r"$\le 2 \cdot 2/d/n$"),
    (Prediction(Kind.BOUND, "q(depth=2)", "d", {}, rate="1/2*d", constant=2.0), r"$\le 2 \cdot \frac{1}{2}d$"),
    (Prediction(Kind.BOUND, "q(depth=2)", "d", {}, rate="2*n"), r"$\le C \cdot 2n$"),
    (Prediction(Kind.BOUND, "q(depth=2)", "d", PATH, rate="1/d + 1/n"), r"$\le C(1/d + 1/n)$" + ALONG),
    (Prediction(Kind.SCALING, "q(depth=2)", "d", PATH, exponent=-0.5), r"$\sim Cd^{-0.5}$" + ALONG),
    (Prediction(Kind.SCALING, "q(depth=2)", "d", {}, exponent=-2.0, constant=-1.44), r"$\sim -1.44d^{-2}$"),
    (Prediction(Kind.LIMIT, "q(depth=2)", value=Enclosure(Decimal("0.5"), Decimal(0))), r"$\to 0.5$"),
    (
        Prediction(Kind.LIMIT, "q(depth=2)", "d", {}, rate="1/d", value=Enclosure(Decimal("0.5"), Decimal(0))),
        r"$\to 0.5$ with a difference $O(1/d)$",
    ),
    (Prediction(Kind.IDENTITY, "q(depth=2)", value=Enclosure(Decimal("0.3183"), Decimal("1e-3"))), r"$= 0.3183(10)$"),
    (Prediction(Kind.LAW, "q(depth=2)"), r"(distance from the claimed law) $\to 0$"),
    (Prediction(Kind.LAW, "q(depth=2)", "d", {}, rate="1/sqrt(d)"), r"(distance from the claimed law) $\le C/\sqrt{d}$"),
]


@pytest.mark.parametrize(("prediction", "expected"), PREDICTIONS, ids=lambda part: getattr(part, "kind", ""))
def test_predictions(prediction, expected):
    assert prediction_latex(prediction) == f"{NAME} {expected}"
    assert not faults(prediction_mathml(prediction))


def test_a_prediction_with_awkward_texts_is_shown():
    awkward = Prediction(Kind.BOUND, "<q>&%", "d", {"d": "16, <32>", "%": "$"}, rate="d**(", constant=float("nan"))
    assert not faults(prediction_mathml(awkward))
    assert not unbalanced(prediction_latex(awkward))
