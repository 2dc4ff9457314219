"""Certificates: proofs of bounds for every size, as plain data that a separate program can verify.

A certificate is a statement and the inequalities that it follows from.  Whoever verifies one needs this text, the data, and no code
of the program that found it.  Every number is a decimal string (exact as written), every count a JSON integer; there are no floats.

1. The statement
----------------
    x_0 ~ N(0, I/d_0),  x_(l+1) = phi(W_(l+1) x_l)/sqrt(d_(l+1)),  entries of all W iid N(0, 1).

``quantity`` "norm-deviation":  E| |x_L|^2 - sigma_L |^k <= C d^(-k/2) for every integer d >= N and all widths d_0, ..., d_L >= d;

    key         meaning
    format      1
    quantity    "norm-deviation"
    activation  phi, an expression of x: + - * /, integer and rational powers, the functions of the activation language
    depth       L >= 0
    power       k >= 1
    widths      "all widths >= d"
    from        N >= 1
    constant    C
    method      "comparison", which is section 2
    proof       an object whose keys the method defines

Notation.  S_l = |x_l|^2,  f(s) = E phi(sqrt(s) Z)^2,  sigma_0 = 1,  sigma_(l+1) = f(sigma_l),  X_l = S_l - sigma_l,
Y = phi(sqrt(s) Z)^2,  mu_a(s) = E (Y - f(s))^a,  nu = sqrt(mu_2).  Given S_l = s, S_(l+1) is the mean of d_(l+1) independent
copies of Y, so that

    X_(l+1) = g(X_l) + N,   g(x) = f(sigma_l + x) - f(sigma_l),   N = the mean of d_(l+1) independent copies of Y - f(S_l).

2. Method "comparison"
----------------------
``proof`` has exactly the keys "range", "top", "layers", "moments".

2.1 ``range``: a number R > 0 with  phi(x)^2 <= R  for every real x.

2.2 ``layers``: a list of L objects, the l-th (l = 0, ..., L-1) with exactly these keys; each inequality is for every real s >= 0

    centre      sigma_l, rounded: |sigma_l - centre| <= one unit of its last digit
    slope       alpha:   |f'(sigma_l)| <= alpha
    curvature   B:       |f(s) - f(sigma_l) - f'(sigma_l)(s - sigma_l)| <= B (s - sigma_l)^2
    chord       Lambda:  |f(s) - f(sigma_l)| <= Lambda |s - sigma_l|
    deviation   n:       nu(sigma_l) <= n
    growth      delta:   nu(s) <= nu(sigma_l) + delta |s - sigma_l|
    cells       [i, j], integers -60 <= i <= 0 <= j <= 60: where the three inequalities for every s were proved, see 2.4 (no bound)

alpha, B, Lambda, n, delta are each at least 1e-9 (a smaller one is written as 1e-9).  R and these five are each at most 1.005 times the
least number for which the inequality holds, for B, Lambda and delta the least one that it holds with and that the arguments of 2.4
near 0 and far out need with these cells: so that a number made 1% smaller is no longer proved.

2.3 ``top``: an even integer K >= k; ``moments``: L + 1 lists.  Entry i (i = 1, 2, ...) of list l is a number H_(l,2i) with

    E X_l^(2i) <= H_(l,2i) d^(-i)   for every d >= N and all widths >= d.

List l has K/2 entries for l < L; the last one has ceil(k/2) entries.  They follow from each other:

    Layer 0.  H_(0,j) >= sum over the partitions pi of j into m = m(pi) parts, all >= 2, of
                         c(pi) N^(m - j/2) prod_(a in pi) 2^(a-1) (a-1)!,
              c(pi) = j! / (prod_(a in pi) a!  prod of the factorials of the multiplicities of equal parts).
      Lemma.  chi^2_n/n has the cumulants kappa_a = 2^(a-1) (a-1)! n^(1-a), a >= 2; a central moment is the sum over partitions of
              c(pi) prod kappa_a, here c(pi) n^(m-j) prod 2^(a-1)(a-1)!; m <= j/2 and n = d_0 >= d >= N, so that
              n^(m-j) <= d^(-j/2) N^(m-j/2).

    h_r.      For a list H:  h_0 = 1,  h_r = H_r for even r,  h_r = sqrt(h_(r-1) h_(r+1)) for odd r, so that E|X|^r <= h_r d^(-r/2)
              (Cauchy-Schwarz).  r <= K throughout.

    gamma_r.  gamma_0 = 1, and for r = 1, ..., K with h_r of list l and alpha, B, Lambda of layer l
              gamma_r = Lambda^r h_r                                                        where 2r > K,
              gamma_r = min( Lambda^r h_r, (alpha h_r^(1/r) + B h_(2r)^(1/r) N^(-1/2))^r )  where 2r <= K.
      Lemma.  E|g(X_l)|^r <= gamma_r d^(-r/2): |g| <= Lambda |x|, and |g| <= alpha |x| + B x^2 with Minkowski's inequality,
              |X^2|_r = |X|_(2r)^2 <= h_(2r)^(1/r) d^(-1) <= h_(2r)^(1/r) N^(-1/2) d^(-1/2).

    w_(p,m).  For integers p, m >= 0 with p + 2m <= K
              w_(p,m) = min( (R/2)^(2m) gamma_p,
                             sum_(u=0..2m) C(2m, u) n^(2m-u) delta^u N^(-u/2) gamma_(p+u)^(p/(p+u)) h_(p+u)^(u/(p+u)) )
              (the term u = 0 is n^(2m) gamma_p).
      Lemma.  E |g(X_l)|^p nu(S_l)^(2m) <= w_(p,m) d^(-p/2): nu <= R/2 since 0 <= Y <= R, and nu <= n + delta |X_l|, with
              E |g|^p |X|^u <= (E|g|^(p+u))^(p/(p+u)) (E|X|^(p+u))^(u/(p+u)) by Hoelder's inequality.

    Step.     For even j (j <= K; j <= k rounded up to even where l + 1 = L)
              H_(l+1,j) >= gamma_j + sum_(i=2..j) C(j, i) sum over the partitions pi of i into m parts, all >= 2, of
                           c(pi) N^(m-i/2) R^(i-2m) w_(j-i,m).
      Lemma.  E[N^i | S_l] = sum over pi of c(pi) n(n-1)...(n-m+1) n^(-i) prod_(a in pi) mu_a(S_l), n = d_(l+1) (parts equal to 1
              vanish), so |E[N^i | S_l]| <= sum c(pi) d^(-i/2) N^(m-i/2) prod |mu_a|, and |mu_a| <= R^(a-2) mu_2 since |Y - f| <= R.
              Expand X_(l+1)^j = sum_i C(j, i) g^(j-i) N^i; the term i = 1 has mean 0.

    Result.   C >= h_k of the last list: H_(L,k) for even k, sqrt(H_(L,k-1) H_(L,k+1)) for odd k (with H_(L,0) = 1).

Each stated H and C is at least the number that these formulas give from the *stated* numbers before it (of the list before it, the
layer, R, K and N), and at most 1.000001 times that number: it can be computed from them, and so 1% of N is seen too.

2.4 One way to prove the inequalities for every s (another one is as good).  F is phi^2 (then M = R) or phi^4 (M = R^2).

    Series.   For c > 0 and |t| < 1:  E F(sqrt(c(1+t)) Z) = sum_(n>=0) f_n t^n,  f_n = E[F(sqrt(c) Z) He_(2n)(Z)]/(2^n n!), and
              |f_n| <= M/2 for n >= 1.  Indeed the density of sqrt(s) Z solves the heat equation, d/ds = (1/2) d^2/dx^2, and is
              analytic in s in the half-plane Re s > 0, where its modulus is integrable; |F - M/2| <= M/2, E He_(2n) = 0, and
              E|He_(2n)| <= sqrt((2n)!) <= 2^n n!.  Cut at n < m the series errs by at most (M/2) |t|^m/(1 - |t|).
              So f and E phi^4, hence mu_2 = E phi^4 - f^2, are polynomials up to tiny errors on the cells centred at
              c = sigma_l 2^i, [2c/3, 4c/3], which tile (0, oo); on the cell i = 0 the factors (s - sigma_l), (s - sigma_l)^2 of
              the left sides divide out exactly, f'(sigma_l) = f_1/sigma_l.
    Near 0.   For s <= s_0 and |x| <= 12 sqrt(s_0): f(s) differs from some value between min F and max F by at most 1e-32 M.
    Far.      0 <= f <= R and nu <= R/2.
              With x = s - sigma_l, G = max(sigma_(l+1), R - sigma_(l+1)): all three inequalities hold for every x >= x_1 > 0 with
              Lambda x_1 >= G,   B x_1^2 >= G + alpha x_1 (then also beyond, as x -> B x - alpha - G/x increases),
              nu(sigma_l) + delta x_1 >= R/2.
              Cells i to j of ``cells`` and these two arguments suffice, with s_0 = (2/3) 2^i sigma_l and
              x_1 = (4/3) 2^j sigma_l - sigma_l.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from theoryck.records.plain import Record

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Certificate(Record):
    """A proof that a quantity is at most ``constant`` d^(-``power``/2) for every d >= ``start``; the module defines every key.

    >>> statement = {"format": 1, "quantity": "norm-deviation", "activation": "tanh(x)", "depth": 0, "power": 2,
    ...     "widths": "all widths >= d", "from": 1, "constant": "2", "method": "comparison",
    ...     "proof": {"range": "1", "top": 2, "layers": [], "moments": [["2"]]}}
    >>> Certificate.from_json(statement).to_json() == statement
    True
    """

    quantity: str
    activation: str
    depth: int
    power: int
    start: int = field(metadata={"key": "from"})
    constant: str
    method: str
    proof: Mapping[str, Any]
    widths: str = "all widths >= d"
    format: int = FORMAT
