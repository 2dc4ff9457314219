"""Log ratios of normalising constants from both sides, by annealed paths.

paths   Log ratios of normalising constants from both sides: annealed paths, one of which starts at an exact posterior sample
tuning  Choose a schedule for the annealing engine from a pilot on data sets of its own
"""
