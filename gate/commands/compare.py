"""`gate compare BASELINE CURRENT`: the decision of `gate run` for two stored results; no agent is
asked.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from gate.commands.options.records import find_stored, output_options, own_config
from gate.errors import UsageError
from gate.files.locked_update import write_whole
from gate.files.plain_file import check_folder
from gate.records import BaselineInfo, Config, Report, ReportOptions
from gate.records.baseline import AnswersOf, StoredAnswer
from gate.report.announce import verdict_text
from gate.report.write_all import write_reports
from gate.run.grade import make_graders
from gate.run.judge_labels import LabelReview, file_of, least_of, list_deciders, review_labels
from gate.run.suite_metrics import list_metrics_elsewhere, metrics_of
from gate.store.baseline.answers import choose_answers
from gate.store.baseline.find import Compared, differences
from gate.store.event_log import SURROGATES
from gate.store.measurements import Stored, StoredSuite, load
from gate.store.session import new_session_id
from gate.suites.config.overrides import for_release
from gate.suites.protection.rules import Rules
from gate.verdict.conclude import conclude
from gate.verdict.suite_data import Setting, SuiteData


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints the report and returns the exit code of its verdict. Raises UsageError if an input
    cannot be read.
    """
    now = datetime.now(UTC)
    paths = (find_stored(options.baseline), find_stored(options.current))
    before, after = (load(path, now, options.max_mb) for path in paths)
    config, root = own_config(options, env)
    if after.provenance.mode == "release":
        config = for_release(config)
    report = compare(before, after, config, now, root)
    page = "report.html, which --out DIR writes"
    if options.out:
        _write(Path(options.out), report, after)
        page = str(Path(options.out) / "report.html")
    print(verdict_text(report, after.rows, output_options(options), env, page=page))
    return report.exit_code


def compare(
    before: Stored | None, after: Stored, config: Config, now: datetime, root: Path
) -> Report:
    """The report on `after` compared with `before`, by the rules of `config`, a file in `root`;
    without a file no limit of gate.yml applies.
    """
    earlier = before.suites if before else {}
    if before and not earlier.keys() & after.suites.keys():
        raise UsageError(
            f"{before.name} has {', '.join(before.suites)} and {after.name} has "
            f"{', '.join(after.suites)}: no suite in common"
        )
    setting = Setting(
        session_id=new_session_id(now),
        created_at=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        duration_s=0.0,
        mode=after.provenance.mode,
        provenance=after.provenance,
        notes=(
            *config.warnings,
            *(f"{after.name} has no suite '{s}'" for s in earlier if s not in after.suites),
        ),
        shows_answers=config.report.answers,
        elsewhere=_list_metrics_elsewhere(after, config, root),
    )
    people = _read_labels(after, config, root)
    setting = replace(setting, notes=(*setting.notes, *people.notes))
    imported = after.provenance.event == "import"
    measured = [
        replace(
            _measure(name, suite, earlier.get(name)),
            gates=rules.gates if rules else (),
            floor=not imported and (rules.floor if rules else True),
            labels=people.labels.get(name, {}),
            people=people.people.get(name, ()),
            advisory=people.advisory.get(name, {}),
        )
        for name, suite in after.suites.items()
        for rules in [config.find_suite(name)]
    ]
    return conclude(measured, config, setting, after.rows_of, _answers_of(before, after))


def _answers_of(before: Stored | None, after: Stored) -> AnswersOf:
    """What the earlier session answered to cases that are as they were; a baseline file holds no
    answers.
    """

    def find(suite: str, case_ids: frozenset[str]) -> dict[str, StoredAnswer]:
        table = after.suites[suite].table
        digests = dict(zip(table.cases, table.digests, strict=True))
        rows = before.rows_of(suite, case_ids) if before else iter(())
        return {
            one.case_id: one
            for one in choose_answers(rows)
            if digests.get(one.case_id) == one.case_digest
        }

    return find


def _list_metrics_elsewhere(after: Stored, config: Config, root: Path) -> frozenset[str]:
    if after.provenance.event == "import":
        return list_metrics_elsewhere(config, after.suites, root)
    return metrics_of([s for s in config.suites if s.name not in after.suites], config, root)


def _read_labels(after: Stored, config: Config, root: Path) -> LabelReview:
    """What the labels beside gate.yml say of the stored answers' judges."""
    rules = Rules(config=config, own=config, root=root)
    graders = {suite.name: make_graders(suite.graders, root) for suite in config.suites}
    suites = {
        name: list_deciders(graders.get(name, {}).values(), suite.meta.specs, suite.meta.graders)
        for name, suite in after.suites.items()
    }
    file = file_of(config.judge)
    find = partial(rules.judging_file, file)
    left_out = frozenset(suite.name for suite in config.suites) - suites.keys()
    return review_labels(find, suites, least_of(config.judge), there=True, left_out=left_out)


def _measure(name: str, suite: StoredSuite, baseline: StoredSuite | None) -> SuiteData:
    case_ids, meta = frozenset(suite.table.cases), suite.meta
    spared = len(case_ids) < meta.cases and not suite.not_run
    partial = meta.not_selected or spared
    lacking = frozenset(baseline.table.cases) - case_ids if baseline else frozenset()
    # As many cases as the run lost to a budget may be those: none of them was removed.
    unasked = suite.not_run > 0 and len(lacking) <= meta.cases - len(case_ids)
    return SuiteData(
        name=name,
        meta=meta,
        current=suite.table,
        tally=suite.tally,
        compared=_pair_with_baseline(baseline, suite, name),
        not_run=max(0, suite.not_run),
        stopped_by=suite.ended if suite.not_run > 0 else "",
        unasked_cases=lacking if unasked else frozenset(),
        not_asked=lacking if partial else frozenset(),
        ended=suite.ended,
    )


def _pair_with_baseline(baseline: StoredSuite | None, suite: StoredSuite, name: str) -> Compared:
    if baseline is None:
        info = BaselineInfo(source="none", detail=f"no suite '{name}'")
        return Compared(info=info)
    differ = differences(baseline.facts, suite.facts)
    info = replace(baseline.info, fingerprint_diff=differ)
    return Compared(table=baseline.table, info=info, drift=baseline.drift, runs=baseline.runs)


def _write(folder: Path, report: Report, after: Stored) -> None:
    check_folder(folder, "--out")

    def write(name: str, text: str) -> None:
        write_whole(folder / name, text.encode("utf-8", SURROGATES))

    write_reports(write, report, after.rows, ReportOptions())
