"""A whole log gone through once: what is wrong with it, what its scorers gave, whether its own
results agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gate.errors import InvalidInput, Place, Problem
from gate.files.json_stream import is_too_deep
from gate.files.json_values import as_list, as_object, as_objects, as_strings
from gate.files.problems import Findings
from gate.importers.formats.inspect.logs import Log
from gate.importers.formats.inspect.samples import CHECK, id_of, scores_of
from gate.importers.formats.inspect.scores import (
    MOST_SCORES,
    ScoreValues,
    column,
    decider,
    is_beyond,
    iterate_scores,
)
from gate.records import LARGEST, Json

_OWN = ("accuracy", "mean")  # metrics of Inspect that are the mean of a score
_REDUCED = (None, "mean")
_KEPT = ("input", "target", "messages", "output", "scores", "attachments")  # of a sample
MOST_SAMPLES = 1_000_000


@dataclass(slots=True, kw_only=True)
class Content:
    """What a log holds. `order`: its scorers as the log names them, first first."""

    order: list[str]
    seen: dict[str, ScoreValues] = field(default_factory=dict)
    ids: dict[str, Place] = field(default_factory=dict)
    rounds: int = 1
    samples: int = 0
    limits: int = 0

    def decides(self, wanted: str | None) -> str | None:
        """The score that says pass; `wanted` is a name as the log has it, or as our metrics do."""
        if wanted is None:
            return decider(self.seen, self.order)
        names = (n for n in self.seen if wanted in (n, column(n), column(n).partition(".")[2]))
        return next(names, None)


def check_log(log: Log, found: Findings) -> Content:
    """Everything that is wrong is added to `found`."""
    content = Content(order=_order(log))
    seen: dict[tuple[str, int], Place] = {}
    kinds: dict[str, type] = {}
    try:
        for place, sample in log.samples():
            if not _sound(sample, place, found):
                continue
            key = (id_of(sample), sample["epoch"])
            if key in seen:
                found.add(place, f"sample '{key[0][:80]}' has epoch {key[1]} twice - keep one")
            elif kinds.setdefault(key[0], type(sample["id"])) is not type(sample["id"]):
                found.add(place, f"the ids {key[0][:80]} and '{key[0][:80]}' are the same here")
            seen[key] = place
            _take(content, sample, place, found)
            if content.samples > MOST_SAMPLES:
                found.add(place, f"more than {MOST_SAMPLES:,} samples")
                break
    except InvalidInput as error:
        found.take(*error.problems)
    if not seen and not found:
        what = "no samples in it: it was made with --no-log-samples, or ended before the first one"
        found.add(Place(log.path.as_posix()), what)
    for name, column_ in (columns := {name: column(name) for name in content.seen}).items():
        if list(columns.values()).count(column_) > 1:
            what = f"the score '{name[:80]}' has the name of another one here - rename one"
            found.add(Place(log.path.as_posix()), what)
    if not found:
        found.take(*_contradictions(log, content))
    return content


def _order(log: Log) -> list[str]:
    """As results list them; a log that was not ended has the scorers of its task."""
    listed = log.results.get("scores") or log.spec.get("scorers") or []
    names = [scorer.get("scorer") or scorer.get("name") for scorer in as_objects(listed)]
    return list(dict.fromkeys(as_strings(names)))


def _sound(sample: Json, place: Place, found: Findings) -> bool:
    wrong = CHECK.list_problems(sample, place)
    found.take(*wrong)
    if not wrong and is_too_deep({key: sample.get(key) for key in _KEPT}):
        found.add(place, "nested too deeply")
        return False
    return not wrong


def _take(content: Content, sample: Mapping[str, Json], place: Place, found: Findings) -> None:
    content.samples += 1
    content.rounds = max(content.rounds, sample["epoch"])
    content.ids.setdefault(id_of(sample), place)
    content.limits += sample.get("limit") is not None
    for one in iterate_scores(scores_of(sample)):
        if is_beyond(one.value):
            found.add(place, f"the score '{one.name[:80]}' is beyond {LARGEST:g} - score it again")
            continue
        place_of = content.seen.get(one.name)
        if place_of is None:
            if len(content.seen) >= MOST_SCORES:
                continue
            place_of = content.seen[one.name] = ScoreValues(scorer=one.scorer)
        place_of.add(id_of(sample), one.value)


# ---------------------------------------------------------------------------------- contradictions


def _contradictions(log: Log, content: Content) -> Iterator[Problem]:
    results, file = log.results, log.path.as_posix()
    total = results.get("logged_samples") or results.get("total_samples")
    stopped = results.get("early_stopping") is not None
    if log.status == "success" and total and not stopped and total != content.samples:
        message = f"says {total}, but the log has {content.samples} samples - part of it is missing"
        yield Problem(Place(file, key="results.total_samples"), message)
    for score in results.get("scores") or ():
        yield from _compare_score(score, log, content)


def _compare_score(score: Mapping[str, Json], log: Log, content: Content) -> Iterator[Problem]:
    name, scorer, metrics = score.get("name"), score.get("scorer"), score.get("metrics")
    own = content.seen.get(str(name) if name == scorer else f"{scorer}.{name}")
    if own is None or not own.measured or score.get("reducer") not in _REDUCED:
        return
    for key in _OWN:
        metric = as_object(as_object(metrics).get(key))
        if metric.get("params") or not _is_inspects(log, key):
            continue
        stated = metric.get("value")
        if not isinstance(stated, (int, float)) or stated != stated:  # NaN: nothing was scored
            continue
        if abs(stated) > LARGEST:
            stated = math.inf
        if not any(math.isclose(stated, one, rel_tol=1e-9, abs_tol=1e-9) for one in own.means):
            yield Problem(
                Place(log.path.as_posix(), key=f"results.scores.{name}.{key}"[:300]),
                f"says {stated:.6g}, but the samples give {own.means[0]:.6g} - scores were changed "
                "after the results were computed, or one of them was lost; score the log again",
            )


def _is_inspects(log: Log, metric: str) -> bool:
    """A user's metric may have the same name; only Inspect's own begin so in the task."""
    names = set(_names(log.spec.get("scorers"))) | set(_names(log.spec.get("metrics")))
    return f"inspect_ai/{metric}" in names and metric not in names


def _names(data: Json) -> Iterator[str]:
    """The names of metrics, which stand in lists and objects of lists."""
    for one in data.values() if isinstance(data, dict) else as_list(data):
        if isinstance(one, list):
            yield from _names(one)
        elif isinstance(one, dict) and "metrics" in one:
            yield from _names(one["metrics"])
        elif isinstance(one, dict) and isinstance(one.get("name"), str):
            yield one["name"]
        elif isinstance(one, dict):
            yield from _names(one)
