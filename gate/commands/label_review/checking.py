"""Checks what people filled in against its sample: valid labels, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from gate.commands.label_review.criteria import group_by_total
from gate.commands.label_review.manifest import Criterion, Manifest, Shown
from gate.commands.label_review.raw_answer import Spoken, Stated
from gate.errors import Place, Problem
from gate.files.json_values import is_integer
from gate.records import Label

NO_JUDGE = "none"  # the digest of labels on answers that no judge was asked about
NOTE, NAME = 2_000, 200  # characters

_OF_A_FORM = ("reviewer", "period", "sample")  # said once in it, for all its cases

Answer = tuple[str, ...]  # suite, case, answer and reviewer: what is rated once
Samples = Callable[[str], Manifest | None]  # by period


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One label, and where it was written."""

    place: Place
    label: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The valid ratings. `skipped`: answers that their reviewer could not judge."""

    given: tuple[Given, ...]
    skipped: Mapping[Answer, Place]
    problems: tuple[Problem, ...]


def of_case(place: Place, case_id: str) -> str:
    """`case 'x': `, or nothing if the place names the case already."""
    return "" if place.key.startswith("case ") else f"case '{case_id[:80]}': "


def answer_of(label: Label) -> Answer:
    return (label.suite, label.case_id, label.answer_digest, label.reviewer.casefold())


def check_ratings(spoken: Iterable[Spoken | Problem], samples: Samples, now: str) -> Filled:
    """The valid ratings of the files. `now`: the time (ISO 8601) for labels whose file has none."""
    given: list[Given] = []
    skipped: dict[Answer, Place] = {}
    problems: list[Problem] = []
    for row in spoken:
        rated = row if isinstance(row, Problem) else _match_sample(row, samples, now)
        if isinstance(rated, Problem):
            problems.append(rated)
            continue
        if rated.spoken.cannot_judge:
            skipped[answer_of(rated.label("", 0.0, None))] = rated.spoken.place
            continue
        for label in rated.labels():
            if isinstance(label, Problem):
                problems.append(label)
            else:
                given.append(Given(place=rated.spoken.place, label=label))
    return Filled(given=tuple(given), skipped=skipped, problems=tuple(dict.fromkeys(problems)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rated:
    """One case of a file beside what was shown."""

    spoken: Spoken
    manifest: Manifest
    shown: Shown
    labelled_at: str

    def labels(self) -> Iterator[Label | Problem]:
        values: dict[str, int] = {}
        criteria = {criterion.name: criterion for criterion in self.manifest.criteria}
        for stated in self.spoken.ratings:
            fault = _find_fault(stated, criteria.get(stated.name), criteria)
            if fault or not isinstance(stated.value, int):
                yield self._wrong(f"{stated.name}: {fault}")
            else:
                values[stated.name] = stated.value
        for criterion in self.manifest.criteria:
            if criterion.metric and criterion.name in values:
                yield self.label(criterion.metric, float(values[criterion.name]), criterion)
        yield from self._totals(values)

    def _totals(self, values: Mapping[str, int]) -> Iterator[Label | Problem]:
        """Metrics that are the share of all points: only where each criterion was rated."""
        for metric, parts in group_by_total(self.manifest.criteria):
            rated = [values[part.name] for part in parts if part.name in values]
            if len(rated) == len(parts):
                low, high = sum(part.low for part in parts), sum(part.high for part in parts)
                yield self.label(metric, (sum(rated) - low) / (high - low), parts[0])
            elif rated:
                missing = ", ".join(part.name for part in parts if part.name not in values)
                yield self._wrong(f"{metric} needs all its criteria; rate {missing} too")

    def label(self, metric: str, human: float, of: Criterion | None) -> Label:
        return Label(
            suite=self.manifest.suite,
            case_id=self.shown.case_id,
            case_digest=self.shown.case_digest,
            round=self.shown.round,
            answer_digest=self.shown.answer_digest,
            rubric=of.rubric if of else "",
            metric=metric,
            human=human,
            judge=self.shown.judge.get(metric),
            judge_digest=(of.judge if of else "") or NO_JUDGE,
            reviewer=self.spoken.reviewer,
            labelled_at=self.labelled_at,
            period=self.manifest.period,
            stratum=self.shown.stratum,
            weight=self.shown.weight,
            note=self.spoken.note[:NOTE],
        )

    def _wrong(self, message: str) -> Problem:
        place = self.spoken.place
        return Problem(place, f"{of_case(place, self.shown.case_id)}{message}")


def _match_sample(row: Spoken, samples: Samples, now: str) -> _Rated | Problem:
    manifest = samples(row.period)
    fault = _find_mismatch(row, manifest)
    if fault or manifest is None or not isinstance(row.item, int):
        of_file = row.place.line is None and fault.partition(":")[0] in _OF_A_FORM
        return Problem(Place(row.place.file) if of_file else row.place, fault)
    shown = manifest.cases[row.item - 1]
    at = row.labelled_at if _is_time(row.labelled_at) else now
    return _Rated(spoken=row, manifest=manifest, shown=shown, labelled_at=at)


def _find_mismatch(row: Spoken, manifest: Manifest | None) -> str:
    if not row.reviewer or len(row.reviewer) > NAME:
        return f"reviewer: write your name, at most {NAME} characters"
    if manifest is None:
        return (
            f"period: no sample of '{row.period[:80]}' is in the folder of reviews; give "
            "its folder with --reviews"
        )
    if row.sample != manifest.digest:
        return (
            f"sample: belongs to an older sample of {manifest.period}; fill in the form "
            "of the current one"
        )
    last = len(manifest.cases)
    if not is_integer(row.item) or not 1 <= row.item <= last:
        return f"item: no case {str(row.item)[:20]} in the sample of {manifest.period}, 1 to {last}"
    shown = manifest.cases[row.item - 1]
    if row.answer_digest != shown.answer_digest:
        return (
            f"answer_digest: case '{shown.case_id[:80]}' was shown with another answer; "
            "fill in the form of this sample"
        )
    return ""


def _find_fault(stated: Stated, criterion: Criterion | None, names: Iterable[str]) -> str:
    """What is wrong with a rating; empty when it is in order."""
    if criterion is None:
        return f"no such criterion; choose from {', '.join(names)}"
    value = stated.value
    if not is_integer(value):
        return f"{value!r:.40} is not a whole number from {criterion.low} to {criterion.high}"
    if not criterion.low <= value <= criterion.high:
        return f"{value} is not on the scale, {criterion.low} to {criterion.high}"
    return ""


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
