"""`gate compare BASELINE CURRENT`: the same decision offline; no agent is called."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from gate.announce import verdict_text
from gate.archive import SURROGATES, new_session_id
from gate.conclude import Measured, Setting, conclude
from gate.errors import UsageError
from gate.lookup import Compared
from gate.publish import write_reports
from gate.records import BaselineInfo, Config, GateRule, Report, ReportOptions
from gate.rules import own_config
from gate.stored import Stored, StoredSuite, load


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Exit code of the verdict; raises UsageError for what cannot be read."""
    now = datetime.now(UTC)
    before, after = (load(Path(path), now) for path in (options.baseline, options.current))
    root = Path(options.config).parent if options.config else Path()
    config = own_config(options.config, root, env, now.date())
    report = compare(before, after, config, now)
    if options.out:
        _write(Path(options.out), report, after)
    print(verdict_text(report, after.rows, options, env))
    return report.exit_code


def compare(before: Stored, after: Stored, config: Config, now: datetime) -> Report:
    """The verdict on `after` against `before`, by the rules of `config`."""
    if not before.suites.keys() & after.suites.keys():
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
        notes=tuple(
            f"{after.name} has no suite '{s}'" for s in before.suites.keys() - after.suites.keys()
        ),
    )
    measured = [
        _measured(name, suite, before.suites.get(name), _gates(config, name))
        for name, suite in after.suites.items()
    ]
    return conclude(measured, config, setting, after.rows_of)


def _measured(
    name: str, suite: StoredSuite, baseline: StoredSuite | None, gates: tuple[GateRule, ...]
) -> Measured:
    nothing = Compared(table=None, info=BaselineInfo(source="none", detail=f"no suite '{name}'"))
    return Measured(
        name=name,
        meta=suite.meta,
        table=suite.table,
        tally=suite.tally,
        baseline=Compared(table=baseline.table, info=baseline.info) if baseline else nothing,
        gates=gates,
    )


def _gates(config: Config, name: str) -> tuple[GateRule, ...]:
    return next((suite.gates for suite in config.suites if suite.name == name), ())


def _write(folder: Path, report: Report, after: Stored) -> None:
    def write(name: str, text: str) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", SURROGATES))

    write_reports(write, report, after.rows, ReportOptions())
