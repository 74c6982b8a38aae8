"""One question to the agent that gate.yml is to name: does it answer, and what does it report? An
HTTP endpoint of any make is asked in the usual forms until it answers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from gate.agents.http_client.endpoint import bearer, join_endpoint
from gate.agents.http_client.reply import HttpReply
from gate.agents.http_client.route import format_address
from gate.agents.http_client.session import HttpSession
from gate.agents.protocols.http import Exchange, HttpAgent
from gate.agents.wire import answer
from gate.errors import AgentFailure, GateError, InfraFailure
from gate.plugins import AGENTS, World, build
from gate.records import Case, Document, Json, PluginSpec, Response
from gate.text.figures import value
from gate.text.late_pattern import late_pattern

QUESTION = "What can you help me with?"
TIMEOUT_S = 60.0
# How bodies call the question, and replies the answer and the documents; the usual names first.
ASKED_AS = (
    *("input", "question", "query", "prompt", "message", "text"),
    *("user_message", "user_input", "content"),
)
ANSWERED_AS = ("answer", "output", "response", "reply", "text", "message", "content", "result")
RETRIEVED_AS = ("retrieved", "documents", "sources", "contexts", "chunks", "citations")
MODELS_S = 5.0
_ENDPOINT = late_pattern(r"/(?:chat/completions|responses)/?\Z")
_MOST_BODY = 10_000  # bytes of a refusal that are read
_DEEPEST = 4  # keys and positions in a path
_MOST_NAMED = 5  # further names that refusals tell and that are tried
_REQUIRED = late_pattern(  # "question is required", "missing field 'question'"
    r"\b(?P<a>[A-Za-z_]\w*)\b[\"'`]? (?:is|must be|field is)(?: a)? (?:required|missing|given)"
    r"|(?:missing|requires?)(?: an?| the)?(?: required)?(?: field| key| parameter| property)?:?"
    r" [\"'`]?\b(?P<b>[A-Za-z_]\w*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What the agent did. `options`: of `agent` in gate.yml, with what was found out. `said`: its
    answer, empty where it gave none; `why`: the reason then, and `repair` what to do about it.
    `has_steps`, `has_documents`, `has_texts`: whether it reports tool calls, what it retrieved, and
    the texts of that; None: unknown.
    """

    options: Mapping[str, Json]
    said: str = ""
    took: str = ""
    why: str = ""
    repair: str = ""
    has_steps: bool | None = None
    has_documents: bool | None = None
    has_texts: bool | None = None


def probe(
    spec: PluginSpec, root: Path, env: Mapping[str, str], question: Json = QUESTION
) -> Probed:
    """Asks one question; nothing is raised for an agent that cannot be asked."""
    world, start = World(env=env, root=root), time.perf_counter()
    case = Case(id="probe", input=question, keys={"id": "probe", "input": question})
    options, is_http = spec.options, spec.name == "http"
    try:
        if is_http:
            options, response = _probe_http(spec, world, case)
        else:
            response = _ask(spec, world, case)
    except (AgentFailure, InfraFailure, GateError) as error:
        # Of an endpoint of any make nobody knows what it reports; a protocol may report it all.
        seen = False if is_http else None
        return Probed(
            options=options,
            why=str(error),
            repair=_choose_repair(spec.options, env, error),
            has_steps=seen,
            has_documents=seen,
            has_texts=seen,
        )
    return Probed(
        options=options,
        said=response.answer or "(an empty answer)",
        took=value((time.perf_counter() - start) * 1e3, "ms"),
        has_steps=response.steps is not None,
        has_documents=response.retrieved is not None,
        has_texts=_has_texts(response),
    )


def _choose_repair(options: Mapping[str, Json], env: Mapping[str, str], error: Exception) -> str:
    key, address = options.get("api_key_env"), options.get("url") or options.get("base_url")
    if key and not env.get(str(key), "").strip():
        return f"set {key} to the agent's key"
    if address and isinstance(error, InfraFailure):
        return f"start the agent at {format_address(str(address))}, or correct `agent` in gate.yml"
    return "correct the agent, or `agent` in gate.yml"


def find_models(address: str, key: str | None, env: Mapping[str, str]) -> tuple[str, ...]:
    """The models that an agent with OpenAI's protocol offers; none where it does not tell."""
    world = World(env=env, root=Path())
    session = HttpSession(env)
    try:
        url = join_endpoint(_ENDPOINT.sub("", address), "/models")
        reply = session.request("GET", url, headers=bearer(world, key), timeout_s=MODELS_S)
        listed = answer.parse(reply.body)
    except (AgentFailure, InfraFailure, GateError, ValueError):
        return ()
    finally:
        session.close()
    models = listed.get("data") if isinstance(listed, dict) else None
    ids = [one.get("id") for one in models or () if isinstance(one, dict)]
    return tuple(one for one in ids if isinstance(one, str) and one)


def _ask(spec: PluginSpec, world: World, case: Case) -> Response:
    agent = build(AGENTS, spec, world.root)
    agent.check(world)
    connection = agent.connect(world)
    try:
        return connection.ask(case, timeout_s=TIMEOUT_S)
    finally:
        connection.close()


def _has_texts(response: Response) -> bool | None:
    """None where it retrieved nothing this time."""
    if response.context:
        return True
    listed = response.retrieved
    return None if listed == () else any(one.text for one in listed or ())


@dataclass(slots=True)
class _Kept:
    """The body of the last reply."""

    body: bytes = b""

    def take(self, reply: HttpReply) -> Response:
        self.body = reply.body
        return Response(answer=reply.body.decode("utf-8", "replace"))


def _probe_http(spec: PluginSpec, world: World, case: Case) -> tuple[Mapping[str, Json], Response]:
    """The first usual form of a body that is answered, and where the answer stands in the reply; a
    name that a refusal tells is tried next. Raises AgentFailure, InfraFailure of the first try.
    """
    first = cast("HttpAgent", build(AGENTS, spec, world.root))
    first.check(world)
    refused: AgentFailure | None = None
    names, tried = [*ASKED_AS], set[str]()
    while names and len(tried) < len(ASKED_AS) + _MOST_NAMED:
        name = names.pop(0)
        tried.add(name)
        agent, kept = replace(first, body={name: "{{input}}"}), _Kept()
        connection = Exchange(agent, world, kept.take)
        try:
            response = connection.ask(case, timeout_s=TIMEOUT_S)
        except AgentFailure as failure:
            refused = refused or failure
            if failure.timed_out:
                break
            told = [one for one in _find_fields(failure.done) if one not in tried]
            names = [*told, *(one for one in names if one not in told)]
            continue
        finally:
            connection.close()
        options: dict[str, Json] = {**spec.options, "body": {name: "{{input}}"}}
        return _read(options, response, kept.body)
    raise refused or AgentFailure("no answer")


def _find_fields(body: object) -> list[str]:
    """The names of fields that a refusal asks for: as FastAPI lists them, or in its words."""
    if not isinstance(body, bytes):
        return []
    try:
        data = answer.parse(body)
    except ValueError:
        data = None
    found = [leaf for path, leaf in _leaves(data) if re.search(r"(?:^|\.)loc\Z", path)]
    fields = [str(loc[-1]) for loc in found if isinstance(loc, list) and len(loc) > 1]
    words = _REQUIRED.finditer(body[:_MOST_BODY].decode("utf-8", "replace").replace('\\"', '"'))
    fields += [match["a"] or match["b"] for match in words]
    return list(dict.fromkeys(one for one in fields if one.isidentifier()))


def _read(
    options: dict[str, Json], response: Response, body: bytes
) -> tuple[Mapping[str, Json], Response]:
    """With the paths in the reply, if it is JSON; plain text is the answer as it is."""
    try:
        data = answer.parse(body)
    except ValueError:
        return options, response
    found = dict(_leaves(data))
    said = _pick(found, ANSWERED_AS, str)
    if said is None:
        return options, response
    documents = _pick(found, RETRIEVED_AS, list)
    paths = {"answer": said, **({"retrieved": documents} if documents else {})}
    retrieved = _documents(found[documents]) if documents else None
    read = Response(answer=str(found[said]), retrieved=retrieved)
    return {**options, "response": paths}, read


def _documents(listed: Json) -> tuple[Document, ...]:
    """As far as is needed to see whether they have texts."""
    objects = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return tuple(Document(id="", text=str(one.get("text") or "")) for one in objects)


def _pick(found: Mapping[str, Json], names: tuple[str, ...], kind: type) -> str | None:
    """The path whose last key is the most usual one; of equals the shortest."""
    fits = [path for path, leaf in found.items() if isinstance(leaf, kind)]
    ranked = [
        (names.index(last), path.count("."), path)
        for path in fits
        if (last := path.rpartition(".")[2]) in names
    ]
    return min(ranked)[2] if ranked else None


def _leaves(data: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    if path.count(".") >= _DEEPEST:
        return
    for key, inner in data.items() if isinstance(data, dict) else ():
        here = f"{path}.{key}" if path else str(key)
        yield here, inner
        yield from _leaves(inner, here)
    if isinstance(data, list) and data:
        yield from _leaves(data[0], f"{path}.0" if path else "0")
