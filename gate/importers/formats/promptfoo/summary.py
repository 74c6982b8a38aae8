"""The summaries beside the rows, against the rows.

promptfoo's summary may lack rows: after `--resume` it counts the second part alone, and where a
provider refuses the key it stops counting. So rows decide, and too small a summary is told. One
that has more than the rows, or shares them out otherwise, means that one of the two was changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from gate.errors import Place, Problem
from gate.files.json_values import as_object, is_integer
from gate.importers.formats.promptfoo.evaluation import (
    ASSERTION,
    ERROR,
    PASSED,
    EvalRow,
    Evaluation,
)
from gate.records import Json

_STATS = {PASSED: "successes", ASSERTION: "failures", ERROR: "errors"}
_OF_PROMPT = {PASSED: "testPassCount", ASSERTION: "testFailCount", ERROR: "testErrorCount"}
_WORDS = {PASSED: "passed", ASSERTION: "failed", ERROR: "in error"}


def contradictions(source: Evaluation) -> Iterator[Problem]:
    for where, told, own in _compare_summaries(source):
        more = sum(told.values()) > sum(own.values())
        if more or (sum(told.values()) == sum(own.values()) and told != own):
            message = f"says {_words(told)}, but its rows are {_words(own)}"
            place = Place(source.path.as_posix(), None, where)
            yield Problem(place, f"{message} - rows were changed or cut off; export it again")


def shortfalls(source: Evaluation) -> Iterator[str]:
    """What is to be told of summaries that have fewer than the rows."""
    for where, told, own in _compare_summaries(source):
        if where == "results.stats" and sum(told.values()) < sum(own.values()):
            yield (
                f"promptfoo's own summary counts {sum(told.values())} results and there are "
                f"{sum(own.values())}: of a resumed or stopped eval it is incomplete; the rows "
                "were counted"
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
    """Nothing where the summary is missing. Where errors are not told apart, as in version 2, they
    are among the failures.
    """
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


def _words(found: Counter[int]) -> str:
    return ", ".join(f"{found[key]} {word}" for key, word in _WORDS.items())
