"""Whose run it is, and that all of its files are of the same one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import InvalidInput, Place
from gate.files.json_values import as_string
from gate.files.plain import json_of
from gate.files.problems import Findings
from gate.files.timestamps import iso, moment_of
from gate.importers.formats.swebench.files import ResultFiles
from gate.importers.formats.swebench.instance_reports import NAME
from gate.importers.formats.swebench.predictions import Predictions
from gate.importers.formats.swebench.run_report import is_run_report
from gate.records import Json
from gate.text.escaping import one_line

_LOGS = "run_evaluation"
_MOST = 1 << 20  # bytes of run.json


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """`model` is "" where only the name of the file tells, in which nobody can tell model and run
    id apart.
    """

    model: str
    file: str
    dataset: str = ""  # as run.json names it
    split: str = ""
    created_at: str | None = None


def identity_of(path: Path, found: ResultFiles, sent: Predictions, findings: Findings) -> Identity:
    """A run report is called `<model>.<run id>.json`, the folder of logs `<run id>/<model>`, a `/`
    of the model's name written `__`.
    """
    model, run = _read_log_folders(path, found, findings)
    written = sent.model.replace("/", "__")
    if model and written and model != written:
        names = f"{one_line(model, 80)}, the predictions are by {one_line(written, 80)}"
        findings.add(Place(path.as_posix()), f"the logs are of {names} - import one run at a time")
    reports = [one for one, data in found.mains if is_run_report(data)]
    for one in reports:
        expected = f"{model}.{run}" if run else f"{written}."
        whole = one.stem == expected if run else one.stem.startswith(expected)
        if "." in one.stem and (run or written) and not whole:
            message = f"its name is not that of a report on {one_line(expected.strip('.'), 120)}"
            findings.add(Place(one.as_posix()), f"{message} - of two runs? else rename it")
    told = _read_run_file(found, findings)
    stem = reports[0].stem if reports else path.absolute().name.removesuffix(".json")
    return Identity(
        model=sent.model or model.replace("__", "/"),
        file=one_line(stem, 200),
        dataset=one_line(as_string(told.get("dataset")), 200),
        split=one_line(as_string(told.get("split")), 200),
        created_at=iso(moment_of(told.get("created_at"))) or None,
    )


def _read_log_folders(path: Path, found: ResultFiles, findings: Findings) -> tuple[str, str]:
    """Model and run id by the folders of the instances; "" where these do not say."""
    reported = {one.parent.parent for one in found.reports if one.name == NAME}
    folders = sorted(reported | {one.parent for one in found.unreported})
    if len(folders) > 1:
        names = f"{folders[0]} and {folders[1]}"
        findings.add(Place(path.as_posix()), f"two runs or models: {names} - name one of them")
        findings.refuse()  # their instances are the same: what else is wrong follows from it
    if not folders or folders[0].absolute().parent.parent.name != _LOGS:
        return "", ""
    own = folders[0].absolute()
    return own.name, own.parent.name


def _read_run_file(found: ResultFiles, findings: Findings) -> Mapping[str, Json]:
    """What run.json says; others of that name are none of the harness."""
    told: list[Mapping[str, Json]] = []
    for file in found.runs:
        try:
            data = json_of(file, _MOST)
        except InvalidInput as error:
            findings.take(*error.problems)
            continue
        if isinstance(data, dict) and "dataset" in data:
            told.append(data)
            if len(told) > 1:
                findings.add(Place(file.as_posix()), "another run.json than the first - two runs?")
    return told[0] if told else {}
