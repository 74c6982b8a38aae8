"""The JSON Schema of gate.yml, made from the records and the plug-in classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from gate.plugins import AGENTS, GRADERS, RETRIEVERS, Agent
from gate.records import (
    LONGEST_S,
    MOST_DAYS,
    MOST_ROUNDS,
    BaselineRules,
    Budget,
    CheckedJson,
    GateRule,
    Json,
    MetricRule,
    Policy,
    Price,
    Quarantine,
    RegressionRules,
    ReportOptions,
    Suite,
)
from gate.records.codec import schema_of
from gate.registry import Registry

T = TypeVar("T")
EVENTS = (
    *("pull_request", "pull_request_target", "push", "schedule", "release", "merge_group"),
    *("workflow_dispatch", "workflow_run", "repository_dispatch", "issue_comment"),
)
_TEXT: Json = {"type": "string", "minLength": 1}
AGENT_KEYS: dict[str, Json] = {
    "version": {"type": "string"},
    "paths": {"type": "array", "items": _TEXT, "minItems": 1},
}
JUDGE_TYPES = ("openai", "anthropic", "http", "python")
VERIFIER_KEYS: dict[str, Json] = {
    "require_different_judge": {"type": "boolean"},
    "budget_usd": {"type": "number", "exclusiveMinimum": 0},
    "cache": {"type": "string", "minLength": 1},
}
JUDGE_KEYS: dict[str, Json] = {
    **VERIFIER_KEYS,
    "votes": {"type": "integer", "minimum": 1, "maximum": 100},
    "equal_answers": {"enum": ["once", "each"]},
    "min_agreement": {"type": "number", "minimum": 0, "maximum": 1},
    "labels": {"type": "string", "minLength": 1},
}

# A suite's name is a folder of the session, so it is no file of it either, and leaves room for what
# files are called after it. A `$` alone lets a line end pass.
_SUITE_NAME = r"^(?!.*\.(jsonl?|md|html|xml|lock)$)[A-Za-z0-9][A-Za-z0-9._-]{0,199}$(?!\n)"
_PERCENT, _DATE, _ALL = r"^\d+(\.\d+)?\s*%$", r"^\d{4}-\d{2}-\d{2}$", "^all$"
FORMS: dict[str, str] = {  # pattern -> what a text of this form is, for a message
    _SUITE_NAME: "a name for a suite - use at most 200 letters, digits, '.', '_' and '-', no "
    "blanks, a letter or digit first, and no .json, .jsonl, .md, .html, .xml or .lock at the end",
    _PERCENT: "a percentage such as 5%, or a number without quotes",
    _DATE: "a date - write YYYY-MM-DD",
    _ALL: "a whole number or all",
}
_ADDRESS: CheckedJson = {"type": "string", "pattern": r"^https?://\S+$(?!\n)"}
_NUMBER: Json = {"type": "number"}
_WHOLE: CheckedJson = {"type": "integer", "minimum": 1}
_ROUNDS: CheckedJson = {**_WHOLE, "maximum": MOST_ROUNDS}
_ABOVE_ZERO: Json = {"type": ["number", "null"], "exclusiveMinimum": 0}
_SHARE_OR_PERCENT: CheckedJson = {  # 0.02 or "5%"
    "type": ["number", "string"],
    "minimum": 0,
    "pattern": _PERCENT,
}
REQUEST: Json = {  # keys of a chat completion's body
    "type": "object",
    "properties": {
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
        "top_p": {"type": "number", "minimum": 0, "maximum": 1},
        "max_tokens": _WHOLE,
        "stream": {"type": "boolean"},
    },
    "additionalProperties": False,
}
MANNERS: dict[str, Json] = {  # of whoever is asked: agent, retriever, judge, verifier
    "timeout_s": {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_S},
    "concurrency": _WHOLE,
    "requests_per_minute": _ABOVE_ZERO,
}


def schema() -> dict[str, Json]:
    """The JSON Schema (2020-12) of gate.yml: all keys of all versions; unknown keys are refused."""
    return schema_for(agents=AGENTS.names(), graders=GRADERS.names(), retrievers=RETRIEVERS.names())


def schema_for(
    *, agents: Sequence[str], graders: Sequence[str], retrievers: Sequence[str] = ()
) -> dict[str, Json]:
    """As if there were no other plug-ins than these: what fits it fits the whole schema too."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gate.yml of Agent Gate",
        **_object(_top()),
        "$defs": {
            "agent": _agent(AGENT_KEYS, agents),
            "control_agent": _agent({}, agents),
            "judge": _agent(JUDGE_KEYS, [name for name in agents if name in JUDGE_TYPES]),
            "verifier": _agent(VERIFIER_KEYS, [name for name in agents if name in JUDGE_TYPES]),
            "retriever": _agent({}, retrievers, RETRIEVERS),
            "gates": {"type": "object", "additionalProperties": _gate()},
            "grader": _grader(graders),
            "amount": _SHARE_OR_PERCENT,
        },
    }


def plugin_schema(registry: Registry[T], name: str) -> dict[str, CheckedJson]:
    """The JSON Schema of a built-in plug-in's options, which are the fields of its class."""
    return schema_of(registry.get_class(name))


def _top() -> dict[str, CheckedJson]:
    gates = {"$ref": "#/$defs/gates"}
    return {
        "version": {"enum": [1]},
        "agent": {"$ref": "#/$defs/agent"},
        "control_agent": {"$ref": "#/$defs/control_agent"},
        "judge": {"$ref": "#/$defs/judge"},
        "verifier": {"$ref": "#/$defs/verifier"},
        "retriever": {"$ref": "#/$defs/retriever"},
        "pricing": {"type": "object", "additionalProperties": _price()},
        "suites": {"type": "array", "items": _suite(), "minItems": 1},
        "gates": gates,
        "QUALITY_GATES": gates,
        "regression": _regression(),
        "regression_threshold": {"$ref": "#/$defs/amount"},
        "policy": _record(Policy, inconclusive={"enum": ["pass", "warn", "fail", "extend"]}),
        "protect": {"type": "boolean"},
        "baseline": _record(BaselineRules, keep_rounds=_optional(_WHOLE), max_age_days=_days()),
        "budget": _record(Budget, usd=_ABOVE_ZERO, calls=_optional(_WHOLE), minutes=_ABOVE_ZERO),
        "quarantine": {"type": "array", "items": _quarantine()},
        "report": _record(ReportOptions, dir=_TEXT, url=_ADDRESS),
    }


def _agent(
    more: dict[str, Json], types: Iterable[str], registry: Registry[Agent] = AGENTS
) -> dict[str, Json]:
    """`type` and the fields of its class; with if/then only the chosen type's errors are told."""
    names = list(types)
    chosen = [
        {
            "if": {"properties": {"type": {"const": name}}},
            "then": _with(_possible(registry, name), {"type": {"const": name}, **more}),
        }
        for name in names
        if name in registry
    ]
    return {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": names}},
        "if": {"required": ["type"]},
        "then": {"allOf": chosen} if chosen else {},
    }


def _possible(registry: Registry[T], name: str) -> dict[str, Json]:
    """With bounds that nothing could be asked beyond."""
    schema = plugin_schema(registry, name)
    properties = schema["properties"]
    return {
        **schema,
        "properties": {**properties, **{k: v for k, v in MANNERS.items() if k in properties}},
    }


def _grader(names: Sequence[str]) -> dict[str, Json]:
    """`name` or `{name: {options}}`; a user's own is `module:attr` or `./file.py:attr`."""
    named = {name: {**plugin_schema(GRADERS, name), "type": ["object", "null"]} for name in names}
    return {
        "if": {"type": "string"},
        "then": {"anyOf": [{"enum": list(names)}, {"pattern": ":"}]},
        "else": {
            **_object(named),
            "patternProperties": {":": {"type": ["object", "null"]}},
            "minProperties": 1,
            "maxProperties": 1,
        },
    }


def _suite() -> dict[str, Json]:
    """One that is written as code has its tasks, and its verdicts, itself."""
    schema = _record(
        Suite,
        drop=("place",),
        name={"type": "string", "pattern": _SUITE_NAME},
        dataset=_TEXT,
        graders={"type": "array", "items": {"$ref": "#/$defs/grader"}, "minItems": 1},
        rounds=_ROUNDS,
        max_attempts=_WHOLE,
        version={"type": ["string", "integer"]},
        sample=_object(
            {
                event: {"type": ["integer", "string"], "minimum": 1, "pattern": _ALL}
                for event in EVENTS
            }
        ),
        gates={"$ref": "#/$defs/gates"},
        request=REQUEST,
        suite={"type": "string", "pattern": ":"},
    )
    needed = {"required": ["dataset", "graders"]}
    return {**schema, "required": ["name"], "if": {"required": ["suite"]}, "else": needed}


def _gate() -> dict[str, Json]:
    unwritten = ("metric", "place", "by_default")
    gate = _record(GateRule, drop=unwritten, min=_NUMBER, max=_NUMBER, target=_NUMBER)
    gate["properties"]["rule"] = {"enum": ["point", "convicted", "proven"]}
    return gate


def _regression() -> dict[str, Json]:
    metric = _record(
        MetricRule,
        drop=("metric", "place"),
        tolerance={"$ref": "#/$defs/amount"},
        level={"enum": ["block", "warn"]},
    )
    return _record(
        RegressionRules,
        drop=("place",),
        alpha={"type": "number", "minimum": 1e-9, "maximum": 0.5},
        power={"type": "number", "minimum": 0.01, "exclusiveMaximum": 1},
        tolerance={"$ref": "#/$defs/amount"},
        metrics={"type": "object", "additionalProperties": metric},
        max_removed={**_SHARE_OR_PERCENT, "maximum": 1},
        stop={"enum": ["early", "off", "both", False]},  # YAML 1.1 tools write `off` as false
        max_rounds=_ROUNDS,
        control={"enum": ["stored", "fresh"]},
    )


def _quarantine() -> dict[str, Json]:
    date = {"type": "string", "pattern": _DATE}
    return _record(Quarantine, drop=("place",), case=_TEXT, owner=_TEXT, until=date)


def _price() -> dict[str, Json]:
    price = {"type": "number", "minimum": 0, "maximum": 1e9}
    more = {name: _optional(price) for name in ("cached_input", "reasoning")}
    return _record(Price, drop=("source", "read_on"), input=price, output=price, **more)


def _record(
    cls: type, *, drop: Iterable[str] = (), **changed: CheckedJson
) -> dict[str, CheckedJson]:
    """The schema of a record as gate.yml writes it: without some fields, with some changed."""
    full_schema = schema_of(cls)
    dropped = set(drop)
    properties = {k: v for k, v in full_schema["properties"].items() if k not in dropped}
    required = [key for key in full_schema.get("required", ()) if key not in dropped]
    return {**_object({**properties, **changed}), **({"required": required} if required else {})}


def _with(schema: dict[str, CheckedJson], more: dict[str, CheckedJson]) -> dict[str, CheckedJson]:
    return {**schema, "properties": {**more, **schema["properties"]}}


def _object(properties: dict[str, CheckedJson]) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _optional(schema: CheckedJson) -> CheckedJson:
    return {**schema, "type": [schema["type"], "null"]}


def _days() -> CheckedJson:
    return {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_DAYS}
