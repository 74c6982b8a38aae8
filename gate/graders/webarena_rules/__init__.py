"""WebArena's tasks and its rules for when one is done, on what was recorded of a run: no browser,
no network. Facts: web-arena-x/webarena, evaluation_harness/evaluators.py at f62e0b99.
"""
