"""Errors on Gaussian covariates.  Loureiro, Gerbelot, Cui, Goldt, Krzakala, Mezard, Zdeborova (2021), arXiv:2102.08127.

Setting.   n = alpha p samples of features v in R^p, and a teacher's field nu = theta.x'/sqrt(k), jointly Gaussian: cov(v) = Omega,
           cov(x', v) = Phi, cov(x') = Psi; theta ~ N(0, I), gamma = k/p, rho = tr Psi/k, and t_i the entries of Phi^T Phi in the
           eigenbasis of Omega.  w minimises  sum_mu loss(y_mu, w.v_mu/sqrt(p)) + (lambda/2) |w|^2,  with (y - z)^2/2 for labels
           y = nu + noise ("ridge") or y = sign(nu) ("classification"), and log(1 + e^-yz) for y = sign(nu) ("logistic").
Fixed point.  V = <omega/(lambda + V_hat omega)>,  q = <(q_hat omega + m_hat^2 t) omega/(lambda + V_hat omega)^2>,
              m = (m_hat/sqrt(gamma)) <t/(lambda + V_hat omega)>,  <> the mean over the p eigenvalues, and for ridge
              V_hat = alpha/(1 + V),  q_hat = alpha E/(1 + V)^2,  m_hat = (alpha/sqrt(gamma))/(1 + V),  E = rho + Delta + q - 2 m,
              Delta the variance of the noise.
Errors.    Ridge: E, and E/(1 + V)^2 on the training set; else the error rate arccos(m/sqrt(rho q))/pi, and the mean of the loss
           on the training set, (y - z)^2/4 for classification.
Words changed.  The paper's theorem says P(|error - limit| >= epsilon) <= (C/epsilon) e^(-c n epsilon^2) (the slides print c^2 for
           epsilon^2).  Constants that are not named cannot be tested at one n; what is tested is what the bound implies for
           moments, E |error - limit|^k = O((log(n)/n)^(k/2)), and the sharper O(n^(-k/2)).  It needs no averaging over the
           teacher, and is tight because there is none: averaged over teacher and noise, errors fluctuate by 1/n only.

Contents
    ridge               errors of ridge regression tend to the fixed point, at rate 1/p
    classification      the same for square-loss classification
    logistic            the same for logistic regression
    random_features     erf(F x) has the errors of its Gaussian equivalent
    concentration       fluctuations of order n^(-1/2), tight; of order 1/n where the teacher is averaged
    falsehoods          twins: wrong equations, wrong equivalents, faster concentration
"""

from theoryck import Reference

LOUREIRO2021 = Reference(
    "Loureiro, Gerbelot, Cui, Goldt, Krzakala, Mezard, Zdeborova",
    2021,
    "Learning curves of generic features maps for realistic datasets with a teacher-student model",
    arxiv="2102.08127",
)
