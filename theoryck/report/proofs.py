r"""Proofs for every size as derivations: each line one inequality with its numbers, for a terminal and for an appendix.

A derivation is written once, in the plain mathematics of statements, and shown as it is or as LaTeX.  It has all that a reader
needs to verify it with a program of his own: the format of certificates says the same with the lemmas in full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theoryck._renderers import renders
from theoryck.records import Certificate, Proof
from theoryck.records.values import size_text
from theoryck.report import numbers
from theoryck.report.claims import clean, counted, instance_text
from theoryck.report.formula import latex
from theoryck.report.formula.tex import code, escape
from theoryck.report.latex import BOTTOM, PACKAGES, STANDALONE
from theoryck.report.layout import Style, wrap
from theoryck.report.paragraphs import constants


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a derivation: an inequality, or words between them; ``step`` is its number, 0 for words."""

    text: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """An instance that has no proof: of which claim, and the sentence that says why and what would do."""

    claim: str
    instance: Mapping[str, Any]
    reason: str
    breaks: int | None = None


@renders("derivation")
def derivation(proof: Proof, style: Style | None = None) -> str:
    """Return a proof for a terminal: what is proved, each inequality with its numbers, and how it was found and checked."""
    style = style or Style()
    lines = [style.paint(line, "good") for line in wrap(f"PROVED: {title(proof)}", style.width, rest="  ")]
    for line in lines_of(proof):
        mark = f"{f'({line.step})' if line.step else '':>5} "
        lines += wrap(line.text, style.width, first=mark, rest=" " * 8)
    took = f"found in {numbers.duration(proof.seconds)}, verified by the checker in {numbers.duration(proof.checked)}"
    return "\n".join([*lines, *wrap(f"Proved {constants(proof.scope)}; {took}.", style.width, first=" " * 6)])


def title(proof: Proof) -> str:
    """Say in one line what is proved."""
    scope = proof.scope
    what = f"{clean(proof.claim)} ({instance_text(proof.instance)}): " if proof.claim and proof.instance else ""
    what = what or (f"{clean(proof.claim)}: " if proof.claim else "")
    least = "" if scope.least is None else f" and at least {scope.least} * ({clean(proof.rate)})"
    sizes = f"for every {clean(scope.base)} >= {size_text(scope.start)}"
    return f"{what}{clean(proof.quantity)} <= {scope.constant} * ({clean(proof.rate)}){least} {sizes}"


def refusal(refused: Refusal, style: Style | None = None) -> str:
    """Return why an instance has no proof, for a terminal."""
    style = style or Style()
    instance = instance_text(refused.instance)
    name = f"{clean(refused.claim)} ({instance})" if instance else clean(refused.claim)
    word, color = ("REFUTED", "bad") if refused.breaks is not None else ("NOT PROVED", "open")
    return "\n".join(style.paint(line, color) for line in wrap(f"{word}: {name}: {clean(refused.reason)}", style.width, rest="  "))


def summary(proofs: Sequence[Proof], refused: Sequence[Refusal]) -> str:
    """Say how many instances are proved."""
    broken = sum(each.breaks is not None for each in refused)
    parts = [f"{len(proofs)} of {counted(len(proofs) + len(refused), 'instance')} proved for every size"]
    parts += [f"{broken} broken at a size"] if broken else []
    return f"{', '.join(parts)}."


_TOP = f"""% Proofs for every size, found and verified with theoryck.
% Compiles as it is; in a paper: \\input this file.  The preamble needs {" ".join(PACKAGES)}
"""


def render_latex(proofs: Sequence[Proof]) -> str:
    r"""Return proofs as a LaTeX file for an appendix, one paragraph each; ``\input`` reads it into a paper."""
    return "\n".join([_TOP + STANDALONE, *map(_latex_of, proofs), BOTTOM, ""])


def _latex_of(proof: Proof) -> str:
    instance = f"({escape(instance_text(proof.instance))})" if proof.instance else ""
    name = f"{code(clean(proof.claim)) if proof.claim else ''} {instance}".strip() or "Proof"
    scope = proof.scope
    sizes = latex(f"for every {clean(scope.base)} >= {size_text(scope.start)}")
    rate = latex(clean(proof.rate))
    lines = [rf"\paragraph{{{name}.}} {escape(clean(proof.quantity))} is at most ${scope.constant}$ times {rate}, {sizes}."]
    lines.append(r"\begin{itemize}\setlength{\itemsep}{0pt}")
    lines += [rf"  \item[{f'({line.step})' if line.step else ''}] {latex(line.text)}" for line in lines_of(proof)]
    lines += [r"\end{itemize}", "Each line was verified in ball arithmetic by a program that shares no code with the finder.", ""]
    return "\n".join(lines)


def lines_of(proof: Proof) -> Iterator[Line]:
    """Yield the lines of the derivation, its inequalities numbered."""
    certificate, step = proof.certificate, 0
    write = WRITERS.get(certificate.method, _anything)
    for text, numbered in [*write(certificate), *_path_lines(proof)]:
        step += numbered
        yield Line(text, step if numbered else 0)


Text = tuple[str, bool]
"""A line, and whether it is an inequality that is numbered."""


def _path_lines(proof: Proof) -> Iterator[Text]:
    """Say how the certificate gives the bound along the path, where it is not the bound itself."""
    found, scope = proof.certificate, proof.scope
    if proof.path and (f"{scope.constant}" != found.constant or scope.start != found.start):
        along = ", ".join(f"{clean(name)} = {clean(size)}" for name, size in proof.path.items() if name != scope.base)
        bound = f"{scope.constant} * ({clean(proof.rate)}) for every {clean(scope.base)} >= {size_text(scope.start)}"
        yield f"Along the path ({along}) the smallest size takes the place of d: at most {bound}.", True


def _anything(found: Certificate) -> Iterator[Text]:
    """A method that no sentence is written for: its record, field by field."""
    yield f"{found.quantity} of phi(x) = {found.activation}, method {found.method}; the format says what each line asserts.", False
    yield from ((f"{name} = {value}", True) for name, value in _flat(found.proof, ""))
    yield f"at most {found.constant} d^({Fraction(-found.power, 2)}) for every d >= {found.start}, {found.widths}", True


def _flat(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, inner in enumerate(value):
            yield from _flat(inner, f"{name}[{index}]")
    else:
        yield name, str(value)


def _comparison(found: Certificate) -> Iterator[Text]:
    """The method "comparison" of norm deviations: section 2 of the format of certificates."""
    proof, depth, start = found.proof, found.depth, found.start
    yield f"{_NETWORK}, phi(x) = {found.activation}.", False
    yield f"{_NORMS}, nu(s)^2 = E (phi(sqrt(s) Z)^2 - f(s))^2.", False
    yield f"phi(x)^2 <= R = {proof['range']} for every real x", True
    for layer, bounds in enumerate(proof["layers"]):
        s = f"sigma_{layer}"
        yield f"Layer {layer}: {s} = {bounds['centre']} to one unit of its last digit, and for every s >= 0", False
        yield f"|f'({s})| <= alpha = {bounds['slope']}", True
        yield f"|f(s) - f({s}) - f'({s}) (s - {s})| <= B (s - {s})^2, B = {bounds['curvature']}", True
        yield f"|f(s) - f({s})| <= Lambda |s - {s}|, Lambda = {bounds['chord']}", True
        yield f"nu({s}) <= n = {bounds['deviation']}", True
        yield f"nu(s) <= nu({s}) + delta |s - {s}|, delta = {bounds['growth']}", True
    yield f"K = {proof['top']}, N = {start}; E X_l^j <= H_{{l,j}} d^(-j/2) for even j, every d >= N and all widths >= d:", False
    yield from ((text, False) for text in (_STEP if depth else ()))
    for layer, moments in enumerate(proof["moments"]):
        why = "by the cumulants 2^(a-1) (a-1)! d_0^(1-a) of chi^2/d_0" if layer == 0 else f"by the step from layer {layer - 1}"
        for index, value in enumerate(moments, 1):
            yield f"E X_{layer}^{2 * index} <= {value} d^(-{index}), {why}", True
    k = found.power
    odd = f", as E|X|^{k} <= sqrt(E|X|^{k - 1} E|X|^{k + 1})" if k % 2 else ""
    sizes = f"for every d >= {start} and all widths >= d{odd}"
    yield f"E ||x_{depth}|^2 - sigma_{depth}|^{k} <= {found.constant} d^({Fraction(-k, 2)}) {sizes}", True


_NETWORK = "x_0 ~ N(0, I/d_0), x_{l+1} = phi(W_{l+1} x_l)/sqrt(d_{l+1}), entries of all W iid N(0, 1)"
_NORMS = "S_l = |x_l|^2, f(s) = E phi(sqrt(s) Z)^2, sigma_0 = 1, sigma_{l+1} = f(sigma_l), X_l = S_l - sigma_l"
_STEP = (
    "Given S_l, X_{l+1} = g(X_l) + M with g(x) = f(sigma_l + x) - f(sigma_l) and M the mean of d_{l+1} independent copies of "
    "phi(sqrt(S_l) Z)^2 - f(S_l), which lie in [-R, R] and have mean 0 and variance nu(S_l)^2.",
    "h_0 = 1, h_r = H_{l,r} for even r, h_r = sqrt(h_{r-1} h_{r+1}) for odd r: E|X_l|^r <= h_r d^(-r/2).",
    "gamma_0 = 1, gamma_r = min(Lambda^r h_r, (alpha h_r^(1/r) + B h_{2r}^(1/r) N^(-1/2))^r), the second only where 2 r <= K: "
    "E|g(X_l)|^r <= gamma_r d^(-r/2), by Minkowski.",
    "w_{p,m} = min((R/2)^(2m) gamma_p, sum_{u=0}^{2m} C(2m, u) n^(2m-u) delta^u N^(-u/2) gamma_{p+u}^(p/(p+u)) h_{p+u}^(u/(p+u))): "
    "E|g(X_l)|^p nu(S_l)^(2m) <= w_{p,m} d^(-p/2), by Hoelder.",
    "H_{l+1,j} = gamma_j + sum_{i=2}^j C(j, i) sum_pi c(pi) N^(m-i/2) R^(i-2m) w_{j-i,m}, over the partitions pi of i into m "
    "parts, all >= 2, c(pi) the number of partitions of a set of i elements into parts of these sizes.",
)


def _digamma(found: Certificate) -> Iterator[Text]:
    """The information gap of linear networks: section 3.1 of the format."""
    depth, start = found.depth, found.start
    yield from ((text, False) for text in _learning(found))
    yield "I_n^(0) - I_n^(L) = KL(P_Y | N(0, K + Delta)) >= 0, as Y has the covariance of the linear model given the inputs", True
    yield "I_n^(0) - I_n^(L) <= -(1/2) sum_i E log(1 - r_i + r_i t), as the entropy of Y is at least that given t", True
    yield "-E log(1 - r_i + r_i t) <= -r_i E log t, as log is concave", True
    yield "-E log t = sum_l (log(d_l/2) - psi(d_l/2)) <= sum_l (1/d_l + 1/(3 d_l^2)), by Binet", True
    yield "(1/n) E sum_i r_i <= g/(g + Delta), as r is concave in lambda and (1/n) E sum_i lambda_i = g", True
    bound = f"({depth}/2) (1 + 1/(3 {start})) g/(g + Delta) d^(-1) <= {found.constant} d^(-1)"
    yield f"|I_n^(L) - I_n^(0)|/n <= {bound} for every n and every d >= {start}, all widths >= d", True


def _poincare(found: Certificate) -> Iterator[Text]:
    """The variance of the free entropy of linear networks and of the linear model: sections 3.2 and 3.3 of the format."""
    depth, start = found.depth, found.start
    yield from ((text, False) for text in _learning(found))
    if found.least is not None:
        yield "Var(log Z^(0)) = n/2 + Var((1/2) log det(I + K/Delta))", True
        yield "Var((1/2) log det(I + K/Delta)) <= g/(4 Delta), by the Gaussian Poincare inequality for X", True
        yield f"{found.least} n^(-1) <= Var((1/n) log Z^(0)) <= {found.constant} n^(-1) for every n >= {start}", True
        return
    yield (
        "Given X, y_i = sqrt(t lambda_i + Delta) e_i in the eigenbasis of K, e ~ N(0, I_n), t_l = |u_l|^2/d_l, u_l ~ N(0, I).",
        False,
    )
    yield "Var(log Z | X) <= E |e|^2 M^2 + sum_l E |e|^4 M^2/|u_l|^2, M = max(1, t) E(max(1, 1/t') | Y), by Poincare", True
    yield "E |e|^2 M^2 <= sqrt(n (n + 2) E max(1, t)^4 E max(1, 1/t)^4), as t' has the law of t (Nishimori)", True
    yield "E |e|^4 M^2/|u_l|^2 <= sqrt(n (n + 2)(n + 4)(n + 6) E (max(1, t)^4/|u_l|^4) E max(1, 1/t)^4)", True
    yield f"E max(1, t)^4 <= A = 1 + (m_4 - 1 + sqrt(v))/2, v = m_8 - 2 m_4 + 1, m_j = prod_{{i<j}} (1 + 2i/{start})^{depth}", True
    yield f"E max(1, 1/t)^4 <= B = 1 + (k_4 - 1 + sqrt(k_8 - 2 k_4 + 1))/2, k_j = prod_{{i<=j}} (1 - 2i/{start})^(-{depth})", True
    yield f"d_l^2 E max(1, t)^4/|u_l|^4 <= D = i_2 + sqrt(i_4 v), i_j = prod_{{i<=j}} (1 - 2i/{start})^(-1)", True
    yield "sqrt(Var(E(log Z | X))) <= sqrt(g/(4 Delta)) + (n/4) sum_l (1/d_l + 1/(3 d_l^2))", True
    yield f"Var((1/n) log Z) <= {found.constant} d^(-1) for every d >= {start}, n and all widths >= d", True


def _learning(found: Certificate) -> Iterator[str]:
    noise, largest = found.proof["noise"], found.proof.get("range")
    yield f"phi(x) = {found.activation}."
    yield f"Y = a . x_L + sqrt(Delta) Z for n inputs x_0 ~ N(0, I/d_0); Delta = {noise}, L = {found.depth}."
    if largest is None:
        yield "Given the inputs X, Y is N(0, t K + Delta): t = prod_l t_l, t_l = chi_{d_l}^2/d_l, K = g X^T X,"
        yield "g = b^(2L) with phi(x) = b x."
    else:
        yield f"The linear model has K = eta_0^2 X^T X, noise at least Delta, and eta_0^2 <= sigma_L <= g = {largest} >= phi^2."
    yield "lambda_i are the eigenvalues of K and r_i = lambda_i/(lambda_i + Delta)."


WRITERS: dict[str, Callable[[Certificate], Iterator[Text]]] = {
    "comparison": _comparison,
    "digamma": _digamma,
    "poincare": _poincare,
}
"""What writes the lines of a method of certificates."""
