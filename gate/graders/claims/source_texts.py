"""The texts that an answer may draw on: what the case gives, what the agent says that it saw."""

from __future__ import annotations

from collections.abc import Iterator

from gate.graders.claims.json_texts import describe_json
from gate.records import Case, Response

_TOTAL = 1_000_000  # characters of all texts that are read


def context_of(case: Case, response: Response) -> tuple[str, ...] | None:
    """The case's `context`, the agent's, the texts it retrieved and what its tools returned, each
    once. None: neither case nor agent tells any.
    """
    if not _has_sources(case, response):
        return None
    kept: list[str] = []
    room = _TOTAL
    for text in _texts(case, response):
        if room > 0 and not any(text in other for other in kept):
            kept.append(text[:room])
            room -= len(text)
    return tuple(kept)


def _has_sources(case: Case, response: Response) -> bool:
    """An agent that says it retrieved nothing has told; but a `context` of null means that the case
    gives no reason to look.
    """
    documents = response.retrieved
    nothing_found = documents == () and "context" not in case.keys
    return (
        nothing_found
        or case.keys.get("context") is not None
        or response.context is not None
        or any(one.text for one in documents or ())
        or any(step.result is not None for step in response.steps or ())
    )


def _texts(case: Case, response: Response) -> Iterator[str]:
    own = case.keys.get("context")
    yield from (text for text in (own if isinstance(own, list) else [own]) if text)
    if response.context:
        yield response.context
    yield from (one.text for one in response.retrieved or () if one.text)
    for step in response.steps or ():
        text = step.result if isinstance(step.result, str) else describe_json(step.result)
        if text.strip():
            yield text
