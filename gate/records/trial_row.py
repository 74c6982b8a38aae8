"""One line of details.jsonl as it is read: a trial, keyed as docs/reference.md says.

Rows stay plain dictionaries, because there are as many as trials and most readers want few
of their keys. The type checker sees which keys there are. The schema that checks the file
(gate/store/trial_row_schema.py) has the same keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NotRequired, TypedDict

from gate.errors import Transport
from gate.records.patterns import FailureMode
from gate.records.settings import CheckedJson
from gate.records.trials import TrialStatus


class TrialRow(TypedDict):
    """One trial. None is unmeasured or unknown, never zero; a key that need not be there is one
    that an older version did not write.
    """

    suite: str
    case_id: str
    case_digest: str
    category: str | None
    tags: Sequence[str]
    round: int  # from 1
    attempts: Sequence[Mapping[str, CheckedJson]]
    status: TrialStatus
    passed: bool | None
    failures: Sequence[str]  # codes
    scores: Mapping[str, float | None]  # metric column -> value
    dimension_scores: Mapping[str, float | None]
    reasons: Mapping[str, str]  # grader -> what it said
    unscored: Mapping[str, str]  # grader -> why it could not judge
    latency_ms: float | None
    cost_usd: float | None
    question: str
    error: str | None
    started_at: str  # ISO 8601, UTC
    usage: Mapping[str, CheckedJson] | None
    model: str | None
    steps: Sequence[Mapping[str, CheckedJson]] | None
    output: str | None
    retrieved_ids: Sequence[str] | None
    safety_violations: Sequence[str] | None
    # Key of the case -> what the dataset expects. In round 1; nothing without `report.answers`.
    expected: NotRequired[Mapping[str, CheckedJson]]
    failed_by: NotRequired[Sequence[str]]  # graders that said no
    uncertain: NotRequired[Mapping[str, float]]  # grader of a judge -> 0 to 1
    listed: NotRequired[Sequence[str]]  # models whose cost is counted by their provider's list
    judging: NotRequired[Mapping[str, CheckedJson] | None]  # None: no model was asked
    mode: NotRequired[FailureMode | None]
    violations: NotRequired[Sequence[Mapping[str, CheckedJson]] | None]  # None: nobody looked
    turns: NotRequired[int | None]  # calls of the model
    finish_reason: NotRequired[str | None]
    omitted_steps: NotRequired[int]  # steps that are not in `steps`
    trace_faults: NotRequired[Sequence[str]]
    recovered: NotRequired[bool]  # passed after a try that the agent had failed
    transport: NotRequired[Transport | None]
    ungraded: NotRequired[bool]  # the agent failed where no grader says pass or fail of any answer
    evidence: NotRequired[Mapping[str, CheckedJson] | None]
    details: NotRequired[Mapping[str, CheckedJson]]  # grader -> what it found, as data


RowsOf = Callable[[str, frozenset[str]], Iterator[TrialRow]]  # of some cases of a suite
