"""The only place that says pass: tables, gates and rules in, a Verdict out."""

from gate.verdict.decide import decide
from gate.verdict.reasons import with_calls
from gate.verdict.settling import Undecided, undecided
from gate.verdict.standing import SuiteData

__all__ = ["SuiteData", "Undecided", "decide", "undecided", "with_calls"]
