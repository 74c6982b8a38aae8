"""The models that graders ask, as one: who is asked, how often, and what is known already."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence, Set
from concurrent.futures import Future
from dataclasses import replace
from threading import Lock

from gate.agents.judges.cache import CachedReply
from gate.agents.judges.models import Model, model_of
from gate.agents.judges.parse_reply import faults_of
from gate.agents.judges.vote import Patience
from gate.agents.pricing import with_list_prices
from gate.errors import InfraFailure
from gate.plugins import World
from gate.records import Case, Config, PluginSpec, Question, Reply, Role, Usage
from gate.records.codec import to_json

_GLANCE_S = 0.1  # how often whoever waits looks whether the run is being stopped


def panel_of(
    config: Config | None,
    world: World,
    *,
    spend_before: float = 0.0,
    patience: Patience | None = None,
    hidden: Set[str] = frozenset(),
) -> Panel:
    """The judge and the verifier of gate.yml; without a config nobody.

    `spend_before`: USD that an interrupted run has spent; it counts for each budget, since nobody
    knows who spent it. `hidden`: secrets of others that no reply may show. Raises UsageError.
    """
    written = {} if config is None else {"judge": config.judge, "verifier": config.verifier}
    models = [
        model_of(
            role,
            spec,
            with_list_prices(config.pricing),
            world,
            spent=spend_before,
            patience=patience or Patience(),
            hidden=hidden,
        )
        for role in ("judge", "verifier")
        if config is not None and (spec := written[role]) is not None
    ]
    return Panel(models)


def without_open_caches(config: Config) -> Config:
    """The config of a pull request: a file of judgements that no key signs is one that it may have
    written, so none is read.
    """

    def close_cache(spec: PluginSpec | None) -> PluginSpec | None:
        if spec is None or spec.options.get("api_key_env"):
            return spec
        kept = {key: value for key, value in spec.options.items() if key != "cache"}
        return replace(spec, options=kept)

    return replace(config, judge=close_cache(config.judge), verifier=close_cache(config.verifier))


class Panel:
    """Every method may be called from any thread."""

    def __init__(self, models: Sequence[Model] = ()) -> None:
        self._models = {model.section: model for model in models}
        self._lock = Lock()
        self._asked: dict[str, Future[Reply]] = {}  # key -> the reply to come
        self._known: dict[str, str] = {}  # key -> the judgement as JSON: a tenth of the memory
        self._times: Counter[str] = Counter()  # key -> how often it was asked, where each counts

    @property
    def concurrency(self) -> int:
        """Questions that can be under way at once; 0 without a model."""
        return sum(model.agent.concurrency for model in self._models.values())

    def has(self, role: Role) -> bool:
        return self._model(role) is not None

    def describe(self, role: Role) -> str:
        """Type, model and address; empty where nobody has the role."""
        model = self._model(role)
        return model.agent.describe() if model else ""

    def unreachable(self) -> str:
        """Why one of the models cannot be asked; empty when all can. Votes of one that cannot fail
        at once from now on. Raises UsageError.
        """
        lost = []
        for section, model in self._models.items():
            try:
                model.agent.check(model.world)
            except InfraFailure as failure:
                why = f"cannot be reached: {failure}"
                model.desk.give_up(why)
                lost.append(f"the {section} {why}")
        return next(iter(lost), "")

    def ask(self, case: Case, questions: Sequence[Question]) -> list[tuple[Reply, ...]]:
        """The votes on each question, in order; none where its role has no model. Returns when the
        last one is there: failed ones say why, and after a stop all are failed.
        """
        begun = [self._begin(case, question) for question in questions]
        return [tuple(self._wait(future, own) for future, own in votes) for votes in begun]

    def notes(self) -> tuple[str, ...]:
        """What the reader of the report should know: lines of a cache that do not count, a budget
        that cannot hold.
        """
        each = [
            (*(model.cache.notes() if model.cache else ()), model.budget.note())
            for model in self._models.values()
        ]
        return tuple(dict.fromkeys(note for notes in each for note in notes if note))

    def close(self) -> None:
        """Aborts what is under way, without waiting for it; from now on every vote fails."""
        for model in self._models.values():
            model.desk.close()

    def _model(self, role: Role) -> Model | None:
        """Without a verifier of its own the judge verifies."""
        return self._models.get(role) or self._models.get("judge")

    def _begin(self, case: Case, question: Question) -> list[tuple[Future[Reply], bool]]:
        """Each vote to come, and whether it was begun for this asker."""
        model = self._model(question.role)
        if model is None:
            return []
        votes = model.votes if question.role == "judge" else 1
        time = self._time(model, case, question) if model.each else 0
        return [self._vote(model, case, question, (n, time)) for n in range(votes)]

    def _time(self, model: Model, case: Case, question: Question) -> int:
        key = model.key(case, question, 0)
        with self._lock:
            self._times[key] += 1
            return self._times[key] - 1

    def _vote(
        self, model: Model, case: Case, question: Question, which: tuple[int, int]
    ) -> tuple[Future[Reply], bool]:
        """`which`: of the votes, and of the times that the same is asked, from 0."""
        key = model.key(case, question, *which)
        with self._lock:
            under_way = self._asked.get(key)
            if under_way is not None:
                return under_way, False
            kept = self._find_kept(model, key)
            if kept is not None and not faults_of(kept.data, question):
                future: Future[Reply] = Future()
                future.set_result(_again(Reply(data=kept.data, model=kept.model)))
            else:
                future = model.desk.vote(
                    case, question, lambda reply: self._keep(model, key, reply)
                )
                self._asked[key] = future
            return future, True

    def _find_kept(self, model: Model, key: str) -> CachedReply | None:
        """From this run, or from another one."""
        if (text := self._known.get(key)) is not None:
            return CachedReply(**json.loads(text))
        return model.cache.get(key) if model.cache else None

    def _keep(self, model: Model, key: str, reply: Reply) -> None:
        """A failed vote may be tried again by whoever asks later."""
        kept = None if reply.data is None else CachedReply(data=reply.data, model=reply.model)
        with self._lock:
            self._asked.pop(key, None)
            if kept is not None:
                self._known[key] = json.dumps(to_json(kept))
        if kept is not None and model.cache:
            model.cache.put(key, kept)

    def _wait(self, future: Future[Reply], is_own: bool) -> Reply:
        while True:
            try:
                reply = future.result(timeout=_GLANCE_S)
            except TimeoutError:
                if any(model.world.cancelled() for model in self._models.values()):
                    self.close()
            else:
                return reply if is_own else _again(reply)


def _again(reply: Reply) -> Reply:
    """What another asker has paid for."""
    return replace(reply, usage=Usage(), cost_usd=0.0, calls=0, listed="")
