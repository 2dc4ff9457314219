r"""Proofs for every size as derivations: each line one inequality with its numbers, for a terminal and for an appendix.

A derivation is written once, in the plain mathematics of statements, and shown as it is or as LaTeX.  It has all that a reader
needs to verify it with a program of his own: the format of certificates says the same with the lemmas in full.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import prod
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
    """An instance that has no proof: of which claim, and the sentence that says why and what would do.

    ``breaks`` is the size at which the claim is false; ``failed`` says that an error ended the search, which tells nothing of it.
    """

    claim: str
    instance: Mapping[str, Any]
    reason: str
    breaks: int | None = None
    failed: bool = False


@renders("derivation")
def derivation(proof: Proof, style: Style | None = None, *, false: bool = False) -> str:
    """Return a proof for a terminal: what is proved, each inequality with its numbers, and how it was found and checked.

    ``false`` says that it is declared to be a falsehood.
    """
    style = style or Style()
    word, color = ("PROVED, though declared a falsehood", "bad") if false else ("PROVED", "good")
    lines = [style.paint(line, color) for line in wrap(f"{word}: {title(proof)}", style.width, rest="  ")]
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
    least = "" if scope.least is None else f" and at least {_times(scope.least, proof)}"
    sizes = f"for every {clean(scope.base)} >= {size_text(scope.start)}"
    return f"{what}{clean(proof.quantity)} <= {_times(scope.constant, proof)}{least} {sizes}"


def _times(constant: Decimal, proof: Proof) -> str:
    return f"{constant}" if proof.rate == "1" else f"{constant} * ({clean(proof.rate)})"


def refusal(refused: Refusal, style: Style | None = None) -> str:
    """Return why an instance has no proof, for a terminal."""
    style = style or Style()
    instance = instance_text(refused.instance)
    name = f"{clean(refused.claim)} ({instance})" if instance else clean(refused.claim)
    word, color = ("REFUTED", "bad") if refused.breaks is not None else ("NOT PROVED", "open")
    if refused.failed:
        word, color = "ERROR", "bad"
    return "\n".join(style.paint(line, color) for line in wrap(f"{word}: {name}: {clean(refused.reason)}", style.width, rest="  "))


def summary(proofs: Sequence[Proof], refused: Sequence[Refusal], false: Collection[str] = ()) -> str:
    """Say how many instances are proved; ``false`` are the claims that are declared to be falsehoods."""
    broken = [each.claim in false for each in refused if each.breaks is not None]
    parts = [f"{len(proofs)} of {counted(len(proofs) + len(refused), 'instance')} proved for every size"]
    wrong = sum(proof.claim in false for proof in proofs)
    parts += [f"{wrong} of them declared to be {'a falsehood' if wrong == 1 else 'falsehoods'}"] if wrong else []
    parts += [f"{broken.count(False)} broken at a size"] if False in broken else []
    parts += [f"{broken.count(True)} refuted at a size as declared"] if True in broken else []
    failed = sum(each.failed for each in refused)
    parts += [f"{failed} ended by an error"] if failed else []
    return f"{', '.join(parts)}."


_TOP = f"""% Proofs for every size, found and verified with theoryck.
% Compiles as it is; in a paper: \\input this file.  The preamble needs {" ".join(PACKAGES)}
"""


def render_latex(proofs: Sequence[Proof]) -> str:
    r"""Return proofs as a LaTeX file for an appendix, one paragraph each; ``\input`` reads it into a paper."""
    return "\n".join([_TOP + STANDALONE, *map(_latex_of, proofs), BOTTOM, ""])


_LOOSE = r"\raggedright\emergencystretch=4em\relpenalty=0\binoppenalty=0"  # formulas break at relations and signs


def _latex_of(proof: Proof) -> str:
    instance = f"({escape(instance_text(proof.instance))})" if proof.instance else ""
    name = f"{code(clean(proof.claim)) if proof.claim else ''} {instance}".strip() or "Proof"
    scope = proof.scope
    sizes = latex(f"for every {clean(scope.base)} >= {size_text(scope.start)}")
    rate = latex(clean(proof.rate))
    least = "" if scope.least is None else f" and at least ${scope.least}$"
    bound = f"is at most ${scope.constant}${least} times {rate}, {sizes}"
    lines = [rf"\paragraph{{{name}.}} {escape(clean(proof.quantity))} {bound}."]
    lines.append(r"\begin{itemize}\setlength{\itemsep}{0pt}" + _LOOSE)
    lines += [rf"  \item[{f'({line.step})' if line.step else ''}] {latex(line.text)}" for line in lines_of(proof)]
    lines += [r"\end{itemize}", "Each line was verified in ball arithmetic by a program that shares no code with the finder.", ""]
    return "\n".join(lines)


def lines_of(proof: Proof) -> Iterator[Line]:
    """Yield the lines of the derivation, its inequalities numbered."""
    certificate, step = proof.certificate, 0
    write = WRITERS.get((certificate.quantity, certificate.method), _anything)
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
        least = "" if scope.least is None else f" and at least {_times(scope.least, proof)}"
        bound = f"{_times(scope.constant, proof)}{least} for every {clean(scope.base)} >= {size_text(scope.start)}"
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
    yield from _norms(found, {})
    yield _norm_result(found), True


def _two_sided(found: Certificate) -> Iterator[Text]:
    """The method "two-sided" of norm deviations: section 5 of the format."""
    k = found.power
    yield from _norms(found, _FROM_BELOW)
    yield f"Where all widths are equal to d, E X_l^2 >= q_l d^(-1) for every d >= {found.start}:", False
    yield from ((text, False) for text in (_SQUARES if found.depth else ()))
    for layer, value in enumerate(found.proof["squares"]):
        why = "as E X_0^2 = 2/d" if layer == 0 else f"by the step from layer {layer - 1}"
        yield f"E X_{layer}^2 >= q_{layer} d^(-1), q_{layer} = {value}, {why}", True
    yield _norm_result(found), True
    jensen = f", as E|X|^{k} >= (E X^2)^({Fraction(k, 2)}) by Jensen" if k > 2 else ""
    yield f"{_deviation(found)} >= {found.least} {_rate(found)} for every d >= {found.start} where all widths are d{jensen}", True


def _expansion(found: Certificate) -> Iterator[Text]:
    """The method "expansion" of norm deviations: section 9 of the format."""
    k, depth, proof, sizes = found.power, found.depth, found.proof, f"for every d >= {found.start}"
    (low, high), (half, whole) = found.limit or ("", ""), found.remainder or ("", "")
    yield from _norms(found, _CURVED)
    yield "v_0 = 2, v_{l+1} = f'(sigma_l)^2 v_l + nu(sigma_l)^2: d E X_l^2 tends to v_l where all widths are d.", False
    yield f"v_- <= v_{depth} <= v_+, v_- = {low}, v_+ = {high}", True
    yield f"{sizes.capitalize()} and all widths >= d, K_{{l,0}} = U_{{l,0}} = 0:", False
    yield "|E X_l^j| <= K_{l,j} d^(-(j+1)/2) for odd j,", False
    yield "E X_l^j <= (j-1)!! v_l^(j/2) d^(-j/2) + U_{l,j} d^(-(j+1)/2) + K_{l,j} d^(-j/2-1) for even j,", False
    yield "and at least the same with - U and - K in the place of U and K where all widths are d.", False
    yield from ((text, False) for text in _expansion_step(proof))
    for layer, (odd, even) in enumerate(zip(proof["odd"], proof["even"], strict=True)):
        why = f"by the step from layer {layer - 1}" if layer else "by the cumulants 2^(a-1) (a-1)! d_0^(1-a) of chi^2/d_0"
        for j, value in zip(range(1, 2 * len(odd), 2), odd, strict=True):
            moment = f"X_{layer}" if j == 1 else f"X_{layer}^{j}"
            yield f"|E {moment}| <= K_{{{layer},{j}}} d^({-(j + 1) // 2}), K_{{{layer},{j}}} = {value}, {why}", True
            why = "likewise"
        for j, (u, v) in zip((k,) if layer == depth else range(2, 2 * len(even) + 1, 2), even, strict=True):
            root = "" if u == "0" else f"U_{{{layer},{j}}} d^({Fraction(-j - 1, 2)}) + "
            values = f"K_{{{layer},{j}}} = {v}" if u == "0" else f"U_{{{layer},{j}}} = {u}, K_{{{layer},{j}}} = {v}"
            rest = f"{root}K_{{{layer},{j}}} d^({-j // 2 - 1}), {values}, {why}"
            yield f"|E X_{layer}^{j} - {_leading(f'v_{layer}', j)}| <= {rest}", True
            why = "likewise"
    rests = ["", *([f"{half} d^({Fraction(-k - 1, 2)})"] if half != "0" else []), f"{whole} d^({-k // 2 - 1})"]
    above, below = _leading("v_+", k), _leading("v_-", k)
    yield f"{_deviation(found)} <= {above}{' + '.join(rests)} {sizes} and all widths >= d", True
    yield f"{_deviation(found)} >= {below}{' - '.join(rests)} {sizes} where all widths are d", True
    yield _norm_result(found), True
    yield f"{_deviation(found)} >= {found.least} {_rate(found)} {sizes} where all widths are d", True


def _leading(variance: str, j: int) -> str:
    """The moment of order j of a Gaussian of this variance over d."""
    return f"{variance} d^(-1)" if j == 2 else f"{prod(range(1, j, 2))} {variance}^{j // 2} d^({-j // 2})"


def _expansion_step(proof: Mapping[str, Any]) -> Iterator[str]:
    layers, grows = len(proof["moments"]), "growth" in proof
    if layers == 1:  # with more layers the step of the moments says it
        yield from (_GROWTH_STEP[::2] if grows else _STEP[:1])
    parts = "the product of (n_a + m_a y)^a over the parts a of pi" if grows else "R^(i-2m) V^m"
    yield from (text.replace("PARTS", parts) for text in (_EXPANSION if layers else ()))


def _overlaps(found: Certificate) -> Iterator[Text]:
    """The method "comparison" of overlaps: section 4 of the format."""
    depth, k = found.depth, found.power
    yield from _norms(found, _OF_TWO)
    yield "x'_0 is independent of x_0 and passes through the same network; C_l = x_l . x'_l; phi is odd.", False
    yield f"E C_l^j <= G_{{l,j}} d^(-j/2) for even j, every d >= {found.start} and all widths >= d:", False
    yield from ((text, False) for text in _OVERLAP_STEP)
    yield from _moments("C", "G", found.proof["overlaps"], "as C_0 given x_0 is N(0, S_0/d_0)")
    odd = f", as E|C|^{k} <= sqrt(E|C|^{k - 1} E|C|^{k + 1})" if k % 2 else ""
    sizes = f"for every d >= {found.start} and all widths >= d{odd}"
    yield f"E |x_{depth} . x'_{depth}|^{k} <= {found.constant} {_rate(found)} {sizes}", True


def _product(found: Certificate) -> Iterator[Text]:
    """The method "product" of norm deviations: section 6 of the format."""
    depth, k, rate = found.depth, found.power, _rate(found)
    yield f"{_NETWORK}, phi(x) = {found.activation}.", False
    yield from ((text, False) for text in _PRODUCT)
    sizes = f"N = {found.start}; for every d >= N and all widths >= d"
    yield f"{sizes} |E P_l^j| <= p_{{l,j}} d^(-j/2), p_{{l,0}} = 1, p_{{l,1}} = 0:", False
    for layer, moments in enumerate(found.proof["moments"]):
        for j, value in enumerate(moments, 2):
            why = "likewise" if j > 2 else f"by the step from layer {layer - 1}" if layer else "by the cumulants of Z^2"
            yield f"|E P_{layer}^{j}| <= p_{{{layer},{j}}} d^({Fraction(-j, 2)}), p_{{{layer},{j}}} = {value}, {why}", True
    mean = f"p_{{{depth},{k}}}" if k % 2 == 0 else f"sqrt(p_{{{depth},{k - 1}}} p_{{{depth},{k + 1}}})"
    sizes = f"for every d >= {found.start} and all widths >= d"
    yield f"{_deviation(found)} <= q^{depth * k} {mean} {rate} <= {found.constant} {rate} {sizes}", True
    if found.least is not None:
        yield from ((text, False) for text in _PRODUCT_LEAST)
        mean = f"p'_{{{depth},{k}}}" if k % 2 == 0 else f"p'_{{{depth},2}}^({Fraction(k, 2)})"
        sizes = f"for every d >= {found.start} where all widths are d"
        yield f"{_deviation(found)} >= q^{depth * k} {mean} {rate} >= {found.least} {rate} {sizes}", True
        yield from ((text, False) for text in (_product_rest(found) if k % 2 == 0 else ()))


def _product_rest(found: Certificate) -> Iterator[str]:
    """What both sides say of the second order: polynomials in 1/d without negative coefficients are convex."""
    k, start, least = found.power, found.start, Decimal(found.least or 0)
    rest = Context(prec=7, rounding=ROUND_CEILING).multiply(Decimal(found.constant) - least, start)
    limit = (
        f"d^({k // 2}) {_deviation(found)} is a polynomial in 1/d without negative coefficients, convex, and tends to v >= {least}"
    )
    yield f"There {limit}: it is at most v + N (C - v)/d, C = {found.constant}, for d >= N."
    sizes = f"for every d >= {start} where all widths are d"
    yield f"So |{_deviation(found)} - v {_rate(found)}| <= K d^({-k // 2 - 1}), K = N (C - {least}) = {rest}, {sizes}."


def _polynomial(found: Certificate) -> Iterator[Text]:
    """The method "polynomial" of norm deviations: section 8 of the format."""
    start, k = found.start, found.power
    yield f"{_NETWORK}, phi(x) = {found.activation}.", False
    yield from ((text, False) for text in _POLYNOMIAL)
    mean = "p_k" if k % 2 == 0 else "sqrt(p_{k-1} p_{k+1})"
    sizes = f"for every d >= {start} and all widths >= d, k = {k}, N = {start}"
    yield f"{_deviation(found)} <= {mean} {_rate(found)} <= {found.constant} {_rate(found)} {sizes}", True
    if found.least is not None:
        yield (
            "Where all t_l = t, E X_L^k = sum b_m t^m, at least t^(k/2) times b_{k/2} + sum_{m>k/2} min(b_m, 0) N^(k/2-m).",
            False,
        )
        yield f"{_deviation(found)} >= {found.least} {_rate(found)} for every d >= {start} where all widths are d", True


def _norms(found: Certificate, more: Mapping[str, str]) -> Iterator[Text]:
    """What all comparisons have: the range, the layers with ``more`` inequalities, and the moments of norms."""
    proof = found.proof
    yield f"{_NETWORK}, phi(x) = {found.activation}.", False
    yield f"{_NORMS}, nu(s)^2 = E (phi(sqrt(s) Z)^2 - f(s))^2.", False
    if "growth" in proof:
        for (flat, steep), side, prime in zip(proof["growth"], ("x >= 0", "x <= 0"), ("0", "1"), strict=True):
            yield f"phi(x)^2 <= A_{prime} + B_{prime} x^2 for every {side}, A_{prime} = {flat}, B_{prime} = {steep}", True
    else:
        yield f"phi(x)^2 <= R = {proof['range']} for every real x", True
    for layer, bounds in enumerate(proof["layers"]):
        s = f"sigma_{layer}"
        yield f"Layer {layer}: {s} = {bounds['centre']} to one unit of its last digit, and for every s >= 0", False
        for key, text in {**_LAYER, **more}.items():
            yield text.replace("S_L", s).replace("NEXT", f"sigma_{layer + 1}").replace("VALUE", bounds[key]), True
    if not proof["moments"]:
        return
    sizes = f"K = {proof['top']}, N = {found.start}"
    yield f"{sizes}; E X_l^j <= H_{{l,j}} d^(-j/2) for even j, every d >= N and all widths >= d:", False
    yield from ((text, False) for text in ((_ROOTS,) if found.depth else ()))
    step = _GROWTH_STEP if "growth" in proof else _STEP
    yield from ((text, False) for text in (step if len(proof["moments"]) > 1 else ()))
    yield from _moments("X", "H", proof["moments"], "by the cumulants 2^(a-1) (a-1)! d_0^(1-a) of chi^2/d_0")


def _moments(name: str, value: str, lists: Sequence[Sequence[str]], why: str) -> Iterator[Text]:
    """The lines E X_l^j <= H_{l,j} d^(-j/2), j = 2, 4, ..., of each layer: X is ``name``, H is ``value``, ``why`` at the first."""
    for layer, moments in enumerate(lists):
        for index, number in enumerate(moments, 1):
            reason = "likewise" if index > 1 else f"by the step from layer {layer - 1}" if layer else why
            bound = f"{value}_{{{layer},{2 * index}}}"
            yield f"E {name}_{layer}^{2 * index} <= {bound} d^(-{index}), {bound} = {number}, {reason}", True


def _rate(found: Certificate) -> str:
    return f"d^({Fraction(-found.power, 2)})"


def _deviation(found: Certificate) -> str:
    return f"E ||x_{found.depth}|^2 - sigma_{found.depth}|^{found.power}"


def _norm_result(found: Certificate) -> str:
    k = found.power
    odd = f", as E|X|^{k} <= sqrt(E|X|^{k - 1} E|X|^{k + 1})" if k % 2 else ""
    return f"{_deviation(found)} <= {found.constant} {_rate(found)} for every d >= {found.start} and all widths >= d{odd}"


_NETWORK = "x_0 ~ N(0, I/d_0), x_{l+1} = phi(W_{l+1} x_l)/sqrt(d_{l+1}), entries of all W iid N(0, 1)"
_NORMS = "S_l = |x_l|^2, f(s) = E phi(sqrt(s) Z)^2, sigma_0 = 1, sigma_{l+1} = f(sigma_l), X_l = S_l - sigma_l"
_LAYER = {
    "slope": "|f'(S_L)| <= alpha = VALUE",
    "curvature": "|f(s) - f(S_L) - f'(S_L) (s - S_L)| <= B (s - S_L)^2, B = VALUE",
    "chord": "|f(s) - f(S_L)| <= Lambda |s - S_L|, Lambda = VALUE",
    "deviation": "nu(S_L) <= n = VALUE",
    "growth": "nu(s) <= nu(S_L) + delta |s - S_L|, delta = VALUE",
}
"""The inequality of each number of a layer, sigma_l as S_L."""
_FROM_BELOW = {
    "slope-least": "|f'(S_L)| >= alpha_0 = VALUE",
    "deviation-least": "nu(S_L) >= n_0 = VALUE",
    "fall": "nu(s) >= nu(S_L) - delta_0 |s - S_L|, delta_0 = VALUE",
}
_CURVED = {
    "bend": "|f''(S_L)| <= beta = VALUE",
    "third": "|f(s) - f(S_L) - f'(S_L) (s - S_L) - f''(S_L) (s - S_L)^2/2| <= T |s - S_L|^3, T = VALUE",
    "tilt": "|mu'(S_L)| <= eta = VALUE, mu(s) = nu(s)^2",
    "sway": "|mu(s) - mu(S_L) - mu'(S_L) (s - S_L)| <= P (s - S_L)^2, P = VALUE",
}
_OF_TWO = {
    "image": "NEXT <= iota = VALUE",
    "squared": "r(S_L)^2 <= alpha_1 = VALUE, r(s) = E phi'(sqrt(s) Z)",
    "tilt": "r(s)^2 <= r(S_L)^2 + delta_1 |s - S_L|, delta_1 = VALUE",
    "ratio": "f(s) <= kappa_0 s, kappa_0 = VALUE",
    "rest": "f(s) - s r(s)^2 <= kappa_1 s, kappa_1 = VALUE",
}
_ROOTS = "h_0 = 1, h_r = H_{l,r} for even r, h_r = sqrt(h_{r-1} h_{r+1}) for odd r: E|X_l|^r <= h_r d^(-r/2)."
_STEP = (
    "Given S_l, X_{l+1} = g(X_l) + M with g(x) = f(sigma_l + x) - f(sigma_l) and M the mean of d_{l+1} independent copies of "
    "phi(sqrt(S_l) Z)^2 - f(S_l), which lie in [-R, R] and have mean 0 and variance nu(S_l)^2.",
    "gamma_0 = 1, gamma_r = min(Lambda^r h_r, (alpha h_r^(1/r) + B h_{2r}^(1/r) N^(-1/2))^r), the second only where 2 r <= K: "
    "E|g(X_l)|^r <= gamma_r d^(-r/2), by Minkowski.",
    "w_{p,m} = min((R/2)^(2m) gamma_p, sum_{u=0}^{2m} C(2m, u) n^(2m-u) delta^u N^(-u/2) gamma_{p+u}^(p/(p+u)) h_{p+u}^(u/(p+u))): "
    "E|g(X_l)|^p nu(S_l)^(2m) <= w_{p,m} d^(-p/2), by Hoelder.",
    "H_{l+1,j} = gamma_j + sum_{i=2}^j C(j, i) sum_pi c(pi) N^(m-i/2) R^(i-2m) w_{j-i,m}, over the partitions pi of i into m "
    "parts, all >= 2, c(pi) the number of partitions of a set of i elements into parts of these sizes.",
)

_GROWTH_STEP = (
    "Given S_l, X_{l+1} = g(X_l) + M with g(x) = f(sigma_l + x) - f(sigma_l) and M the mean of d_{l+1} independent copies of "
    "Y - f(S_l), Y = phi(sqrt(S_l) Z)^2.",
    _STEP[1],
    "z_a = ((2a-1)!!)^(1/a), |A|_a = (A_0^a + A_1^a)^(1/a), |B|_a likewise; n_2 = n, m_2 = delta, and for a >= 3 "
    "m_a = z_a |B|_a, n_a = |A|_a + sigma m_a, sigma the largest sigma_l that its digits leave: |E (Y - f(S_l))^a| <= "
    "(n_a + m_a |X_l|)^a, as it is at most 2 E Y^a.",
    "H_{l+1,j} = gamma_j + sum_{i=2}^j C(j, i) sum_pi c(pi) N^(m-i/2) sum_{u=0}^i e_u N^(-u/2) gamma_{j-i+u}^((j-i)/(j-i+u)) "
    "h_{j-i+u}^(u/(j-i+u)), sum e_u y^u = prod (n_a + m_a y)^a over the parts a of pi, over the partitions pi of i into m "
    "parts, all >= 2, c(pi) the number of partitions of a set of i elements into parts of these sizes.",
)
_SQUARES = (
    "q_{l+1} = (alpha_0 q_l^(1/2) - B h_4^(1/2) N^(-1/2))_+^2 + (n_0 - delta_0 h_1 N^(-1/2))_+^2, (y)_+ = max(y, 0).",
    "By Minkowski |g|_2 >= alpha_0 |X_l|_2 - B |X_l^2|_2, and E nu(S_l)^2 >= (E nu(S_l))^2, E nu(S_l) >= n_0 - delta_0 E|X_l|.",
)
_EXPANSION = (
    "G = alpha y + B y^2 and F = alpha y + (beta/2) y^2 + T y^3 bound |g(X_l)|, and V = n^2 + eta y + P y^2 bounds mu(S_l), for "
    "y = |X_l|.  Of a polynomial A of y, [A]_q = sum_{r>=q} a_r h_r N^(-(r-q)/2): the terms of degrees >= q have a mean of at "
    "most [A]_q d^(-q/2).",
    "For a partition pi of i into m parts, all >= 2, Q = PARTS, and c(pi) is the number of partitions of a set of i elements into "
    "parts of these sizes; p = j - i, and (-1)!! = 1.",
    "Odd j: K_{l+1,j} = sum over i = 2m = 0, 2, ..., j-1 of C(j, i) (2m-1)!! (alpha^p n^(2m) K_{l,p} + [G^p V^m]_{p+1}), plus the "
    "sum over i = 3, ..., j and pi with m <= (i-1)/2 of C(j, i) c(pi) N^(m-(i-1)/2) [G^p Q]_p.",
    "Even j: K_{l+1,j} = sum over i = 2m = 0, 2, ..., j of C(j, i) (2m-1)!! (alpha^p n^(2m) K_{l,p} + e K_{l,p+1} + "
    "[F^p V^m]_{p+2} + C(m, 2) [G^p V^m]_p), e the coefficient of y^(p+1) in F^p V^m, plus the sum over i = 4, ..., j and pi with "
    "m <= (i-2)/2 of C(j, i) c(pi) N^(m-(i-2)/2) [G^p Q]_p.",
    "U_{l+1,j} = sum over i = 2m = 0, 2, ..., j of C(j, i) (2m-1)!! alpha^p n^(2m) U_{l,p}, plus the sum over i = 3, 5, ..., j-1 "
    "and pi with m = (i-1)/2 of C(j, i) c(pi) [G^p Q]_p.",
    "For X_{l+1}^j = sum_i C(j, i) g^(j-i) M^i, and the terms of g^p mu(S_l)^m that lead are f'(sigma_l)^p mu(sigma_l)^m X_l^p: "
    "their means add up to (j-1)!! v_{l+1}^(j/2) d^(-j/2).",
)
_OVERLAP_STEP = (
    "t_0 = 1, t_r = G_{l,r} for even r, t_r = sqrt(t_{r-1} t_{r+1}) for odd r: E|C_l|^r <= t_r d^(-r/2).  tau is 1 over the "
    "least sigma_l that its digits leave, and X'_l = |x'_l|^2 - sigma_l has the law of X_l.",
    "G_{0,j} = (j-1)!! prod_{u=0}^{j/2-1} (1 + 2 u/N).",
    "c_r = kappa_0^r t_r where 2 r > K, else min(kappa_0^r t_r, (alpha_1 t_r^(1/r) + delta_1 (h_{2r} t_{2r})^(1/(2r)) N^(-1/2) "
    "+ e_r)^r): E|G|^r <= c_r d^(-r/2) for G = E(C_{l+1} | S_l, S'_l, C_l).",
    "e_r = 2 kappa_1 tau (t_{2r}^(1/r) + 2 (h_{2r} t_{2r})^(1/(2r))) N^(-1/2), or where 3 r <= K the smaller one of it and "
    "4 kappa_1 tau^2 (t_{3r}^(1/r) + 2 h_{3r}^(2/(3r)) t_{3r}^(1/(3r))) N^(-1).",
    "By Mehler G = sum a_j(S) a_j(S') rho^j over odd j, rho = C/sqrt(S S'), sum a_j(s)^2 = f(s): |G| <= kappa_0 |C|; the term "
    "j = 1 is r(S) r(S') C, the others are at most kappa_1 |C| rho^2, and rho^2 <= 4 tau^2 C^2 unless S or S' < sigma_l/2.",
    "b_t = 2 Lambda iota h_t^(1/t) + (Lambda^2 h_{2t}^(1/t) + R^2 tau^2 (t_{2t}^(1/t) + 2 h_{2t}^(1/t))) N^(-1/2): the terms "
    "phi(U) phi(V) have variance at most iota^2 + D, |D|_t <= b_t d^(-1/2).",
    "v_{p,m} = R^(2m) c_p where 2 (p + m) > K, else min(R^(2m) c_p, sum_{u=0}^m C(m, u) iota^(2(m-u)) N^(-u/2) "
    "c_{p+u}^(p/(p+u)) b_{p+u}^u).",
    "G_{l+1,j} = c_j + sum_{i=2}^j C(j, i) sum_pi c(pi) N^(m-i/2) (2 R)^(i-2m) v_{j-i,m}, over partitions as above.",
)
_PRODUCT = (
    "a = phi(1), b = -phi(-1): phi(x) = a x for x >= 0 and phi(x) = b x for x <= 0; q = (a^2 + b^2)/2, sigma_l = q^l.",
    "|x_l|^2 = q^l (1 + Y_0) (1 + Y_1) ... (1 + Y_l), P_l = |x_l|^2/q^l - 1, Y_0 = chi^2/d_0 - 1, Y_i the mean of d_i "
    "independent copies of W - 1, W = phi(Z)^2/q.",
    "The cumulants kappa_a of Z^2 are 2^(a-1) (a-1)!, those of W follow from E W^i = (2i-1)!! (a^(2i) + b^(2i))/(2 q^i).",
    "y_j = sum_pi c(pi) N^(m-j/2) prod |kappa_a|, over the partitions pi of j into m parts a, all >= 2, c(pi) the number of "
    "partitions of a set of j elements into parts of these sizes; y_0 = 1, y_1 = 0: |E Y^j| <= y_j d^(-j/2).",
    "p_{0,j} = y_j with the cumulants of Z^2; p_{l+1,j} = sum_{i=0}^j C(j, i) p_{l,i} sum_{u=0}^i C(i, u) N^(-u/2) y_{j-i+u} with "
    "those of W, as P_{l+1} = P_l (1 + Y) + Y.",
)
_POLYNOMIAL = (
    "E S_0^i = prod_{u=0}^{i-1} (1 + 2 u t_0), t_l = 1/d_l; given S_l = s, E S_{l+1}^i = sum_pi c(pi) t_{l+1}^(i-m) "
    "prod_{u=0}^{m-1} (1 - u t_{l+1}) prod M_a(s), M_a(s) = E phi(sqrt(s) Z)^(2a), a polynomial in s, over the partitions pi of i "
    "into m parts a >= 1, c(pi) the number of partitions of a set of i elements into parts of these sizes.",
    "So X_L = S_L - sigma_L has moments E X_L^j that are polynomials in t_0, ..., t_L; all terms have a degree of at least j/2.  "
    "p_j is the sum over the terms of max(c, 0) N^(j/2-m), c the coefficient and m the degree: E X_L^j <= p_j d^(-j/2).",
)
_PRODUCT_LEAST = (
    "No cumulant of orders up to k is negative, so that d^(k/2) E P_l^k is a polynomial in d^(-1/2) without negative coefficients "
    "where all widths are d: at least p'_{l,k}, what the formulas give for N = infinity, where m = j/2 and u = 0 are left.",
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


WRITERS: dict[tuple[str, str], Callable[[Certificate], Iterator[Text]]] = {
    ("norm-deviation", "comparison"): _comparison,
    ("norm-deviation", "two-sided"): _two_sided,
    ("norm-deviation", "expansion"): _expansion,
    ("norm-deviation", "product"): _product,
    ("norm-deviation", "polynomial"): _polynomial,
    ("overlap", "comparison"): _overlaps,
    ("information-gap", "digamma"): _digamma,
    ("free-entropy-variance", "poincare"): _poincare,
    ("linear-model-variance", "poincare"): _poincare,
}
"""What writes the lines of a quantity and method of certificates."""
