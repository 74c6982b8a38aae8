"""What common models cost by the lists of their providers, each as it stood on a day.

Lists change, and this table changes with a release only: whoever shows a cost that rests on it also
shows `source` and `read_on`. A price in gate.yml goes before it. Left out are models whose price
depends on the length of the prompt or on the time. docs/decisions/0042-list-prices.md says where
the figures come from, and how to renew them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gate.records import Price

_OPENAI = partial(Price, source="developers.openai.com/api/docs/pricing", read_on="2026-08-05")
_ANTHROPIC = partial(
    Price,
    source="platform.claude.com/docs/en/about-claude/models/overview",
    read_on="2026-08-05",
)
_GOOGLE = partial(Price, source="ai.google.dev/gemini-api/docs/pricing", read_on="2026-08-05")

LIST_PRICES: Mapping[str, Price] = {
    "gpt-4.1": _OPENAI(input=2.0, cached_input=0.5, output=8.0),
    "gpt-4.1-mini": _OPENAI(input=0.4, cached_input=0.1, output=1.6),
    "gpt-4.1-nano": _OPENAI(input=0.1, cached_input=0.025, output=0.4),
    "gpt-4o": _OPENAI(input=2.5, cached_input=1.25, output=10.0),
    "gpt-4o-mini": _OPENAI(input=0.15, cached_input=0.075, output=0.6),
    "gpt-5": _OPENAI(input=1.25, cached_input=0.125, output=10.0),
    "gpt-5-mini": _OPENAI(input=0.25, cached_input=0.025, output=2.0),
    "gpt-5-nano": _OPENAI(input=0.05, cached_input=0.005, output=0.4),
    "gpt-5.1": _OPENAI(input=1.25, cached_input=0.125, output=10.0),
    "gpt-5.2": _OPENAI(input=1.75, cached_input=0.175, output=14.0),
    "gpt-5.4-mini": _OPENAI(input=0.75, cached_input=0.075, output=4.5),
    "o4-mini": _OPENAI(input=1.1, cached_input=0.275, output=4.4),
    "claude-haiku-4-5": _ANTHROPIC(input=1.0, cached_input=0.1, output=5.0),
    "claude-opus-4-8": _ANTHROPIC(input=5.0, cached_input=0.5, output=25.0),
    "claude-opus-5": _ANTHROPIC(input=5.0, cached_input=0.5, output=25.0),
    "claude-sonnet-4-6": _ANTHROPIC(input=3.0, cached_input=0.3, output=15.0),
    "claude-sonnet-5": Price(
        input=2.0,
        cached_input=0.2,
        output=10.0,
        source="platform.claude.com/docs/en/about-claude/pricing",
        read_on="2026-09-07",
    ),
    "gemini-2.5-flash": _GOOGLE(input=0.3, output=2.5),
    "gemini-2.5-flash-lite": _GOOGLE(input=0.1, output=0.4),
    "gemini-3.5-flash": _GOOGLE(input=1.5, output=9.0),
}
