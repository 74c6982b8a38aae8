"""One result of another tool as a trial of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from gate.errors import Place, UsageError
from gate.files.json_values import as_amount, as_count
from gate.importers.trials.names import CaseIdentity, CaseIds, mark
from gate.records import (
    Attempt,
    Case,
    Json,
    MetricSpec,
    Provenance,
    Response,
    Score,
    Trial,
    TrialStatus,
    Usage,
)
from gate.records.imported import Imported

MOST_TRIALS = 1_000_000  # of one import: about 3 GB in memory
JUDGED = ("success", "first_success", "score")  # columns of a trial that its tool judged
NOWHERE = Place("dataset")  # of a case whose file does not matter
AT_THE_SOURCE = ""  # `started_at` of a trial that began nobody knows when: the session's time


def check_number(trials: int, source: str, most: int = MOST_TRIALS) -> None:
    """For a first reading, before it keeps too much of them. Raises UsageError."""
    if trials > most:
        raise UsageError(f"{source}: more than {most:,} results; import them in parts")


class ToolSuite(NamedTuple):
    """Where results go: the tool that judged them, and the suite that they become trials of."""

    tool: str
    name: str

    def case(
        self,
        case_id: str,
        *,
        input: Json = "",
        keys: Mapping[str, Json] | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
        digest: str | None = None,
        place: Place = NOWHERE,
    ) -> Case:
        """`keys`: what the source knows of the case, as our datasets spell it. Without a `digest`
        the hash is made of tool, suite, id, input and keys, so that two imports of one case pair.
        """
        known = dict(keys or {})
        return Case(
            id=case_id,
            input=input,
            keys=known,
            category=category,
            tags=tuple(tags),
            digest=digest or mark(*self, case_id, input, known),
            place=place,
        )

    def trial(
        self,
        case: Case,
        *,
        round: int = 1,
        status: TrialStatus = "completed",
        passed: bool | None = None,
        failures: Sequence[str] = (),
        values: Mapping[str, float | None] | None = None,
        scores: Mapping[str, Score] | None = None,
        reason: str = "",
        response: Response | None = None,
        latency_ms: float | None = None,
        error: str | None = None,
        started_at: str = AT_THE_SOURCE,
    ) -> Trial:
        """One attempt, judged by the tool. `values`: column -> number of the metrics that the suite
        names. `scores`: where several graders judged, instead of `values`, `reason`. `response`:
        None where the source keeps no answer. An infrastructure error has no opinion on pass.
        """
        opinion = None if status == "infra_error" else passed
        judged, codes = opinion if status == "completed" else None, tuple(failures)
        own = Score(values=dict(values or {}), passed=judged, failures=codes, reason=reason)
        attempt = Attempt(
            n=1,
            status=status,
            latency_ms=latency_ms,
            response=response,
            scores=scores if scores is not None else {self.tool: own},
            passed=False if status == "agent_error" else opinion,
            failures=tuple(dict.fromkeys(codes)),
            error=error,
        )
        return Trial(
            suite=self.name,
            case=case,
            round=round,
            attempts=(attempt,),
            started_at=started_at,
            judged=0,
        )


Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedResult(Generic[Result]):
    """A result with its place in the session; `digest` covers what its case is judged by."""

    result: Result
    suite: ToolSuite
    case_id: str
    digest: str
    round: int


def place_results(
    tool: str, found: Iterable[tuple[str, CaseIdentity, Result]], ids: CaseIds, rounds: int
) -> Iterator[PlacedResult[Result]]:
    """Suite, test and result, in order: repeats are rounds; those beyond `rounds` are of a copy of
    the case.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for name, test, result in found:
        case_id = ids.of(test)
        copy, round_ = divmod(counts[name, case_id], rounds)
        counts[name, case_id] += 1
        yield PlacedResult(
            result=result,
            suite=ToolSuite(tool, name),
            case_id=f"{case_id} #{copy + 1}" if copy else case_id,
            digest=test.digest,
            round=round_ + 1,
        )


def add_earlier(trial: Trial, earlier: Iterable[Attempt]) -> Trial:
    """The trial after attempts that came to nothing; they are numbered here."""
    before = tuple(replace(one, n=n) for n, one in enumerate(earlier, 1))
    if not before:
        return trial
    last = replace(trial.attempts[0], n=len(before) + 1)
    return replace(trial, attempts=(*before, last), judged=len(before))


def unkept_attempt(error: str) -> Attempt:
    """One that the agent failed, and of which the source keeps nothing."""
    return Attempt(n=1, status="agent_error", latency_ms=None, passed=False, error=error)


def provenance_of(tool_version: str, agent: str) -> Provenance:
    """`tool_version`: what measured; `agent`: whom it measured."""
    return Provenance(agent=agent, tool_version=tool_version, event="import")


def import_cases(
    files: Sequence[Path],
    cases: Callable[[], Iterator[Case]],
    *,
    tool: str,
    agent: str = "",
    options: Mapping[str, Json] | None = None,
    notes: Sequence[str] = (),
) -> Imported:
    """Cases of which nobody has results yet. `tool`: what the files are of."""
    return Imported(
        files=tuple(files),
        provenance=provenance_of(tool, agent),
        suites={},
        trials=lambda: iter(()),
        cases=cases,
        options=dict(options or {}),
        notes=tuple(notes),
    )


def name_judge(whom: str, *columns: str) -> dict[str, str]:
    """`ImportedSuite.graders`: JUDGED, and the columns of the tool's own metrics."""
    return dict.fromkeys((*JUDGED, *columns), whom)


def score_metric(column: str, *, share: bool, about: str, lower: bool = False) -> MetricSpec:
    """A rate if the values lie from 0 to 1, else an unbounded mean; none without an answer."""
    return MetricSpec(
        name=column,
        column=column,
        family="rate" if share else "mean",
        unit="share" if share else "",
        direction="lower" if lower else "higher",
        low=0.0 if share else None,
        high=1.0 if share else None,
        on_agent_error=None,
        description=about,
    )


def usage_of(
    *,
    input: Json = None,
    output: Json = None,
    cached: Json = None,
    reasoning: Json = None,
    cost_usd: Json = None,
    total: Json = None,
) -> Usage:
    """What a source tells of it; what is no amount is unknown. `total` counts where neither part is
    told: with one of them some tools count cached tokens in, and some do not.
    """
    read, written = as_count(input), as_count(output)
    return Usage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=as_count(total) if read is None and written is None else None,
        cached_tokens=as_count(cached),
        reasoning_tokens=as_count(reasoning),
        cost_usd=as_amount(cost_usd),
    )
