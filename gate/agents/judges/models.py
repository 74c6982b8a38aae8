"""The models that gate.yml names: how each is asked, and what of it belongs to a cached reply."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Set
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from threading import Event, Lock, Thread

from gate.agents.http_client.route import format_address
from gate.agents.judges.cache import Cache
from gate.agents.judges.reply_form import FORMAT, TOOL, ReplyForm, Way
from gate.agents.judges.totals import GIVEN_UP, NOT_ASKED
from gate.agents.judges.vote import ModelOptions, Patience, VoteConversation
from gate.plugins import AGENTS, Agent, AgentTraits, Connection, World, build, read_traits
from gate.records import Case, Cause, CheckedJson, Json, PluginSpec, Price, Question, Reply, Role
from gate.records.codec import digest
from gate.system.pace import Pace
from gate.system.slots import Slot, Slots
from gate.text.figures import in_usd
from gate.text.redaction import Redactor
from gate.text.secret_names import secrets_sent
from gate.user_code.hashes import grader_file

Then = Callable[[Reply], None]
Vote = tuple[Case, Question, Then, "Future[Reply]"]

# What an agent's class has other defaults for (docs/config.md).
_DEFAULTS: Mapping[str, Json] = {"timeout_s": 60.0, "concurrency": 8}
_SEEN = ("model", "options", "method", "body", "response", "callable")  # by who judges or how


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Who is asked in a role, and by what its replies are known again."""

    section: Role
    agent: Agent
    world: World
    desk: WorkerPool
    budget: SpendingLimit
    cache: Cache | None
    votes: int
    each: bool = False  # equal answers have votes of their own
    identity: Json  # no secrets

    def key(self, case: Case, question: Question, vote: int, time: int = 0) -> str:
        """sha256 of all that a reply depends on. Cases with equal prompts differ by their ids;
        `time`: how often the same was asked before, where each time counts.
        """
        about = (question.name, question.instructions, question.material, question.canary)
        whose = (self.identity, question.role, case.id, vote, *([time] if time else []))
        return digest([*whose, *about, dict(question.schema)])


def model_of(
    section: Role,
    spec: PluginSpec,
    prices: Mapping[str, Price],
    world: World,
    *,
    spent: float,
    patience: Patience,
    hidden: Set[str] = frozenset(),
) -> Model:
    """`hidden`: secrets of others that no reply may show, nor a file of replies. Raises UsageError
    for a protocol that cannot be made.
    """
    world, options = replace(world, section=section), _fill_defaults(spec)
    agent = build(AGENTS, replace(spec, options=options), world.root)
    secret = world.env.get(str(options.get("api_key_env") or "")) or None
    sent = {*secrets_sent(world.env, [options])}
    file = options.get("cache")
    cache = Cache(world.root / file, file, section, secret) if file else None
    budget = SpendingLimit(section, options.get("budget_usd"), spent=spent)
    manner = ModelOptions(
        section=section,
        timeout_s=agent.timeout_s,
        model=options.get("model") or None,
        prices=prices,
        one_text=spec.name in ("http", "python"),
        scrub=Redactor(sent | hidden).scrub,
        form=ReplyForm(_choose_way(spec)),
    )
    return Model(
        section=section,
        agent=agent,
        world=world,
        desk=WorkerPool(agent, world, manner, budget, patience),
        budget=budget,
        cache=cache,
        votes=options.get("votes", 1),
        each=options.get("equal_answers") == "each",
        identity=Redactor(sent).scrub(_identity(spec.name, options, world)),
    )


def _fill_defaults(spec: PluginSpec) -> dict[str, CheckedJson]:
    """With temperature 0 where the protocol has one; null leaves it out, for models that refuse
    it.
    """
    options: dict[str, CheckedJson] = {**_DEFAULTS, **spec.options}
    if spec.name in ("openai", "anthropic"):
        sent = {"temperature": 0, **(options.get("options") or {})}
        options["options"] = {
            key: value
            for key, value in sent.items()
            if value is not None or key not in ("temperature", FORMAT, TOOL)
        }
    return options


def _choose_way(spec: PluginSpec) -> Way:
    """How the form of a reply is sent; whoever writes it, or null, among the options has decided.
    A model that is to think first may not be made to call a tool.
    """
    address = str(spec.options.get("base_url") or "").partition("?")[0].rstrip("/")
    options = spec.options.get("options") or {}
    if spec.name == "openai" and not address.endswith("/responses") and FORMAT not in options:
        return "response_format"
    if spec.name == "anthropic" and options.keys().isdisjoint((TOOL, "tools", "thinking")):
        return "tool_choice"
    return ""


def _identity(protocol: str, options: Mapping[str, CheckedJson], world: World) -> Json:
    """Protocol, address and everything sent; of a user's function its file too. Of headers only
    the names: their values are keys, mostly.
    """
    seen: dict[str, Json] = {key: options[key] for key in _SEEN if key in options}
    for key in ("base_url", "url"):
        if key in options:
            seen[key] = format_address(options[key])
    seen["headers"] = sorted(options.get("headers") or {})
    file = world.root / grader_file(str(options.get("callable") or ""))
    if options.get("callable") and file.is_file():
        seen["code"] = hashlib.sha256(file.read_bytes()).hexdigest()
    return {"type": protocol, **seen}


class WorkerPool:
    """`agent.concurrency` daemon threads, started as votes come in; a vote that waits for its
    Retry-After keeps its thread, since a model that is busy is busy for the others too.
    """

    def __init__(
        self,
        agent: Agent,
        world: World,
        manner: ModelOptions,
        budget: SpendingLimit,
        patience: Patience,
    ) -> None:
        self._agent, self._world = agent, world
        self._manner, self._budget, self._patience = manner, budget, patience
        adaptive = read_traits(AgentTraits, agent).adaptive
        pace = Pace(
            agent.concurrency,
            per_minute=agent.requests_per_minute,
            adaptive=adaptive,
            patience_s=agent.timeout_s,
        )
        self._slots = Slots(pace, seconds=patience.clock.seconds, pause=patience.pause)
        self._votes: SimpleQueue[Vote | None] = SimpleQueue()
        self._lock = Lock()
        self._open: set[Future[Reply]] = set()
        self._threads: list[Thread] = []
        self._connections: list[Connection] = []
        self._stopped = Event()
        self._out = ""  # why it is not asked at all

    def vote(self, case: Case, question: Question, then: Then) -> Future[Reply]:
        """A reply to come, also when something fails and when the pool is closed. `then` has it
        before whoever waits, in the thread that asked.
        """
        future: Future[Reply] = Future()
        if self._out:
            future.set_result(self._failed_reply(self._out, "unreachable"))
            return future
        with self._lock:
            if not self._stopped.is_set():
                self._open.add(future)
                self._votes.put((case, question, then, future))
                if len(self._threads) < min(self._agent.concurrency, len(self._open)):
                    thread = Thread(target=self._work, daemon=True, name="gate-judge")
                    thread.start()
                    self._threads.append(thread)
                return future
        future.set_result(self._failed_reply(NOT_ASKED, "stopped"))
        return future

    def give_up(self, why: str) -> None:
        """The model is out: from now on every vote fails at once."""
        self._out = why

    def close(self) -> None:
        """Ends what is under way, without waiting for it; every open vote fails now."""
        with self._lock:
            self._stopped.set()
            given_up, self._open = self._open, set()
            connections, self._connections = self._connections, []
            self._slots.close()
            for _ in self._threads:
                self._votes.put(None)
        for future in given_up:
            _settle(future, self._failed_reply(GIVEN_UP, "stopped"))
        for connection in connections:
            connection.close()

    def _work(self) -> None:
        slot = self._slots.slot()
        connection: Connection | None = None
        while (vote := self._votes.get()) is not None:
            case, question, then, future = vote
            try:
                connection = connection or self._open_connection(slot)
                reply = self._reply(connection, slot, case, question)
                then(reply)
            except Exception as error:  # connecting: a key that is not set, a user's file
                reply = self._failed_reply(f"could not be asked: {error}", "unreachable")
                then(reply)
            with self._lock:
                self._open.discard(future)
            _settle(future, reply)

    def _reply(self, connection: Connection, slot: Slot, case: Case, question: Question) -> Reply:
        refused = self._budget.begin()
        if refused:
            return Reply(data=None, failure=refused, cost_usd=0.0)
        talk = VoteConversation(
            connection, self._manner, self._patience, stopped=self._stopped, slot=slot
        )
        reply = talk.reply(case, question)
        self._budget.end(talk.cost_so_far, is_complete=reply.cost_usd is not None)
        return reply

    def _open_connection(self, slot: Slot) -> Connection:
        connection = self._agent.connect(replace(self._world, hear=slot.hear))
        with self._lock:
            if not self._stopped.is_set():
                self._connections.append(connection)
                return connection
        connection.close()
        return connection

    def _failed_reply(self, what: str, cause: Cause) -> Reply:
        failure = f"the {self._manner.section} {what}"
        return Reply(data=None, failure=failure, cause=cause, cost_usd=0.0)


def _settle(future: Future[Reply], reply: Reply) -> None:
    with suppress(InvalidStateError):  # `close` was faster
        future.set_result(reply)


class SpendingLimit:
    """Votes are begun until the limit is reached; those under way are guessed at the mean so far.

    An unknown cost is no part of the sum and is counted, since a limit in money cannot hold then.
    """

    def __init__(self, section: str, usd: float | None, *, spent: float = 0.0) -> None:
        self._section, self._limit = section, usd
        self._spent, self._own = spent, 0.0
        self._under_way, self._known, self._unknown = 0, 0, 0
        self._lock = Lock()

    def begin(self) -> str:
        """Why no vote may be begun; empty when one was, to be ended with `end`."""
        with self._lock:
            mean = self._own / self._known if self._known else 0.0
            if self._limit is not None and self._spent + self._under_way * mean >= self._limit:
                return f"the {self._section}'s budget of {in_usd(self._limit)} USD is used up"
            self._under_way += 1
            return ""

    def end(self, usd: float, *, is_complete: bool) -> None:
        """`usd`: USD of the vote's calls as far as known; `is_complete`: of all of them."""
        with self._lock:
            self._under_way -= 1
            self._spent += usd
            self._own += usd
            self._known += is_complete
            self._unknown += not is_complete

    def note(self) -> str:
        """A sentence that says the cost limit cannot hold, because some costs are unknown; empty
        when there is no limit, or every cost was known.
        """
        if self._limit is None or not self._unknown:
            return ""
        return (
            f"{self._section}.budget_usd cannot be enforced: the cost of {self._unknown} votes is "
            "unknown, because token counts or the model's price are missing - add the price under "
            "pricing"
        )
