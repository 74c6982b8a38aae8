"""`promptfoo`: the results of an eval, or a configuration with its tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from gate.errors import Place, Problem, UsageError
from gate.files.json_values import as_object, is_integer
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.files.timestamps import iso, moment_of
from gate.importers.formats.promptfoo.config import config_in, tests_of
from gate.importers.formats.promptfoo.evaluation import (
    ASSERTION,
    ERROR,
    PASSED,
    TOOL,
    EvalRow,
    Evaluation,
    PlacedRow,
    place_rows,
    provider_of,
    read_evaluation,
)
from gate.importers.formats.promptfoo.trials import SCORE, RowGrade, trial, verdict
from gate.importers.trials.build import name_judge, provenance_of, score_metric
from gate.plugins import IMPORTERS
from gate.records import Json, MetricSpec, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.shortening import tidy

_RESULTS = {"evalId", "results"}
_ROW = {"gradingResult", "promptId", "success", "testCase"}
_CONFIG = (b"prompts:", b"providers:", b"targets:", b"tests:")


@IMPORTERS.register("promptfoo")
@dataclass(frozen=True, slots=True, kw_only=True)
class Promptfoo:
    """`suite`: its name, or what the names of several begin with. `prompt`: number or label of the
    configuration's prompt that becomes the input of the cases.
    """

    suite: str = ""
    prompt: str = ""

    reads: ClassVar[str] = "the results of `promptfoo eval -o`, or its configuration"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if found.is_folder:
            return any(
                name in found.names for name in ("promptfooconfig.yaml", "promptfooconfig.json")
            )
        if found.ends(".yaml", ".yml"):
            lines = [line.rstrip() for line in found.head[:65536].splitlines()]
            starts = [line for line in lines if line[:1].isalpha()]
            config = sum(any(line.startswith(one) for line in starts) for one in _CONFIG) > 1
            return config or any(line.startswith(b"evalId:") for line in starts)
        return found.has(*_RESULTS) or found.has(*_ROW) or found.has("prompts", "providers")

    def read(self, path: Path) -> Imported:
        if path.suffix.lower() in (".csv", ".html") and path.is_file():
            raise UsageError(
                f"{path}: promptfoo's CSV and HTML files are incomplete; write JSON "
                "(promptfoo eval -o results.json)"
            )
        config = config_in(path)
        return results(path, self.suite) if config is None else tests_of(config, self.prompt)


@dataclass(slots=True, kw_only=True)
class _Totals:
    """What the rows of one suite come to."""

    rounds: int = 0
    cases: set[str] = field(default_factory=set)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)  # column -> its values
    judges: dict[str, set[str]] = field(default_factory=dict)
    unjudged: int = 0

    def add(self, placed: PlacedRow, grade: RowGrade | None) -> None:
        self.rounds = max(self.rounds, placed.round)
        self.cases.add(placed.case_id)
        self.unjudged += grade is not None and grade.passed is None
        for score in grade.scores.values() if grade else ():
            for column, value in score.values.items():
                low, high = self.ranges.get(column, (0.0, 0.0))
                number = value or 0.0
                self.ranges[column] = min(low, number), max(high, number)
        for column, models in (grade.judges if grade else {}).items():
            self.judges.setdefault(column, set()).update(models)


def results(path: Path, wanted: str) -> Imported:
    """Raises InvalidInput with every problem. `wanted`: the suite's name, or how names begin."""
    source = read_evaluation(path)
    problems = Findings()
    problems.take(*contradictions(source))
    problems.refuse()
    totals: dict[str, _Totals] = {}
    trials: list[Trial] = []
    for one in place_rows(source, wanted):
        grade = verdict(one.result)
        totals.setdefault(one.suite.name, _Totals()).add(one, grade)
        trials.append(trial(one, grade))
    cases = len(set().union(*(own.cases for own in totals.values())))
    return Imported(
        files=(path,),
        created_at=_moment(source),
        provenance=provenance_of(_version(source), _agents(source)),
        suites={name: _suite(own, cases, totals) for name, own in totals.items()},
        trials=lambda: iter(trials),  # smaller than the rows, which need not stay
        options=_options(source),
        notes=tuple(_notes(source, sum(own.unjudged for own in totals.values()))),
    )


def _suite(own: _Totals, cases: int, every: Mapping[str, _Totals]) -> ImportedSuite:
    """All prompts and providers were to answer the same tests."""
    columns = sorted({SCORE, *own.ranges}, key=lambda name: (name != SCORE, name))
    by = {column: _name_judges(own.judges.get(column, ())) for column in columns}
    models = sorted({one for found in own.judges.values() for one in found})
    whole = _name_judges(models)
    return ImportedSuite(
        rounds=max(suite.rounds for suite in every.values()),
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
        about = "mean of promptfoo's score of a test, the weighted mean of its assertions"
    spec = score_metric(name, share=values[0] >= 0.0 and values[1] <= 1.0, about=about)
    return replace(spec, unit=spec.unit or "points", on_agent_error=0.0)


def _moment(source: Evaluation) -> str | None:
    exported = as_object(source.head.get("metadata"))
    times = (
        source.summary.get("timestamp"),
        exported.get("evaluationCreatedAt"),
        source.head.get("createdAt"),
    )
    return next(filter(None, (iso(moment_of(moment)) for moment in times)), None)


def _version(source: Evaluation) -> str:
    version = as_object(source.head.get("metadata")).get("promptfooVersion")
    return f"{TOOL} {tidy(version, 40)}" if isinstance(version, str) else TOOL


def _agents(source: Evaluation) -> str:
    names = list(dict.fromkeys(filter(None, map(provider_of, source.rows))))
    more = [f"and {len(names) - 3} more"] if len(names) > 3 else []
    return ", ".join((*names[:3], *more)) or TOOL


def _options(source: Evaluation) -> dict[str, Json]:
    runtime = as_object(source.head.get("runtimeOptions"))
    eval_id = source.head.get("evalId")
    options = {"repeat": runtime.get("repeat"), "concurrency": runtime.get("maxConcurrency")}
    whole = {key: value for key, value in options.items() if type(value) is int and value > 0}
    return {**({"eval": tidy(eval_id, 80)} if isinstance(eval_id, str) else {}), **whole}


def _notes(source: Evaluation, unjudged: int) -> Iterator[str]:
    yield "imported from a promptfoo eval; promptfoo judged the answers"
    yield from shortfalls(source)
    cached = sum(row.mapping("response").get("cached") is True for row in source.rows)
    if cached:
        yield (
            f"{cached} of {len(source.rows)} answers came from promptfoo's cache: their "
            "latency is unknown"
        )
    if unjudged:
        yield (
            f"{unjudged} of {len(source.rows)} results have an assertion that ended in an "
            "error: here they are unscored, promptfoo counts them as failed or as errors"
        )


# ------------------------------------------------------------------------------------------ summary
# promptfoo's summary may lack rows: after `--resume` it counts the second part alone, and where a
# provider refuses the key it stops counting. So rows decide, and too small a summary is told. One
# that has more than the rows, or shares them out otherwise, means that one of the two was changed.


_STATS = {PASSED: "successes", ASSERTION: "failures", ERROR: "errors"}
_OF_PROMPT = {PASSED: "testPassCount", ASSERTION: "testFailCount", ERROR: "testErrorCount"}
_WORDS = {PASSED: "passed", ASSERTION: "failed", ERROR: "in error"}


def contradictions(source: Evaluation) -> Iterator[Problem]:
    for where, told, own in _compare_summaries(source):
        more = sum(told.values()) > sum(own.values())
        if more or (sum(told.values()) == sum(own.values()) and told != own):
            message = f"says {_words(told)}, but the rows are {_words(own)}"
            place = Place(source.path.as_posix(), None, where)
            yield Problem(place, f"{message} - the file was changed or cut off; export it again")


def shortfalls(source: Evaluation) -> Iterator[str]:
    """What is to be told of summaries that have fewer than the rows."""
    for where, told, own in _compare_summaries(source):
        if where == "results.stats" and sum(told.values()) < sum(own.values()):
            yield (
                f"promptfoo's own summary counts {sum(told.values())} results, but the "
                f"file has {sum(own.values())}: the summary of a resumed or stopped eval "
                "is incomplete, so the rows were counted"
            )


def _compare_summaries(source: Evaluation) -> Iterator[tuple[str, Counter[int], Counter[int]]]:
    stats = source.summary.get("stats")
    yield from _pair("results.stats", stats, _STATS, source.rows)
    numbered = [row for row in source.rows if row.prompt is not None]
    for n, prompt in enumerate(source.prompts if len(numbered) == len(source.rows) else ()):
        told = as_object(prompt).get("metrics")
        mine = tuple(row for row in numbered if row.prompt == n)
        yield from _pair(f"results.prompts[{n}].metrics", told, _OF_PROMPT, mine)


def _pair(
    where: str, told: Json, names: Mapping[int, str], rows: tuple[EvalRow, ...]
) -> Iterator[tuple[str, Counter[int], Counter[int]]]:
    """Nothing without a summary. Version 2 counts errors among the failures."""
    if not isinstance(told, dict) or not any(_count(told.get(one)) for one in names.values()):
        return
    own = Counter(_counted_as(row) for row in rows)
    if names[ERROR] not in told:
        own = Counter({PASSED: own[PASSED], ASSERTION: own[ASSERTION] + own[ERROR]})
    yield where, Counter({key: _count(told.get(name)) for key, name in names.items()}), own


def _counted_as(row: EvalRow) -> int:
    """promptfoo counts an answer without output as failed."""
    silent = not row.data["success"] and row.data.get("failureReason") == PASSED
    return ASSERTION if silent else row.reason


def _count(value: Json) -> int:
    return value if is_integer(value) and value > 0 else 0


def _words(counts: Counter[int]) -> str:
    return ", ".join(f"{counts[key]} {word}" for key, word in _WORDS.items())
