"""Published results that reports show beside one's own: with year and source, never a gate."""

from __future__ import annotations

from dataclasses import replace

from gate.records import QuotedValue

_SWEBENCH, _WEBARENA = "swebench.resolved_rate", "webarena.success_rate"
_AGENTBENCH = "thudm_agentbench.main"

SWEBENCH_VERIFIED = (
    QuotedValue(
        metric=_SWEBENCH,
        value=0.65,
        of="mini-SWE-agent",
        year=2025,
        source="github.com/SWE-agent/SWE-agent, news of 24 July",
    ),
    QuotedValue(
        metric=_SWEBENCH,
        value=1.0,
        of="human",
        year=2023,
        source="by construction: each task is an issue that people resolved",
    ),
)
WEBARENA = (
    QuotedValue(
        metric=_WEBARENA,
        value=0.144,
        of="GPT-4, 812 tasks",
        year=2023,
        source="arxiv.org/abs/2307.13854",
    ),
    QuotedValue(
        metric=_WEBARENA, value=0.782, of="human", year=2023, source="arxiv.org/abs/2307.13854"
    ),
)
_THUDM_AGENTBENCH = (
    QuotedValue(
        metric=_AGENTBENCH,
        value=0.5,
        of="GPT-4",
        year=2023,
        source="guides to agent evaluation, after arxiv.org/abs/2308.03688",
        approximate=True,
    ),
    QuotedValue(
        metric=_AGENTBENCH,
        value=0.9,
        of="human",
        year=2023,
        source="guides to agent evaluation; the paper has no human figure",
        approximate=True,
    ),
)


def thudm_agentbench(here: int, of: int) -> tuple[QuotedValue, ...]:
    """Means over all `of` environments; where `here` are fewer the quotation says so."""
    if here == of:
        return _THUDM_AGENTBENCH
    about = f"all {of} environments, {here} here"
    return tuple(replace(one, of=f"{one.of}, {about}") for one in _THUDM_AGENTBENCH)
