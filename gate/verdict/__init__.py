"""The only place that says pass: tables, gates and rules in, a Verdict out."""

from gate.verdict.decide import decide
from gate.verdict.deploying import deployment
from gate.verdict.reasons import with_calls
from gate.verdict.settling import Undecided, undecided
from gate.verdict.standing import SuiteData

__all__ = ["SuiteData", "Undecided", "decide", "deployment", "undecided", "with_calls"]
