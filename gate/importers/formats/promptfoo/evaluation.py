"""The results of one `promptfoo eval`, as JSON, YAML or JSON Lines: read whole, checked row by row.

The shapes are those that promptfoo 0.123 writes (results of version 3) and has types for (2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from gate.errors import InvalidInput, Place, Problem
from gate.files import yaml as yamlfile
from gate.files.json_schema import SchemaCheck
from gate.files.json_values import as_list, as_object
from gate.files.plain import MOST_JSON, json_lines, json_of, plain
from gate.files.problems import Findings
from gate.records import LARGEST, CheckedJson, Json

TOOL = "promptfoo"
MOST_YAML = 64 << 20  # bytes
YAML, LINES = (".yaml", ".yml"), (".jsonl", ".ndjson")
PASSED, ASSERTION, ERROR = 0, 1, 2  # its `failureReason`

_SCORE: Json = {"type": ["number", "null"], "minimum": -LARGEST, "maximum": LARGEST}
_SCORES: Json = {"type": ["object", "null"], "additionalProperties": _SCORE}
_OBJECT: Json = {"type": ["object", "null"]}
_NUMBERED: Json = {"type": ["integer", "null"], "minimum": 0}
_JUDGED: dict[str, Json] = {"pass": {"type": "boolean"}, "score": _SCORE}
COMPONENT: CheckedJson = {"type": ["object", "null"], "properties": _JUDGED, "required": ["pass"]}
COMPONENTS: Json = {"type": ["array", "null"], "items": COMPONENT}
_TEST: dict[str, Json] = {
    "vars": _OBJECT,
    "assert": {"type": ["array", "null"]},
    "metadata": _OBJECT,
    "threshold": {"type": ["number", "null"]},
}
ROW: dict[str, Json] = {
    "type": "object",
    "properties": {
        "success": {"type": "boolean"},
        "score": _SCORE,
        "failureReason": {"enum": [PASSED, ASSERTION, ERROR, None]},
        "testIdx": _NUMBERED,
        "promptIdx": _NUMBERED,
        "vars": _OBJECT,
        "testCase": {"type": ["object", "null"], "properties": _TEST},
        "response": _OBJECT,
        "error": {"type": ["string", "null"]},
        "namedScores": _SCORES,
        "gradingResult": {
            "type": ["object", "null"],
            "properties": {**_JUDGED, "componentResults": COMPONENTS, "namedScores": _SCORES},
            "required": ["pass"],
        },
    },
    "required": ["success"],
}
_CHECK = SchemaCheck(ROW)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRow:
    """One result: of one test, prompt and provider. `test`, `prompt`: their numbers; where the
    source has none, `test` is the row's own.
    """

    place: Place
    data: Mapping[str, CheckedJson] = field(repr=False)
    test: int
    prompt: int | None

    def mapping(self, key: str) -> Mapping[str, Json]:
        """What is there of a mapping."""
        return as_object(self.data.get(key))

    @property
    def case(self) -> Mapping[str, Json]:
        return self.mapping("testCase")

    @property
    def vars(self) -> Mapping[str, Json]:
        """As the test has them, before a hook or provider added some of its own."""
        own = self.case.get("vars")
        return own if isinstance(own, dict) else self.mapping("vars")

    @property
    def metadata(self) -> Mapping[str, Json]:
        return as_object(self.case.get("metadata"))

    @property
    def asserts(self) -> list[Json]:
        return as_list(self.case.get("assert"))

    @property
    def reason(self) -> int:
        """PASSED, ASSERTION or ERROR; version 2 shows the last two by what else is there."""
        told = self.data.get("failureReason")
        if self.data["success"]:
            return PASSED
        if told in (ASSERTION, ERROR):
            return ASSERTION if told == ASSERTION else ERROR
        return ASSERTION if self.data.get("gradingResult") else ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """`head`: the file without its results; `summary`: what stands beside the rows."""

    path: Path
    head: Mapping[str, Json]
    summary: Mapping[str, Json]
    rows: tuple[EvalRow, ...] = field(repr=False)

    @property
    def config(self) -> Mapping[str, Json]:
        return as_object(self.head.get("config"))

    @property
    def prompts(self) -> list[Json]:
        """Prompts and providers with their own summaries, by `promptIdx`."""
        head = as_object(as_object(self.summary.get("table")).get("head"))
        return as_list(self.summary.get("prompts") or head.get("prompts"))


def is_results(data: Json) -> TypeGuard[dict[str, Json]]:
    """Results as the file has them (`results` is a mapping) or `evaluate()` returns them."""
    if not isinstance(data, dict):
        return False
    inner = data.get("results")
    return isinstance(inner, list) or (isinstance(inner, dict) and "results" in inner)


def read_document(path: Path) -> Json:
    """The one value of a JSON or YAML file."""
    if not path.name.lower().endswith(YAML):
        return json_of(path)
    if plain(path).stat().st_size > MOST_YAML:
        raise InvalidInput([Problem(Place(str(path)), "larger than 64 MB - write it as JSON")])
    return yamlfile.parse(path.read_bytes(), path.as_posix()).data


def read_evaluation(path: Path) -> Evaluation:
    """Raises InvalidInput with everything that is wrong with the rows, UsageError for a link."""
    found = Findings()
    head: Mapping[str, Json] = {}
    summary: Mapping[str, Json] = {}
    if path.name.lower().endswith(LINES):
        rows = tuple(_read_lines(path, found))
    else:
        head, summary, written = _split_results(read_document(path), path)
        places = (Place(path.as_posix(), None, f"results[{n}]") for n in range(len(written)))
        rows = tuple(_check_rows(zip(places, written, strict=True), found))
    if not rows and not found:
        found.add(Place(path.as_posix()), "has no results - write them with `promptfoo eval -o`")
    found.refuse()
    _check_repeats(rows, found)
    found.refuse()
    return Evaluation(path=path, head=head, summary=summary, rows=rows)


def _split_results(
    data: Json, path: Path
) -> tuple[Mapping[str, Json], Mapping[str, Json], list[Json]]:
    if not is_results(data):
        message = "not a promptfoo result file: it has no list `results`"
        raise InvalidInput([Problem(Place(path.as_posix()), message)])
    inner = as_object(data["results"]) or data
    rows = inner["results"]
    if not isinstance(rows, list):
        place = Place(path.as_posix(), None, "results.results")
        raise InvalidInput([Problem(place, "must be a list of results")])
    summary = {key: value for key, value in inner.items() if key != "results"}
    return data, summary, rows


def _read_lines(path: Path, found: Findings) -> Iterator[EvalRow]:
    if plain(path).stat().st_size > MOST_JSON:
        found.add(Place(path.as_posix()), f"larger than {MOST_JSON >> 20} MB - split it")
        return
    lines = [(line.place, line.data) for line in found.keep_good(json_lines(path))]
    yield from _check_rows(iter(lines), found)


def _check_rows(written: Iterator[tuple[Place, Json]], found: Findings) -> Iterator[EvalRow]:
    for number, (place, data) in enumerate(written):
        if wrong := _CHECK.list_problems(data, place):
            found.take(wrong[0])
            continue
        checked: dict[str, CheckedJson] = as_object(data)
        test, prompt = checked.get("testIdx"), checked.get("promptIdx")
        row = EvalRow(
            place=place,
            data=checked,
            test=number if test is None else int(test),
            prompt=None if prompt is None else int(prompt),
        )
        if wrong_row := _contradiction(row):
            found.add(place, wrong_row)
        else:
            yield row


def _contradiction(row: EvalRow) -> str:
    passed, told = row.data["success"], row.data.get("failureReason")
    graded = row.data.get("gradingResult")
    if passed and told in (ASSERTION, ERROR):
        return f"success is true, but failureReason is {told} - export it again"
    if graded and row.reason != ERROR and graded["pass"] != passed:
        said = f"success is {passed}, but gradingResult.pass is {graded['pass']}".lower()
        return f"{said} - export it again"
    return ""


def _is_numbered(row: EvalRow) -> bool:
    return row.prompt is not None and row.data.get("testIdx") is not None


def _check_repeats(rows: tuple[EvalRow, ...], found: Findings) -> None:
    seen: dict[tuple[int, int | None], EvalRow] = {}
    numbered = any(map(_is_numbered, rows))
    for row in rows:
        if not _is_numbered(row):
            if numbered:
                found.add(
                    row.place,
                    "has no testIdx or promptIdx, but other results have both - use the "
                    "results of one eval",
                )
            continue
        first = seen.setdefault((row.test, row.prompt), row)
        if first is not row:
            where = first.place.key or f"line {first.place.line}"
            found.add(row.place, f"has the same testIdx and promptIdx as {where} - keep one")
