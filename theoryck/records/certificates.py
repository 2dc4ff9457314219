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
    method      "comparison", which is section 2 (with section 7 where phi is not bounded); others are in sections 5, 6, 8 and 9
    proof       an object whose keys the method defines
    least       absent, but for bounds from both sides: the quantity is at least this times d^(-k/2) where all sizes are equal to d
    limit, remainder    absent, but for section 9: v_-, v_+ and U, K of the first two orders

Notation.  S_l = |x_l|^2,  f(s) = E phi(sqrt(s) Z)^2,  sigma_0 = 1,  sigma_(l+1) = f(sigma_l),  X_l = S_l - sigma_l,
Y = phi(sqrt(s) Z)^2,  mu_a(s) = E (Y - f(s))^a,  nu = sqrt(mu_2).  Given S_l = s, S_(l+1) is the mean of d_(l+1) independent
copies of Y, so that

    X_(l+1) = g(X_l) + N,   g(x) = f(sigma_l + x) - f(sigma_l),   N = the mean of d_(l+1) independent copies of Y - f(S_l).

2. Method "comparison"
----------------------
phi is bounded, or else as in section 7.  ``proof`` has exactly the keys "range", "top", "layers", "moments".

2.1 ``range``: a number R > 0 with  phi(x)^2 <= R  for every real x.

2.2 ``layers``: a list of L objects, the l-th (l = 0, ..., L-1) with exactly these keys; each inequality is for every real s >= 0

    centre      sigma_l, rounded: |sigma_l - centre| <= one unit of its last digit
    slope       alpha:   |f'(sigma_l)| <= alpha
    curvature   B:       |f(s) - f(sigma_l) - f'(sigma_l)(s - sigma_l)| <= B (s - sigma_l)^2
    chord       Lambda:  |f(s) - f(sigma_l)| <= Lambda |s - sigma_l|
    deviation   n:       nu(sigma_l) <= n
    growth      delta:   nu(s) <= nu(sigma_l) + delta |s - sigma_l|
    cells       [i, j], integers -60 <= i <= 0 <= j <= 60: where the three inequalities for every s were proved, see 2.4 (no bound)

Natural sizes: that of alpha, Lambda and delta is u = sigma_(l+1)/sigma_l, that of B u/sigma_l, that of n sigma_(l+1).  Each of the
five is at least 1e-9 times its size (a smaller one is written as that, rounded up): phi and c phi have the same proof, whose
numbers differ by c^2.  R and these five are each at most 1.005
times the least number for which the inequality holds (R of a phi that oscillates for ever may be larger), for B, Lambda and delta
the least one that it holds with and that the arguments of 2.4 near 0 and far out need with these cells: so that a number made 1%
smaller is no longer proved.

2.3 ``top``: an even integer K, k <= K <= 40; ``moments``: L + 1 lists.  Entry i (i = 1, 2, ...) of list l is a number H_(l,2i) with

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

3. Linear networks that learn
-----------------------------
Y_mu = a . x_L(mu) + sqrt(Delta) Z_mu, mu = 1..n, for n independent inputs, with phi(x) = b x, b != 0 rational, and L >= 1.  Given
the inputs, X of shape (d_0, n) with columns x_0(mu), and t = t_1 ... t_L with t_l = chi^2_(d_l)/d_l independent, Y is
N(0, t K + Delta I), K = g X^T X, g = b^(2L): the scale of a . x_L is all that the weights leave.  Z = E_t N(Y; 0, t K + Delta I) is
the evidence.  The linear model, "(0)", has t = 1.  ``proof`` has the one key "noise", Delta > 0 as a decimal or a quotient of two
integers "p/q"; L and b are those of the statement.  ``power`` is 2: the bounds are C/d.  lambda_i >= 0 are the eigenvalues of K,
r_i = lambda_i/(lambda_i + Delta).  C is at most 1.000001 times the number that the formula gives.

3.1 ``quantity`` "information-gap", ``method`` "digamma", ``widths`` "all widths >= d":
    |I_n^(L) - I_n^(0)|/n <= C/d  for every n >= 1, d_0 >= 1, d >= N and all widths d_1, ..., d_L >= d, where
              C >= (L/2) (1 + 1/(3 N)) g/(g + Delta).
      Lemma.  t has mean 1, so Y has the covariance of the linear model, and I^(0) - I^(L) = KL(P_Y | N(0, K + Delta)) >= 0 is a
              difference of entropies.  The entropy of Y is at least that given t, so the gap is at most
              -(1/2) sum_i E log(1 - r_i + r_i t) <= -(1/2) sum_i r_i E log t, as log is concave.
              -E log(chi^2_d/d) = log(d/2) - psi(d/2) <= 1/d + 1/(3 d^2) (Binet: 0 <= log x - 1/(2x) - psi(x) <= 1/(12 x^2)).
              E (1/n) sum_i r_i <= g/(g + Delta): r is concave in lambda and E (1/n) sum_i lambda_i = g E|x_0|^2 = g.

3.2 ``quantity`` "free-entropy-variance", ``method`` "poincare", ``widths`` "samples and all widths >= d", N >= 17:
    Var((1/n) log Z) <= C/d  for every d_0 >= 1, d >= N, n >= d and all widths d_1, ..., d_L >= d.  With
              m_j = prod_(i=0..j-1) (1 + 2i/N)^L,  m_(-j) = prod_(i=1..j) (1 - 2i/N)^(-L),  i_j = prod_(i=1..j) (1 - 2i/N)^(-1),
              v = m_8 - 2 m_4 + 1,
              A = 1 + (m_4 - 1 + sqrt(v))/2,   B = 1 + (m_(-4) - 1 + sqrt(m_(-8) - 2 m_(-4) + 1))/2,   D = i_2 + sqrt(i_4 v),
              C >= sqrt(A B (1 + 2/N)) + L sqrt(D B (1 + 2/N)(1 + 4/N)(1 + 6/N))
                   + (sqrt(g/(4 Delta)) + (L/4)(1 + 1/(3 N)))^2/N.
      Lemma.  Given X, and in the eigenbasis of K, y_i = sqrt(t lambda_i + Delta) e_i with e ~ N(0, I_n), and t_l = |u_l|^2/d_l with
              u_l ~ N(0, I_(d_l)).  With t' from the posterior of t given Y,
              q_i = (t lambda_i + Delta) E[1/(t' lambda_i + Delta) | Y] <= M = max(1, t) E[max(1, 1/t') | Y]:
              d log Z/d e_i = -e_i q_i,   d log Z/d log t = -(1/2) sum e_i^2 q_i r_i(t),   |d log t/d u_l|^2 = 4/|u_l|^2,
              where r_i(t) = t lambda_i/(t lambda_i + Delta) <= 1.  By the Gaussian Poincare inequality
              Var(log Z | X) <= E |e|^2 M^2 + sum_l E |e|^4 M^2/|u_l|^2.
              t' has the law of t (Nishimori) and e is independent of t, so by Cauchy-Schwarz and Jensen
              E |e|^2 M^2 <= sqrt(E|e|^4 E max(1, t)^4 E max(1, 1/t)^4), likewise with |e|^8 and max(1, t)^4/|u_l|^4 for the others;
              E|e|^4 = n(n+2), E|e|^8 = n(n+2)(n+4)(n+6).
              max(1, t)^4, max(1, 1/t)^4, max(1, t)^4/t_l^2 are convex in every t_m, and chi^2_d/d decreases in d in convex order:
              the means are largest where all widths are N.  There (x)^+ = (x + |x|)/2 and E|x| <= sqrt(E x^2), or Cauchy-Schwarz,
              with E (chi^2_N/N)^j = prod_(i<j) (1 + 2i/N), E (chi^2_N/N)^(-j) = prod_(i=1..j) 1/(1 - 2i/N).
              Var_X E[log Z | X]: the entropy of Y given X lies at most (n/2) sum_l (1/d_l + 1/(3 d_l^2)) below that of the linear
              model (3.1), (1/2) log det(2 pi e (K + Delta)); half of that width bounds the deviation of the difference, and
              Var (1/2) log det(I + K/Delta) <= g/(4 Delta) by Poincare: with X = G/sqrt(d_0) and the eigenvalues mu_i of K/Delta
              the squared gradient of log det is (4 g/(Delta d_0)) sum mu_i/(1 + mu_i)^2 <= g min(n, d_0)/(Delta d_0).

3.3 ``quantity`` "linear-model-variance", ``method`` "poincare", ``widths`` "samples >= d":  the equivalent linear model alone,
    (1/2)/n <= Var((1/n) log Z^(0)) <= C/n  for every d_0 >= 1 and n >= N, where  C >= 1/2 + g/(4 Delta N).  ``least`` is "0.5".
    phi may be any function whose square is at most R: then ``proof`` has the key "range" too, R as in 2.1, and g = R.
      Lemma.  Given X, log Z^(0) is -|e|^2/2 less (1/2) log det(2 pi (K + Delta)): its variance is
              n/2 + Var (1/2) log det(I + K/Delta).
              For phi that is not linear K = eta_0^2 X^T X and the noise is Delta + gamma_0 >= Delta with
              eta_0^2 <= eta_0^2 + gamma_0 = sigma_L <= R.

4. Overlaps of two inputs
-------------------------
``quantity`` "overlap", ``method`` "comparison":  E|x_L . x'_L|^k <= C d^(-k/2) for every integer d >= N and all widths >= d, where
x_0 and x'_0 are independent and pass through the same network.  phi is odd.  The keys are those of section 1, depth L >= 1;
``proof`` has the keys of section 2 and "overlaps".  "range" and "top" are as in section 2; "moments" has the lists l = 0, ..., L-1
only, all with K/2 entries; each of "layers" has the keys of 2.2 and five more, with the rules of 2.2 (natural sizes: sigma_(l+1) of
iota, u/sigma_l of delta', u of the others):

    image       iota:    sigma_(l+1) <= iota
    squared     alpha':  r(sigma_l)^2 <= alpha',  where r(s) = E phi'(sqrt(s) Z) = E[Z phi(sqrt(s) Z)]/sqrt(s)
    tilt        delta':  r(s)^2 <= r(sigma_l)^2 + delta' |s - sigma_l|   for every s > 0
    ratio       kappa:   f(s) <= kappa s                                for every s > 0
    rest        kappa':  f(s) - s r(s)^2 <= kappa' s                    for every s > 0

``overlaps``: L + 1 lists, the l-th with numbers H'_(l,2i), E C_l^(2i) <= H'_(l,2i) d^(-i), C_l = x_l . x'_l: K/2 of them, ceil(k/2)
for l = L.  h_r is made of "moments" as in 2.3 and h'_r of "overlaps" in the same way.  X = |x_l|^2 - sigma_l and X' = |x'_l|^2 -
sigma_l have the same law; tau = 1/(centre - one unit of its last digit) >= 1/sigma_l.

    Layer 0.   H'_(0,j) >= (j-1)!! prod_(u=0..j/2-1) (1 + 2u/N).
      Lemma.   Given x_0, C_0 ~ N(0, S_0/d_0), and E S_0^i = prod_(u<i) (1 + 2u/d_0).

    gamma'_r.  gamma'_0 = 1; for r = 1, ..., K it is kappa^r h'_r where 2r > K, else the least of that and
               ( alpha' h'_r^(1/r) + delta' (h_(2r) h'_(2r))^(1/(2r)) N^(-1/2) + e_r )^r,
               e_r = 2 kappa' tau (h'_(2r)^(1/r) + 2 (h_(2r) h'_(2r))^(1/(2r))) N^(-1/2) where 3r > K, else the least of that and
               4 kappa' tau^2 (h'_(3r)^(1/r) + 2 h_(3r)^(2/(3r)) h'_(3r)^(1/(3r))) N^(-1).
      Lemma.   E|G|^r <= gamma'_r d^(-r/2) for G = E[C_(l+1) | S, S', C] = sum over odd n of a_n(S) a_n(S') rho^n,
               rho = C/sqrt(S S'), with the normalised Hermite coefficients a_n(s) of z -> phi(sqrt(s) z) (Mehler's formula);
               sum a_n^2 = f and a_1(s) = sqrt(s) r(s).
               By Cauchy-Schwarz |G| <= |rho| sqrt(f(S) f(S')) <= kappa |C|.  The term n = 1 is r(S) r(S') C, and
               |r(S) r(S')| <= (r(S)^2 + r(S')^2)/2 <= alpha' + (delta'/2)(|X| + |X'|).
               The others, n >= 3, are at most |rho|^3 (sum a_n(S)^2)^(1/2) (sum a_n(S')^2)^(1/2) <= kappa' |C| rho^2, since
               their sum is f(s) - s r(s)^2.  Where S, S' >= sigma_l/2 that is at most 4 kappa' tau^2 |C|^3, elsewhere at most
               kappa' |C| <= 4 kappa' tau^2 |C| (X^2 + X'^2); also, with rho^2 <= |rho|, at most 2 kappa' tau C^2 there and
               kappa' |C| <= 2 kappa' tau |C| (|X| + |X'|) elsewhere.
               Then Minkowski and Hoelder: |X C|_r <= |X|_(2r) |C|_(2r), |X^2 C|_r <= |X|_(3r)^2 |C|_(3r).

    b_t.       For 2t <= K:  b_t = 2 Lambda iota h_t^(1/t)
                                   + ( Lambda^2 h_(2t)^(1/t) + R^2 tau^2 (h'_(2t)^(1/t) + 2 h_(2t)^(1/t)) ) N^(-1/2).
      Lemma.   Given S, S', C the terms Y = phi(U) phi(V) have variance mu_2 <= E phi(U)^2 phi(V)^2 <= iota^2 + B with B >= 0 and
               |B|_t <= b_t d^(-1/2):  E phi(U)^2 phi(V)^2 = f(S) f(S') + Cov, f(S) <= iota + Lambda |X|, and since phi^2 is even
               |Cov| <= rho^2 nu(S) nu(S') <= rho^2 R^2/4 (Mehler): at most R^2 tau^2 C^2 where S, S' >= sigma_l/2, elsewhere at
               most R^2/4 <= R^2 tau^2 (X^2 + X'^2).

    w'_(p,m).  R^(2m) gamma'_p where 2(p + m) > K, else the least of that and
               sum_(u=0..m) C(m, u) iota^(2(m-u)) N^(-u/2) gamma'_(p+u)^(p/(p+u)) b_(p+u)^u
               (the term u = 0 is iota^(2m) gamma'_p).
      Lemma.   E |G|^p mu_2^m <= w'_(p,m) d^(-p/2), as in 2.3.

    Step.      H'_(l+1,j) >= gamma'_j + sum_(i=2..j) C(j, i) sum over the partitions pi of i into m parts, all >= 2, of
                             c(pi) N^(m-i/2) (2R)^(i-2m) w'_(j-i,m),
               for even j <= K, and j <= k rounded up to even where l + 1 = L.  Lemma: that of 2.3, with |Y - G| <= 2R.

    Result.    C >= h'_k of the last list.  Derived numbers are as tight as in 2.3.

One way to prove the three inequalities for every s, beside 2.4:

    Series.    r(c(1+t)) = sum_(n>=0) r_n t^n, r_n = E[phi(sqrt(c) Z) He_(2n+1)(Z)]/(sqrt(c) 2^n n!), |r_n| <= sqrt((2n+1) f(c)/c),
               by 2.4, E phi' He_(2n) = E phi He_(2n+1)/sqrt(c) and Cauchy-Schwarz.  Cut at n < m it errs by at most
               2 sqrt((2m+1) f(c)/c) |t|^m where |t| <= 1/3.  In 2.4 also |f_n| <= sqrt(E F(sqrt(c) Z)^2), which is small with c.
    Near 0.    For s <= s_0, with the values of phi' on [-12 sqrt(s_0), 12 sqrt(s_0)]:
               f(s)/s <= (max |phi'|)^2 + 1e-31 R/s_0,  and  r(s) = q v + e with 1 - 1e-31 <= q <= 1, v between min phi' and
               max phi', |e| <= 1e-31 sqrt(R/s_0).
      Lemma.   With y = 12 sqrt(s_0/s), p the normal density: E phi^2 1(|Z| <= y) <= s (max |phi'|)^2, as phi(0) = 0, and the
               rest is at most R exp(-y^2/2) = R exp(-72 s_0/s) <= R exp(-72) s/s_0.  By parts
               E Z phi 1(|Z| <= y) = sqrt(s) E phi' 1(|Z| <= y) - 2 phi(sqrt(s) y) p(y), and what lies beyond y is at most
               2 sqrt(R) p(y); p(y)/sqrt(s) <= exp(-72)/sqrt(2 pi s_0).
    Far.       For every s >= s_1 > sigma_l:  f(s) <= R <= kappa s_1,  and
               r(s)^2 <= f(s)/s <= R/s_1 <= r(sigma_l)^2 + delta'(s_1 - sigma_l),  f(s)/s <= R/s_1 <= kappa'.
               Cells i to j of ``cells`` and these arguments, with s_0 and s_1 = sigma_l + x_1 as there, suffice.

5. Norm deviations from both sides
----------------------------------
``quantity`` "norm-deviation", ``method`` "two-sided", power k >= 2, depth L >= 0: all of section 2, with K >= 4, and ``least``:

    E| |x_L|^2 - sigma_L |^k >= least d^(-k/2)  for every integer d >= N where all widths are equal to d.

``proof`` has the keys of section 2 and "squares", each of "layers" has the keys of 2.2 and three more,

    slope-least       alpha_-:  |f'(sigma_l)| >= alpha_-  >= 0
    deviation-least   n_-:      nu(sigma_l) >= n_-  > 0
    fall              delta_-:  nu(s) >= nu(sigma_l) - delta_- |s - sigma_l|   for every s >= 0

delta_- (its natural size is u) is at most 1.005 times the least that holds, alpha_- and n_- are at least 1/1.005 times what they
bound, but an alpha_- not above 1e-9 u is written as 0.  ``squares``: L + 1 numbers q_l, E X_l^2 >= q_l/d where all widths are
d >= N; with h_r of list l of "moments" and (y)_+ = max(y, 0):

    q_0 = 2,   q_(l+1) <= (alpha_- q_l^(1/2) - B h_4^(1/2) N^(-1/2))_+^2 + (n_- - delta_- h_1 N^(-1/2))_+^2,   least <= q_L^(k/2).
      Lemma.  E X_0^2 = 2/d.  E X_(l+1)^2 = E g(X_l)^2 + E nu(S_l)^2/d.  By Minkowski |g|_2 >= alpha_- |X|_2 - B |X^2|_2 with
              |X^2|_2 = |X|_4^2 <= h_4^(1/2) d^(-1);  E nu^2 >= (E nu)^2 where E nu >= n_- - delta_- E|X| is not negative.
              E|X|^k >= (E X^2)^(k/2) for k >= 2 (Jensen).

Derived numbers are at most what the formulas give from the stated ones, and at least that divided by 1.000001.
A way to prove "fall": nu(0) = 0, so delta_- >= nu(sigma_l)/sigma_l and only |s - sigma_l| <= nu(sigma_l)/delta_- <= sigma_l
matters, where nu(s)^2 >= (nu(sigma_l) - delta_- |s - sigma_l|)^2 is to be shown: on the cell i = 0 after division by |s - sigma_l|,
on part of i = 1, and on i = -1, -2, ... down to s = sigma_l - nu(sigma_l)/delta_-.

6. Norm deviations of activations with two slopes
-------------------------------------------------
``quantity`` "norm-deviation", ``method`` "product":  phi(x) = a x for x >= 0 and phi(x) = b x for x <= 0, not both 0: phi is made
of x by sums, multiples by constants, relu, abs, max and min, a = phi(1), b = -phi(-1).  The statement is that of section 1 and,
if there is ``least`` (k >= 2), the one of section 5.  With q = (a^2 + b^2)/2, sigma_l = q^l and

    S_l = q^l prod_(i=0..l) (1 + Y_i),  Y_0 = chi^2/d_0 - 1,  Y_i = the mean of d_i independent copies of W - 1,  W = phi(Z)^2/q,

independent.  Cumulants: kappa_a = 2^(a-1) (a-1)! for the input layer; for the others those of W, from its moments
E W^i = (2i-1)!! (a^(2i) + b^(2i))/(2 q^i).

``proof`` has exactly the key "moments": L + 1 lists of numbers p_(l,2), p_(l,3), ..., p_(l,K), K = k rounded up to even, with
|E P_l^j| <= p_(l,j) d^(-j/2), P_l = S_l/q^l - 1, for every d >= N and all widths >= d; p_(l,0) = 1, p_(l,1) = 0.

    y_j = sum over the partitions pi of j into m parts, all >= 2, of c(pi) N^(m - j/2) prod |kappa_a|,   y_0 = 1, y_1 = 0
    p_(0,j) >= y_j (input layer),
    p_(l+1,j) >= sum_(i=0..j) C(j, i) p_(l,i) sum_(u=0..i) C(i, u) N^(-u/2) y_(j-i+u)   (kappa of W)
    C >= q^(L k) p_(L,k) for even k,  q^(L k) sqrt(p_(L,k-1) p_(L,k+1)) for odd k (p_(L,0) = 1)
      Lemma.  |E Y^j| <= y_j d^(-j/2), as E Y^j = sum c(pi) n^(m-j) prod kappa_a for the mean of n >= d >= N copies.
              P_(l+1) = P_l (1 + Y) + Y, so E P_(l+1)^j = sum_i C(j, i) E P_l^i E (1 + Y)^i Y^(j-i).
    least:  where all cumulants of orders 2 to K (both kinds) are >= 0, let p' be what the formulas give, in place of p, for N = oo:
            only m = j/2 and u = 0 are left.  least <= q^(L k) p'_(L,k) for even k, q^(L k) p'_(L,2)^(k/2) for odd k >= 3.
      Lemma.  Then, with all widths equal to d, d^(k/2) E P^k is a polynomial in 1/sqrt(d) without negative coefficients.

Derived numbers are as tight as in 2.3 and 5.

7. Norm deviations of activations that grow at most linearly
------------------------------------------------------------
``quantity`` "norm-deviation", ``method`` "comparison" or "two-sided", all of section 2 (and 5) but for what this section replaces.
``proof`` has the key "growth" in the place of "range": [[A, B], [A', B']], numbers with A, A' >= 1e-9 and B, B' >= 0,

    phi(x)^2 <= A + B x^2  for every x >= 0,   phi(x)^2 <= A' + B' x^2  for every x <= 0.

A and A' are each at most 1.005 times the least number (or 1e-9) for which that holds with their B and B'.

    z_a.      z_a = ((2a-1)!!)^(1/a), so that E Z^(2a) = z_a^a;  |A|_a = (A^a + A'^a)^(1/a), |B|_a = (B^a + B'^a)^(1/a).

    n_a.      With n and delta of the layer and sigma+ = centre + one unit of its last digit:  n_2 = n,  delta_2 = delta, and for
              a >= 3:  delta_a = z_a |B|_a,  n_a = |A|_a + sigma+ delta_a.
      Lemma.  |mu_a(S_l)| <= (n_a + delta_a |X_l|)^a.  For a >= 3, as Y >= 0:  E|Y - f|^a <= E max(Y, f)^a <= E Y^a + f^a <= 2 E Y^a
              = E phi(sqrt(s)|Z|)^(2a) + E phi(-sqrt(s)|Z|)^(2a) <= (A + B s z_a)^a + (A' + B' s z_a)^a <= (|A|_a + s z_a |B|_a)^a,
              by Minkowski's inequality twice; s <= sigma+ + |X_l|.

    Step.     gamma_r and layer 0 are those of 2.3.  For even j (as there)
              H_(l+1,j) >= gamma_j + sum_(i=2..j) C(j, i) sum over the partitions pi of i into m parts, all >= 2, of
                           c(pi) N^(m-i/2) sum_(u=0..i) e_(pi,u) N^(-u/2) gamma_(j-i+u)^((j-i)/(j-i+u)) h_(j-i+u)^(u/(j-i+u)),
              where sum_u e_(pi,u) y^u = prod_(a in pi) (n_a + delta_a y)^a  (the term u = 0 is e_(pi,0) gamma_(j-i)).
      Lemma.  That of 2.3; E |g|^p |X|^u by Hoelder's inequality as there.

One way to prove the inequalities of 2.2 for every s, in the place of 2.4 (A_+ = (A + A')/2, B_+ = (B + B')/2):

    Series.   As in 2.4, with |f_n| <= sqrt(E F(sqrt(c) Z)^2), by Cauchy-Schwarz, for n >= 0, that is at most
              (|A|_2 + z_2 c |B|_2)/sqrt(2) for F = phi^2 and (|A|_4 + z_4 c |B|_4)^2/sqrt(2) for F = phi^4.
    Near 0.   For s <= s_0, |x| <= 12 sqrt(s_0), q = A + A' + (B + B') s_0: f(s) differs from some value between min F and max F,
              F = phi^2, by at most 1e-28 q, and nu(s) is at most (max F - min F)/2 + 1e-12 q.
      Lemma.  P(|Z| > 12) < 4e-33, E Z^2 1(|Z| > 12) < 6e-31, E Z^4 1(|Z| > 12) < 1e-28, and F(x) <= A + A' + (B + B') x^2.
    Far.      f(s) <= A_+ + B_+ s  and  nu(s) <= (E Y^2)^(1/2) <= (|A|_2 + z_2 s |B|_2)/sqrt(2).
              With x = s - sigma_l and G = A_+ + B_+ sigma_l - sigma_(l+1): all three inequalities hold for every x >= x_1 > 0 with
              Lambda >= B_+,  Lambda x_1 >= sigma_(l+1),  Lambda x_1 >= G + B_+ x_1,
              B x_1^2 >= max(sigma_(l+1), G + B_+ x_1) + alpha x_1  (B the curvature; then also beyond, as both sides are divided
              by x_1: B x - alpha - max(sigma_(l+1)/x, G/x + B_+) increases where G >= 0; where G < 0 take 0 for G),
              delta >= z_2 |B|_2/sqrt(2),  nu(sigma_l) + delta x_1 >= (|A|_2 + z_2 (sigma_l + x_1) |B|_2)/sqrt(2).

8. Norm deviations of polynomial activations
--------------------------------------------
``quantity`` "norm-deviation", ``method`` "polynomial": phi is a polynomial with rational coefficients, and ``proof`` is {}.  With
t_l = 1/d_l the moments E X_L^j, j >= 2 even, are polynomials in t_0, ..., t_L with rational coefficients: with sigma_L, which is
rational, E X_L^j = sum_i C(j, i) (-sigma_L)^(j-i) E S_L^i, and E S_L^i follows from

    E[S_(l+1)^i | S_l = s] = sum over the partitions pi of i into m parts, all >= 1, of c(pi) prod_(u=0..m-1) (1 - u t_(l+1))
                             t_(l+1)^(i-m) prod_(a in pi) M_a(s),   M_a(s) = E phi(sqrt(s) Z)^(2a), a polynomial in s,
    E S_0^i = prod_(u=0..i-1) (1 + 2u t_0).

All terms c_alpha t^alpha of E X_L^j have a degree |alpha| >= j/2.  p_j = sum over them of max(c_alpha, 0) N^(j/2 - |alpha|);
C >= p_k for even k, sqrt(p_(k-1) p_(k+1)) for odd k (p_0 = 1).
      Lemma.  0 <= t_l <= 1/d, so that t^alpha <= d^(-|alpha|) <= d^(-j/2) N^(j/2 - |alpha|) for d >= N.
``least`` (k >= 2 even): at most b_(k/2) + sum_(m > k/2) min(b_m, 0) N^(k/2 - m), b_m the sum of c_alpha over |alpha| = m.
      Lemma.  Where all t_l = t <= 1/N, E X_L^k = t^(k/2) (b_(k/2) + sum b_m t^(m - k/2)).

Derived numbers are as tight as in 2.3 and 5.

9. Norm deviations to the second order
--------------------------------------
``quantity`` "norm-deviation", ``method`` "expansion", power k >= 2 even, depth L >= 0: all of section 2 (or 7) with K >= 3 k, its
result excepted, ``least``, and two more keys of the statement, ``limit`` [v_-, v_+] and ``remainder`` [U, K_r], v_- <= v_+:

    d^(k/2) E X_L^k <= (k-1)!! v_+^(k/2) + U d^(-1/2) + K_r d^(-1)   for every d >= N and all widths >= d,
    d^(k/2) E X_L^k >= (k-1)!! v_-^(k/2) - U d^(-1/2) - K_r d^(-1)   for every d >= N where all widths are equal to d.

U is "0" for k = 2.  ``constant`` and ``least`` are those right sides at d = N, and ``least`` is positive.  Each of "layers" has the
keys of 2.2 and four more, with the rules of 2.2; x = s - sigma_l, mu = mu_2:

    bend      beta:  |f''(sigma_l)| <= beta
    third     T:     |f(s) - f(sigma_l) - f'(sigma_l) x - f''(sigma_l) x^2/2| <= T |x|^3   for every real s >= 0
    tilt      eta:   |mu'(sigma_l)| <= eta
    sway      P:     |mu(s) - mu(sigma_l) - mu'(sigma_l) x| <= P x^2                        for every real s >= 0

Natural sizes: of beta u/sigma_l, of T u/sigma_l^2, of eta sigma_(l+1)^2/sigma_l, of P (sigma_(l+1)/sigma_l)^2.

v_0 = 2, v_(l+1) = f'(sigma_l)^2 v_l + mu(sigma_l), exactly; v_- <= v_L <= v_+ <= 1.000001 v_-.

``proof`` has the keys of section 2 (or 7), its "moments" having L lists (l < L; there is none for l = L), and "odd" and "even":
L + 1 lists each.  For l < L and j = 1, 3, ..., k+1 list l of "odd" has the numbers K_(l,j), and for j = 2, 4, ..., k list l of
"even" has the pairs [U_(l,j), K_(l,j)]; list L of "odd" is empty and list L of "even" has the one pair [U_(L,k), K_(L,k)], which
is ``remainder``.  For every d >= N and all widths >= d

    |E X_l^j| <= K_(l,j) d^(-(j+1)/2)                                                     for odd j,
    E X_l^j <= (j-1)!! v_l^(j/2) d^(-j/2) + U_(l,j) d^(-(j+1)/2) + K_(l,j) d^(-j/2-1)     for even j,

and at least the same with - U and - K where all widths are equal to d.  K_(l,0) = U_(l,0) = 0.

    Layer 0.   U = 0.  K_(0,j) is the sum over the partitions pi of j into m parts, all >= 2, of c(pi) N^(m-(j-1)/2) prod kappa_a
               for odd j, and of c(pi) N^(m-(j-2)/2) prod kappa_a over those with m <= (j-2)/2 for even j; kappa_a = 2^(a-1) (a-1)!.

    Majorants. With alpha, B, n of 2.2 as polynomials of y = |X_l|:  G_1 = alpha y + B y^2,  G_2 = alpha y + (beta/2) y^2 + T y^3,
               M = n^2 + eta y + P y^2;  Q_pi = R^(i-2m) M^m for a partition pi of i into m parts, or in section 7
               Q_pi = prod_(a in pi) (n_a + delta_a y)^a (partitions with parts of 2 alone have M^m in its place in the step).
               [F]_q = sum over r >= q of (the coefficient of y^r in F) h_r N^(-(r-q)/2), so that E of the terms of F of degrees
               >= q is at most [F]_q d^(-q/2).

    Step.      S(i, m) is the sum of c(pi) over the partitions of i into m parts >= 2 (S(0, 0) = 1, S(2m, m) = (2m-1)!!), p = j - i.
               Odd j:
               K_(l+1,j) >= sum over i = 2m = 0, 2, ..., j-1 of C(j,i) S(i,m) ( alpha^p n^(2m) K_(l,p) + [G_1^p M^m]_(p+1) )
                            + sum over i = 3..j and pi of i into m <= (i-1)/2 parts of C(j,i) c(pi) N^(m-(i-1)/2) [G_1^p Q_pi]_p.
               Even j:
               K_(l+1,j) >= sum over i = 2m = 0, 2, ..., j of C(j,i) S(i,m) ( alpha^p n^(2m) K_(l,p) + e_(p,m) K_(l,p+1)
                                                                 + [G_2^p M^m]_(p+2) + C(m,2) [G_1^p M^m]_p )
                            + sum over i = 4..j and pi of i into m <= (i-2)/2 parts of C(j,i) c(pi) N^(m-(i-2)/2) [G_1^p Q_pi]_p,
               U_(l+1,j) >= sum over i = 2m = 0, 2, ..., j of C(j,i) S(i,m) alpha^p n^(2m) U_(l,p)
                            + sum over odd i = 3..j-1 and pi of i into m = (i-1)/2 parts of C(j,i) c(pi) [G_1^p Q_pi]_p,
               e_(p,m) = the coefficient of y^(p+1) in G_2^p M^m.
      Lemma.   X_(l+1)^j = sum C(j,i) g^p N^i, and E[N^i | S_l] as in 2.3.  g = f' x + (f''/2) x^2 + e with |e| <= T |x|^3, and
               |g - f' x| <= B x^2;  mu(S_l) = mu + mu' x + q with |q| <= P x^2.  Where all parts are 2 expand g^p mu(S_l)^m in
               these: the term of degree p is f'^p mu^m x^p; of degree p + 1 there is one, at most e_(p,m) times x^(p+1), whose mean
               the bounds of odd order know; the others are at most those of the majorant.  For odd p the terms of degree p + 1 are
               already of the order of the bound.  n(n-1)...(n-m+1) n^(-m) lies between 1 - C(m,2)/n and 1, and
               E g^p mu(S_l)^m >= 0 for even p.  The leading terms for even j are
               sum C(j,2m) (2m-1)!! mu^m f'^p (p-1)!! v_l^(p/2) = (j-1)!! (f'^2 v_l + mu)^(j/2).  Partitions with fewer parts
               contribute |E[g^p prod mu_a]| <= E G_1^p Q_pi.

Ways to prove "third" and "sway" for every s, beside 2.4 (or those of section 7): f''(sigma_l) = 2 f_2/sigma_l^2; on the cell
i = 0 the factors (s - sigma_l)^3 and (s - sigma_l)^2 divide out; near 0 by the enclosures of f and mu there; far out, for every
x >= x_1, with G as there and 0 <= mu <= R^2/4:  T x_1^3 >= G + alpha x_1 + (beta/2) x_1^2 and P x_1^2 >= R^2/4 + eta x_1; in
section 7 with max(sigma_(l+1), G + B_+ x_1) in the place of G, and (|A|_2 + z_2 s |B|_2)^2/2 in that of R^2/4: divided by x_1^2
both sides of the latter decrease, so that P >= z_2^2 |B|_2^2/2 follows.

Derived numbers are as tight as in 2.3 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from theoryck.records.plain import SPARE, Record

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Certificate(Record):
    """A proof that a quantity is at most ``constant`` d^(-``power``/2) for every d >= ``start``; the module defines every key.

    With ``least`` it is also at least that times d^(-``power``/2), where all of its sizes are equal to d; the key is absent else.

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
    least: str | None = field(default=None, metadata=SPARE)
    limit: tuple[str, ...] | None = field(default=None, metadata=SPARE)
    remainder: tuple[str, ...] | None = field(default=None, metadata=SPARE)
