"""The frozen records, in the order in which they flow: Suite, Case, Response, Trial, Estimate,
Verdict, Report.

Nothing here computes. A metric's *natural* value is what the user reads (ms, USD, share);
comparisons between runs are
always `current - baseline` in natural units, or relative where `relative` is true (-0.05 is 5 %
less).
"""

from gate.records.evidence import Evidence, Sight
from gate.records.limits import LARGEST, MOST_CASES, MOST_ROUNDS
from gate.records.looks import Looks, equal_looks
from gate.records.report import BaselineInfo, Calls, Cost, Mode, Provenance, Report, SuiteReport
from gate.records.settings import (
    BaselineRules,
    Budget,
    Config,
    GateRule,
    Json,
    Level,
    MetricRule,
    PluginSpec,
    Policy,
    Price,
    Quarantine,
    RegressionRules,
    ReportOptions,
    Rule,
    Suite,
    Tolerance,
)
from gate.records.trials import (
    Attempt,
    Case,
    Document,
    Response,
    Score,
    ToolCall,
    Trial,
    TrialStatus,
    Usage,
)
from gate.records.verdict import (
    CaseChange,
    CaseChanges,
    Comparison,
    Direction,
    Estimate,
    GateResult,
    GateStatus,
    MetricSpec,
    Outcome,
    Status,
    Verdict,
)

__all__ = [
    "LARGEST",
    "MOST_CASES",
    "MOST_ROUNDS",
    "Attempt",
    "BaselineInfo",
    "BaselineRules",
    "Budget",
    "Calls",
    "Case",
    "CaseChange",
    "CaseChanges",
    "Comparison",
    "Config",
    "Cost",
    "Direction",
    "Document",
    "Estimate",
    "Evidence",
    "GateResult",
    "GateRule",
    "GateStatus",
    "Json",
    "Level",
    "Looks",
    "MetricRule",
    "MetricSpec",
    "Mode",
    "Outcome",
    "PluginSpec",
    "Policy",
    "Price",
    "Provenance",
    "Quarantine",
    "RegressionRules",
    "Report",
    "ReportOptions",
    "Response",
    "Rule",
    "Score",
    "Sight",
    "Status",
    "Suite",
    "SuiteReport",
    "Tolerance",
    "ToolCall",
    "Trial",
    "TrialStatus",
    "Usage",
    "Verdict",
    "equal_looks",
]
