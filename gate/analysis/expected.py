"""What a dataset expects of a case: the keys that rows carry, and one short text for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping

from gate.plugins import Grader
from gate.records import Case, Json, Trial, TrialRow

LIMIT = 4_000  # characters of all that a row carries of it, and of a stored answer
ANSWERS = ("expected_answer", "expected", "expected_answers", "reference_answer")
_NOTHING: tuple[Json, ...] = (None, "", [], {})
# What a case gives the agent, or says of itself: no expectation, whoever reads it.
_GIVEN = frozenset(
    (
        *("input", "metadata", "context", "tools", "intent", "task_id", "sites", "start_url"),
        *("require_login", "storage_state", "geolocation", "intent_template", "string_note"),
        *("intent_template_id", "instantiation_dict", "require_reset"),
    )
)


def list_expected_keys(graders: Mapping[str, Grader]) -> frozenset[str]:
    """The case keys by which the graders of a suite judge."""
    read = {name for grader in graders.values() for name in getattr(grader, "keys", None) or ()}
    return frozenset(read - _GIVEN)


def expected_of(case: Case, names: Collection[str] | None = None) -> dict[str, Json]:
    """What the dataset expects of the case, by key; of `names`, or of all that may be expectations
    where nobody knows who judged.
    """
    return {
        name: value
        for name, value in case.keys.items()
        if (name not in _GIVEN if names is None else name in names) and value not in _NOTHING
    }


def expected_in_row(trial: Trial, names: Collection[str] | None = None) -> dict[str, Json] | None:
    """What the row of the trial carries of it: all rounds of a case expect the same, so that the
    first one says it.
    """
    return shorten(expected_of(trial.case, names)) if trial.round == 1 else None


def shorten(expected: dict[str, Json]) -> dict[str, Json]:
    """At most about LIMIT characters of it: beyond them, values are the beginning of their text,
    and say so.
    """
    if len(repr(expected)) <= LIMIT:
        return expected
    left, kept = LIMIT, {}
    for name, value in expected.items():
        size = len(repr(value))
        kept[name] = value if size <= left else cut_text(_in_words(value), left)
        left = max(0, left - size)
    return kept


def cut_text(text: str, limit: int = LIMIT) -> str:
    """The text, or its beginning and the number of characters that follow. The sign before that
    number is one behind which a redactor knows the beginning of a secret.
    """
    more = len(text) - limit
    return text if more <= 0 else f"{text[:limit]}… (cut: {more:,} more characters)"


def find_expected(rows: Iterable[TrialRow]) -> Mapping[str, Json]:
    """What was expected of a case, from its rows: one of them carries it. Empty: nothing is known,
    or `report.answers` is off.
    """
    return next((found for row in rows if (found := row.get("expected"))), {})


def describe_expected(expected: Mapping[str, Json]) -> str:
    """One text: answers and facts as they are, calls as `tool(argument=value)`, patterns between
    slashes, anything else with its key; what an answer says already is not said again. Hostile;
    empty where nothing is expected.
    """
    if not expected:
        return ""
    order = {name: place for place, name in enumerate(_SAID)}
    names = sorted(_once(expected), key=lambda name: order.get(name, len(order)))
    answer = "; ".join(_either(expected[name]) for name in names if name in ANSWERS)
    said = [
        _facts_beside(expected[name], answer)
        if name == "expected_facts"
        else _SAID.get(name, _with_name(name))(expected[name])
        for name in names
    ]
    return "; ".join(dict.fromkeys(filter(None, said)))


def _once(expected: Mapping[str, Json]) -> list[str]:
    """The keys, without documents that those with gains name too."""
    ids, gains = expected.get("relevant_doc_ids"), expected.get("relevance_scores")
    doubled = isinstance(gains, dict) and all(one in [*gains] for one in _several(ids))
    return [name for name in expected if not (doubled and name == "relevant_doc_ids")]


def describe_key(name: str, value: Json) -> str:
    """What one key of a case expects, without the key's name. Hostile."""
    return _SAID.get(name, _in_words)(value)


def _facts_beside(value: Json, answer: str) -> str:
    """The facts that the answer does not say in the same words; of patterns none, where it is."""
    told = [one for one in _several(value) if not _is_told(one, answer)] if answer else value
    return _facts(told) if told else ""


def _is_told(fact: Json, answer: str) -> bool:
    if isinstance(fact, dict) and fact.get("must_not"):
        return False
    if isinstance(fact, dict) and fact.get("regex"):
        return True
    words = _several(fact.get("value") if isinstance(fact, dict) else fact)
    plain = answer.casefold().replace(",", "")
    return any(_in_words(one).casefold().replace(",", "") in plain for one in words)


def _with_name(name: str) -> Callable[[Json], str]:
    return lambda value: f"{name.replace('_', ' ')}: {_in_words(value)}"


def _either(value: Json) -> str:
    """Any of a list is right."""
    return " or ".join(map(_in_words, _several(value)))


def _facts(value: Json) -> str:
    facts = [one for one in _several(value) if not _is_optional(one)]
    return ", ".join(_fact(one) for one in facts or _several(value))


def _is_optional(fact: Json) -> bool:
    return isinstance(fact, dict) and fact.get("required") is False


def _fact(fact: Json) -> str:
    if not isinstance(fact, dict) or "value" not in fact:
        return _in_words(fact)
    text = _either(fact["value"])
    if fact.get("regex"):
        text = f"/{text}/"
    if near := fact.get("near"):
        text = f"{text} ({_either(near)})"
    return f"not {text}" if fact.get("must_not") else text


def _calls(value: Json) -> str:
    return ", ".join(map(_call, _several(value)))


def _steps(value: Json) -> str:
    return " → ".join(map(_call, _several(value)))


def _call(call: Json) -> str:
    if not isinstance(call, dict):
        return _in_words(call)
    name = next((call[key] for key in ("name", "tool") if isinstance(call.get(key), str)), None)
    if name is None:
        return _in_words(call)
    arguments = call.get("args") or call.get("arguments") or {}
    if not isinstance(arguments, dict):
        return f"{name}({_in_words(arguments)})"
    several = call.get("any_of")
    given = {key: _in_words(one) for key, one in arguments.items()}
    given |= (
        {key: _either(one) for key, one in several.items()} if isinstance(several, dict) else {}
    )
    return f"{name}({', '.join(f'{key}={text}' for key, text in given.items())})"


def _patterns(value: Json) -> str:
    return ", ".join(f"/{_in_words(one)}/" for one in _several(value))


def _documents(value: Json) -> str:
    return "documents " + ", ".join(map(_in_words, _several(value)))


def _grades(value: Json) -> str:
    """Documents with their gains, the best first."""
    if not isinstance(value, dict):
        return _documents(value)
    gains = {name: gain for name, gain in value.items() if isinstance(gain, (int, float))}
    return _documents([name for name in sorted(gains, key=lambda n: -gains[n]) if gains[name] > 0])


def _web_checks(value: Json) -> str:
    """Of a WebArena task: what the answer has to say, which page has to be open, what is on it."""
    if not isinstance(value, dict):
        return _in_words(value)
    answers, url, pages = (
        value.get(key) for key in ("reference_answers", "reference_url", "program_html")
    )
    said = [_all_of(one) for one in answers.values()] if isinstance(answers, dict) else []
    said += [f"page {_in_words(url)}"] if url else []
    for page in pages if isinstance(pages, list) else []:
        if isinstance(page, dict) and isinstance(contents := page.get("required_contents"), dict):
            where = _in_words(page.get("locator") or page.get("url"))
            said += [f"{where}: {_all_of(one)}" for one in contents.values()]
    return "; ".join(said) or _in_words(value)


def _all_of(value: Json) -> str:
    return " and ".join(map(_in_words, _several(value)))


# Key -> how it is said, in the order of the text.
_SAID: Mapping[str, Callable[[Json], str]] = {
    "expected_answer": _either,
    "expected": _either,
    "expected_answers": _either,
    "reference_answer": _either,
    "expected_facts": _facts,
    "expected_tool_calls": _calls,
    "reference_trajectory": _steps,
    "contains": _facts,
    "patterns": _patterns,
    "fact_patterns": _patterns,
    "expected_answer_regex": _patterns,
    "eval": _web_checks,
    "relevant_doc_ids": _documents,
    "relevance_scores": _grades,
}


def _several(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _in_words(value: Json) -> str:
    """`value: 1120.91, unit: USD` of an object without further ones in it; else JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value and not any(map(_is_nested, value.values())):
        return ", ".join(f"{name}: {_in_words(one)}" for name, one in value.items())
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_nested(value: Json) -> bool:
    return isinstance(value, (dict, list))
