"""Which metrics the suites can measure, and where the reasons of a row explain them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from pathlib import Path

from gate.analysis.catalogue import collect_k, every_metric
from gate.plugins import Grader, GraderTraits, read_traits
from gate.records import Config, MetricSpec, Suite, ToldBy
from gate.run.grade import make_graders
from gate.suites.config.load import list_written_suites


def map_reasons(graders: Mapping[str, Grader]) -> dict[str, ToldBy]:
    """Column -> where the reasons of a row explain it."""
    return {
        spec.column: ToldBy(grader=name, about=abouts.get(spec.column, ""))
        for name, grader in graders.items()
        for abouts in [read_traits(GraderTraits, grader).abouts]
        for spec in grader.metrics()
    }


def specs_of(
    graders: Mapping[str, Grader], rounds: int, cutoffs: frozenset[int] = frozenset()
) -> dict[str, MetricSpec]:
    """Every metric that can be measured, of the trials and of each grader. `cutoffs`: the k of
    `collect_k`.
    """
    return every_metric((grader.metrics() for grader in graders.values()), rounds, cutoffs)


def metrics_of(suites: Iterable[Suite], config: Config, root: Path) -> frozenset[str]:
    """Every metric that at least one of the suites can measure."""
    cutoffs = collect_k(config)
    return frozenset(
        name
        for suite in suites
        for name in specs_of(make_graders(suite.graders, root), suite.rounds, cutoffs)
    )


def list_metrics_elsewhere(config: Config, imported: Container[str], root: Path) -> frozenset[str]:
    """Metrics that only suites of gate.yml can measure that are not `imported`; a gate on them is
    not about the import. Bundled suites, which are used if gate.yml names none, do not count.
    """
    mine = [suite for suite in list_written_suites(config) if suite.name in imported]
    others = [suite for suite in list_written_suites(config) if suite.name not in imported]
    return metrics_of(others, config, root) - metrics_of(mine, config, root)
