"""Results of an eval as suites, metrics and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gate.files.json_values import as_object
from gate.files.problems import Findings
from gate.files.timestamps import iso, moment_of
from gate.importers.formats.promptfoo.evaluation import TOOL, Evaluation, read_evaluation
from gate.importers.formats.promptfoo.grading import SCORE
from gate.importers.formats.promptfoo.naming import PlacedRow, place_rows, provider_of
from gate.importers.formats.promptfoo.summary import contradictions, shortfalls
from gate.importers.formats.promptfoo.trials import trial, verdict
from gate.importers.trials.build import name_judge
from gate.records import Json, MetricSpec, Provenance, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.escaping import one_line


@dataclass(slots=True, kw_only=True)
class _Totals:
    """What the rows of one suite come to."""

    rounds: int = 0
    cases: set[str] = field(default_factory=set)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)  # column -> its values
    judges: dict[str, set[str]] = field(default_factory=dict)
    unjudged: int = 0

    def add(self, placed: PlacedRow) -> None:
        self.rounds = max(self.rounds, placed.round)
        self.cases.add(placed.case_id)
        found = verdict(placed.row)
        self.unjudged += found is not None and found.passed is None
        for score in found.scores.values() if found else ():
            for column, value in score.values.items():
                low, high = self.ranges.get(column, (0.0, 0.0))
                told = value or 0.0
                self.ranges[column] = min(low, told), max(high, told)
        for column, models in (found.judges if found else {}).items():
            self.judges.setdefault(column, set()).update(models)


def results(path: Path, wanted: str) -> Imported:
    """Raises InvalidInput with every problem. `wanted`: the suite's name, or how names begin."""
    source = read_evaluation(path)
    problems = Findings()
    problems.take(*contradictions(source))
    problems.refuse()
    found: dict[str, _Totals] = {}
    for one in place_rows(source, wanted):
        found.setdefault(one.suite, _Totals()).add(one)
    cases = len(set().union(*(own.cases for own in found.values())))
    return Imported(
        files=(path,),
        created_at=_moment(source),
        provenance=Provenance(agent=_agents(source), tool_version=_version(source), event="import"),
        suites={name: _suite(own, cases, found) for name, own in found.items()},
        trials=lambda: _trials(path, wanted),
        options=_options(source),
        notes=tuple(_notes(source, sum(own.unjudged for own in found.values()))),
    )


def _trials(path: Path, wanted: str) -> Iterator[Trial]:
    return map(trial, place_rows(read_evaluation(path), wanted))


def _suite(own: _Totals, cases: int, every: Mapping[str, _Totals]) -> ImportedSuite:
    """All prompts and providers were to answer the same tests."""
    columns = sorted({SCORE, *own.ranges}, key=lambda name: (name != SCORE, name))
    by = {column: _name_judges(own.judges.get(column, ())) for column in columns}
    models = sorted({one for found in own.judges.values() for one in found})
    whole = _name_judges(models)
    return ImportedSuite(
        rounds=max(one.rounds for one in every.values()),
        cases=cases,
        dataset="tests of a promptfoo eval",
        metrics=tuple(_spec(name, own.ranges.get(name, (0.0, 1.0))) for name in columns),
        graders={**by, **name_judge(whole, SCORE)},
    )


def _name_judges(models: Sequence[str] | set[str]) -> str:
    return f"{TOOL} by {', '.join(sorted(models))}"[:300] if models else TOOL


def _spec(name: str, values: tuple[float, float]) -> MetricSpec:
    """promptfoo's scores go from 0 to 1, but for those that somebody's code returns otherwise."""
    about = f"mean of promptfoo's `{name.removeprefix('promptfoo.')}`"
    if name == SCORE:
        about = "mean of promptfoo's score of a test, its assertions by their weights"
    if values[0] >= 0.0 and values[1] <= 1.0:
        return MetricSpec(name=name, column=name, family="rate", unit="share", description=about)
    return MetricSpec(name=name, column=name, unit="points", low=None, high=None, description=about)


# ---------------------------------------------------------------------------- what the file tells


def _moment(source: Evaluation) -> str | None:
    exported = as_object(source.head.get("metadata"))
    told = (
        source.summary.get("timestamp"),
        exported.get("evaluationCreatedAt"),
        source.head.get("createdAt"),
    )
    return next(filter(None, (iso(moment_of(moment)) for moment in told)), None)


def _version(source: Evaluation) -> str:
    version = as_object(source.head.get("metadata")).get("promptfooVersion")
    return f"{TOOL} {one_line(version, 40)}" if isinstance(version, str) else TOOL


def _agents(source: Evaluation) -> str:
    names = list(dict.fromkeys(filter(None, map(provider_of, source.rows))))
    more = [f"and {len(names) - 3} more"] if len(names) > 3 else []
    return ", ".join((*names[:3], *more)) or TOOL


def _options(source: Evaluation) -> dict[str, Json]:
    runtime = as_object(source.head.get("runtimeOptions"))
    eval_id = source.head.get("evalId")
    found = {"repeat": runtime.get("repeat"), "concurrency": runtime.get("maxConcurrency")}
    whole = {key: value for key, value in found.items() if type(value) is int and value > 0}
    return {**({"eval": one_line(eval_id, 80)} if isinstance(eval_id, str) else {}), **whole}


def _notes(source: Evaluation, unjudged: int) -> Iterator[str]:
    yield "imported from an eval of promptfoo, which judged it"
    yield from shortfalls(source)
    cached = sum(row.mapping("response").get("cached") is True for row in source.rows)
    if cached:
        yield (
            f"{cached} of {len(source.rows)} answers came out of promptfoo's cache: how long they "
            "took is not known"
        )
    if unjudged:
        yield (
            f"{unjudged} of {len(source.rows)} results have an assertion that broke off: they are "
            "unscored, promptfoo counts them as failed or as errors"
        )
