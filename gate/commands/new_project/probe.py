"""One question to the agent that gate.yml is to name: does it answer, and what does it report? An
HTTP endpoint of any make is asked in the usual forms until it answers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from gate.agents.http_client.reply import HttpReply
from gate.agents.protocols.http import Exchange, HttpAgent
from gate.agents.wire import answer
from gate.errors import AgentFailure, GateError, InfraFailure
from gate.plugins import AGENTS, World, build
from gate.records import Case, Document, Json, PluginSpec, Response
from gate.text.figures import value

QUESTION = "What can you help me with?"
TIMEOUT_S = 60.0
# How bodies call the question, and replies the answer and the documents; the usual names first.
ASKED_AS = ("input", "question", "query", "prompt", "message", "text")
ANSWERED_AS = ("answer", "output", "response", "reply", "text", "message", "content", "result")
RETRIEVED_AS = ("retrieved", "documents", "sources", "contexts", "chunks", "citations")
_DEEPEST = 4  # keys and positions in a path


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What the agent did. `options`: of `agent` in gate.yml, with what was found out. `said`: its
    answer, empty where it gave none; `why`: the reason then. `has_steps`, `has_documents`,
    `has_texts`: whether it reports tool calls, what it retrieved, and the texts of that; None:
    unknown.
    """

    options: Mapping[str, Json]
    said: str = ""
    took: str = ""
    why: str = ""
    has_steps: bool | None = None
    has_documents: bool | None = None
    has_texts: bool | None = None


def probe(spec: PluginSpec, root: Path, env: Mapping[str, str]) -> Probed:
    """Asks one question; nothing is raised for an agent that cannot be asked."""
    world, start = World(env=env, root=root), time.perf_counter()
    options = spec.options
    try:
        if spec.name == "http":
            options, response = _probe_http(spec, world)
        else:
            response = _ask(spec, world)
    except (AgentFailure, InfraFailure, GateError) as error:
        return Probed(options=options, why=str(error))
    return Probed(
        options=options,
        said=response.answer or "(an empty answer)",
        took=value((time.perf_counter() - start) * 1e3, "ms"),
        has_steps=response.steps is not None,
        has_documents=response.retrieved is not None,
        has_texts=_has_texts(response),
    )


def _ask(spec: PluginSpec, world: World) -> Response:
    agent = build(AGENTS, spec, world.root)
    agent.check(world)
    connection = agent.connect(world)
    try:
        return connection.ask(_CASE, timeout_s=TIMEOUT_S)
    finally:
        connection.close()


_CASE = Case(id="probe", input=QUESTION, keys={"id": "probe", "input": QUESTION})


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


def _probe_http(spec: PluginSpec, world: World) -> tuple[Mapping[str, Json], Response]:
    """The first usual form of a body that is answered, and where the answer stands in the reply.
    Raises AgentFailure, InfraFailure of the last try.
    """
    first = cast("HttpAgent", build(AGENTS, spec, world.root))
    first.check(world)
    refused: AgentFailure | None = None
    for name in ASKED_AS:
        agent, kept = replace(first, body={name: "{{input}}"}), _Kept()
        connection = Exchange(agent, world, kept.take)
        try:
            response = connection.ask(_CASE, timeout_s=TIMEOUT_S)
        except AgentFailure as failure:
            refused = refused or failure
            continue
        finally:
            connection.close()
        options: dict[str, Json] = {**spec.options, "body": {name: "{{input}}"}}
        return _read(options, response, kept.body)
    raise refused or AgentFailure("no answer")


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
