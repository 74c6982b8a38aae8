"""One vote: a question put to a model, tried again where nobody answered, mended once."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Event

from gate.agents.judges.parse_reply import Unfit, parse_reply
from gate.agents.judges.reply_form import ReplyForm, read_reply_text
from gate.agents.judges.totals import NOT_ASKED
from gate.agents.pricing import cost_usd, listed_model
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.plugins import Connection
from gate.records import Case, Cause, Json, Price, Question, Reply, Response, Usage
from gate.system.clock import LEAST_TRY_S, Clock
from gate.system.slots import Slot
from gate.text.shortening import shorten

MOST_TRIES = 3  # of one request that nobody answered
_QUOTED = 4000  # characters of a reply that did not fit which go back to the model
_CUT_SHORT = ("length", "max_tokens")  # finish reasons
_FAILURE_LIMIT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Time, handed in so that tests hand in others. `pause` waits for the event or the seconds."""

    clock: Clock = field(default_factory=Clock)
    pause: Callable[[Event, float], object] = Event.wait


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How a model is asked: all of gate.yml that a vote needs."""

    section: str  # judge or verifier
    timeout_s: float  # for a vote in all: waiting, trying again and mending included
    model: str | None = None  # where an answer names none
    prices: Mapping[str, Price] = field(default_factory=dict)
    one_text: bool = False  # the protocol carries one text better than a list of messages
    scrub: Callable[[Reply], Reply] = lambda reply: reply  # takes secrets out
    form: ReplyForm = field(default_factory=ReplyForm)


class VoteFailure(Exception):
    """Why there is no vote."""

    def __init__(self, message: str, cause: Cause = "") -> None:
        super().__init__(message)
        self.cause = cause


class VoteConversation:
    """The requests of one vote over one connection; `reply` never raises."""

    def __init__(
        self,
        connection: Connection,
        manner: ModelOptions,
        patience: Patience,
        *,
        stopped: Event,
        slot: Slot,
    ) -> None:
        """`slot` is held while the model is asked; the first wait for it is no part of the time
        that a vote may take.
        """
        self._connection, self._manner, self._patience = connection, manner, patience
        self._stopped, self._slot = stopped, slot
        self._calls, self._known, self._whole = 0, 0.0, True
        self._usage, self._listed = Usage(), ""
        self._model = manner.model
        self._deadline = math.inf  # until the first request may start

    def reply(self, case: Case, question: Question) -> Reply:
        data, failure = None, ""
        cause: Cause = ""
        try:
            data = self._judgement(case, question)
        except VoteFailure as error:
            failure, cause = shorten(str(error), _FAILURE_LIMIT), error.cause
        except Exception as error:  # a protocol's or a schema's; a judgement never ends a run
            what = f"{type(error).__name__}: {error}"
            failure = shorten(f"the {self._manner.section} failed: {what}", _FAILURE_LIMIT)
        reply = Reply(
            data=data,
            failure=failure,
            cause=cause,
            model=self._model,
            usage=self._usage,
            cost_usd=self._known if self._whole else None,
            calls=self._calls,
            listed=self._listed,
        )
        return self._manner.scrub(reply)

    @property
    def cost_so_far(self) -> float:
        """What the calls cost, as far as known."""
        return self._known

    def _judgement(self, case: Case, question: Question) -> Mapping[str, Json]:
        section = self._manner.section
        form = self._manner.form.request(question)
        first = read_reply_text(
            self._answer(replace(build_case(case, question), request=form)), question
        )
        try:
            return parse_reply(first, question)
        except Unfit as unfit:
            wrong = unfit
        again = build_case(case, question, first, wrong, one_text=self._manner.one_text)
        form = self._manner.form.request(question)
        second = self._answer(replace(again, request=form))
        try:
            return parse_reply(read_reply_text(second, question), question)
        except Unfit as unfit:
            cut = second.finish_reason in _CUT_SHORT
            more = f" - it was cut short: raise {section}.options.max_tokens" if cut else ""
            message = f"neither reply of the {section} has the required form: {unfit}{more}"
            raise VoteFailure(message) from None

    def _answer(self, case: Case) -> Response:
        """Raises Failed when the time is up, or nobody has answered after three tries."""
        section, tries = self._manner.section, 0
        while True:
            if self._stopped.is_set():
                raise VoteFailure(f"the {section} {NOT_ASKED}", "stopped")
            wait = None
            cause: Cause = "unreachable"
            try:
                return self._ask_model(case)
            except InfraFailure as error:
                failure, wait = f"the {section} could not be asked: {error}", error.retry_after
            except AgentFailure as error:
                if error.final and case.request:  # no try: it may only mind the form
                    self._manner.form.refuse()
                    self._calls -= 1
                    case = replace(case, request={})
                    continue
                self._whole = self._whole and error.final  # what it wrote may have to be paid
                self._seconds_left()
                failure = f"the {section} failed: {error}"
                if error.transport is None and not error.timed_out:
                    cause = ""  # it was there
                if error.final:
                    raise VoteFailure(failure) from None
            except UsageError as error:
                message = f"the {section} could not be asked: {error}"
                raise VoteFailure(message, "unreachable") from None
            tries += wait is None
            why = VoteFailure(failure, cause)
            if tries >= MOST_TRIES:
                raise why
            clock = self._patience.clock
            self._pause(clock.backoff(tries) if wait is None else clock.waiting(wait), why)

    def _ask_model(self, case: Case) -> Response:
        with self._slot as is_free:
            if not is_free:
                raise VoteFailure(f"the {self._manner.section} {NOT_ASKED}", "stopped")
            if math.isinf(self._deadline):
                self._deadline = self._now() + self._manner.timeout_s
            left = self._seconds_left()
            self._calls += 1
            response = self._connection.ask(case, timeout_s=left)
        manner, usage = self._manner, response.usage
        model = response.model
        cost = cost_usd(usage, model, manner.prices)
        if cost is None:
            model = manner.model
            cost = cost_usd(usage, model, manner.prices)
        if cost:
            self._listed = listed_model(usage, model, manner.prices)
        self._known += cost or 0.0
        self._whole = self._whole and cost is not None
        self._usage = _sum(self._usage, usage)
        self._model = response.model or self._model
        return response

    def _pause(self, seconds: float, why: VoteFailure) -> None:
        """Raises `why` when no time would be left for another try."""
        if self._now() + seconds + LEAST_TRY_S > self._deadline:
            raise why
        self._patience.pause(self._stopped, seconds)

    def _seconds_left(self) -> float:
        """Seconds; raises Failed when there are none."""
        left = self._deadline - self._now()
        if left <= 0:
            late = f"did not answer within {self._manner.timeout_s:g} s"
            raise VoteFailure(f"the {self._manner.section} {late}", "unreachable")
        return left

    def _now(self) -> float:
        return self._patience.clock.seconds()


def build_case(
    case: Case,
    question: Question,
    reply_text: str = "",
    wrong: Unfit | None = None,
    *,
    one_text: bool = False,
) -> Case:
    """The question as a case for an agent's protocol; with what was `wrong` with what the model
    `reply_text`, if it has answered already.

    `input` are the messages. `keys` have the same as texts, for a template or a function:
    instructions, material, schema, name, role.
    """
    messages: list[Json] = [{"role": "system", "content": question.instructions}]
    material = question.material
    if wrong is None:
        messages += [_user(material)]
    else:
        quoted = reply_text if len(reply_text) <= _QUOTED else reply_text[:_QUOTED] + "…"
        material += f"\n\nYour reply was, as a JSON string:\n{json.dumps(quoted)}\n{_again(wrong)}"
        if one_text:
            messages += [_user(material)]
        else:
            reply_message = {"role": "assistant", "content": quoted.strip() or "(nothing)"}
            messages += [_user(question.material), reply_message, _user(_again(wrong))]
    keys: dict[str, Json] = {
        "instructions": question.instructions,
        "material": material,
        "schema": dict(question.schema),
        "name": question.name,
        "role": question.role,
    }
    return Case(id=case.id, input=messages, keys=keys, place=case.place)


def _again(wrong: Unfit) -> str:
    listed = "\n".join(f"- {fault}" for fault in wrong.faults)
    return (
        f"That reply cannot be used:\n{listed}\n"
        "Judge the same material again by the same instructions, and reply with one JSON object "
        "of the form that they ask for, and nothing else."
    )


def _user(text: str) -> dict[str, Json]:
    return {"role": "user", "content": text}


def _sum(first: Usage, second: Usage) -> Usage:
    """Tokens of both; what neither says stays unknown."""
    names = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
    return Usage(**{name: _plus(getattr(first, name), getattr(second, name)) for name in names})


def _plus(first: int | None, second: int | None) -> int | None:
    return second if first is None else first + (second or 0)
