"""Estimates: seeds, blocks, streaming moments, executors; knows a sampler only as a callable."""
