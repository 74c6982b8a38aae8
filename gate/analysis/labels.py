"""reviews/labels.jsonl: what people said of answers that a judge scored. Every row is checked; one
that is wrong is left out and told with its line, the others count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime

from gate.analysis.metric_names import describe_renamed, name_judged_by
from gate.errors import Place, Problem
from gate.files.json_schema import mismatches
from gate.files.rows import DatasetRow, DatasetSource, read_dataset
from gate.records import LARGEST, Json, Label, MetricSpec
from gate.records.codec import from_json, schema_of
from gate.text.suggestions import did_you_mean

LABELS = "reviews/labels.jsonl"  # where labels are kept unless `judge.labels` says otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelContext:
    """What a suite has, to check its labels against."""

    specs: Mapping[str, MetricSpec]
    graders: Mapping[str, str]  # column -> digest, of a judge and its rubric
    cases: Set[str] | None = None  # None: nobody knows all of them
    digests: Mapping[str, str] = field(default_factory=dict)  # of the cases, as far as known


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLabels:
    """The rows that count, and those that do not: `wrong` in the file itself, or `stale` beside the
    suites as they are now. `renamed`: old names of metrics, each at its first line.
    """

    rows: tuple[Label, ...] = ()
    lines: tuple[int, ...] = ()  # of each row in the file
    wrong: tuple[Problem, ...] = ()
    stale: tuple[Problem, ...] = ()
    renamed: tuple[Problem, ...] = ()

    def select(self, suite: str, metric: str) -> tuple[Label, ...]:
        return tuple(row for row in self.rows if row.suite == suite and row.metric == metric)


def schema() -> dict[str, Json]:
    """JSON Schema of one line."""
    form = schema_of(Label)
    limits: dict[str, dict[str, Json]] = {
        **{name: {"minLength": 1} for name in ("suite", "case_id", "metric", "judge_digest")},
        "reviewer": {"minLength": 1, "maxLength": 200, "pattern": r"\S"},
        "answer_digest": {"pattern": "^[0-9a-f]{64}$"},
        "round": {"minimum": 1},
        "weight": {"exclusiveMinimum": 0, "maximum": LARGEST},
        **{name: {"minimum": -LARGEST, "maximum": LARGEST} for name in ("human", "judge")},
    }
    for name, limit in limits.items():
        form["properties"][name] |= limit
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of reviews/labels.jsonl of Agent Gate",
        **form,
    }


def read_labels(source: DatasetSource | None) -> ReviewLabels:
    """The file's rows by themselves; no file is no label. A reviewer's two unlike ratings of one
    answer contradict each other: neither counts.
    """
    if source is None:
        return ReviewLabels()
    form, wrong = schema(), []
    ratings: list[tuple[int, Label]] = []
    renamed: dict[str, Problem] = {}
    for row in read_dataset(source):
        if isinstance(row, Problem):
            wrong.append(row)
            continue
        faults = list(_list_faults(row, form))
        wrong += [Problem(Place(source.name, row.line), fault) for fault in faults]
        if faults:
            continue
        label = from_json(Label, row.data)
        metric = name_judged_by(label.rubric, label.metric)
        if metric != label.metric:
            sentence = describe_renamed(label.metric, metric)
            renamed.setdefault(metric, Problem(Place(source.name, row.line), sentence))
        ratings.append((row.line, replace(label, metric=metric)))
    kept, contradictions = _drop_contradictions(ratings, source.name)
    return ReviewLabels(
        rows=tuple(label for _, label in kept),
        lines=tuple(line for line, _ in kept),
        wrong=(*wrong, *contradictions),
        renamed=tuple(renamed.values()),
    )


def without_suites(labels: ReviewLabels, suites: frozenset[str]) -> ReviewLabels:
    """The labels without the rows of these suites, which are no fault."""
    pairs = zip(labels.lines, labels.rows, strict=True)
    kept = [(line, row) for line, row in pairs if row.suite not in suites]
    return replace(
        labels, rows=tuple(row for _, row in kept), lines=tuple(line for line, _ in kept)
    )


def keep_fitting(
    labels: ReviewLabels, suites: Mapping[str, LabelContext], file: str
) -> ReviewLabels:
    """The labels without the rows that no suite has a use for, each of them told."""
    kept, wrong, stale = [], list(labels.wrong), list(labels.stale)
    for line, label in zip(labels.lines, labels.rows, strict=True):
        out_of_date = _describe_unknown(label, suites)
        out_of_range = "" if out_of_date else _out_of_range(label, suites[label.suite])
        if out_of_date:
            stale.append(Problem(Place(file, line), out_of_date))
        elif out_of_range:
            wrong.append(Problem(Place(file, line), out_of_range))
        else:
            kept.append((line, label))
    return ReviewLabels(
        rows=tuple(label for _, label in kept),
        lines=tuple(line for line, _ in kept),
        wrong=tuple(wrong),
        stale=tuple(stale),
        renamed=labels.renamed,
    )


def notes(labels: ReviewLabels, file: str, *, most: int = 3) -> Iterator[str]:
    """What a report says of rows that do not count; the first `most` of them in full."""
    for problems, what in ((labels.wrong, "wrong"), (labels.stale, "out of date")):
        if problems:
            some = "; ".join(_shorten(problem) for problem in problems[:most])
            more = f"; and {len(problems) - most:,} more" if len(problems) > most else ""
            lines = len({problem.place.line for problem in problems})
            some_rows = "1 row is" if lines == 1 else f"{lines:,} rows are"
            yield (
                f"{file}: {some_rows} {what} and left out: {some}{more} "
                "(`gate review agreement` lists all)"
            )


def _shorten(problem: Problem) -> str:
    return f"line {problem.place.line}: {problem.message}"


# ---------------------------------------------------------------------------------------- the rows


def _list_faults(row: DatasetRow, form: dict[str, Json]) -> Iterator[str]:
    if not isinstance(row.data, dict):
        yield "a label is a JSON object; `gate schema label` prints the schema"
        return
    problems = mismatches(form, row.data)
    for mismatch in problems:
        yield ": ".join([*map(str, mismatch.path), mismatch.message])
    if not problems:
        try:
            datetime.fromisoformat(row.data["labelled_at"])
        except ValueError:
            yield "labelled_at: not a time such as 2026-01-31T12:00:00Z"


def _drop_contradictions(
    rows: Sequence[tuple[int, Label]], file: str
) -> tuple[list[tuple[int, Label]], list[Problem]]:
    """Each rating once; contradictions left out, told at the later line."""
    ratings: dict[tuple[str, ...], list[tuple[int, Label]]] = {}
    for line, label in rows:
        ratings.setdefault(_rating(label), []).append((line, label))
    kept, problems = [], []
    for same in ratings.values():
        (first_line, first), *others = same
        unlike = [(line, label) for line, label in others if label.human != first.human]
        if not unlike:
            kept.append(same[0])
        for line, label in unlike:
            message = (
                f"{label.reviewer.strip()} rated this answer {label.human:g} on {label.metric} "
                f"here and {first.human:g} in line {first_line}; neither is used - keep "
                "one of the two"
            )
            problems.append(Problem(Place(file, line), message))
    return sorted(kept, key=lambda pair: pair[0]), problems


def _rating(label: Label) -> tuple[str, ...]:
    """What one reviewer says once: the judge is in it, since another rubric asks something else."""
    return (
        *(label.suite, label.case_id, label.answer_digest, label.metric, label.judge_digest),
        label.reviewer.strip().casefold(),
    )


# ------------------------------------------------------------------------------ beside the suites


def _describe_unknown(label: Label, suites: Mapping[str, LabelContext]) -> str:
    suite = suites.get(label.suite)
    if suite is None:
        return f"suite: there is no suite '{label.suite:.80}'{_near(label.suite, suites)}"
    metrics = [name for name, spec in suite.specs.items() if spec.asks == "judge"]
    if (
        metrics and label.metric not in suite.specs
    ):  # without a judge people say what nobody measures
        near = _near(label.metric, metrics)
        return f"metric: {label.suite} does not measure {label.metric:.80}{near}"
    if suite.cases is not None and label.case_id not in suite.cases:
        return f"case_id: {label.suite} has no case '{label.case_id:.80}'"
    if suite.digests.get(label.case_id, label.case_digest) != label.case_digest:
        return f"case_digest: the case '{label.case_id:.80}' was edited after this answer was rated"
    return ""


def _out_of_range(label: Label, suite: LabelContext) -> str:
    spec = suite.specs.get(label.metric)
    if spec is None:
        return ""
    low = -math.inf if spec.low is None else spec.low
    high = math.inf if spec.high is None else spec.high
    for name, value in (("human", label.human), ("judge", label.judge)):
        if value is not None and not low <= value <= high:
            return f"{name}: {value:g} is not within {low:g} to {high:g}, the scale of {spec.name}"
    return ""


def _near(wanted: str, names: Iterable[str]) -> str:
    hint = did_you_mean(wanted, sorted(names))
    return hint if "did you mean" in hint else ""


def list_reviewers(labels: Iterable[Label]) -> tuple[str, ...]:
    """The reviewers' names as they were first written, sorted."""
    names: dict[str, str] = {}
    for label in labels:
        names.setdefault(label.reviewer.strip().casefold(), label.reviewer.strip())
    return tuple(names[key] for key in sorted(names))


def with_judge(labels: Sequence[Label], digest: str | None) -> tuple[Label, ...]:
    """The labels whose answers were scored by this judge, with its value."""
    return tuple(
        replace(label, reviewer=label.reviewer.strip())
        for label in labels
        if label.judge_digest == digest and label.judge is not None
    )
