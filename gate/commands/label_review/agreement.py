"""Checks the labels for a judge against the present gate.yml and its datasets."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from gate.errors import UsageError
from gate.files.plain_file import is_there, open_plain
from gate.files.rows import DatasetSource
from gate.records.labels import Checked
from gate.run.judge_labels import LabelReview, file_of, judged_suite_of, least_of, review_labels
from gate.run.prepare import Selection, prepare
from gate.suites.protection.rules import Rules, load_own_config


def examine(
    config_file: str | None, labels_file: str | None, env: Mapping[str, str], today: date
) -> Checked:
    """The checked labels. `labels_file` replaces the one that gate.yml names. Raises UsageError or
    InvalidInput if a file cannot be read or no suite asks a judge.
    """
    root = Path(config_file).parent if config_file else Path()
    config = load_own_config(config_file, root, env, today)
    rules = Rules(config=config, own=config, root=root)
    plans = prepare(config.suites, rules, Selection())
    suites = {plan.name: judged_suite_of(plan) for plan in plans}
    if not any(suite.opinions for suite in suites.values()):
        raise UsageError(
            f"{config_file or 'gate.yml'}: no suite has a grader that uses a judge, so "
            "there is nothing to compare people with; add the grader `judge` to a suite"
        )
    path = Path(labels_file) if labels_file else root / file_of(config.judge)
    if not is_there(path):
        raise UsageError(
            f"{path}: no such file; `gate review sample` selects answers to rate, and `gate review "
            "import` writes the labels"
        )
    source = DatasetSource(name=str(path), open=lambda: open_plain(path))
    least = least_of(config.judge)
    return _summarise(str(path), least, review_labels(lambda: source, suites, least))


def _summarise(file: str, least: float | None, review: LabelReview) -> Checked:
    return Checked(
        file=file,
        least=least,
        agreements=review.agreements,
        advisory=review.advisory,
        notes=(*map(str, review.found.renamed), *review.warnings),
        wrong=tuple(map(str, sorted(review.found.wrong))),
        stale=tuple(map(str, sorted(review.found.stale))),
    )
