"""The baseline file `baselines/<suite>.json`: stored rounds of the base branch, one case a line.

Header keys first, then `cases`, sorted by id, so that a diff reads well. The values of a column
stand round after round, run after run, oldest first; null is unmeasured, and a column that a case
has no value in is left out. `path` is what the agent did in the newest run. What is read is hostile
until it has passed `parse`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from gate.analysis.metric_names import renamed_among
from gate.analysis.table import (
    Array,
    Table,
    floats,
    has_values,
    newest_rounds,
    select_rounds,
    take_rounds,
)
from gate.graders.trajectories.path import Path
from gate.records import LARGEST, CheckedJson, Json, MetricSpec
from gate.records.baseline import AnchorHeader, BaselineRun
from gate.records.codec import from_json, to_json
from gate.store.baseline.schema import (
    MOST_MB,
    SCHEMA_VERSION,
    AcceptanceNote,
    CheckedBaseline,
    check_header,
    check_text,
    header_of,
    load,
    reject,
)

T = TypeVar("T")
MAX_VALUES = 100_000_000  # of the whole file: 800 MB in memory
_CASES = '\n"cases": ['


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnchor:
    """`table` holds the rounds of `header.runs`, oldest first, of the columns that are watched."""

    header: AnchorHeader
    table: Table

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rounds of each run."""
        return tuple(run.kept for run in self.header.runs)

    def newest_of(self, column: str) -> str:
        """When the newest run with values of the column was made; empty where none has any."""
        start, newest = 0, ""
        for run in self.header.runs:
            if has_values(take_rounds(self.table, start, run.kept).column(column)):
                newest = run.created_at
            start += run.kept
        return newest

    def rename(self, names: Mapping[str, str]) -> StoredAnchor:
        """With other names of metrics and columns: `names` has the new one by the old one."""

        def new(by_name: Mapping[str, T]) -> dict[str, T]:
            return {names.get(name, name): value for name, value in by_name.items()}

        header, table = self.header, self.table
        header = replace(
            header,
            wanted=new(header.wanted),
            graders=new(header.graders),
            steps=new(header.steps),
            falls=new(header.falls),
        )
        columns, graders = new(table.columns), new(table.graders)
        return StoredAnchor(header=header, table=replace(table, columns=columns, graders=graders))


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineFile:
    """`table` holds all kept rounds of all runs, oldest first; `runs` are newest last."""

    table: Table
    runs: tuple[BaselineRun, ...] = ()
    accepted: tuple[AcceptanceNote, ...] = ()
    paths: Mapping[str, Path] = field(default_factory=dict)  # case id -> of a newest round
    renamed: Mapping[str, str] = field(default_factory=dict)  # old names in the file -> new
    anchor: StoredAnchor | None = None  # what main is compared with; None: not set yet

    @property
    def suite(self) -> str:
        return self.table.suite

    @property
    def changed_at(self) -> tuple[str, ...]:
        """The moments at which somebody accepted a change, ISO 8601, UTC."""
        return tuple(note.when for note in self.accepted)


def parse(text: bytes, file: str, most_mb: int = MOST_MB) -> BaselineFile:
    """Raises UsageError with file:line when this is no whole baseline file of this version, or when
    it is larger.
    """
    return build(check_text(text, file, most_mb))


def newest_run(text: bytes, file: str) -> BaselineRun | None:
    """The last run of the header, without reading the cases of a file as `render` wrote it."""
    head, separator, _ = text.partition(_CASES.encode())
    data = check_header(load(head + b'\n"cases": []}' if separator else text, file), file)
    runs = data["runs"]
    return from_json(BaselineRun, runs[-1]) if runs else None


def build(checked: CheckedBaseline) -> BaselineFile:
    """Raises InvalidInput for more values than fit into memory, or too large ones."""
    data, file = checked.data, checked.file
    runs = tuple(from_json(BaselineRun, run) for run in data["runs"])
    specs = {name: from_json(MetricSpec, spec) for name, spec in data["metrics"].items()}
    table = _table(data["suite"], data["cases"], sum(run.kept for run in runs), file)
    accepted = tuple(from_json(AcceptanceNote, one) for one in data["accepted"])
    paths = {case["id"]: from_json(Path, case["path"]) for case in data["cases"] if "path" in case}
    renamed = renamed_among(specs)
    baseline = BaselineFile(
        table=replace(table, specs=specs, graders=data["graders"]),
        runs=runs,
        accepted=accepted,
        paths=paths,
        renamed=renamed,
        anchor=_anchor(data, specs, file),
    )
    return with_names(baseline, renamed) if renamed else baseline


def _table(suite: str, listed: CheckedJson, rounds: int, file: str) -> Table:
    """The cases as a table without specs and graders."""
    cases = sorted(listed, key=lambda case: str(case["id"]))
    nothing = [None] * rounds
    names = sorted({name for case in cases for name in case["values"]})
    if len(cases) * rounds * len(names) > MAX_VALUES:
        reject(file, None, f"more than {MAX_VALUES:,} values; lower baseline.keep_rounds")
    return Table(
        suite=suite,
        cases=tuple(case["id"] for case in cases),
        digests=tuple(case["digest"] for case in cases),
        rounds=rounds,
        columns={
            name: _column(name, [case["values"].get(name, nothing) for case in cases], rounds, file)
            for name in names
        },
        categories=tuple(case["category"] for case in cases),
    )


def _anchor(
    data: Mapping[str, CheckedJson], specs: Mapping[str, MetricSpec], file: str
) -> StoredAnchor | None:
    if "anchor" not in data:
        return None
    header = from_json(AnchorHeader, data["anchor"])
    cases, rounds = data.get("anchor_cases", []), sum(run.kept for run in header.runs)
    table = _table(data["suite"], cases, rounds, file)
    # A column that was accepted anew has no values so far.
    nothing = floats([[None] * rounds] * len(cases), rounds)
    columns = {name: table.columns.get(name, nothing) for name in (*table.columns, *header.wanted)}
    return StoredAnchor(
        header=header, table=replace(table, columns=columns, specs=specs, graders=header.graders)
    )


def with_names(baseline: BaselineFile, names: Mapping[str, str]) -> BaselineFile:
    """The file with other names of metrics and columns: `names` has the new one by the old one."""

    def rename(by_name: Mapping[str, T]) -> dict[str, T]:
        return {names.get(name, name): value for name, value in by_name.items()}

    table = baseline.table
    specs = {
        name: replace(
            spec, name=names.get(spec.name, spec.name), column=names.get(spec.column, spec.column)
        )
        for name, spec in table.specs.items()
    }
    return replace(
        baseline,
        table=replace(
            table,
            columns=rename(table.columns),
            specs=rename(specs),
            graders=rename(table.graders),
        ),
        runs=tuple(replace(run, means=rename(run.means)) for run in baseline.runs),
        accepted=tuple(
            replace(note, metrics=tuple(names.get(name, name) for name in note.metrics))
            for note in baseline.accepted
        ),
        anchor=baseline.anchor.rename(names) if baseline.anchor else None,
    )


def _column(name: str, rows: list[CheckedJson], rounds: int, file: str) -> Array:
    try:
        values = floats(rows, rounds)
    except OverflowError:  # a whole number that is no float
        values = floats([[LARGEST * 10]], 1)
    if (abs(values) > LARGEST).any():
        reject(file, None, f"values.{name}: a number is too large; save the baseline again")
    if name == "success" and ((values < 0.0) | (values > 1.0)).any():
        reject(file, None, "values.success: a number is not from 0 to 1; save the baseline again")
    return values


def newest(baseline: BaselineFile, rounds: int | None) -> BaselineFile:
    """The file with the newest `rounds` rounds of each case only; None: with all.

    A case that samples leave out keeps its rounds of older runs; such a run has NaN for the rest.
    """
    if rounds is None or baseline.table.rounds <= rounds:
        return baseline
    table, needed = newest_rounds(baseline.table, rounds)
    runs, start = [], 0
    for run in baseline.runs:
        runs.append(replace(run, kept=int(needed[start : start + run.kept].sum())))
        start += run.kept
    return replace(baseline, table=table, runs=tuple(runs))


def without_run(baseline: BaselineFile, session_id: str) -> BaselineFile:
    """The file without the rounds and the header of this run."""
    kept: list[int] = []
    start = 0
    for run in baseline.runs:
        if run.session_id != session_id:
            kept += range(start, start + run.kept)
        start += run.kept
    runs = tuple(run for run in baseline.runs if run.session_id != session_id)
    return replace(baseline, table=select_rounds(baseline.table, kept), runs=runs)


def render(baseline: BaselineFile) -> str:
    """The file's text; the same baseline gives the same bytes, and parsing it loses nothing."""
    table = baseline.table
    specs = {name: to_json(table.specs[name]) for name in sorted(table.specs)}
    parts = [
        f'"schema_version": {SCHEMA_VERSION}',
        f'"suite": {_dump(baseline.suite)}',
        f'"metrics": {_object(specs)}',
        f'"graders": {_object(dict(sorted(table.graders.items())))}',
        f'"runs": {_list([header_of(run) for run in baseline.runs])}',
        f'"accepted": {_list([to_json(one) for one in baseline.accepted])}',
        *_render_anchor_header(baseline.anchor),
        f'"cases": {_list(_cases(table, baseline.paths))}',
    ]
    if baseline.anchor:
        parts.append(f'"anchor_cases": {_list(_cases(baseline.anchor.table, {}))}')
    text = "{\n" + ",\n".join(parts) + "\n}\n"
    # Half a surrogate pair has no UTF-8; its JSON escape has.
    return text.encode("utf-8", "backslashreplace").decode()


def _render_anchor_header(anchor: StoredAnchor | None) -> list[str]:
    """As its own part of the file; none where there is no anchor, as older versions wrote it."""
    if anchor is None:
        return []
    header: dict[str, Json] = to_json(anchor.header)
    parts = {name: value for name, value in header.items() if name != "runs"}
    runs = _list([header_of(run) for run in anchor.header.runs])
    return [f'"anchor": {_object(parts)[:-2]},\n"runs": {runs}\n}}']


def _cases(table: Table, paths: Mapping[str, Path]) -> Iterator[CheckedJson]:
    columns = {name: table.columns[name].tolist() for name in sorted(table.columns)}
    categories = table.categories or (None,) * len(table.cases)
    order = sorted(range(len(table.cases)), key=lambda row: table.cases[row])
    for row in order:
        values = {name: _numbers(column[row]) for name, column in columns.items()}
        path = paths.get(table.cases[row])
        yield {
            "id": table.cases[row],
            "digest": table.digests[row],
            "category": categories[row],
            "values": {name: v for name, v in values.items() if any(x is not None for x in v)},
            **({"path": to_json(path)} if path else {}),
        }


def _numbers(values: Sequence[float]) -> list[float | int | None]:
    """NaN as null and whole numbers as such; the rest in full, or equal scores would differ."""
    return [None if x != x else int(x) if x.is_integer() and abs(x) < 1e15 else x for x in values]


def _object(items: Mapping[str, Json]) -> str:
    lines = [f"{_dump(key)}: {_dump(value)}" for key, value in items.items()]
    return "{\n" + ",\n".join(lines) + "\n}" if lines else "{}"


def _list(items: Sequence[Json] | Iterator[Json]) -> str:
    lines = [_dump(item) for item in items]
    return "[\n" + ",\n".join(lines) + "\n]" if lines else "[]"


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
