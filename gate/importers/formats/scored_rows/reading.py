"""An export as one imported suite: first all rows are checked and counted, then each is a trial."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from gate.agents.traces.values import as_text
from gate.errors import Place, Problem
from gate.files.json_values import as_amount, as_list, as_object
from gate.files.problems import Findings
from gate.files.tables import TableRow
from gate.importers.formats.scored_rows.shape import (
    ReadingPlan,
    Role,
    RowShape,
    decode_cell,
    read_flag,
    read_moment,
    read_number,
    short,
    value_at,
)
from gate.importers.trials import build
from gate.importers.trials.names import metric_name
from gate.importers.trials.nobodys_fault import is_nobodys, status_of
from gate.records import MOST_ROUNDS, Case, Json, MetricSpec, Response, Trial, TrialStatus, Usage
from gate.records.imported import Imported, ImportedSuite


def import_rows(files: tuple[Path, ...], rows: Rows, asked: ReadingPlan) -> Imported:
    """`rows` reads the files, as often as asked. Raises InvalidInput with everything wrong."""
    totals = check_rows(rows, asked, files[0].as_posix())
    names = _names(asked, totals)
    judge = f"{asked.shape.tool} export"
    passed = dict.fromkeys(("success", "first_success"), f"{judge}: {asked.criterion}")
    suite = ImportedSuite(
        rounds=max(totals.cases.values()),
        cases=len(totals.cases),
        dataset=f"an export of {asked.shape.tool}",
        metrics=tuple(_spec(asked, totals, name, names[name]) for name in names),
        graders={**passed, "score": judge, **dict.fromkeys(names.values(), judge)},
    )
    return Imported(
        files=files,
        created_at=totals.first.isoformat() if totals.first else None,
        provenance=build.provenance_of(asked.shape.tool, ", ".join(sorted(totals.models)[:3])),
        suites={asked.target.name: suite},
        trials=lambda: _trials(rows, asked, totals, names),
        notes=tuple(_notes(asked, totals)),
    )


def _trials(
    rows: Rows, asked: ReadingPlan, totals: ExportTotals, names: Mapping[str, str]
) -> Iterator[Trial]:
    seen: dict[str, int] = {}
    for row in _own_rows(rows, asked, totals):
        yield trial_in(row, asked, totals, names, seen)


def _own_rows(rows: Rows, asked: ReadingPlan, totals: ExportTotals) -> Iterator[TableRow]:
    """Those that become trials: inner spans only where there is nothing else."""
    for row in rows():
        if isinstance(row, TableRow) and (is_root(asked, row.cells) or not totals.roots):
            yield row


def _names(asked: ReadingPlan, totals: ExportTotals) -> dict[str, str]:
    """Score -> metric; two that would be called alike are told apart by a number."""
    wanted: Sequence[str] = asked.scores or totals.numeric
    names: dict[str, str] = {}
    for score in sorted(wanted):
        name = metric_name(asked.shape.tool, score)
        taken = sum(one == name or one.startswith(f"{name}__") for one in names.values())
        names[score] = f"{name}__{taken + 1}" if taken else name
    return names


def _spec(asked: ReadingPlan, totals: ExportTotals, score: str, name: str) -> MetricSpec:
    about, lower = f"a score in the {asked.shape.tool} export", score in asked.lower
    spec = build.score_metric(name, share=totals.scores[score].share, about=about, lower=lower)
    return replace(spec, family="mean")


def _notes(asked: ReadingPlan, totals: ExportTotals) -> Iterator[str]:
    tool = asked.shape.tool
    if not asked.criterion:
        yield (
            f"it is not known which rows of the {tool} export passed, so there is no "
            f"success rate; {CHOICE}"
        )
    elif totals.unsaid:
        message = f"{totals.unsaid} of {totals.trials} rows do not say whether they passed"
        yield f"{message} ({asked.criterion}); they are unscored"
    if totals.roots and totals.spans:
        yield (
            f"{totals.spans} inner spans are not imported as results; their tokens and cost "
            "are added to their traces"
        )
    if totals.rootless:
        yield (
            f"{totals.rootless} traces are left out: the export has only their inner "
            "spans, so their results are unknown"
        )
    if totals.errors:
        yield (
            "where the agent failed, a row counts as 0 in each score that runs from 0 to 1; "
            f"{tool} leaves such rows out"
        )
    if not asked.round and any(n > 1 for n in totals.cases.values()):
        yield "rows of the same case are its rounds, in the order of the export"
    texts = sorted(name for name, one in totals.scores.items() if one.texts and one.n)
    if texts and not asked.scores:
        shown = ", ".join(name[:40] for name in texts[:5])
        yield f"columns that are numbers in some rows and texts in others are not scores: {shown}"


# --------------------------------------------------------------------------------------------- rows


_ERROR = 4_000  # characters of a message
_SAID = ("content", "output", "answer", "text", "response", "message")  # of an answer that is JSON


def trial_in(
    row: TableRow,
    asked: ReadingPlan,
    totals: ExportTotals,
    names: Mapping[str, str],
    seen: dict[str, int],
) -> Trial:
    """`names`: score -> metric. `seen`: case -> its rounds so far, which grow."""
    cells, shape = row.cells, asked.shape
    case_id = case_id_of(asked, cells)
    nth = round_in(asked, cells) if asked.round else seen.get(case_id, 0) + 1
    seen[case_id] = nth or 1
    error = error_of(asked, cells)[:_ERROR]
    status = status_of(error or None)
    scores = {name: read_number(value) for name, value in scores_of(asked, cells)}
    known = {name: value for name, value in scores.items() if value is not None}
    values = {names[name]: value for name, value in known.items() if name in names}
    if status == "agent_error":
        worst = (name for name in names if totals.scores[name].share and name not in asked.lower)
        values = {names[name]: 0.0 for name in worst} | values
    began = read_moment(shape.at("started_at", cells))
    passed = asked.criterion.met(cells, known)
    return asked.target.trial(
        _case(row, asked, case_id),
        round=nth or 1,
        status=status,
        passed=passed,
        failures=_failures(asked, status, passed),
        values=values,
        response=_response(cells, asked, totals) if status == "completed" else None,
        latency_ms=_latency(shape, cells),
        error=error or None,
        started_at=f"{began:%Y-%m-%dT%H:%M:%S}.{began.microsecond // 1000:03}Z" if began else "",
    )


def _case(row: TableRow, asked: ReadingPlan, case_id: str) -> Case:
    cells, shape = row.cells, asked.shape
    expected, tags = (decode_cell(shape.at(role, cells)) for role in ("expected", "tags"))
    return asked.target.case(
        case_id,
        input=decode_cell(shape.at("input", cells)) or "",
        keys={} if expected is None else {"expected_answer": expected},
        category=short(shape.at("category", cells)) or None,
        tags=[short(tag) for tag in as_list([tags] if isinstance(tags, str) else tags)[:50]],
        place=row.place,
    )


def _failures(asked: ReadingPlan, status: TrialStatus, passed: bool | None) -> tuple[str, ...]:
    if status != "completed":
        return ("agent_error",) if status == "agent_error" else ()
    missed = short(asked.criterion.score)
    code = f"score_missed:{missed}" if missed else "not_passed"
    return (code,) if passed is False else ()


def _response(cells: Mapping[str, Json], asked: ReadingPlan, totals: ExportTotals) -> Response:
    shape = asked.shape
    return Response(
        answer=_answer(decode_cell(shape.at("output", cells))),
        usage=_usage(cells, shape, totals),
        model=short(shape.at("model", cells)) or None,
    )


def _answer(value: Json) -> str:
    """What was said, where the output is an object that plainly holds it."""
    for _ in range(3):
        inner = value[-1] if isinstance(value, list) and len(value) == 1 else value
        said = [inner[key] for key in _SAID if key in inner] if isinstance(inner, dict) else []
        if not said:
            break
        value = said[0]
    return as_text(value)


def _usage(cells: Mapping[str, Json], shape: RowShape, totals: ExportTotals) -> Usage:
    """What the row itself says, or else its inner spans."""
    sums = totals.inner.get(as_text(shape.at("trace", cells)), {})

    def told(role: Role) -> float | None:
        return shape.number(role, cells) or sums.get(role)

    return build.usage_of(
        input=told("input_tokens"),
        output=told("output_tokens"),
        cached=told("cached_tokens"),
        total=told("total_tokens"),
        cost_usd=told("cost_usd"),
    )


def _latency(shape: RowShape, cells: Mapping[str, Json]) -> float | None:
    """Milliseconds: as told, else from seconds, else from when it began and ended."""
    latency = shape.number("latency_ms", cells)
    if latency is None and (seconds := shape.number("latency_s", cells)) is not None:
        latency = seconds * 1000
    if latency is None:
        began = read_moment(shape.at("started_at", cells))
        ended = read_moment(shape.at("ended_at", cells))
        latency = (ended - began).total_seconds() * 1000 if began and ended else None
    return as_amount(latency)


# ------------------------------------------------------------------------------------------- checks


Rows = Callable[[], Iterator[TableRow | Problem]]
MOST_SCORES = 1_000
ROW_ID = "id"  # the column in which these tools tell rows apart, whatever case they are of
CHOICE = "add --option passed=COLUMN or --option 'pass_score=NAME>=NUMBER'"
_MODELS = 100  # told apart
_ID = 400  # characters
_COLUMNS = """--option 'columns={"id": "COLUMN"}'"""
_NO_ID = f"has neither an id nor an input - choose the column with the id: {_COLUMNS}"


@dataclass(slots=True)
class Spread:
    """A score's values."""

    n: int = 0
    low: float = 0.0
    high: float = 0.0
    texts: int = 0  # values that are no number

    def add(self, value: float) -> None:
        self.low = min(self.low, value) if self.n else value
        self.high = max(self.high, value) if self.n else value
        self.n += 1

    @property
    def share(self) -> bool:
        return self.low >= 0.0 and self.high <= 1.0


@dataclass(slots=True)
class ExportTotals:
    """What all rows together say."""

    cases: dict[str, int] = field(default_factory=dict)  # id -> its rounds
    trials: int = 0
    scores: dict[str, Spread] = field(default_factory=dict)
    # trace -> tokens and cost of its inner spans, as far as they say
    inner: dict[str, dict[str, float]] = field(default_factory=dict)
    roots: int = 0
    spans: int = 0  # inner ones
    models: Counter[str] = field(default_factory=Counter)
    first: datetime | None = None
    rootless: int = 0  # traces of which only inner spans are there
    unsaid: int = 0  # answers without pass or fail
    errors: int = 0  # rows in which the agent failed
    columns: set[str] = field(default_factory=set)

    @property
    def numeric(self) -> tuple[str, ...]:
        """The scores that are numbers throughout."""
        return tuple(sorted(name for name, one in self.scores.items() if one.n and not one.texts))


def is_root(asked: ReadingPlan, cells: Mapping[str, Json]) -> bool:
    return asked.shape.at("parent", cells) in (None, "", "[]", [])


def case_id_of(asked: ReadingPlan, cells: Mapping[str, Json]) -> str:
    """The id in the export, else one made of the input; empty if neither is there."""
    case_id = as_text(asked.shape.at("id", cells)).strip()
    question = asked.shape.at("input", cells)
    if not case_id and question is not None:
        return f"input-{_mark(as_text(question))}"
    return case_id if len(case_id) <= _ID else f"{case_id[:_ID]}-{_mark(case_id)}"


def error_of(asked: ReadingPlan, cells: Mapping[str, Json]) -> str:
    """Why there is no answer; empty where there is one, or nothing says that it failed."""
    shape = asked.shape
    if shape.at("output", cells) is not None:
        return ""  # an error beside an answer is a scorer's, or of an inner step
    level = shape.at("level", cells)
    if level is not None and str(level).upper() != "ERROR":
        return ""
    message = as_text(shape.at("error", cells)).strip()
    untold = "the trace has the level ERROR, without a message"
    return message or (untold if level is not None else "")


def _mark(told: str) -> str:
    return hashlib.sha256(told.encode(errors="replace")).hexdigest()[:12]


def scores_of(asked: ReadingPlan, cells: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Names and values as they stand; of columns of their own those that could be scores."""
    column = asked.shape.scores
    inner = as_object(decode_cell(value_at(cells, column)) if column else None)
    prefix = f"{column}." if column else ""
    if asked.scores:
        for name in asked.scores:
            found = inner.get(name, cells.get(f"{prefix}{name}"))
            yield name, value_at(cells, name) if found is None else found
    elif inner:
        yield from inner.items()
    else:
        for name, value in cells.items():
            if prefix and name.startswith(prefix):
                yield name.removeprefix(prefix), value
            elif not prefix and name not in asked.shape.own:
                yield name, value


def check_rows(
    rows: Rows, asked: ReadingPlan, file: str, most: int = build.MOST_TRIALS
) -> ExportTotals:
    """Raises InvalidInput with everything that is wrong, UsageError for more rows than that."""
    check = _Check(asked)
    problems, found = check.problems, check.found
    for first in problems.keep_good(rows()):
        if not is_root(asked, first.cells):
            _add_inner(first.cells, asked, found)
            build.check_number(len(found.inner), file, most)
        else:
            found.roots += 1
            build.check_number(found.roots, file, most)
    for row in _own_rows(rows, asked, found) if not problems else ():
        check.add_row(row)
        build.check_number(found.trials, file, most)  # where all rows are inner spans
    found.rootless = len(found.inner.keys() - check.traces) if found.roots else 0
    if not problems:
        _check_totals(asked, found, problems, file)
    problems.refuse()
    return found


def _add_inner(cells: Mapping[str, Json], asked: ReadingPlan, totals: ExportTotals) -> None:
    shape = asked.shape
    totals.spans += 1
    sums = totals.inner.setdefault(as_text(shape.at("trace", cells)), {})
    for role in ("input_tokens", "output_tokens", "cached_tokens", "total_tokens", "cost_usd"):
        if amount := shape.number(role, cells):  # these tools write 0 for what they do not know
            sums[role] = sums.get(role, 0.0) + amount


@dataclass(slots=True)
class _Check:
    """Rows are added one by one to `found` and `problems`; the rest tells repeated rows apart."""

    asked: ReadingPlan
    found: ExportTotals = field(default_factory=ExportTotals)
    problems: Findings = field(default_factory=Findings)
    ids: set[str] = field(default_factory=set)  # of the rows themselves
    traces: set[str] = field(default_factory=set)
    inputs: dict[str, tuple[str, int | None]] = field(default_factory=dict)  # first of each case
    rounds: set[tuple[str, int]] = field(default_factory=set)  # that were named

    def add_row(self, row: TableRow) -> None:
        cells, asked, found = row.cells, self.asked, self.found
        shape = asked.shape
        found.trials += 1
        found.columns.update(path for path in asked.wanted if value_at(cells, path) is not None)
        self.traces.add(as_text(shape.at("trace", cells)))
        row_id = "" if ROW_ID in shape.columns["id"] else as_text(cells.get(ROW_ID))
        if row_id in self.ids:
            self.problems.add(row.place, f"row '{short(row_id)}' appears twice - keep one")
        self.ids.update([row_id] if row_id else [])
        case_id = case_id_of(asked, cells)
        if case_id:
            self._add_case(row, case_id)
        else:
            self.problems.add(row.place, _NO_ID)
        values = {}
        for name, value in scores_of(asked, cells):
            if (amount := self._score(name, value, row.place)) is not None:
                values[name] = amount
        passed = asked.criterion.met(cells, values)
        column = value_at(cells, asked.criterion.column) if asked.criterion.column else None
        if column is not None and read_flag(column) is None:
            where = replace(row.place, key=asked.criterion.column)
            message = f"'{short(column)}' must be true, false, passed or failed"
            self.problems.add(
                where, f"{message} - choose another column with --option passed=COLUMN"
            )
        failed = error_of(asked, cells)
        found.errors += bool(failed) and not is_nobodys(failed)
        found.unsaid += passed is None and not failed
        model = short(shape.at("model", cells))
        if model and (model in found.models or len(found.models) < _MODELS):
            found.models[model] += 1
        began = read_moment(shape.at("started_at", cells))
        found.first = min(filter(None, (found.first, began)), default=None)

    def _add_case(self, row: TableRow, case_id: str) -> None:
        asked, cases = self.asked, self.found.cases
        question = _mark(as_text(asked.shape.at("input", row.cells)))
        first, line = self.inputs.setdefault(case_id, (question, row.place.line))
        if first != question:
            message = f"case '{short(case_id)}' has a different input in line {line} - choose "
            message += f"the column that tells cases apart: {_COLUMNS}"
            self.problems.add(row.place, message)
        cases[case_id] = cases.get(case_id, 0) + 1
        if cases[case_id] == MOST_ROUNDS + 1:
            message = f"more than {MOST_ROUNDS:,} rows of case '{short(case_id)}' - choose "
            message += f"the column with the id of each case: {_COLUMNS}"
            self.problems.add(row.place, message)
        if asked.round:
            nth = round_in(asked, row.cells)
            if nth is None:
                message = f"{asked.round}: not a whole number from 1 to {MOST_ROUNDS:,}"
                self.problems.add(row.place, message)
            elif (case_id, nth) in self.rounds:
                message = f"case '{short(case_id)}' has two rows for round {nth} - keep one"
                self.problems.add(row.place, message)
            else:
                self.rounds.add((case_id, nth))
                cases[case_id] = max(cases[case_id], nth)

    def _score(self, name: str, value: Json, place: Place) -> float | None:
        asked, scores = self.asked, self.found.scores
        if value in (None, "", []) or value == "[]":
            return None
        if name not in scores and len(scores) >= MOST_SCORES:
            return None  # a column of texts, or nothing that anybody could read
        spread = scores.setdefault(name, Spread())
        amount = read_number(value)
        if amount is not None:
            spread.add(amount)
            return amount
        spread.texts += 1
        if name in asked.scores or name == asked.criterion.score:
            message = f"'{short(value)}' is not a number - remove it from the scores"
            self.problems.add(replace(place, key=name[:80]), message)
        return None


def round_in(asked: ReadingPlan, cells: Mapping[str, Json]) -> int | None:
    """The number in the column of rounds; None for what is none."""
    number = read_number(value_at(cells, asked.round))
    fits = number is not None and number == int(number) and 1 <= number <= MOST_ROUNDS
    return int(number) if number is not None and fits else None


def _check_totals(asked: ReadingPlan, totals: ExportTotals, problems: Findings, file: str) -> None:
    if not totals.trials:
        problems.add(Place(file), "has no row")
        return
    if totals.errors and not asked.criterion:
        message = f"{totals.errors} rows ended in an error, but it is not known which of the others"
        problems.add(Place(file), f"{message} passed - {CHOICE}")
    for path in sorted(asked.wanted - totals.columns):
        problems.add(Place(file), f"no row has a value of '{path[:80]}' - use another column")
    known = ", ".join(totals.numeric[:12]) or "none"
    for name in (*asked.scores, asked.criterion.score, *sorted(asked.lower)):
        if name and not (name in totals.scores and totals.scores[name].n):
            problems.add(Place(file), f"no row has a score '{name[:80]}' - known scores: {known}")
