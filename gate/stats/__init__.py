"""Statistics: arrays in, numbers out. numpy only, no clock, no randomness but a generator that is
handed in.
"""
