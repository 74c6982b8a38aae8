"""The right answer of a case, made from its own keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gate.errors import AgentFailure
from gate.graders.rankings.metrics import relevant_of
from gate.graders.state import right_state
from gate.graders.tool_calling.expected import ExpectedCall, read_expected_call
from gate.graders.tool_calling.reference import KEY, read_reference
from gate.records import Case, CheckedJson, Document, Json, Response, ToolCall

ANSWER_KEYS = ("expected_answer", "expected")
_MOST = 10  # right answers of one case that are tried
_MOST_ENTRIES = 2_000  # of a made-up answer's lists, together at one path
_NO_SUCH: Json = "a right value"  # for what a case demands without saying what it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """The right answers of a case. `answers`: each is right; empty if the case does not state one.
    `made_up`: they only have the demanded form. Documents and calls are those that the case names;
    None if it names none.
    """

    answers: tuple[str, ...]
    retrieved: tuple[Document, ...] | None
    steps: tuple[ToolCall, ...] | None
    state: Mapping[str, Json]
    made_up: bool = False

    def response(self, answer: str) -> Response:
        """A response with this answer and the documents and calls of the gold."""
        return Response(answer=answer, retrieved=self.retrieved, steps=self.steps, state=self.state)


def gold_of(case: Case) -> Gold:
    """The right answer in the keys of the case; a demand on form alone is met with made-up
    words.
    """
    keys = case.keys
    answers = tuple(_answers(keys))[:_MOST]
    formed = () if answers else tuple(_make_form(keys))
    return Gold(
        answers=answers or formed,
        made_up=bool(formed),
        retrieved=_documents(keys),
        steps=_steps(keys),
        state=right_state(keys.get("expected_state") or {}),
    )


def _answers(keys: Mapping[str, Json]) -> Iterator[str]:
    written = next((keys[key] for key in ANSWER_KEYS if keys.get(key) not in (None, "", [])), None)
    if written is not None:
        for one in written if isinstance(written, list) else [written]:
            yield one if isinstance(one, str) else json.dumps(one, ensure_ascii=False, default=str)


def _make_form(keys: Mapping[str, Json]) -> Iterator[str]:
    if keys.get("count_rules") or keys.get("stage_requirements"):
        yield json.dumps(_make_stages(keys))
    elif keys.get("output_requirements"):
        yield json.dumps(_make_report(keys))


def _documents(keys: Mapping[str, Json]) -> tuple[Document, ...] | None:
    """The relevant ones, best first."""
    gains = relevant_of(keys)
    best = sorted(gains, key=lambda name: -gains[name])
    return tuple(Document(id=name) for name in best) if gains else None


def _steps(keys: Mapping[str, CheckedJson]) -> tuple[ToolCall, ...] | None:
    """The reference's way, else the expected calls."""
    expected = keys.get("expected_tool_calls")
    if keys.get(KEY):
        try:
            return tuple(map(_call, read_reference(keys[KEY]).wanted))
        except AgentFailure:  # told by the dataset's own check
            return None
    if expected is None:
        return () if "expected_tool_calls" in keys else None
    return tuple(_call(read_expected_call(one)) for one in expected)


def _call(expected: ExpectedCall) -> ToolCall:
    values = {
        name: allowed[0]
        for name, allowed in (expected.allowed or {}).items()
        if allowed and name not in expected.optional
    }
    return ToolCall(name=expected.name, arguments=values)


# ------------------------------------------------------------------------- answers of a set form


def _make_stages(keys: Mapping[str, CheckedJson]) -> CheckedJson:
    """An object with the stages, each with just as many entries as are counted."""
    answer: dict[str, Json] = {
        stage: {"entry": _NO_SUCH}
        for stage in ("collect", "normalize", "summarize")
        if (keys.get("stage_requirements") or {}).get(stage) is not False
    }
    rules = keys.get("count_rules") or {}
    for path in sorted(rules, key=lambda path: path.count(".")):  # lists before what is inside
        rule = rules[path]
        least = rule.get("exact", rule.get("min", min(1, rule.get("max", 1))))
        _put_lists(answer, path.split("."), least)
    return answer


def _put_lists(answer: dict[str, Json], path: list[str], least: int) -> None:
    """Lists of so many entries at the path, one in each entry of the lists on the way."""
    places: list[Json] = [answer]
    for name in path[:-1]:
        inner = [place.setdefault(name, {}) for place in places if isinstance(place, dict)]
        places = [one for value in inner for one in (value if isinstance(value, list) else [value])]
    for one in places:
        if isinstance(one, dict):
            count = min(least, _MOST_ENTRIES // len(places))
            one[path[-1]] = [{"entry": f"{_NO_SUCH} {n}"} for n in range(1, count + 1)]


def _make_report(keys: Mapping[str, CheckedJson]) -> CheckedJson:
    """An object with each demanded field, call, count and path."""
    asked = keys["output_requirements"]
    answer: dict[str, Json] = {}
    for field in asked.get("must_include_fields") or ():
        _put(answer, field.split("."), _NO_SUCH)
    tools = dict.fromkeys(
        (*(asked.get("must_include_tool_calls") or ()), *(keys.get("required_tools") or ()))
    )
    calls = [{"name": name, "arguments": {}, "content": _NO_SUCH} for name in tools]
    more = min(asked.get("min_tool_calls") or 0, _MOST_ENTRIES) - len(calls)
    _put(answer, ["evidence", "tool_calls"], calls + calls[:1] * max(0, more))
    lists = {"min_sources": ["evidence", "sources"], "min_diffs": ["diffs"]}
    lists |= {"min_migration_steps": ["migration_plan"], "min_picked": ["picked"]}
    for name, path in lists.items():
        if least := min(asked.get(name) or 0, _MOST_ENTRIES):
            entries = [
                {"title": f"{_NO_SUCH} {n}", "url": f"https://site{n}.example/page"}
                for n in range(1, least + 1)
            ]
            _put(answer, path, entries)
    if asked.get("expected_path"):
        _put(answer, ["path"], asked["expected_path"])
    return answer


def _put(answer: dict[str, Json], path: list[str], value: Json) -> None:
    *above, last = path
    place = answer
    for name in above:
        inner = place.get(name)
        if not isinstance(inner, dict):
            inner = place[name] = {}
        place = inner
    place[last] = value
