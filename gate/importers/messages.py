"""`messages`: conversations as OpenAI, Anthropic, LangChain and LangGraph write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from gate.agents.traces.detecting import is_whole, unwrap_message
from gate.agents.traces.otel_sdk import is_span
from gate.errors import AgentFailure, InvalidInput, UsageError
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats.messages.conversations import (
    StoredConversation,
    conversations,
    is_message,
    source_files,
)
from gate.importers.formats.messages.trials import TOOL, question_in, trace_in
from gate.importers.trials.build import case_of, check_number, trial_of
from gate.importers.trials.conversations import response_of
from gate.importers.trials.names import suite_name
from gate.plugins import IMPORTERS
from gate.records import MOST_ROUNDS, Json, Provenance, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.escaping import one_line

_ENVELOPE = frozenset(  # keys of an object that holds a conversation of no other tool
    (
        *("id", "name", "messages", "model", "usage", "system", "tools", "metadata", "tool_choice"),
        *("responses", "temperature", "finish_reason", "stop_reason", "parallel_tool_calls"),
    )
)
_EXPECTED = ("expected_answer", "expected")
_MOST_ID = 200  # characters


@IMPORTERS.register("messages")
@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """`id`: the key of an item that names its case; `passed`: the one that says whether it passed;
    `suite`: instead of the name of the file or folder.
    """

    id: str = ""
    passed: str = ""
    suite: str = ""

    reads: ClassVar[str] = "JSON or JSON Lines of conversations, or a folder of such files"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        """Whole responses, bare messages, or objects with messages and nothing of another tool; of
        a folder in a file of it.
        """
        found = found.inside or found
        item = found.item
        if is_whole(item):
            return not is_span(item) and not any(
                map(found.has, ("resourceSpans", "spanId", "span_id"))
            )
        if isinstance(found.first, list):
            return is_message(item) and ("content" in item or unwrap_message(item) is not None)
        held = item.get("messages") if isinstance(item, dict) and _is_plain(item) else None
        return isinstance(held, list) and bool(held) and all(map(is_message, held))

    def read(self, path: Path) -> Imported:
        files = source_files(path)
        checked = _check_conversations(files, path, self)
        suite = suite_name(self.suite or path.resolve().name.split(".")[0], TOOL)
        models = sorted(checked.models)
        agent = ", ".join(models[:3]) + (", ..." if len(models) > 3 else "")
        judged = (
            dict.fromkeys(("success", "first_success"), f"{TOOL}: {one_line(self.passed, 80)}")
            if self.passed
            else {}
        )
        return Imported(
            files=files,
            created_at=None,
            provenance=Provenance(agent=agent or TOOL, tool_version=TOOL, event="import"),
            suites={
                suite: ImportedSuite(
                    rounds=max(checked.times.values()),
                    cases=len(checked.times),
                    dataset="conversations",
                    graders=judged,
                )
            },
            trials=lambda: _trials(files, path, self, suite),
            notes=tuple(_notes(checked)),
        )

    def case_id(self, stored_conversation: StoredConversation) -> str:
        """Raises AgentFailure for an id of a wrong type, or where the named key is not there."""
        if self.id and self.id not in stored_conversation.item:
            raise AgentFailure(f"no {one_line(self.id, 80)}, which --option id= names")
        keys = (self.id,) if self.id else ("id", "name")
        told = next(
            (
                stored_conversation.item[k]
                for k in keys
                if stored_conversation.item.get(k) is not None
            ),
            stored_conversation.name,
        )
        if isinstance(told, bool) or not isinstance(told, (str, int)) or not str(told).strip():
            raise AgentFailure("its id is neither a text nor a number")
        if len(str(told)) > _MOST_ID:
            raise AgentFailure(f"its id has more than {_MOST_ID} characters")
        return str(told)

    def opinion(self, stored_conversation: StoredConversation) -> bool | None:
        """Raises AgentFailure for one that is neither true nor false."""
        told = stored_conversation.item.get(self.passed) if self.passed else None
        if told is None or isinstance(told, bool):
            return told
        raise AgentFailure(f"{one_line(self.passed, 80)} is neither true, false nor null")


def _is_plain(item: Mapping[str, Json]) -> bool:
    """Whether nothing stands beside the messages that another tool has, such as scores."""
    beside = (value for key, value in item.items() if key not in _ENVELOPE)
    return not any(isinstance(value, (dict, list)) for value in beside)


@dataclass(slots=True)
class _ConversationTotals:
    times: Counter[str] = field(default_factory=Counter)  # case -> how often it is there
    models: dict[str, None] = field(default_factory=dict)
    raw: int = 0  # calls whose arguments are no JSON
    unknown: int = 0  # without a question


def _check_conversations(
    files: tuple[Path, ...], path: Path, options: Messages
) -> _ConversationTotals:
    """Raises InvalidInput with everything that is wrong, UsageError where there is nothing."""
    findings, found = Findings(), _ConversationTotals()
    for number, one in enumerate(_each(files, path, findings), 1):
        check_number(number, path.as_posix())
        try:
            trace, case = trace_in(one.data), options.case_id(one)
            options.opinion(one)
        except AgentFailure as failure:
            findings.add(one.place, one_line(f"{failure} - put it right, or take it out", 500))
            continue
        found.times[case] += 1
        found.unknown += not question_in(one.data)
        found.raw += sum(step.raw_arguments is not None for step in trace.steps or ())
        if trace.model and len(found.models) < 10:
            found.models[one_line(trace.model, 80)] = None
        if found.times[case] == MOST_ROUNDS + 1:
            findings.add(one.place, f"more than {MOST_ROUNDS:,} conversations of one case")
    findings.refuse()
    if not found.times:
        raise UsageError(f"{path}: no conversation in it; name a file of messages")
    return found


def _each(files: tuple[Path, ...], path: Path, findings: Findings) -> Iterator[StoredConversation]:
    for file in files:
        try:
            yield from findings.keep_good(conversations((file,), path))
        except InvalidInput as error:
            findings.take(*error.problems)


def _trials(files: tuple[Path, ...], path: Path, options: Messages, suite: str) -> Iterator[Trial]:
    times: Counter[str] = Counter()
    findings = Findings()
    for one in _each(files, path, findings):
        case = options.case_id(one)
        times[case] += 1
        yield trial_of(
            TOOL,
            suite,
            case_of(TOOL, suite, case, input=question_in(one.data), keys=_expected(one.item)),
            round=times[case],
            passed=options.opinion(one),
            response=response_of(trace_in(one.data)),
        )
    findings.refuse()  # it was in order a moment ago


def _expected(item: Mapping[str, Json]) -> dict[str, Json]:
    """What stands beside the messages as the answer that was to come."""
    told = next((item[key] for key in _EXPECTED if item.get(key) is not None), None)
    plain = isinstance(told, (str, int, float)) and not isinstance(told, bool)
    return {"expected_answer": told} if plain else {}


def _notes(found: _ConversationTotals) -> Iterator[str]:
    again = sum(n > 1 for n in found.times.values())
    if again:
        yield f"several conversations of a case are its rounds, in their order: {again:,} cases"
    if found.raw:
        yield f"arguments that are no JSON stay as they came: {found.raw:,} tool calls"
    if found.unknown:
        yield f"no message of a user, so no question: {found.unknown:,} conversations"
