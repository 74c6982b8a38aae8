"""reviews/<period>.json: what people see in a period, and what they must not see. The files of a
folder record which cases were shown; commit them like code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from gate.analysis.metric_names import name_judged_by
from gate.commands.label_review.rotation import Key, Stratum, StratumName
from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files.encoding import decode
from gate.files.json_schema import mismatches
from gate.files.plain_file import open_plain
from gate.records import LARGEST, Json
from gate.records.codec import digest, from_json, schema_of, to_json

FORM: Literal["agent-gate review sample"] = "agent-gate review sample"
MOST = 64 << 20  # bytes of a file that people hand in
_PERIOD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """What people rate, on the judge's scale: whole numbers from `low` to `high`. `metric` is empty
    if the criterion counts only as points of `total`, a metric from 0 to 1.
    """

    name: str  # unique in the form
    title: str
    question: str
    low: int
    high: int
    rubric: str
    levels: Mapping[str, str] = field(default_factory=dict)  # value -> what deserves it
    metric: str = ""  # dimension.metric
    total: str = ""
    judge: str = ""  # hash of judge and rubric, as the session has it; empty: no judge was asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One case of the sample, in the order of the form. `weight`: the number of cases that it
    stands for.
    """

    case_id: str
    case_digest: str
    round: int
    answer_digest: str
    cycle: int
    stratum: StratumName
    weight: float
    judge: Mapping[str, float] = field(default_factory=dict)  # metric -> its value, not shown
    uncertainty: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    suite: str
    period: str
    session_id: str
    created_at: str  # of the session
    commit: str | None
    size: int  # places that were asked for
    criteria: tuple[Criterion, ...]
    about: Mapping[str, str]  # rubric -> what is judged by it
    strata: Mapping[StratumName, Stratum]
    left_out: Mapping[str, int]  # why -> cases of the session that could not be shown
    cases: tuple[Shown, ...]
    form: Literal["agent-gate review sample"] = FORM
    version: Literal[1] = 1

    @property
    def digest(self) -> str:
        """The sample's name in forms: `sha256:` and 16 hexadecimal digits of what is shown and
        asked.
        """
        cases = [[case.case_id, case.round, case.answer_digest] for case in self.cases]
        criteria = [[one.name, one.low, one.high] for one in self.criteria]
        return f"sha256:{digest([self.suite, self.period, self.session_id, cases, criteria])[:16]}"


def check_period(name: str) -> str:
    """The name of a period, unchanged. Raises UsageError if it is not a valid file name."""
    if not _PERIOD.fullmatch(name):
        raise UsageError(
            f"--period {name[:80]}: letters, digits, '.', '_' and '-' only, e.g. 2026-W47"
        )
    return name


def render(manifest: Manifest) -> str:
    """The manifest as JSON, one case on each line, so that a diff is easy to read."""
    data = to_json(manifest)
    cases = data.pop("cases")
    head = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    lines = ",\n".join(f"  {json.dumps(case, ensure_ascii=False)}" for case in cases)
    return f'{head[:-2]},\n "cases": [\n{lines}\n ]\n}}\n'


def read(path: Path) -> Manifest:
    """The manifest in a file. Raises InvalidInput if it is not one, UsageError if it cannot be
    read.
    """
    data = load_json(path)
    return _manifest(data, path)


def read_history(folder: Path, suite: str) -> tuple[Manifest, ...]:
    """The manifests of a suite, by period; other files are ignored."""
    manifests = []
    for path in sorted(folder.glob("*.json")):
        data = load_json(path)
        if isinstance(data, dict) and data.get("form") == FORM:
            manifest = _manifest(data, path)
            if manifest.suite == suite:
                manifests.append(manifest)
    return tuple(manifests)


def last_cycles(manifests: Iterable[Manifest]) -> dict[Key, int]:
    """Case -> the last cycle in which it was shown."""
    last: dict[Key, int] = {}
    for manifest in manifests:
        for case in manifest.cases:
            key = case.case_id, case.case_digest
            last[key] = max(case.cycle, last.get(key, 0))
    return last


def load_bytes(path: Path) -> bytes:
    """The content of a file. Raises UsageError if it cannot be read or is too large."""
    try:
        with open_plain(path) as file:
            content = file.read(MOST + 1)
    except OSError as error:
        raise UsageError(f"{path}: not readable: {error.strerror}") from error
    if len(content) > MOST:
        raise UsageError(f"{path}: larger than {MOST >> 20} MB; this is not a sample file")
    return content


def load_json(path: Path) -> Json:
    """The JSON in a file; numbers must be finite. Raises UsageError, InvalidInput."""
    text = decode(load_bytes(path), str(path))
    try:
        loaded: Json = json.loads(text, parse_constant=_refuse_number)
        return loaded
    except json.JSONDecodeError as error:
        place = Place(str(path), error.lineno)
        message = f"not JSON: {error.msg}; save it again from the form"
        raise InvalidInput([Problem(place, message)]) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput([Problem(Place(str(path)), f"not JSON: {error}")]) from error


def _refuse_number(word: str) -> Json:
    raise ValueError(f"{word} is no number")


def _with_current_names(manifest: Manifest) -> Manifest:
    """Forms and sheets keep the criteria's own names; what is rated by them may have a new one."""
    names = {one.metric: name_judged_by(one.rubric, one.metric) for one in manifest.criteria}
    criteria = tuple(replace(one, metric=names[one.metric]) for one in manifest.criteria)
    cases = tuple(
        replace(case, judge={names.get(name, name): value for name, value in case.judge.items()})
        for case in manifest.cases
    )
    return replace(manifest, criteria=criteria, cases=cases)


def _manifest(data: Json, path: Path) -> Manifest:
    wrong = mismatches(schema_of(Manifest), data)
    if wrong:
        where = ".".join(map(str, wrong[0].path))
        message = f"{wrong[0].message}; restore the file from git, or draw the sample again"
        raise InvalidInput([Problem(Place(str(path), key=where), message)])
    manifest = _with_current_names(from_json(Manifest, data))
    if not all(0.0 < case.weight <= LARGEST and case.cycle >= 1 for case in manifest.cases):
        message = "cases: a weight or cycle is not valid; restore the file from git"
        raise InvalidInput([Problem(Place(str(path)), message)])
    return manifest
