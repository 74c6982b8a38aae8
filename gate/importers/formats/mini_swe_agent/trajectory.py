"""Trajectories of mini-SWE-agent: single `.traj.json` files, and a run with what is beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gate.agents.traces import values
from gate.agents.traces.building import Builder
from gate.errors import AgentFailure, Place, UsageError
from gate.files.json_values import as_amount, as_count, as_string, string_or_none
from gate.files.plain import files_below, json_of, plain
from gate.files.problems import Findings, refuse_file
from gate.files.timestamps import after, iso
from gate.files.yaml import yaml_of
from gate.importers.trials.names import is_id
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import Json, Response
from gate.text.hidden import cut, drop_hidden
from gate.text.shortening import tidy

SUFFIX = ".traj.json"
FORMATS = ("mini-swe-agent-1", "mini-swe-agent-1.1")
_MOST = 256 << 20  # bytes of one
_SAID = 2_000  # characters of an error
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryFile:
    """`exit_status` is "" of a run that did not end. `submission`: the patch, "" without one."""

    path: Path
    id: str
    task: str
    exit_status: str
    submission: str
    response: Response
    format: str
    version: str = ""
    latency_ms: float | None = None
    error: str | None = None
    started: float | None = None  # seconds since 1970

    @property
    def submitted(self) -> bool:
        return self.exit_status == "Submitted"

    @property
    def codes(self) -> tuple[str, ...]:
        return () if self.submitted else (exit_code(self.exit_status),)

    @property
    def is_nobodys(self) -> bool:
        """Whether it ended because nobody answered the agent."""
        return is_nobodys(f"{self.exit_status}: {self.error or ''}")

    @property
    def started_at(self) -> str:
        """ISO 8601, UTC; "" where no message has a time."""
        return "" if self.started is None else iso(after(self.started))


def exit_code(status: str) -> str:
    """The failure code of an exit status: `LimitsExceeded` is `limits_exceeded`."""
    words = _WORDS.sub("_", tidy(status, 60)).casefold()
    return re.sub(r"[^a-z0-9]+", "_", words).strip("_") or "unfinished"


def id_of(path: Path) -> str:
    return path.name.removesuffix(SUFFIX)


def read_trajectory(path: Path) -> TrajectoryFile:
    """Raises InvalidInput (file, key), UsageError for what is no plain file."""
    read = json_of(path, _MOST)
    data = read if isinstance(read, dict) else {}
    info = data.get("info")
    if not isinstance(info, dict) or not isinstance(data.get("messages"), list):
        refuse_file(path, "not a mini-SWE-agent trajectory - give its .traj.json", "info, messages")
    written = data.get("trajectory_format", FORMATS[0])
    if written not in FORMATS:
        shown = tidy(str(written), 60)
        message = f"'{shown}' is not supported, only {', '.join(FORMATS)} - update Agent Gate"
        refuse_file(path, message, "trajectory_format")
    messages = MessageReader()
    try:
        messages.read(data["messages"])
    except AgentFailure as failure:
        refuse_file(path, f"{failure} - use the file as mini-SWE-agent wrote it")
    status = as_string(info.get("exit_status"))
    submitted = status == "Submitted"
    told = as_string(info.get("submission"))
    named = data.get("instance_id")
    return TrajectoryFile(
        path=path,
        id=named if isinstance(named, str) and named else id_of(path),
        task=messages.task,
        exit_status=status,
        submission=told if submitted else "",
        response=_response(info, messages, told if submitted else ""),
        format=written,
        version=tidy(str(info.get("mini_version") or ""), 40),
        latency_ms=messages.latency_ms,
        # what version 1 has as the submission of a run that broke is the exception's text
        error=None if submitted else _error(info, told),
        started=messages.started,
    )


def _response(info: Mapping[str, Json], messages: MessageReader, answer: str) -> Response:
    trace = messages.into.trace("openai")
    model = values.at(info, "config", "model", "model_name")
    cost = as_amount(values.at(info, "model_stats", "instance_cost"))
    status = info.get("exit_status")
    return Response(
        answer=answer,
        steps=trace.steps,
        usage=replace(trace.usage, cost_usd=cost),
        model=tidy(model, 200) if isinstance(model, str) else None,
        finish_reason=tidy(status, 60) if isinstance(status, str) else None,
        turns=api_calls(info, messages),
        omitted_steps=trace.omitted_steps,
        trace_faults=trace.faults,
    )


def _error(info: Mapping[str, Json], told: str) -> str | None:
    said = info.get("exception_str") or told or info.get("traceback")
    return cut(drop_hidden(said), _SAID) if isinstance(said, str) and said else None


# ----------------------------------------------------------------------------------------- messages
# Version 2 has three shapes: OpenAI's tool calls, Responses, and text with one block of code a
# message; version 1 has the last one. A step is one command; what `extra` says of it wins over what
# its text shows.


_COMMAND = re.compile(r"```(?:mswea_bash_command|bash)[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
_RETURN_CODE = re.compile(r"<returncode>(-?\d{1,10})</returncode>")
_MOMENTS = (946_684_800, 4_102_444_800)  # seconds since 1970: the years 2000 to 2099


class MessageReader:
    """Reads one message after the other; `into` is what they come to."""

    def __init__(self) -> None:
        self.into = Builder()
        self.task = ""
        self.started: float | None = None  # seconds since 1970, of the first message with a time
        self._last: float | None = None
        self._in_text = 0  # commands of the last message whose observation names no call

    def read(self, messages: Json) -> None:
        """Raises AgentFailure for a wrong type, with the number of the message."""
        values.each(values.as_list(messages, "messages"), "messages", self._message)

    @property
    def latency_ms(self) -> float | None:
        """From the first time that is told to the last one."""
        if self.started is None or self._last is None or self._last <= self.started:
            return None
        return (self._last - self.started) * 1000

    def _message(self, value: Json) -> None:
        item = values.as_object(value, "it")
        told = item.get("extra")
        extra = told if isinstance(told, dict) else {}
        now = _moment(extra.get("timestamp", item.get("timestamp")))
        if item.get("role") == "assistant" or item.get("object") == "response":
            self._turn(item, extra)
        elif item.get("type") == "function_call_output":
            self._result(item.get("output"), extra, item.get("call_id"), now)
        elif item.get("role") == "tool":
            self._result(item.get("content"), extra, item.get("tool_call_id"), now)
        elif item.get("role") == "user":
            self._heard(item, extra, now)
        if now is not None:
            self.started = now if self.started is None else min(self.started, now)
            self._last = now if self._last is None else max(self._last, now)

    def _turn(self, item: Mapping[str, Json], extra: Mapping[str, Json]) -> None:
        usage = values.at(extra, "response", "usage") or item.get("usage")
        self.into.turn("", usage=usage if isinstance(usage, dict) else None)
        self._in_text = 0
        for call in _calls(item, extra):
            self.into.call(call)
            self._in_text += call.id is None

    def _heard(
        self, item: Mapping[str, Json], extra: Mapping[str, Json], now: float | None
    ) -> None:
        """The task, an observation, or a word on the form of the last message."""
        if not self.into.turns:
            self.task = self.task or values.content_text(item.get("content")) or ""
        elif self._in_text and not extra.get("interrupt_type"):
            self._in_text -= 1
            self._result(item.get("content"), extra, None, now)

    def _result(
        self, content: Json, extra: Mapping[str, Json], call: Json, now: float | None
    ) -> None:
        step = self.into.open.take(string_or_none(call), None)
        if step is None:
            self.into.faults.tell("no_call", values.as_text(call))
            return
        raw = extra.get("raw_output")
        shown = values.result_of(content)
        step.result = raw if isinstance(raw, str) else shown
        step.error = _find_step_error(extra, shown)
        if now is not None and self._last is not None and now >= self._last:
            step.latency_ms = (now - self._last) * 1000


def _calls(item: Mapping[str, Json], extra: Mapping[str, Json]) -> Iterator[values.Called]:
    """The commands of a message."""
    calls, output, actions = item.get("tool_calls"), item.get("output"), extra.get("actions")
    if isinstance(calls, list):
        yield from map(values.parse_call, calls)
    elif isinstance(output, list):
        for entry in output:
            if isinstance(entry, dict) and entry.get("type") == "function_call":
                yield values.parse_call({**entry, "id": entry.get("call_id") or entry.get("id")})
    elif isinstance(actions, list):
        for action in actions:
            yield _command(
                values.as_text(values.at(action, "command")), values.at(action, "tool_call_id")
            )
    else:
        blocks = _COMMAND.findall(values.content_text(item.get("content")) or "")
        if len(blocks) == 1:  # the agent takes any other number for an error of form
            yield _command(blocks[0].strip(), None)


def _command(command: str, call: Json) -> values.Called:
    return values.Called("bash", {"command": command}, False, string_or_none(call))


def _find_step_error(extra: Mapping[str, Json], shown: Json) -> str | None:
    exception = extra.get("exception_info")
    if isinstance(exception, str) and exception:
        return exception
    code = extra.get("returncode")
    if not isinstance(code, int):
        match = _RETURN_CODE.search(shown) if isinstance(shown, str) else None
        code = int(match[1]) if match else 0
    return f"exit code {code}" if code else None


def _moment(value: Json) -> float | None:
    seconds = as_amount(value)
    return seconds if seconds is not None and _MOMENTS[0] <= seconds <= _MOMENTS[1] else None


def api_calls(info: Mapping[str, Json], messages: MessageReader) -> int:
    """Calls of the model as the agent counted them, else the messages of the model."""
    counted = as_count(values.at(info, "model_stats", "api_calls"))
    return messages.into.turns if counted is None else counted


# --------------------------------------------------------------------------------------------- runs


PREDICTIONS = "preds.json"
_EXITS = "exit_statuses_*.yaml"
_MOST_YAML = 16 << 20  # bytes
_NOT_NEEDED = f"larger than {_MOST_YAML >> 20} MB, and not needed - move it out of the folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """`trajectories`: instance -> file. `lost`: instance without one -> exit status or ""."""

    trajectories: Mapping[str, Path]
    beside: tuple[Path, ...] = ()
    lost: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    version: str = ""
    started: str | None = None  # ISO 8601, UTC; None: no message has a time

    @property
    def files(self) -> tuple[Path, ...]:
        return (*self.beside, *self.trajectories.values())

    def read(self, instance: str) -> TrajectoryFile | None:
        path = self.trajectories.get(instance)
        return None if path is None else read_trajectory(path)


Trajectories = Mapping[str, TrajectoryFile]  # by instance, without their steps


def run_of(path: Path) -> AgentRun:
    """One trajectory or a folder of them, each checked once. Raises InvalidInput, UsageError."""
    findings = Findings()
    if not path.is_dir():
        one = read_trajectory(plain(path))
        return _run({one.id: one})
    files = files_below(path, f"*{SUFFIX}")
    if not files:
        raise UsageError(f"{path}: has no *{SUFFIX}; give a run folder of mini-SWE-agent")
    trajectories = dict(_each(files, findings))
    beside, lost = _beside(path, trajectories, findings)
    for what, told in (
        ("models", {file.response.model or "none" for file in trajectories.values()}),
        ("formats", {one.format for one in trajectories.values()}),
    ):
        if len(told) > 1:
            names = " and ".join(tidy(name, 80) for name in sorted(told)[:3])
            message = f"trajectories of different {what}: {names} - import the folder of one run"
            findings.add(Place(path.as_posix()), message)
    findings.refuse()
    return _run(trajectories, beside, lost)


def _run(
    trajectories: Trajectories,
    beside: tuple[Path, ...] = (),
    lost: Mapping[str, str] | None = None,
) -> AgentRun:
    versions = sorted({file.version for file in trajectories.values() if file.version})
    return AgentRun(
        trajectories={instance: trajectories[instance].path for instance in sorted(trajectories)},
        beside=beside,
        lost=dict(sorted((lost or {}).items())),
        model=next(iter(trajectories.values())).response.model or "",
        version=", ".join(versions[:3]),
        started=min(filter(None, (one.started_at for one in trajectories.values())), default=None),
    )


def _each(files: Iterable[Path], findings: Findings) -> Iterator[tuple[str, TrajectoryFile]]:
    seen: dict[str, Path] = {}
    for path in files:
        with findings.taking():
            one = read_trajectory(path)
            if one.id != id_of(path):
                own = tidy(one.id, 80)
                wrong = f"its instance_id is '{own}', so the file must be named {own}{SUFFIX}"
                refuse_file(path, f"{wrong} - rename it")
            if not is_id(one.id):
                wrong = f"must be named after its instance, as django__django-11099{SUFFIX}"
                refuse_file(path, f"{wrong} - rename it")
            if one.id in seen:
                wrong = f"{seen[one.id]} is of the same instance"
                refuse_file(path, f"{wrong} - remove one of the two")
            seen[one.id] = path
            kept = Response(answer="", model=one.response.model)  # no steps: there may be many
            yield one.id, replace(one, task="", response=kept)


def _beside(
    folder: Path, trajectories: Trajectories, findings: Findings
) -> tuple[tuple[Path, ...], dict[str, str]]:
    """The files beside the trajectories, which must agree, and the instances only they have."""
    exits = files_below(folder, _EXITS, deep=False)[-1:]
    predictions = files_below(folder, PREDICTIONS, deep=False)
    statuses: dict[str, str] = {}
    with findings.taking():
        for path in predictions:
            statuses |= dict.fromkeys(_read_predictions(path, trajectories, findings), "")
        for path in exits:
            statuses |= _statuses(path, trajectories, findings)
    return (*predictions, *exits), {
        i: status for i, status in statuses.items() if i not in trajectories
    }


def _read_predictions(path: Path, trajectories: Trajectories, findings: Findings) -> Iterator[str]:
    name = path.as_posix()
    data = json_of(path)
    if not isinstance(data, dict):
        message = "must be a JSON object with an entry for each instance"
        findings.add(Place(name), f"{message} - use the original file, or remove it")
        return
    for instance, prediction in data.items():
        own, place = trajectories.get(instance), Place(name, key=tidy(instance, 80))
        patch = values.at(prediction, "model_patch")
        if not is_id(instance):
            message = "is not an instance id such as django__django-11099 - use the original file"
            findings.add(place, message)
        elif own is None and "diff --git" in str(patch):
            message = "has a patch, but its trajectory is missing - copy the whole folder"
            findings.add(place, message)
        elif own is None:
            yield instance
        elif own.submitted and (patch or "") != own.submission:
            message = f"its model_patch differs from the patch in {own.path.name}"
            findings.add(place, f"{message} - use files of the same run")


def _statuses(path: Path, trajectories: Trajectories, findings: Findings) -> dict[str, str]:
    by_status = values.at(yaml_of(path, _MOST_YAML, _NOT_NEEDED).data, "instances_by_exit_status")
    statuses: dict[str, str] = {}
    for status, instances in by_status.items() if isinstance(by_status, dict) else ():
        for instance in filter(is_id, instances if isinstance(instances, list) else []):
            statuses[instance] = str(status)
            own, place = trajectories.get(instance), Place(path.as_posix(), key=instance)
            if own is None and str(status) == "Submitted":
                message = "was submitted, but its trajectory is missing - copy the whole folder"
                findings.add(place, message)
            elif own is not None and own.exit_status != str(status):
                says, other = tidy(str(status), 60), tidy(own.exit_status, 60)
                message = f"says {says}, but {own.path.name} says {other}"
                findings.add(place, f"{message} - use files of the same run")
    return statuses
