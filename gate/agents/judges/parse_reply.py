"""What a model wrote, made into the data that were asked for; never guessed, never clamped."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping

from gate.agents.wire import answer
from gate.files.json_schema import mismatches
from gate.files.json_values import as_object
from gate.files.yaml import format_path
from gate.records import Json, Question
from gate.text.shortening import shorten

MOST_FAULTS = 8  # that are told; the rest are counted
_FAULT_LIMIT = 200  # characters
MOST_CHARACTERS = 200_000  # of a reply; a judgement with all its reasons has a few thousand


class Unfit(Exception):
    """A reply that is not what was asked for; `faults` say why, each in a few words."""

    def __init__(self, *faults: str) -> None:
        more = len(faults) - MOST_FAULTS
        shown_faults = [shorten(fault, _FAULT_LIMIT) for fault in faults[:MOST_FAULTS]]
        self.faults = (*shown_faults, *([f"{more} more"] if more > 0 else []))
        super().__init__("; ".join(self.faults))


def parse_reply(text: str, question: Question) -> Mapping[str, Json]:
    """The one JSON object in `text`, which may stand in a code fence or between words. Raises Unfit
    unless it fits the question's schema and holds its canary.
    """
    data = _object(text)
    faults = faults_of(data, question)
    if faults:
        raise Unfit(*faults)
    return data


def faults_of(data: Mapping[str, Json], question: Question) -> list[str]:
    """What is wrong with a judgement; empty when it fits. The right canary is not told."""
    mismatched = mismatches(dict(question.schema), data)
    if question.canary:  # a message about it could tell it
        mismatched = [one for one in mismatched if one.path != ("canary",)]
    faults = [
        f"{format_path(one.path)}: {one.message}" if one.path else one.message for one in mismatched
    ]
    if question.canary and data.get("canary") != question.canary:
        faults.append("canary: not the one that the instructions give")
    return list(dict.fromkeys(faults))


def _object(text: str) -> dict[str, Json]:
    """Braces beside the object could be a second one, so there must be none. What some servers
    leave of a model's thinking is no part of the reply.
    """
    reply_text = _without_thinking(text)
    if len(reply_text) > MOST_CHARACTERS:
        raise Unfit(f"it has {len(reply_text):,} characters, more than {MOST_CHARACTERS:,}")
    start = reply_text.find("{")
    if start < 0:
        raise Unfit("there is no JSON object" if reply_text.strip() else "it is empty")
    try:
        _, end = _STRICT.raw_decode(reply_text, start)
        data = answer.parse(reply_text[start:end].encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise Unfit(f"it is not JSON: {_why(error)}") from None
    if re.search(r"[{}]", reply_text[:start] + reply_text[end:]):
        raise Unfit("there is more than one JSON object")
    if reply_text[:start].rstrip().endswith("["):
        raise Unfit("it is a list, not an object")
    return as_object(data)


def _without_thinking(text: str) -> str:
    """By hand: a regular expression looks for the end again from each of many beginnings."""
    stripped = text.strip()
    if not stripped.startswith("<think>"):
        return stripped
    _, ended, rest = stripped.partition("</think>")
    return rest if ended else stripped


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return str(error) or type(error).__name__


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """A key that is there twice leaves open which value is meant."""
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise ValueError(f"the key '{shorten(twice, 40)}' is there twice")
    return members


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is no number of JSON")


_STRICT = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)
