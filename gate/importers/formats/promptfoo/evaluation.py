"""The results of one `promptfoo eval`, as JSON, YAML or JSON Lines: read whole, checked row by row.

The shapes are those that promptfoo 0.123 writes (results of version 3) and has types for (2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from gate.agents.traces.values import as_text, at
from gate.errors import Place
from gate.files.json_schema import SchemaCheck
from gate.files.json_values import as_list, as_object, as_string
from gate.files.plain import MOST_JSON, json_lines, json_of, plain
from gate.files.problems import Findings, refuse_file
from gate.files.yaml import yaml_of
from gate.importers.trials import shapes
from gate.importers.trials.build import PlacedResult, place_results
from gate.importers.trials.names import CaseIdentity, CaseIds, mark, suite_name
from gate.records import LARGEST, MOST_ROUNDS, CheckedJson, Json
from gate.text.shortening import tidy

TOOL = "promptfoo"
MOST_YAML = 64 << 20  # bytes
YAML, LINES = (".yaml", ".yml"), (".jsonl", ".ndjson")
PASSED, ASSERTION, ERROR = 0, 1, 2  # its `failureReason`

_SCORE: Json = {"type": ["number", "null"], "minimum": -LARGEST, "maximum": LARGEST}
_SCORES: Json = {**shapes.OBJECT, "additionalProperties": _SCORE}
_NUMBERED: Json = {"type": ["integer", "null"], "minimum": 0}
_JUDGED: shapes.Shape = {"pass": {"type": "boolean"}, "score": _SCORE}
COMPONENT = shapes.object_of("pass", null=True, **_JUDGED)
_CHECK = SchemaCheck(
    shapes.object_of(
        "success",
        success={"type": "boolean"},
        score=_SCORE,
        failureReason={"enum": [PASSED, ASSERTION, ERROR, None]},
        testIdx=_NUMBERED,
        promptIdx=_NUMBERED,
        vars=shapes.OBJECT,
        testCase=shapes.object_of(
            null=True,
            **{"vars": shapes.OBJECT, "assert": shapes.LIST},
            metadata=shapes.OBJECT,
            threshold=shapes.NUMBER,
        ),
        response=shapes.OBJECT,
        error=shapes.TEXT,
        namedScores=_SCORES,
        gradingResult=shapes.object_of(
            "pass",
            null=True,
            **_JUDGED,
            componentResults={**shapes.LIST, "items": COMPONENT},
            namedScores=_SCORES,
        ),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalRow:
    """The result of one test, prompt and provider, with their numbers."""

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
        """The test's variables, without those that a hook or provider added."""
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
        stated = self.data.get("failureReason")
        if self.data["success"]:
            return PASSED
        if stated in (ASSERTION, ERROR):
            return ASSERTION if stated == ASSERTION else ERROR
        return ASSERTION if self.data.get("gradingResult") else ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """`head`: the file as a whole; `summary`: the object in it that has the rows."""

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
    too_large = "YAML of more than 64 MB - write it as JSON: promptfoo eval -o results.json"
    return yaml_of(path, MOST_YAML, too_large).data


def read_evaluation(path: Path) -> Evaluation:
    """Raises InvalidInput with everything that is wrong with the rows, UsageError for a link."""
    findings = Findings()
    head, summary, written = _read_written(path, findings)
    rows = tuple(_check_rows(written, findings))
    if not rows and not findings:
        findings.add(Place(path.as_posix()), "has no results - write them with `promptfoo eval -o`")
    findings.refuse()
    _check_repeats(rows, findings)
    findings.refuse()
    return Evaluation(path=path, head=head, summary=summary, rows=rows)


def _read_written(
    path: Path, findings: Findings
) -> tuple[Mapping[str, Json], Mapping[str, Json], list[tuple[Place, Json]]]:
    """The file as a whole, what the rows stand in, and the rows themselves."""
    if path.name.lower().endswith(LINES):
        if plain(path).stat().st_size > MOST_JSON:
            refuse_file(path, f"larger than {MOST_JSON >> 20} MB - split it")
        return {}, {}, [(line.place, line.data) for line in findings.keep_good(json_lines(path))]
    data, file = read_document(path), path.as_posix()
    if not is_results(data):
        refuse_file(path, "not a promptfoo result file: it has no list `results`")
    inner = as_object(data["results"]) or data
    if not isinstance(inner["results"], list):
        refuse_file(path, "must be a list of results", "results.results")
    rows = enumerate(as_list(inner["results"]))
    return data, inner, [(Place(file, None, f"results[{n}]"), row) for n, row in rows]


def _check_rows(written: Iterable[tuple[Place, Json]], findings: Findings) -> Iterator[EvalRow]:
    for number, (place, data) in enumerate(written):
        if wrong := _CHECK.list_problems(data, place):
            findings.take(wrong[0])
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
            findings.add(place, wrong_row)
        else:
            yield row


def _contradiction(row: EvalRow) -> str:
    passed, reason = row.data["success"], row.data.get("failureReason")
    graded = row.data.get("gradingResult")
    if passed and reason in (ASSERTION, ERROR):
        return f"success is true, but failureReason is {reason} - export it again"
    if graded and row.reason != ERROR and graded["pass"] != passed:
        said = f"success is {passed}, but gradingResult.pass is {graded['pass']}".lower()
        return f"{said} - export it again"
    return ""


def _is_numbered(row: EvalRow) -> bool:
    return row.prompt is not None and row.data.get("testIdx") is not None


def _check_repeats(rows: tuple[EvalRow, ...], findings: Findings) -> None:
    seen: dict[tuple[int, int | None], EvalRow] = {}
    numbered = any(map(_is_numbered, rows))
    for row in rows:
        if not _is_numbered(row):
            if numbered:
                findings.add(
                    row.place,
                    "has no testIdx or promptIdx, but other results have both - use the "
                    "results of one eval",
                )
            continue
        first = seen.setdefault((row.test, row.prompt), row)
        if first is not row:
            where = first.place.key or f"line {first.place.line}"
            findings.add(row.place, f"has the same testIdx and promptIdx as {where} - keep one")


# ---------------------------------------------------------------------------------------- templates
# Templates of promptfoo as far as they are variables: `{{name}}`, `{{ name.part }}`.


_VARIABLE = re.compile(r"\{\{-?\s*([A-Za-z_]\w*(?:\.\w+)*)\s*-?\}\}")
_MORE = re.compile(r"\{\{|\{%|\{#")


def render_template(text: str, known: Mapping[str, Json]) -> str | None:
    """The text with variables put in, unknown ones as ""; None if it has filters or loops."""
    if _MORE.search(_VARIABLE.sub("", text)) or "{{env." in text.replace(" ", ""):
        return None
    return _VARIABLE.sub(lambda found: as_text(at(known, *found[1].split("."))), text)


def unknown(text: str, known: Mapping[str, Json]) -> set[str]:
    """Variables of the text that nobody gives a value."""
    return {found for found in _VARIABLE.findall(text) if at(known, *found.split(".")) is None}


def within(value: Json, known: Mapping[str, Json]) -> Json:
    """A value with every text in it rendered. Raises ValueError for one that cannot be."""
    if isinstance(value, str):
        text = render_template(value, known)
        if text is None:
            raise ValueError(value)
        return text
    if isinstance(value, list):
        return [within(one, known) for one in value]
    if isinstance(value, dict):
        return {key: within(one, known) for key, one in value.items()}
    return value


# ------------------------------------------------------------------------------------------- naming
# Which suite, case and round a result is: the same names in every eval of the same tests.


_TITLE = 120  # characters of a case's id that come from a description
_BY_ROW = re.compile(r"Row #\d+")  # what promptfoo calls the rows of a file: it moves with them
_ASKED = ("question", "query", "q", "input", "prompt", "message", "text")  # usual variables

Column = int | tuple[str, str]  # a prompt and provider: its number, or both names


def identify_test(case: Mapping[str, Json], own: Mapping[str, Json], asserts: Json) -> CaseIdentity:
    """What tells a test from others. The prompt has no say: it is what changes."""
    metadata = case.get("metadata")
    named = metadata.get("id") if isinstance(metadata, dict) else None
    title = named if isinstance(named, (str, int)) else case.get("description")
    text = tidy(str(title), _TITLE) if isinstance(title, (str, int)) else ""
    asked = {key: value for key, value in own.items() if not key.startswith("__")}
    texts = {key: tidy(as_text(value), 60) for key, value in asked.items()}
    usual = next((texts[key] for key in _ASKED if texts.get(key)), "")
    return CaseIdentity(
        title="" if _BY_ROW.fullmatch(text) else text,
        asked=asked,
        words=usual or next(filter(None, reversed(texts.values())), "test"),
        digest=mark(asked, asserts),
    )


PlacedRow = PlacedResult[EvalRow]


def place_rows(source: Evaluation, wanted: str) -> Iterator[PlacedRow]:
    """Suite by suite, test by test; repeats are rounds. `wanted`: name or prefix of suites."""
    names = suite_names(source, wanted)
    order = {column: n for n, column in enumerate(names)}
    rows = sorted(source.rows, key=lambda row: (order[column_of(row)], row.test))
    tests = [identify_test(row.case, row.vars, row.asserts) for row in rows]
    by_test = sorted(zip(rows, tests, strict=True), key=lambda pair: pair[0].test)
    ids = CaseIds([one for _, one in by_test])
    suites = (names[column_of(row)] for row in rows)
    return place_results(TOOL, zip(suites, tests, rows, strict=True), ids, rounds_of(source))


def rounds_of(source: Evaluation) -> int:
    """`--repeat`, or any number where the source does not tell it."""
    runtime = source.head.get("runtimeOptions")
    repeats = as_object(runtime).get("repeat")
    if isinstance(repeats, int) and 0 < repeats <= MOST_ROUNDS:
        return int(repeats)
    return 1 if isinstance(runtime, dict) else MOST_ROUNDS


def column_of(row: EvalRow) -> Column:
    return row.prompt if row.prompt is not None else (provider_of(row), _label(row.data))


def suite_names(source: Evaluation, wanted: str) -> dict[Column, str]:
    """A suite for each prompt and provider. One alone is called as `wanted`, or as the config's
    description says, or `promptfoo`; several by provider and prompt, as far as these differ, after
    `wanted`.
    """
    columns: dict[Column, EvalRow] = {}
    for row in source.rows:
        columns.setdefault(column_of(row), row)
    ordered = sorted(columns, key=lambda one: (isinstance(one, tuple), str(one).zfill(9)))
    if len(ordered) == 1:
        return {ordered[0]: suite_name(wanted or as_string(source.config.get("description")), TOOL)}
    prompts = _prompt_names(source, {column: columns[column] for column in ordered})
    providers = {column: provider_of(columns[column]) for column in ordered}
    names: dict[Column, str] = {}
    for column in ordered:
        parts = [wanted] if wanted else []
        parts += [providers[column]] if len({*providers.values()}) > 1 else []
        parts += [prompts[column]] if len({*prompts.values()}) > 1 else []
        names[column] = _free(suite_name(".".join(parts), TOOL), {*names.values()})
    return names


def _free(name: str, taken: set[str]) -> str:
    """The name, numbered where another has it: folders may not differ in case alone."""
    lower = {one.lower() for one in taken}
    tried, n = name, 1
    while tried.lower() in lower:
        n += 1
        tried = f"{name[:90]}-{n}"
    return tried


def _prompt_names(source: Evaluation, columns: Mapping[Column, EvalRow]) -> dict[Column, str]:
    """Names of prompts: labels, or for labels made of the text the file's name or a number."""
    names: dict[Column, str] = {}
    numbers: dict[str, int] = {}
    for column, row in columns.items():
        head = _prompt_head(source, column, row)
        raw, label = as_text(head.get("raw")), _label({"prompt": head}) or _label(row.data)
        number = numbers.setdefault(f"{raw or label}", len(numbers) + 1)
        file = label.partition(": ")[0] if raw and label.endswith(f": {raw}") else ""
        made = not label or label == raw or "{{" in label or len(label) > 80
        names[column] = file or (f"prompt-{number}" if made else label)
    return names


def _prompt_head(source: Evaluation, column: Column, row: EvalRow) -> Mapping[str, Json]:
    """The prompt before variables were put in, if the source has it."""
    prompt: Json = row.data.get("prompt")
    if isinstance(column, int) and column < len(source.prompts):
        prompt = source.prompts[column]
    return as_object(prompt)


def provider_of(row: EvalRow) -> str:
    """A provider's label, or its id."""
    written = row.data.get("provider")
    if isinstance(written, dict):
        written = written.get("label") or written.get("id")
    return tidy(as_string(written), 200)


def _label(data: Mapping[str, Json]) -> str:
    written = data.get("prompt")
    if isinstance(written, dict):
        written = written.get("label") or written.get("display") or ""
    return as_string(written)
