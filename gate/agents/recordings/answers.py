"""Recorded answers, one JSON line a try: what `--record` writes and the `replay` agent reads."""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import NoReturn

from gate.agents.recordings.run_end import KEY, RunEnd, parse_run_end
from gate.agents.traces.faults import TraceFaults
from gate.agents.traces.spending import usage_of
from gate.agents.traces.values import is_amount, loads
from gate.errors import (
    AgentFailure,
    InfraFailure,
    InvalidInput,
    Place,
    Problem,
    RecordingEnded,
    Transport,
    UsageError,
)
from gate.files.json_schema import mismatches
from gate.files.json_schema_quick import compile_check
from gate.files.json_values import as_object
from gate.files.plain_file import open_plain
from gate.records import Case, CheckedJson, Json, Response, Usage
from gate.records.codec import from_json, schema_of, to_json
from gate.text.credentials import without_passwords

UNKNOWN = ""
# A place in a recording: the round, then the offset of the line, in one whole number.
_ROUND = 44
_OFFSET = (1 << _ROUND) - 1
_MOST_ROUNDS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAttempt:
    """One try: a response or one of the two failures."""

    case_id: str
    input_digest: str  # UNKNOWN: of an imported answer whose question the source does not tell
    round: int  # from 1
    latency_ms: float
    response: Response | None = None
    agent_error: str | None = None
    before: Response | None = None  # what the agent did before its error; it has no answer
    timed_out: bool = False  # of an agent error
    infra_error: str | None = None
    code: str | None = None  # what the failure is counted as, where its kind does not say it
    transport: Transport | None = None  # of a failure

    def outcome(self) -> Response | InfraFailure | AgentFailure:
        """What the agent came to then, with the latency of then."""
        if self.infra_error is not None:
            return InfraFailure(self.infra_error, code=self.code, transport=self.transport)
        if self.response is not None:
            return replace(self.response, latency_ms=self.latency_ms)
        return AgentFailure(
            self.agent_error or "",
            timed_out=self.timed_out,
            code=self.code,
            transport=self.transport,
            done=self.before,
        )


SCHEMA = schema_of(RecordedAttempt)
_fits = compile_check(SCHEMA)


def recording_line(case: Case, number: int, answer: Response | Exception, latency_ms: float) -> str:
    """A line of the file, without its end. `number` is the round; `answer` a Response, an
    InfraFailure or an AgentFailure.
    """
    line: dict[str, Json] = {
        "case_id": case.id,
        "input_digest": input_digest(case),
        "round": number,
        "latency_ms": round(latency_ms, 3),
    }
    if isinstance(answer, Response):
        line["response"] = _answer_to_json(answer)
    elif isinstance(answer, InfraFailure):
        line["infra_error"] = without_passwords(str(answer))
    else:
        line["agent_error"] = without_passwords(str(answer))
        if isinstance(answer, AgentFailure) and answer.timed_out:
            line["timed_out"] = True
        if isinstance(answer, AgentFailure) and isinstance(answer.done, Response):
            line["before"] = _answer_to_json(answer.done)
    code = getattr(answer, "code", None)
    if code not in (None, "agent_error", "timeout"):
        line["code"] = code
    if (transport := getattr(answer, "transport", None)) is not None:
        line["transport"] = transport
    return json.dumps(to_json(line), separators=(",", ":"))


def _answer_to_json(answer: Response) -> CheckedJson:
    """JSON has no NaN; an unknown cost must not become one that nobody told."""
    usage = answer.usage
    unknown = usage.cost_usd is not None and not is_amount(usage.cost_usd)
    return to_json(replace(answer, usage=replace(usage, cost_usd=-1.0)) if unknown else answer)


def repair_usage(line: Json) -> Json:
    """The line; numbers of its usage that can be none are unknown, and told."""
    return _repair_numbers(_repair_numbers(line, "response"), "before")


def _repair_numbers(line: Json, key: str) -> Json:
    response = line.get(key) if isinstance(line, dict) else None
    if not isinstance(line, dict) or not isinstance(response, dict):
        return line
    usage = response.get("usage")
    numbers = usage.values() if isinstance(usage, dict) else [usage]
    if all(number is None or is_amount(number) for number in numbers):
        return line
    faults = TraceFaults()
    usage_found = usage_of(usage, faults)
    before = response.get("trace_faults")
    sentences = [*(before if isinstance(before, list) else ()), *faults.sentences()]
    counts = {name: getattr(usage_found, name) for name in Usage.__slots__}
    return {**line, key: {**response, "usage": counts, "trace_faults": sentences}}


def check_line(line: Json) -> dict[str, CheckedJson] | RunEnd:
    """A parsed line as `--record` writes it. Raises ValueError that says what is wrong with it."""
    if isinstance(line, dict) and KEY in line:
        return parse_run_end(line)
    if not _fits(line):
        wrong = mismatches(SCHEMA, line)
        if wrong:
            where = ".".join(map(str, wrong[0].path))
            raise ValueError(f"{where}: {wrong[0].message}" if where else wrong[0].message)
    checked = as_object(line)
    nth = checked["round"]
    if not isinstance(nth, int) or not 0 < nth <= _MOST_ROUNDS:
        raise ValueError(f"round: must be from 1 to {_MOST_ROUNDS:,}")
    answers = [checked.get(key) for key in ("response", "agent_error", "infra_error")]
    if sum(answer is not None for answer in answers) != 1:
        raise ValueError("needs one of response, agent_error and infra_error")
    return checked


def input_digest(case: Case) -> str:
    """A hash of the input alone: a recorded answer still fits a case whose expected answer
    changed.
    """
    if case.input == "":
        return UNKNOWN
    text = json.dumps(case.input, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Recording:
    """A file of recorded answers, of which only the places are kept in memory. `end`: how the run
    was planned and ended, where the whole file is of one run and says so; `note`: why it does not
    count where it is there.

    Raises UsageError when it cannot be read, InvalidInput with file and line when it is no
    recording; a last line that was cut off is left out.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self.name = name  # for messages
        self._lock = Lock()
        offsets: dict[str, array[int]] = {}
        ends: list[RunEnd] = []
        is_complete = False  # nothing comes after the last of them
        for offset, line in self._lines():
            is_complete = isinstance(line, RunEnd)
            if isinstance(line, RunEnd):
                ends.append(line)
            else:
                case_id = sys.intern(line["case_id"])
                if (places := offsets.get(case_id)) is None:
                    places = offsets[case_id] = array("q")
                places.append(line["round"] << _ROUND | offset)
        tries = sum(map(len, offsets.values()))
        is_single = (
            is_complete
            and len({end.session for end in ends}) == 1
            and tries >= ends[-1].trial_count
        )
        self.end = ends[-1] if is_single else None
        self.note = ""
        if not is_single and any(end.early for end in ends):
            self.note = (
                f"`{path.name}` holds several runs, or a part of one: where they ended is ignored, "
                "so it must have an answer for every planned round"
            )
        self._places = offsets
        self._taken: dict[str, set[int]] = {}  # places

    def take(self, case: Case, number: int = 0) -> RecordedAttempt:
        """The next try of the case in round `number`, from any thread; where that was not recorded
        or has no more, the next of all rounds. Raises RecordingEnded when there is none any more,
        or the run ended before it was asked for, InfraFailure when it never was in a run that made
        all its trials.
        """
        with self._lock:
            place = self._next_place(case, number)
            self._taken[case.id].add(place)
        line = self._at(place)
        if line.input_digest not in (UNKNOWN, input_digest(case)):
            raise InfraFailure(
                f"{self.name}: the case '{case.id}' had another input when it was recorded"
            )
        return line

    def _next_place(self, case: Case, number: int) -> int:
        places = sorted(self._places.get(case.id, ()))
        taken = self._taken.setdefault(case.id, set())
        free = [place for place in places if place not in taken]
        of_round = [place for place in places if place >> _ROUND == number]
        if place := next((place for place in of_round if place not in taken), None):
            return place
        if of_round or not free:
            self._nobody_once_more(of_round or places)
        if free:
            return free[0]
        message = f"{self.name}: the case '{case.id}' is not recorded"
        if places:
            raise RecordingEnded(f"{message} more than {len(places)} times")
        if self.end is not None and self.end.early:
            raise RecordingEnded(f"{message}: the run ended before")
        raise InfraFailure(f"{message} at all")

    def _nobody_once_more(self, places: list[int]) -> None:
        """Raises InfraFailure where the last try of then had no answer: this is its retry."""
        last = self._at(places[-1]) if places else None
        if last is not None and last.infra_error is not None:
            raise InfraFailure(last.infra_error, code=last.code, transport=last.transport)

    def _at(self, place: int) -> RecordedAttempt:
        with open_plain(self._path) as file:
            file.seek(place & _OFFSET)
            return from_json(RecordedAttempt, repair_usage(loads(file.readline())))

    def _lines(self) -> Iterator[tuple[int, dict[str, CheckedJson] | RunEnd]]:
        """Every line with the offset at which it begins."""
        offset = 0
        try:
            with open_plain(self._path) as file:
                for number, raw in enumerate(file, start=1):
                    if raw.strip():
                        line = self._parse_line(raw, number)
                        if line is not None:
                            yield offset, line
                    offset += len(raw)
        except OSError as error:
            raise UsageError(f"{self.name}: {error.strerror} - record one with --record") from error

    def _parse_line(self, raw: bytes, number: int) -> dict[str, Json] | RunEnd | None:
        try:
            line = repair_usage(loads(raw))
        except (ValueError, RecursionError):
            if not raw.endswith(b"\n"):
                return None
            self._refuse(number, "not JSON")
        try:
            return check_line(line)
        except ValueError as error:
            self._refuse(number, str(error))

    def _refuse(self, number: int, message: str) -> NoReturn:
        place = Place(self.name, number)
        raise InvalidInput([Problem(place, f"{message} - use a file that --record wrote")])
