"""Enclosures: Gaussian expectations, network constants and exact moments; the only importer of flint."""
