"""What is believed of a stored session, which anybody may have written: its form and its names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

from gate.errors import UsageError
from gate.files.json_schema import mismatches
from gate.files.json_schema_quick import compile_check
from gate.files.session_file import read_json
from gate.records import Json, Report, TrialRow
from gate.records.codec import from_json, parse_json, schema_of
from gate.store.code_marks import put_marks
from gate.text.late_pattern import late_pattern

_NAME = late_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # of a suite: also that of its folder


def check_names(names: Iterable[str], path: Path) -> None:
    """Raises UsageError for a suite that could not be one of gate.yml: it is the name of a folder,
    and must not lead elsewhere.
    """
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{path}: '{name[:80]}' is not a suite name; not a session of gate")


def report_of(text: str) -> Report:
    """The report that a text of ours holds."""
    return put_marks(from_json(Report, parse_json(text)))


def read_report(path: Path, most: int | None = None) -> Report:
    """The report in summary.json; raises UsageError when it is none."""
    data = read_json(path, most)
    check_form(Report, data, path, quick=most is not None)
    report = from_json(Report, data)
    check_names(report.suites, path)
    for name, suite in report.suites.items():
        if suite.name != name:
            raise UsageError(f"{path}: suites.{name}: has another name; not a session of gate")
    return put_marks(report)


def check_form(record: type, data: Json, path: Path, *, quick: bool = False) -> None:
    """Raises UsageError for what is not the JSON of such a record. `quick` does not say where:
    that takes minutes for a large file made to be wrong everywhere.
    """
    form = schema_of(record)
    if compile_check(form)(data):
        return
    if quick:
        raise UsageError(f"{path}: not in the format of this version")
    if wrong := mismatches(form, data):
        where = "".join(f"{key}." for key in wrong[0].path).removesuffix(".")
        place = f"{path}: {where}" if where else f"{path}"
        raise UsageError(f"{place}: {wrong[0].message}; not a session of this version")


def check_rows(rows: Iterable[TrialRow], suites: Iterable[str], folder: Path) -> Iterator[TrialRow]:
    """The same rows; raises UsageError at one that `gate run` would not have written."""
    from gate.store.trial_row_schema import schema

    form, known_suites = schema(), frozenset(suites)
    fits = compile_check(form)
    for number, row in enumerate(rows, start=1):
        if not fits(row) and (wrong := mismatches(form, cast("Json", row))):
            where = ".".join(map(str, wrong[0].path)) or "row"
            raise UsageError(f"{folder}: trial {number}: {where}: {wrong[0].message}")
        if row["suite"] not in known_suites:
            raise UsageError(
                f"{folder}: trial {number}: no suite '{row['suite'][:80]}' ran in this session"
            )
        yield row
