"""Limit predictions (replica fixed points, state evolution, kernels); filled by later work."""
