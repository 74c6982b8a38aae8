"""The demands of a task in three stages: a JSON object that collects, normalizes, summarizes.

Codes and their order are those of the OpenAgent benchmark tool (hardchat suite, 810d388).
docs/failure-codes.md tells where the two modes differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.graders.openagent_rules import counts
from gate.graders.openagent_rules.findings import DemandFinding, Mode
from gate.graders.openagent_rules.json_text import Fault, read_within
from gate.records import CheckedJson, Json
from gate.text.shortening import shorten
from gate.text.suggestions import did_you_mean

CODES = (
    *("response_not_json_object", "missing_stage"),
    *("empty_stage", "count_not_met", "count_exceeded"),  # of strict mode alone
)
STAGES = ("collect", "normalize", "summarize")
KEY = "stage_requirements"


def check(
    keys: Mapping[str, Json], prompt: str, text: str, mode: Mode
) -> tuple[DemandFinding, ...]:
    """The finding for every demand on the answer, in order."""
    data = read_within(text, constants=mode == "upstream")
    return (*_form(data, text), *_stages(keys, data, mode), *_counts(keys, prompt, data, mode))


def faults(keys: Mapping[str, CheckedJson], prompt: str, mode: Mode) -> Iterator[str]:
    """One sentence for each part of a case that cannot be checked; none in upstream mode, which
    does not read them.
    """
    if mode == "upstream":
        return
    for stage in keys.get(KEY) or {}:
        if stage not in STAGES:
            yield f"{KEY}: unknown stage '{stage}'{did_you_mean(stage, STAGES)}"
    yield from counts.faults(keys, prompt)


def _form(data: Json | Fault, text: str) -> Iterator[DemandFinding]:
    why = f"not JSON: {data.why}" if isinstance(data, Fault) else "JSON, and no object"
    code = "" if isinstance(data, dict) else "response_not_json_object"
    message = f"{why}; it begins {shorten(text, 60)!r}"
    yield DemandFinding(about="format", code=code, told=message, stops=bool(code))


def _stages(
    keys: Mapping[str, CheckedJson], data: Json | Fault, mode: Mode
) -> Iterator[DemandFinding]:
    wanted = keys.get(KEY) or {}
    for stage in STAGES:
        if mode == "upstream" or wanted.get(stage) is not False:
            yield _stage(stage, data, mode)


def _stage(stage: str, data: Json | Fault, mode: Mode) -> DemandFinding:
    if not isinstance(data, dict) or stage not in data:
        message = f"the stage '{stage}' is missing"
        return DemandFinding(about="stage", code=f"missing_stage:{stage}", told=message)
    if mode == "strict" and counts.is_empty(data[stage]):
        message = f"the stage '{stage}' has nothing in it"
        return DemandFinding(about="stage", code=f"empty_stage:{stage}", told=message)
    return DemandFinding(about="stage")


def _counts(
    keys: Mapping[str, Json], prompt: str, data: Json | Fault, mode: Mode
) -> Iterator[DemandFinding]:
    if mode == "strict":
        answer = data if isinstance(data, dict) else {}
        inside = [answer.get(stage) for stage in STAGES]
        for rule in counts.count_rules_of(keys, prompt):
            yield counts.check(rule, answer, inside)
