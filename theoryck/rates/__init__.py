"""Rates, scaling paths and the fit of an exponent."""
