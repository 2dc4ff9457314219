"""Online learning in soft committee machines.  Saad, Solla (1995); a second layer as in Biehl, Schwarze (1995) and later work.

Setting.   Teacher sum_m v~^m g(nu^m), student sum_k v^k g(lambda^k), g = erf(x/sqrt 2) unless said; x ~ N(0, I_N), a fresh one a
           step, lambda^k = w^k . x/sqrt(N), nu^m = w~^m . x/sqrt(N).
Steps.     w^k <- w^k - (eta/sqrt(N)) v^k Delta g'(lambda^k) x,  v^k <- v^k - (eta/N) Delta g(lambda^k),
           Delta = sum_k v^k g(lambda^k) - sum_m v~^m g(nu^m);  time t = steps/N.
Theorem.   As N -> infinity the order parameters Q = E lambda lambda^T, R = E lambda nu^T and v follow ordinary differential
           equations in t, whose right-hand sides are Gaussian means over (lambda, nu), closed forms for this g:
               dR^{km}/dt = -eta v^k E g'(lambda^k) Delta nu^m,
               dQ^{kl}/dt = -eta E (v^k g'(lambda^k) lambda^l + v^l g'(lambda^l) lambda^k) Delta
                            + eta^2 v^k v^l E g'(lambda^k) g'(lambda^l) Delta^2,
               dv^k/dt = -eta E g(lambda^k) Delta.
Measured.  Runs of the algorithm at finite N, all from the same Q, R and v.  eg = E Delta^2/2.

Contents
    means           the Gaussian means: closed forms, and numerical ones for other g, against drawn fields
    linear          g = x: the error at every N, its limit e^(-(2 eta - eta^2) t), a difference of order 1/N
    trajectories    errors and order parameters tend to the equations
    kinks           relu, |x|, hard tanh: the masses of g'' at kinks, and orthants of four fields
    fluctuations    runs scatter by N^(-1/2), means differ by 1/N
    tasks           the students of this folder
    falsehoods      twins
"""

from theoryck import Reference

SAAD1995 = Reference("Saad, Solla", 1995, "On-line learning in soft committee machines", note="Physical Review E 52, 4225")
