"""Limits of projections.

prediction_errors  Prediction error of two-layer students from the second moments of their local fields
projections        One coordinate of a generator and the limits of its projections
"""
