"""A category's results and scores, checked against each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gate.errors import Place
from gate.files.json_values import as_amount
from gate.files.plain import JsonLine
from gate.files.problems import Findings
from gate.importers.formats.bfcl.calls import read_calls
from gate.importers.formats.bfcl.files import CategoryFiles, digest, read_rows
from gate.importers.formats.bfcl.questions import BfclQuestion, faults
from gate.importers.formats.bfcl.scores import BfclScores, all_ids, read_scores
from gate.records import Json

ANSWERS_OPTION = "leave out --option answers to take the score file's word"


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """`passed`: ids, where no result file tells them; `unnamed`: so many more passed of which
    nobody knows the id; `doubtful`: failed by the score file and right by our own comparison.
    """

    part: CategoryFiles
    total: int
    scored: BfclScores | None = None
    asked: Mapping[str, BfclQuestion] = field(default_factory=dict)
    passed: tuple[str, ...] = ()
    unnamed: int = 0
    doubtful: tuple[str, ...] = ()
    judged: bool = True  # False: nobody says what passed

    @property
    def name(self) -> str:
        return self.part.category


def check_category(
    part: CategoryFiles, asked: Mapping[str, BfclQuestion], findings: Findings
) -> Category | None:
    """None where something is wrong, which is then among the findings."""
    score = read_scores(part.score, part.category, findings) if part.score else None
    if part.score and score is None:
        return None
    if part.result is None:
        return _without_results(part, score, asked) if score else None
    return _with_results(part, part.result, score, asked, findings)


def has_turns(category: str) -> bool:
    return any(part in category for part in ("multi_turn", "web_search", "memory"))


# ------------------------------------------------------------------------------ without result file


def _without_results(
    part: CategoryFiles, score: BfclScores, asked: Mapping[str, BfclQuestion]
) -> Category:
    """Which passed is known where all questions are: then they are those that did not fail."""
    for known in (list(asked), all_ids(part.category, score.total)):
        if len(known) == score.total and score.failed.keys() <= set(known):
            passed = tuple(one for one in known if one not in score.failed)
            return Category(part=part, total=score.total, scored=score, asked=asked, passed=passed)
    unnamed = score.total - len(score.failed)
    return Category(part=part, total=score.total, scored=score, asked=asked, unnamed=unnamed)


# --------------------------------------------------------------------------------- with result file


def _with_results(
    part: CategoryFiles,
    path: Path,
    score: BfclScores | None,
    asked: Mapping[str, BfclQuestion],
    findings: Findings,
) -> Category | None:
    seen: set[str] = set()
    doubtful: list[str] = []
    judged = score is not None
    for line in findings.keep_good(read_rows(path, "result")):
        own = line.data["id"]
        if own in seen:
            findings.add(line.place, f"{own[:80]!r} is there twice - keep one")
        seen.add(own)
        if asked and own not in asked:
            findings.add(line.place, f"{own[:80]!r} is none of the questions - name their file")
        calls = read_calls(line.data["result"], many_turns=has_turns(part.category)).calls
        codes = faults(part.category, calls, asked.get(own))
        judged = judged or bool(codes)
        if score and _agrees(line, score, codes if calls is not None else (), findings) is False:
            doubtful.append(own)
    _compare_sizes(path, score, seen, findings)
    if not seen:
        return None
    return Category(
        part=part,
        total=len(seen),
        scored=score,
        asked=asked,
        doubtful=tuple(doubtful),
        judged=judged,
    )


def _compare_sizes(
    path: Path, score: BfclScores | None, seen: set[str], findings: Findings
) -> None:
    if not seen and not findings:
        findings.add(Place(path.as_posix()), "empty - copy it again, or leave it out")
    if score is None or findings:
        return
    absent = next((own for own in score.failed if own not in seen), None)
    if absent is not None:
        message = f"has no result of {absent[:80]!r}, which the score file has"
        findings.add(Place(path.as_posix()), f"{message} - take both of one run")
    elif score.total != len(seen):
        message = f"has {len(seen)} results, the score file counts {score.total}"
        findings.add(Place(path.as_posix()), f"{message} - take both of one run")


def _agrees(
    line: JsonLine, score: BfclScores, codes: tuple[tuple[str, ...], ...], findings: Findings
) -> bool | None:
    """Whether our own comparison comes to the score file's verdict; None: it cannot tell. A pass
    that it does not see, and another answer in the score file, are among the findings.
    """
    own: str = line.data["id"]
    failed = score.failed.get(own)
    if failed and failed.raw and digest(line.data["result"]) not in failed.raw:
        message = "the score file has another result of it - take both of one run"
        findings.add(line.place, f"{own[:80]!r}: {message}")
        return None
    if not codes:
        return None
    right = any(not one for one in codes)
    if right or failed:
        return right is (failed is None)
    message = f"passed in the score file, and its calls are not those expected: {codes[0][0]}"
    findings.add(line.place, f"{own[:80]!r} {message} - take files of one run, or {ANSWERS_OPTION}")
    return None


def list_first(ids: tuple[str, ...]) -> str:
    """The first of them, for a note."""
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return ", ".join(one[:80] for one in ids[:5]) + more


def sum_amounts(value: Json) -> float | None:
    """What one answer took: a number, or the sum over its turns and steps, as lists in lists; None
    where one of them is none.
    """
    waiting, found, any_number = [value], 0.0, False
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(one)
        elif (known := as_amount(one)) is not None:
            found, any_number = found + known, True
        else:
            return None
    return found if any_number else None
