"""A user's grader, asked in its process."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar

from gate.errors import GraderFailure, UsageError
from gate.files.json_schema import mismatches, unsound
from gate.files.json_schema_quick import Check, compile_check
from gate.files.json_values import as_list
from gate.files.yaml import format_path
from gate.records import Case, Json, MetricSpec, PluginSpec, Question, Reply, Response, Role, Score
from gate.records.codec import from_json, schema_of, to_json, to_lean_json
from gate.records.trials import TRIAL_COLUMNS
from gate.user_code.calling import call_judging_function
from gate.user_code.process import NO_SENSE, CodeProcess
from gate.user_code.processes import PROCESSES

_ROLE = "gate.graders.user_code.role"  # in its process
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


def option_faults(spec: PluginSpec, root: Path) -> list[str]:
    """What is wrong with the options of a user's grader. Raises UsageError if it cannot be
    loaded.
    """
    examined = examine_class(spec.name, root)
    if examined.fault:
        return [examined.fault]
    wrong = mismatches(dict(examined.schema), dict(spec.options))
    return [f"{spec.name}{'.' if m.path else ''}{format_path(m.path)}: {m.message}" for m in wrong]


def make(spec: PluginSpec, root: Path) -> UserGrader:
    """The grader that a checked section of gate.yml describes. Raises UsageError."""
    process = PROCESSES.judging(root)
    request = ["role", _ROLE, "make", spec.name, to_json(spec.options)]
    description = process.load(spec.name, request, dict)
    try:
        for metric in description["metrics"]:
            if wrong := mismatches(schema_of(MetricSpec), metric):
                raise ValueError(f"metrics(): {wrong[0].message}")
        metrics = tuple(
            _add_bounds(from_json(MetricSpec, metric)) for metric in description["metrics"]
        )
        for fault in (
            *_key_faults(description["keys"], description["needs"]),
            *_metric_faults(metrics),
        ):
            raise ValueError(fault)
        fields = {
            "name": spec.name,
            "process": process,
            "of": int(description["of"]),
            "keys": description["keys"],
            "needs": tuple(description["needs"]),
            "measured": metrics,
            "checks": description["checks"],
            "decides": description["decides"],
            "fills": tuple(description["fills"]),
            "abouts": description["abouts"],
            "digest": str(description["digest_text"]),
        }
        role = description["role"]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"'{spec.name}': its description is not valid: {error}") from error
    if description["asks"]:
        return UserModelGrader(**fields, role="verifier" if role == "verifier" else "judge")
    return UserGrader(**fields)


def _key_faults(keys: Mapping[str, Json], needs: Sequence[object]) -> Iterator[str]:
    for key in needs:
        if not isinstance(key, str):
            yield f"needs: {key!r:.60} is not a key of a case"
    for key, schema in keys.items():
        if not isinstance(schema, dict):
            yield f"keys: '{key}': not a JSON Schema"
        elif not _is_plain(schema) and (wrong := unsound(schema)):
            yield f"keys: '{key}': {wrong[0].message}"


def _is_plain(schema: Json) -> bool:
    """Whether nothing but types stands in it: jsonschema takes long to import."""
    if not isinstance(schema, dict) or not schema.keys() <= {"type", "items", "description"}:
        return False
    kinds = schema.get("type", "string")
    listed = kinds if isinstance(kinds, list) else [kinds]
    are_known = all(isinstance(kind, str) and kind in _TYPES for kind in listed)
    return are_known and ("items" not in schema or _is_plain(schema["items"]))


def _metric_faults(metrics: Sequence[MetricSpec]) -> Iterator[str]:
    columns = {*TRIAL_COLUMNS, *(spec.column for spec in metrics)}
    for spec in metrics:
        about = f"metric {spec.name!r:.80}"
        if not re.fullmatch(r"\S+", spec.name):
            yield f"{about}: its name is dimension.metric, without blanks"
        if spec.low is not None and spec.high is not None and spec.low >= spec.high:
            yield f"{about}: low {spec.low:g} is not below high {spec.high:g}"
        if spec.per and spec.per not in columns:
            yield f"{about}: per: there is no column {spec.per!r:.60}"


def _add_bounds(spec: MetricSpec) -> MetricSpec:
    """An agent's error is worth 0 unless it says otherwise; a scale from 1 on has no 0."""
    failed = spec.on_agent_error
    if failed is None or _is_within(failed, spec):
        return spec
    below = spec.low is not None and failed < spec.low
    return dataclasses.replace(spec, on_agent_error=spec.low if below else spec.high)


def _is_within(value: float, spec: MetricSpec) -> bool:
    return (spec.low is None or value >= spec.low) and (spec.high is None or value <= spec.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What is known of a class before an instance is made."""

    fault: str  # why it is no grader
    schema: Mapping[str, Json]
    role: Role | None
    partly_offline: bool
    knows_modes: bool


def examine_class(name: str, root: Path) -> Examined:
    """Loads the class and examines it. Raises UsageError."""
    examined = PROCESSES.judging(root).load(name, ["role", _ROLE, "examine", name], dict)
    if wrong := mismatches(schema_of(Examined), examined):
        raise UsageError(f"'{name}': {NO_SENSE}: {wrong[0].message}")
    return from_json(Examined, examined)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserGrader:
    """A Grader (gate/plugins.py) of the user. If its code fails, the answer is unscored at
    worst.
    """

    name: str
    process: CodeProcess = field(repr=False)
    of: int  # its number in the process
    keys: Mapping[str, Json]
    needs: tuple[str, ...]
    measured: tuple[MetricSpec, ...]
    checks: bool  # whether it has `case_faults`
    decides: bool
    fills: tuple[str, ...]
    abouts: Mapping[str, str]
    digest: str

    outside: ClassVar[bool] = True

    def metrics(self) -> tuple[MetricSpec, ...]:
        return self.measured

    def digest_text(self) -> str:
        return self.digest

    def case_faults(self, keys: Mapping[str, Json]) -> Iterator[str]:
        """What is wrong with the keys of a case that no JSON Schema can tell."""
        if not self.checks:
            return
        try:
            yield from map(str, as_list(self._call("check", dict(keys))))
        except GraderFailure as failure:
            yield f"the check of '{self.name}' failed: {failure}"

    def grade(self, case: Case, response: Response) -> Score:
        return self._read_score(self._call("grade", to_lean_json(case), to_lean_json(response)))

    def _call(self, method: str, *arguments: Json) -> Json:  # what the process says
        request = ["role", _ROLE, method, self.of, *arguments]
        return call_judging_function(self.process, request, PROCESSES.seconds, "grader")

    def _read_score(self, data: Json) -> Score:
        """Raises GraderFailure for a value that the metric cannot have."""
        if not _fits_score()(data) and (wrong := mismatches(schema_of(Score), data)):
            raise GraderFailure(f"the grader's score is malformed: {wrong[0].message}")
        score = from_json(Score, data)
        specs = {spec.column: spec for spec in self.measured}
        for column, value in score.values.items():
            if column not in specs:
                raise GraderFailure(f"the grader gave a value for {column}, not in its metrics()")
            low, high = specs[column].low, specs[column].high
            if value is not None and not _is_within(value, specs[column]):
                bounds = f"{'-inf' if low is None else f'{low:g}'} to "
                bounds += "inf" if high is None else f"{high:g}"
                message = f"the grader gave {value:g} for {column}, which must be from {bounds}"
                raise GraderFailure(message)
        return score


@dataclass(frozen=True, slots=True, kw_only=True)
class UserModelGrader(UserGrader):
    """A ModelGrader (gate/plugins.py) of the user."""

    role: Role

    def questions(self, case: Case, response: Response) -> tuple[Question, ...]:
        questions_asked = self._call("ask", to_lean_json(case), to_lean_json(response))
        return tuple(from_json(Question, question) for question in as_list(questions_asked))

    def read(self, case: Case, response: Response, replies: Sequence[tuple[Reply, ...]]) -> Score:
        votes = [[to_json(vote) for vote in given] for given in replies]
        return self._read_score(
            self._call("read", to_lean_json(case), to_lean_json(response), votes)
        )


@cache
def _fits_score() -> Check:
    return compile_check(schema_of(Score))
