"""Queries with judgements and a run as trials, measured as trec_eval does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gate.errors import UsageError
from gate.graders.rankings.metrics import cutoff_fault, list_lacking, ranking_metrics, relevant_of
from gate.importers.formats.trec.qrels import Qrels, QueryJudgements
from gate.importers.formats.trec.runs import RankedRun
from gate.importers.trials.build import case_of, trial_of
from gate.records import Response, Trial
from gate.records.imported import ImportedSuite
from gate.stats.ranking import measures

MOST_KEPT = 1_000  # retrieved documents of a query that the session keeps
_JUDGED_BY = "relevance judgements, by trec_eval's definitions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """`complete`: queries that the run does not have count as 0. `drop_same_id`: a document that
    has the id of its query is not counted.
    """

    tool: str
    suite: str
    qrels: Qrels
    run: RankedRun
    k: tuple[int, ...]
    mrr_k: tuple[int, ...] = ()
    complete: bool = True
    drop_same_id: bool = False
    questions: Mapping[str, str] = field(default_factory=dict)  # by id, where it is known

    def counted(self) -> Iterator[tuple[QueryJudgements, str | None]]:
        """Queries with a relevant document, and what the run calls them; None: it does not."""
        known = self.run.queries
        for judged in self.qrels.values():
            if any(grade > 0 for grade in judged.grades.values()):
                called = next((name for name in judged.names if name in known), None)
                if called is not None or self.complete:
                    yield judged, called

    def imported_suite(self) -> ImportedSuite:
        """Raises UsageError where no query of the run is judged."""
        found = [called for _, called in self.counted()]
        if not any(called is not None for called in found):
            raise UsageError(
                "no query of the run is in the judgements; give the two files of one collection"
            )
        specs = ranking_metrics(self.k, self.mrr_k)
        judged_by = f"{_JUDGED_BY}, no query's own document" if self.drop_same_id else _JUDGED_BY
        return ImportedSuite(
            rounds=1,
            cases=len(found),
            dataset="relevance judgements",
            metrics=specs,
            graders=dict.fromkeys((spec.column for spec in specs), judged_by),
        )

    def notes(self) -> Iterator[str]:
        """What was left out or counted as 0."""
        counted = list(self.counted())
        named = {name for judged in self.qrels.values() for name in judged.names}
        unjudged = sum(query not in named for query in self.run.queries)
        judged = [any(g > 0 for g in one.grades.values()) for one in self.qrels.values()]
        absent = sum(called is None for _, called in counted)
        left = sum(judged) - len(counted)
        negative = sum(g < 0 for one in self.qrels.values() for g in one.grades.values())
        zero = "each counts as 0 (--option complete=false leaves them out)"
        for number, what in (
            (unjudged, "queries of the run are not judged: not counted"),
            (judged.count(False), "judged queries have no relevant document: not counted"),
            (absent, f"judged queries are not in the run: {zero}"),
            (left, "judged queries are not in the run: not counted (complete=false)"),
            (negative, "grades are negative: they count as 0"),
        ):
            if number:
                yield f"{number:,} {what}"

    def trials(self) -> Iterator[Trial]:
        for judged, called in self.counted():
            yield self._trial(judged, called)

    def _trial(self, judged: QueryJudgements, called: str | None) -> Trial:
        found = () if called is None else self.run.of(called)
        kept = tuple(one for one in found if not (self.drop_same_id and one.id == judged.id))
        case = case_of(
            self.tool,
            self.suite,
            judged.id,
            input=self.questions.get(judged.id, judged.asked),
            keys={"relevance_scores": judged.grades},
        )
        ids = [one.id for one in kept]
        gains = relevant_of(case.keys)
        values = measures(ids, gains, cutoffs=self.k, reciprocal_cutoffs=self.mrr_k)
        missing = "; ".join(list_lacking(ids, gains, max(self.k, default=len(ids))))
        return trial_of(
            self.tool,
            self.suite,
            case,
            values={f"retrieval.{name}": value for name, value in values.items()},
            reason=missing if called is not None else f"the run does not have it; {missing}",
            response=Response(answer="", retrieved=kept[:MOST_KEPT]),
        )


def check_cutoffs(k: tuple[int, ...], mrr_k: tuple[int, ...]) -> None:
    """Raises UsageError for a cut-off below 1, or one that stands there twice."""
    for name, given in (("k", k), ("mrr_k", mrr_k)):
        if fault := cutoff_fault(name, given):
            raise UsageError(f"--option {name}: {fault}")
