"""The models that gate.yml names: how each is asked, and what of it belongs to a cached reply."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from gate.agents.http_client.route import format_address
from gate.agents.judges.budget import SpendingLimit
from gate.agents.judges.cache import Cache
from gate.agents.judges.reply_form import FORMAT, TOOL, ReplyForm, Way
from gate.agents.judges.vote import ModelOptions, Patience
from gate.agents.judges.worker_pool import WorkerPool
from gate.plugins import AGENTS, Agent, World, build
from gate.records import Case, CheckedJson, Json, PluginSpec, Price, Question, Role
from gate.records.codec import digest
from gate.text.redaction import Redactor
from gate.text.secret_names import secrets_sent
from gate.user_code.hashes import grader_file

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
