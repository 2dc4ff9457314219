"""One-pass stochastic gradient descent of a single neuron on a Gaussian multi-index model: how many samples its first overlap
takes.

Setting.  x ~ N(0, I_d), y = f(<w_1, x>, ..., <w_r, x>), correlation loss -y s(<w, x>), each sample used once, w kept on the unit
          sphere:
w <- (w + step y s'(z) (x - z w))/|...|, z = <w, x>.  The overlaps m_k = <w_k, w> are a Markov chain of their own, for every d.

Sources: Ben Arous, Gheissari, Jagannath (2021), arXiv:2003.10409, for one index and its information exponent; Abbe, Boix-Adsera,
Misiakiewicz (2023), arXiv:2302.11055, for several and the leap; Damian, Nichani, Ge, Lee (2023), arXiv:2305.10633, for smoothed
losses.

draws       The Markov chain of the overlaps, O(1) a step whatever d, and mean gradients
limits      Mean gradients, the equation that overlaps follow as d grows, growth rates and times of blow-up
model       Target, neuron, step and stopping rule
quantities  Medians of hitting times, and mean gradients
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "limits": ("blow_up_median", "growth_rate", "information_exponent", "leap", "limiting_time"),
        "model": ("OnePass",),
        "quantities": ("hitting_time", "mean_gradient"),
    },
)
