"""Published results that reports show beside one's own: with year and source, never a gate."""

from __future__ import annotations

from dataclasses import replace

from gate.records import QuotedValue

_SWEBENCH, _WEBARENA = "swebench.resolved_rate", "webarena.success_rate"
_AGENTBENCH = "thudm_agentbench.main"

_NEWS = "github.com/SWE-agent/SWE-agent, news of 24 July"
_BY_CONSTRUCTION = "by definition: people resolved each of these issues"
_WEBARENA_PAPER = "arxiv.org/abs/2307.13854"
_GUIDES = "guides to agent evaluation, after arxiv.org/abs/2308.03688"
_NO_HUMAN = "guides to agent evaluation; the paper has no human figure"


def _quote(metric: str, value: float, of: str, year: int, source: str) -> QuotedValue:
    about = source.startswith("guides")
    return QuotedValue(
        metric=metric, value=value, of=of, year=year, source=source, approximate=about
    )


SWEBENCH_VERIFIED = (
    _quote(_SWEBENCH, 0.65, "mini-SWE-agent", 2025, _NEWS),
    _quote(_SWEBENCH, 1.0, "human", 2023, _BY_CONSTRUCTION),
)
WEBARENA = (
    _quote(_WEBARENA, 0.144, "GPT-4, 812 tasks", 2023, _WEBARENA_PAPER),
    _quote(_WEBARENA, 0.782, "human", 2023, _WEBARENA_PAPER),
)
_THUDM_AGENTBENCH = (
    _quote(_AGENTBENCH, 0.5, "GPT-4", 2023, _GUIDES),
    _quote(_AGENTBENCH, 0.9, "human", 2023, _NO_HUMAN),
)


def thudm_agentbench(here: int, of: int) -> tuple[QuotedValue, ...]:
    """Means over all `of` environments; where `here` are fewer the quotation says so."""
    if here == of:
        return _THUDM_AGENTBENCH
    about = f"mean of all {of} environments, of which {here} are here"
    return tuple(replace(one, of=f"{one.of}, {about}") for one in _THUDM_AGENTBENCH)
