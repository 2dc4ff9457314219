"""Data of the claims: a shared filter, one patch that matters, and patches that all have the same kernel (Aiudi et al. 2025)."""

import functools

import numpy as np

from theoryck.theory.convolutions import PatchNetwork, PatchRegression, wishart_average

NOISE = 0.5


def inputs(count, patches, entries):
    """Points of a lattice in a cube of 3.4 a side: spread like random ones, and the same everywhere."""
    steps = np.sqrt(np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29][: patches * entries]))
    return 3.4 * ((np.outer(np.arange(1, count + 1), steps) % 1) - 0.5).reshape(count, patches, entries)


def shared_filter(network, phi="x", count=8, patches=2):
    """y = sum_i w.x_i, the same filter w at every patch."""
    x = inputs(count, patches, 2)
    return PatchRegression(PatchNetwork(phi, 16, network), x, np.sum(x @ [1.0, -0.5], axis=1), NOISE)


def one_patch(network, phi="x", count=8, patches=2):
    """y = 3 w.x_1, the first patch alone."""
    x = inputs(count, patches, 2)
    return PatchRegression(PatchNetwork(phi, 16, network), x, 1.5 * (x[:, 0] @ [1.0, -0.5]), NOISE)


def turned_patches(network, phi="x", count=8):
    """Two patches that are turned against each other in two planes, x_2 = R x_1, so that K_11 = K_22; y = w.x_1, w in a plane.

    In a single plane K_12 + K_21 would be a multiple of K_11 for linear units, and nothing could grow.
    """
    x = 1.2 * inputs(count, 1, 4)
    rotation = np.zeros((4, 4))
    for plane, turn in enumerate((0.6, 2.2)):
        place = slice(2 * plane, 2 * plane + 2)
        rotation[place, place] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    whole = np.concatenate([x, x @ rotation.T], axis=1)
    return PatchRegression(PatchNetwork(phi, 16, network), whole, 1.5 * (x[:, 0] @ [1.0, -0.5, 0.0, 0.0]), NOISE)


def turned_planes(network, channels, ratio=1):
    """P = ratio N_c inputs: orthogonal first patches, second ones turned by 60 degrees in half of the planes, by 120 in the others.

    K_11 = K_22 = I and (K_12 + K_21)/2 = I/2 on the first half, -I/2 on the second; labels 3 on the first half, 1 on the second.
    The action per channel is the same at every N_c.
    """
    size = ratio * channels
    rotation = np.zeros((size, size))
    for plane in range(size // 2):
        cosine, place = (0.5 if plane < size // 4 else -0.5), slice(2 * plane, 2 * plane + 2)
        sine = np.sqrt(0.75)
        rotation[place, place] = [[cosine, -sine], [sine, cosine]]
    x = np.sqrt(size) * np.stack([np.eye(size), rotation], axis=1)
    y = np.where(np.arange(size) < size // 2, 3.0, 1.0)
    return PatchRegression(PatchNetwork("x", channels, network), x, y, NOISE)


@functools.cache
def average(network, channels):
    """The exact average of turned_planes; the more channels, the smoother the integrand and the fewer points it takes."""
    return wishart_average(turned_planes(network, channels), points=960_000 // channels)
