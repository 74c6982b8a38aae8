"""Which suite, case and round a result is: the same names in every eval of the same tests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gate.files.json_values import as_object, as_string
from gate.importers.formats.promptfoo.evaluation import TOOL, EvalRow, Evaluation
from gate.importers.formats.promptfoo.templates import as_text
from gate.importers.trials.case_ids import CaseIdentity, CaseIds, mark, number_repeat
from gate.importers.trials.names import suite_name
from gate.records import MOST_ROUNDS, Json
from gate.text.escaping import one_line

_TITLE = 120  # characters of a case's id that come from a description
_BY_ROW = re.compile(r"Row #\d+")  # what promptfoo calls the rows of a file: it moves with them
_ASKED = ("question", "query", "q", "input", "prompt", "message", "text")  # usual variables

Column = int | tuple[str, str]  # a prompt and provider: its number, or both names


def identify_test(case: Mapping[str, Json], own: Mapping[str, Json], asserts: Json) -> CaseIdentity:
    """What tells a test from others. The prompt has no say: it is what changes."""
    metadata = case.get("metadata")
    named = metadata.get("id") if isinstance(metadata, dict) else None
    title = named if isinstance(named, (str, int)) else case.get("description")
    text = one_line(str(title), _TITLE) if isinstance(title, (str, int)) else ""
    asked = {key: value for key, value in own.items() if not key.startswith("__")}
    texts = {key: one_line(as_text(value), 60) for key, value in asked.items()}
    usual = next((texts[key] for key in _ASKED if texts.get(key)), "")
    return CaseIdentity(
        title="" if _BY_ROW.fullmatch(text) else text,
        asked=asked,
        words=usual or next(filter(None, reversed(texts.values())), "test"),
        digest=mark(asked, asserts),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRow:
    """A row with its place in the session."""

    row: EvalRow
    suite: str
    case_id: str
    digest: str
    round: int


def place_rows(source: Evaluation, wanted: str) -> Iterator[PlacedRow]:
    """Suite by suite, test by test; repeats are rounds. `wanted`: name or prefix of suites."""
    names = suite_names(source, wanted)
    order = {column: n for n, column in enumerate(names)}
    rows = sorted(source.rows, key=lambda row: (order[column_of(row)], row.test))
    tests = [identify_test(row.case, row.vars, row.asserts) for row in rows]
    by_test = sorted(zip(rows, tests, strict=True), key=lambda pair: pair[0].test)
    ids = CaseIds([one for _, one in by_test])
    counts: Counter[tuple[str, str]] = Counter()
    for row, test in zip(rows, tests, strict=True):
        suite, case_id = names[column_of(row)], ids.of(test)
        counts[suite, case_id] += 1
        case_id, number = number_repeat(case_id, counts[suite, case_id], rounds_of(source))
        yield PlacedRow(row=row, suite=suite, case_id=case_id, digest=test.digest, round=number)


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
    found: dict[Column, str] = {}
    for column in ordered:
        parts = [wanted] if wanted else []
        parts += [providers[column]] if len({*providers.values()}) > 1 else []
        parts += [prompts[column]] if len({*prompts.values()}) > 1 else []
        found[column] = _free(suite_name(".".join(parts), TOOL), {*found.values()})
    return found


def _free(name: str, taken: set[str]) -> str:
    """The name, numbered where another has it: folders may not differ in case alone."""
    lower = {one.lower() for one in taken}
    tried, n = name, 1
    while tried.lower() in lower:
        n += 1
        tried = f"{name[:90]}-{n}"
    return tried


def _prompt_names(source: Evaluation, columns: Mapping[Column, EvalRow]) -> dict[Column, str]:
    """Their labels; of those that promptfoo made itself out of the text the file's name, or their
    number: the text is what changes from eval to eval.
    """
    found: dict[Column, str] = {}
    numbers: dict[str, int] = {}
    for column, row in columns.items():
        head = _head(source, column, row)
        raw, label = as_text(head.get("raw")), _label({"prompt": head}) or _label(row.data)
        number = numbers.setdefault(f"{raw or label}", len(numbers) + 1)
        file = label.partition(": ")[0] if raw and label.endswith(f": {raw}") else ""
        made = not label or label == raw or "{{" in label or len(label) > 80
        found[column] = file or (f"prompt-{number}" if made else label)
    return found


def _head(source: Evaluation, column: Column, row: EvalRow) -> Mapping[str, Json]:
    """The prompt before variables were put in, if the source has it."""
    found: Json = row.data.get("prompt")
    if isinstance(column, int) and column < len(source.prompts):
        found = source.prompts[column]
    return as_object(found)


def provider_of(row: EvalRow) -> str:
    """Its label, or its id."""
    written = row.data.get("provider")
    if isinstance(written, dict):
        written = written.get("label") or written.get("id")
    return one_line(as_string(written), 200)


def _label(data: Mapping[str, Json]) -> str:
    written = data.get("prompt")
    if isinstance(written, dict):
        written = written.get("label") or written.get("display") or ""
    return as_string(written)
