"""Why trials fail: one mode for each failed trial, and clusters of failures that look alike."""

from gate.failures.clusters import Failures
from gate.failures.modes import ORDER, mode_in, mode_of, most_frequent, speaks

__all__ = ["ORDER", "Failures", "mode_in", "mode_of", "most_frequent", "speaks"]
