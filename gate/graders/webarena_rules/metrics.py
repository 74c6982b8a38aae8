"""The metrics of WebArena's tasks, live and imported."""

from __future__ import annotations

from collections.abc import Iterable

from gate.records import MetricSpec

SUCCESS, NOT_EVALUABLE = "webarena.success_rate", "webarena.not_evaluable_rate"


def specs(sites: Iterable[str] = ()) -> tuple[MetricSpec, ...]:
    """Both metrics, and the success rate of each site."""
    done = "share of the tasks that are done, by the benchmark's own rules"
    return (
        _rate(SUCCESS, done),
        MetricSpec(
            name=NOT_EVALUABLE,
            column=NOT_EVALUABLE,
            family="rate",
            unit="share",
            direction="lower",
            description="share of the tasks that count as failed since too little was recorded",
        ),
        *(_rate(of_site(site), f"{done}, of those on {site}") for site in sites),
    )


def of_site(site: str) -> str:
    return f"{SUCCESS}[{site}]"


def _rate(name: str, about: str) -> MetricSpec:
    return MetricSpec(name=name, column=name, family="rate", unit="share", description=about)
