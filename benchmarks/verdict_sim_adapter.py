"""The gate's own decision in the shape that a verdict simulator calls: arrays in, statuses out.

Every metric is a blocking rate; the code is that of `gate run`: families, Holm, statuses.
"""
