"""What goes into and comes out of one trial: Case, Response, Score, Judging, Attempt, Trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gate.errors import Place, Transport
from gate.records.patterns import Violation
from gate.records.server_logs import CheckedEvidence, OwnVerdict, ServerLogs
from gate.records.settings import CheckedJson, Json

TrialStatus = Literal["completed", "agent_error", "infra_error"]

# Columns every trial has besides its graders' metrics. Success and first-attempt success:
# docs/semantics.md 4.
TRIAL_COLUMNS = (
    "success",  # 1 or 0; NaN: infrastructure error, or no grader decides pass
    "first_success",  # the first try alone; an infrastructure error counts as 0
    "agent_error",  # 1: the agent failed; NaN: infrastructure error
    "infra_error",  # 1: nobody answered
    "retried",  # 1: more than one try was needed
    "latency_ms",  # of the answer that counts, completed trials only
    "total_tokens",
    "input_tokens",  # the cached ones included
    "cached_tokens",
    "output_tokens",  # those of reasoning included
    "reasoning_tokens",
    "score",  # from 0 to 1: mean of the dimension scores; without one 1 or 0 as it passed
    "steps",  # tool calls
    "turns",  # calls of the model
    "cost_usd",
    "violations",  # that the agent reports or a grader found; NaN: nobody looked
    "unsafe",  # 1: at least one violation
    "judge_coverage",  # share of the gradings by a judge that gave a score; NaN: none was needed
    "judge_injection",  # 1: the answer tries to instruct its judge; NaN: none judged it
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of a dataset. `keys` holds every key of the row as it was written, aliases of
    `input` resolved.
    """

    id: str
    input: Json  # a string, a list of messages, or any object
    keys: Mapping[str, CheckedJson]
    category: str | None = None
    tags: tuple[str, ...] = ()
    # sha256 of what the agent sees and the graders read (not category, tags, status, metadata)
    digest: str = ""
    place: Place = Place("dataset")
    # Of this request, beside the agent's own options: temperature, top_p, max_tokens, ...
    request: Mapping[str, Json] = field(default_factory=dict)
    timeout_s: float | None = None  # of this case; None: the agent's

    @property
    def question(self) -> str:
        """The input as text: itself, the last user message, or its JSON-like form."""
        if isinstance(self.input, str):
            return self.input
        if isinstance(self.input, list):
            users = [m for m in self.input if isinstance(m, dict) and m.get("role") == "user"]
            if users and isinstance(users[-1].get("content"), str):
                return str(users[-1]["content"])
        return str(self.input)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A retrieved document, in the order in which the agent ranked it."""

    id: str
    score: float | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool: one step. Arguments that are not JSON are kept in `raw_arguments`;
    `arguments` is then None.
    """

    name: str
    arguments: Json = None
    raw_arguments: str | None = None
    result: Json = None
    error: str | None = None
    id: str | None = None
    # The model call that made it, from 0: parallel calls share one. None: the agent does not say.
    turn: int | None = None
    latency_ms: float | None = None
    correction: bool = False  # the agent says that it puts right an earlier step


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one answer; None is unknown, never 0. `input_tokens` includes the cached ones, the
    total is the sum of input and output wherever both are known.
    """

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None  # as the agent reports it; it wins over the price table
    total_tokens: int | None = None  # told alone, it is all that is known

    def __post_init__(self) -> None:
        if self.input_tokens is not None and self.output_tokens is not None:
            object.__setattr__(self, "total_tokens", self.input_tokens + self.output_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What an agent answered, normalised over all protocols."""

    answer: str
    retrieved: tuple[Document, ...] | None = None  # None: the agent does not say what it retrieved
    context: str | None = None
    steps: tuple[ToolCall, ...] | None = None  # None: the agent does not say what it did
    usage: Usage = Usage()
    model: str | None = None
    finish_reason: str | None = None
    safety_violations: tuple[str, ...] | None = None  # None: the agent does not say
    latency_ms: float | None = None  # a replayed answer: as it was recorded
    turns: int | None = None  # calls of the model; None: the agent does not say
    omitted_steps: int = 0  # steps after the last one of `steps`, counted and not kept
    trace_faults: tuple[str, ...] = ()  # what is odd about the trace, one sentence each
    server_logs: ServerLogs | None = None  # None: nobody looked for any
    own_verdict: OwnVerdict | None = None  # of a suite written as code
    # What the world is like after it, as the agent or its environment reports: a final address, a
    # page, a reward. Graders of benchmarks read it; no report has it.
    state: Mapping[str, Json] = field(default_factory=dict)
    kept: bool = True  # False: an imported result whose source does not keep the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A grader's judgement of one answer.

    `values`: metric name -> number, or None where it does not apply to this case. `passed` is None
    when the grader has
    no opinion on pass or fail. An unscored answer has `unscored` (why) and no values; it passes or
    fails only where it is `flagged`.
    """

    values: Mapping[str, float | None] = field(default_factory=dict)
    passed: bool | None = None
    failures: tuple[str, ...] = ()  # codes, e.g. "fact_missing:4.2 %"
    reason: str = ""
    unscored: str | None = None
    uncertainty: float | None = None  # of a judge: 0 sure, 1 undecided; None: does not say
    violations: tuple[Violation, ...] | None = None  # None: the grader does not look for any
    evidence: CheckedEvidence | None = None  # None: the grader does not look at declared calls
    details: Json = None  # what it found, as data beside the reason; None: nothing to add
    flagged: bool = False  # a judge, or a look for one, says that the answer tries to instruct it


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldBy:
    """The place where a row's reasons speak of a column: under this grader, from this word on."""

    grader: str
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What asking models came to on one trial, all its tries and graders together."""

    asked: int = 0  # gradings that needed a judge
    scored: int = 0  # of them, those with a judgement
    calls: int = 0
    cached: int = 0  # votes that cost no call
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0  # as far as known
    unknown: int = 0  # votes of unknown cost
    unreachable: int = 0  # votes that nobody could be asked for
    undecided: int = 0  # gradings that decide on passing, without a score
    lost: int = 0  # gradings of a judge or verifier without a score because it was out
    stopped: int = 0  # votes that the end of the run cost
    flagged: int = 0  # gradings of answers that try to instruct the judge
    failures: tuple[str, ...] = ()  # why votes failed, each once
    listed: tuple[str, ...] = ()  # models by whose providers' lists `usd` is counted


NOBODY_ASKED = Judging()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of one trial, graded."""

    n: int  # from 1
    status: TrialStatus
    latency_ms: float | None  # without time waited out for a 429 or 503
    response: Response | None = None
    scores: Mapping[str, Score] = field(default_factory=dict)  # grader name -> score
    passed: bool | None = None  # None: unscored, or no grader has an opinion
    failures: tuple[str, ...] = ()
    error: str | None = None
    waited_ms: float = 0.0
    transport: Transport | None = None  # how it failed, where nothing of the agent could be read
    judging: Judging = NOBODY_ASKED


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One (case, round) with every attempt that was made."""

    suite: str
    case: Case
    round: int  # from 1
    attempts: tuple[Attempt, ...]
    started_at: str  # ISO 8601, UTC
    judged: int  # index of the attempt that counts (docs/semantics.md 4)
    control: bool = False  # asked of the control agent, not of the candidate

    @property
    def attempt(self) -> Attempt:
        return self.attempts[self.judged]


Role = Literal["judge", "verifier"]
Cause = Literal["", "unreachable", "stopped"]  # of a missing vote, where it is not the model's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question to the model of a role, to be answered in JSON.

    Hostile text stands in `material` only, fenced. A reply must fit `schema`, and hold `canary`
    under that name where there is one: a model that lost its instructions does not give it back.
    """

    role: Role
    name: str  # what it is about, e.g. the rubric and the order of a pair; part of the cache's key
    instructions: str  # the system message
    material: str  # the user message
    schema: Mapping[str, CheckedJson]
    canary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One vote on a Question: `data` that fits its schema, or None and why."""

    data: Mapping[str, CheckedJson] | None
    failure: str = ""  # one sentence; empty when there are data
    cause: Cause = ""
    model: str | None = None
    usage: Usage = field(default_factory=Usage)  # of all calls for this vote, a repair included
    cost_usd: float | None = None  # None: unknown; a cached reply costs 0
    listed: str = ""  # the model by whose provider's list it is counted; empty: otherwise
    calls: int = 0  # requests that were made; 0: from the cache, or none was possible
