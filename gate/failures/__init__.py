"""Why trials fail: one mode for each failed trial, and clusters of failures that look alike."""

from gate.failures.modes import mode_of

__all__ = ["mode_of"]
