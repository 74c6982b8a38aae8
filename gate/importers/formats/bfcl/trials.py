"""One question of the leaderboard as a trial."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from gate.files.json_values import as_amount
from gate.files.plain import json_lines
from gate.files.problems import refuse_problems
from gate.importers.formats.bfcl.calls import inference_error, read_calls
from gate.importers.formats.bfcl.categories import WEIGHTS, group_of, group_shares, overall_shares
from gate.importers.formats.bfcl.files import CategoryFiles, read_rows
from gate.importers.formats.bfcl.questions import BfclQuestion, faults
from gate.importers.formats.bfcl.results import Category, has_turns, sum_amounts
from gate.importers.formats.bfcl.scores import with_mode
from gate.importers.trials.build import case_of, trial_of, usage_of
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import Case, Json, MetricSpec, Response, Trial, TrialStatus

TOOL = SUITE = "bfcl"
ACCURACY, OVERALL, GROUP = "bfcl.accuracy", "bfcl.overall", "bfcl.group_accuracy"
_NOT_SCORED = "format_sensitivity"  # beside the leaderboard's accuracy


@dataclass(frozen=True, slots=True)
class Columns:
    """What one right answer of a category adds to each column, so that the mean over all questions
    of a group is the group's accuracy, and over all questions of the five groups the overall score.
    """

    worth: Mapping[str, Mapping[str, float]]  # category -> column -> value

    @classmethod
    def of(cls, totals: Mapping[str, int]) -> Columns:
        """`totals`: category -> number of questions, above 0."""
        worth: dict[str, dict[str, float]] = {}
        for name in totals:
            counted = {} if name == _NOT_SCORED else {ACCURACY: 1.0}
            worth[name] = {**counted, f"{ACCURACY}[{name}]": 1.0}
        parts = {f"{GROUP}[{group}]": own for group, own in group_shares(totals).items()}
        for column, shares in {**parts, OVERALL: overall_shares(totals)}.items():
            size = sum(totals[name] for name in shares)
            for name, share in shares.items():
                worth[name][column] = share * size / totals[name]
        return cls(worth)

    def metrics(self) -> tuple[MetricSpec, ...]:
        names = dict.fromkeys(name for columns in self.worth.values() for name in columns)
        return tuple(_metric(name) for name in sorted(names, key=_place))

    def values(self, category: str, right: bool | None) -> dict[str, float | None]:
        return {
            name: None if right is None else worth * right
            for name, worth in self.worth[category].items()
        }


def _place(name: str) -> int:
    return [OVERALL, GROUP, ACCURACY].index(name.partition("[")[0])


def _metric(name: str) -> MetricSpec:
    of = name.partition("[")[2].rstrip("]")
    if name.startswith(ACCURACY):
        about = f"share of the questions of {of} that are right" if of else "share that are right"
        return MetricSpec(name=name, column=name, family="rate", unit="share", description=about)
    weights = ", ".join(f"{group} {weight:.0%}" for group, weight in WEIGHTS.items())
    about = f"accuracy of the group {of}" if of else f"weighted accuracy of v4: {weights}"
    # a right answer is worth more than 1 where its category is small
    return MetricSpec(name=name, column=name, unit="share", high=None, description=about)


# ------------------------------------------------------------------------------------------- trials


def trials_of(category: Category, columns: Columns) -> Iterator[Trial]:
    """In the order of the files. Raises InvalidInput where they have changed meanwhile."""
    part = category.part
    if part.result is not None:
        for line in refuse_problems(read_rows(part.result, "result")):
            yield _answer_trial(category, columns, line.data, line.data["result"])
        return
    yield from _failures(category, columns)
    for own in category.passed:
        yield _passed_trial(category, columns, own)
    for n in range(1, category.unnamed + 1):
        yield _passed_trial(category, columns, f"{part.category}: passed, not named {n}")


def _failures(category: Category, columns: Columns) -> Iterator[Trial]:
    if category.part.score is None:
        return
    for line in islice(refuse_problems(json_lines(category.part.score)), 1, None):
        raw = line.data.get("model_result_raw", line.data.get("model_result"))
        yield _answer_trial(category, columns, {"id": line.data["id"]}, raw)


def _passed_trial(category: Category, columns: Columns, own: str) -> Trial:
    case = _case(category.part, own, category.asked.get(own))
    values = columns.values(category.name, True)
    return trial_of(TOOL, SUITE, case, passed=True, values=values)


def _answer_trial(
    category: Category, columns: Columns, data: Mapping[str, Json], result: Json
) -> Trial:
    own: str = data["id"]
    asked, error = category.asked.get(own), inference_error(result)
    made = read_calls(result, many_turns=has_turns(category.name))
    right, codes, reason = _verdict(category, own, faults(category.name, made.calls, asked))
    status = _status(error)
    latency = sum_amounts(data.get("latency"))
    return trial_of(
        TOOL,
        SUITE,
        _case(category.part, own, asked),
        status=status,
        passed=right,
        failures=codes,
        reason=reason,
        values=columns.values(category.name, right),
        response=Response(
            answer=made.answer,
            steps=made.calls if made.calls is not None else (),
            turns=made.turns,
            usage=usage_of(
                input=sum_amounts(data.get("input_token_count")),
                output=sum_amounts(data.get("output_token_count")),
            ),
        )
        if status == "completed"
        else None,
        latency_ms=as_amount(latency * 1000.0) if latency is not None else None,
        error=error[:2_000] if error else None,
    )


def _verdict(
    category: Category, own: str, found: Sequence[tuple[str, ...]]
) -> tuple[bool | None, tuple[str, ...], str]:
    """The score file's verdict; without one, that of our own comparison."""
    if category.scored is not None:
        failed = category.scored.failed.get(own)
        return (False, with_mode(failed.code), failed.reason) if failed else (True, (), "")
    if not found:
        return None, (), ""
    fewest = min(found, key=len)
    codes = with_mode(fewest[0]) if len(fewest) == 1 else fewest
    return not fewest, codes, ""


def _status(error: str | None) -> TrialStatus:
    if error is None:
        return "completed"
    return "infra_error" if is_nobodys(error) else "agent_error"


def _case(part: CategoryFiles, own: str, asked: BfclQuestion | None) -> Case:
    """Its id says which question it is, whether or not its text is at hand."""
    mark = f"{TOOL}\n{part.version}\n{part.category}\n{own}"
    group = group_of(part.category)
    return case_of(
        TOOL,
        SUITE,
        own,
        input=asked.input if asked else "",
        keys=asked.keys if asked else None,
        category=part.category,
        tags=(group,) if group else (),
        digest=hashlib.sha256(mark.encode(errors="surrogatepass")).hexdigest()[:16],
    )
