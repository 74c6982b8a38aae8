"""Is a WebArena task done, by the benchmark's own rules?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from gate.errors import GraderFailure, UsageError
from gate.graders.webarena_rules.asking import AnswerVerdict, decide_by_votes, question_on
from gate.graders.webarena_rules.evaluation import OpenQuestion, TaskVerdict, evaluate
from gate.graders.webarena_rules.metrics import NOT_EVALUABLE, SUCCESS, specs
from gate.graders.webarena_rules.recorded import read_recorded
from gate.graders.webarena_rules.task import SITES, checks_of, faults_of, with_sites
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Question, Reply, Response, Role, Score
from gate.records.codec import to_json

_REASON_LIMIT = 2_000
_CODES = 40
_ANY: Json = {}
_BESIDE = (  # what else a task's configuration has
    *("task_id", "sites", "start_url", "require_login", "storage_state", "geolocation"),
    *("intent_template", "intent_template_id", "instantiation_dict", "require_reset"),
    "string_note",
)


@GRADERS.register("webarena")
@dataclass(frozen=True, slots=True, kw_only=True)
class WebArena:
    """Passes when every part that the case's `eval` names is right: the answer, the final address,
    the content of pages. `sites`: site -> address, for the placeholders of the task.
    """

    sites: Mapping[str, str] = field(default_factory=dict)

    keys: ClassVar[Mapping[str, Json]] = {
        "eval": {"type": "object"},
        "intent": {"type": "string"},
        **dict.fromkeys(_BESIDE, _ANY),
    }
    needs: ClassVar[tuple[str, ...]] = ("eval",)
    role: ClassVar[Role] = "judge"
    partly_offline: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for site, address in self.sites.items():
            if site not in SITES:
                raise UsageError(f"webarena: sites.{site[:60]}: is none of {', '.join(SITES)}")
            if not address.strip():
                raise UsageError(f"webarena: sites.{site}: is empty - write http://...")

    def metrics(self) -> tuple[MetricSpec, ...]:
        return specs()

    def case_faults(self, keys: Mapping[str, Json]) -> Iterator[str]:
        if isinstance(keys.get("eval"), dict):
            yield from faults_of(keys["eval"])

    def questions(self, case: Case, response: Response) -> tuple[Question, ...]:
        verdict = self._evaluate(case, response)
        if verdict is None or verdict.wrong or verdict.lacking:
            return ()  # the judge cannot change it
        return tuple(question_on(question, _intent(case)) for question in verdict.open)

    def grade(self, case: Case, response: Response) -> Score:
        return self.read(case, response, ())

    def read(self, case: Case, response: Response, replies: Sequence[tuple[Reply, ...]]) -> Score:
        verdict = self._evaluate(case, response)
        if verdict is None:
            return Score(values={SUCCESS: None, NOT_EVALUABLE: None})
        if verdict.wrong:
            return _fail(verdict.wrong)
        if verdict.lacking:
            return _not_evaluable(f"not recorded: {', '.join(verdict.lacking)}")
        votes = list(replies) or [()] * len(verdict.open)
        return _score(
            verdict.open, [decide_by_votes(*one) for one in zip(verdict.open, votes, strict=True)]
        )

    def digest_text(self) -> str:
        """Canonical JSON of the questions; it changes with their wording."""
        questions = [
            OpenQuestion(kind=kind, reference="-", answer="-") for kind in ("fuzzy", "reason")
        ]
        return json.dumps(
            to_json([question_on(question, "-") for question in questions]), sort_keys=True
        )

    def _evaluate(self, case: Case, response: Response) -> TaskVerdict | None:
        """None: the case does not count."""
        written = case.keys.get("eval")
        if written in (None, {}):
            return None
        try:
            checks = checks_of(with_sites(written, self.sites))
            return evaluate(checks, read_recorded(response.answer, response.state))
        except ValueError as fault:
            raise GraderFailure(str(fault)) from None


def _intent(case: Case) -> str:
    given = case.keys.get("intent")
    return given if isinstance(given, str) else case.question


def _score(questions: Sequence[OpenQuestion], verdicts: Sequence[AnswerVerdict]) -> Score:
    wrong = {
        **(
            {"judge_injection": "the judge"}
            if any(verdict.injection for verdict in verdicts)
            else {}
        ),
        **dict(_list_refused(questions, verdicts)),
    }
    unsure = max((verdict.uncertainty for verdict in verdicts), default=None)
    if wrong:
        return replace(_fail(wrong, unsure), flagged=any(verdict.injection for verdict in verdicts))
    unknown = [verdict for verdict in verdicts if verdict.right is None]
    if unknown and unknown[0].why:
        return Score(unscored=unknown[0].why)
    if unknown:
        return _not_evaluable("no judge was asked, but the task needs one (fuzzy_match)")
    return Score(
        values={SUCCESS: 1.0, NOT_EVALUABLE: 0.0},
        passed=True,
        reason="; ".join(verdict.why for verdict in verdicts)[:_REASON_LIMIT],
        uncertainty=unsure,
    )


def _list_refused(
    questions: Sequence[OpenQuestion], verdicts: Sequence[AnswerVerdict]
) -> Iterator[tuple[str, str]]:
    for question, verdict in zip(questions, verdicts, strict=True):
        if verdict.right is False:
            yield "reason_differs" if question.kind == "reason" else "answer_differs", verdict.why


def _fail(wrong: Mapping[str, str], unsure: float | None = None) -> Score:
    return Score(
        values={SUCCESS: 0.0, NOT_EVALUABLE: 0.0},
        passed=False,
        failures=tuple(wrong)[:_CODES],
        reason="; ".join(wrong.values())[:_REASON_LIMIT],
        uncertainty=unsure,
    )


def _not_evaluable(why: str) -> Score:
    return Score(
        values={SUCCESS: 0.0, NOT_EVALUABLE: 1.0},
        passed=False,
        failures=("not_evaluable",),
        reason=why[:_REASON_LIMIT],
    )
