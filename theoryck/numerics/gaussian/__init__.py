"""Gaussian means and kernels in float64, with quadrature that adapts to the integrand.

kernel_forms  Kernels h(s1, s2, c) = E phi(u) phi(v) in closed form, in float64: the activations that have one, and their
              derivatives
kernels       Gaussian kernels h(s1, s2, c) = E phi(u) phi(v) over arrays of Gram matrices, in float64
means         Means under a Gaussian law whose accuracy is known: proved enclosures, and quadrature that adapts to the integrand
orthants      Probabilities and second moments of normal vectors of up to four coordinates on orthants
quadrature    Quadrature for Gaussian kernels: panels that follow phi at every scale, and the integrals over them
"""

from theoryck._lazy import lazily

__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "kernels": (
            "DeepKernel",
            "LayerKernel",
            "layer_kernel",
        ),
    },
)
