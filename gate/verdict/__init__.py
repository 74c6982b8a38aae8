"""The only place that says pass: tables, gates and rules in, a Verdict out."""

from gate.verdict.decide import decide
from gate.verdict.standing import SuiteData

__all__ = ["SuiteData", "decide"]
