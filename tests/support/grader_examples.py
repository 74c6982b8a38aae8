"""The examples of docs/graders.md and of tests/data, and the metrics of all graders."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from gate.analysis.catalogue import OF_JUDGES, trial_metrics
from gate.graders.retrieval import Retrieval
from gate.records import MetricSpec, PluginSpec
from gate.run.grade import make_graders
from tests.support.paths import DATA, ROOT

TEXT = (ROOT / "docs" / "graders.md").read_text(encoding="utf-8")
MORE = (DATA / "more_grader_examples.yaml").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(grader:.*?)```", TEXT, re.DOTALL)
EXAMPLES: list[Any] = [*map(yaml.safe_load, BLOCKS), *yaml.safe_load_all(MORE)]


def spec(written: Any) -> PluginSpec:
    """A grader as gate.yml names it, with options or without."""
    if isinstance(written, str):
        return PluginSpec(name=written)
    ((name, options),) = written.items()
    return PluginSpec(name=name, options=options)


def generic(name: str) -> str:
    """`recall@5` is `recall@k`."""
    return re.sub(r"([@^])\d+", r"\1k", name)


@cache  # one of the examples is code of a user, which a process of its own loads
def all_metrics() -> dict[str, MetricSpec]:
    """By their generic names."""
    graders = make_graders([spec(example["grader"]) for example in EXAMPLES], Path())
    with_options = (*graders.values(), Retrieval(mrr_k=(10,)))
    made = [metric for grader in with_options for metric in grader.metrics()]
    return {generic(metric.name): metric for metric in (*trial_metrics(10), *OF_JUDGES, *made)}
