"""`gate verify`: whether a release's evidence is complete, belongs to this commit, and follows from
its own trials. Anybody may have written the folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TypeVar, cast

from gate.errors import GateError, UsageError
from gate.files.own_source import digest_of_gate
from gate.files.rows import DatasetSource
from gate.files.session_file import read_json
from gate.records import Json, Report, Suite, codec
from gate.records.codec import from_json
from gate.records.release_evidence import (
    CONFIG,
    MANIFEST,
    RULES,
    Manifest,
    RulesInEffect,
    Sealed,
    dataset_file,
    sha256_of,
)
from gate.run.grade import make_graders
from gate.run.release_evidence.recompute import EvidenceContent, decide_again, differences
from gate.store.session import DETAILS, META, SUMMARY, Meta, load_session
from gate.store.session_check import check_form, check_rows
from gate.suites.cases.dataset import Summary, check

MOST_FILES = 1_000
MOST_BYTES = 2 * 1024**3  # of the folder
MOST_JSON = 64 * 1024**2  # of a file that is read whole
MOST_LINE = 16 * 1024**2  # of a trial
MOST_DEPTH = 3
_QUICK = 1024**2  # bytes of a wrong file above which nobody is told where it is wrong
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*){0,2}")
_SAME_RULES = ("gates", "regression", "quarantine")  # no option changes them

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceCheck:
    """What verify found. `undecided`: where the verdict of this Agent Gate differs from that of the
    other one which wrote the evidence. With neither faults nor these the evidence is verified.
    """

    manifest: Manifest
    faults: tuple[str, ...]
    undecided: tuple[str, ...] = ()
    trials: int = 0


def verify(folder: Path, *, commit: str | None, tag: str | None) -> EvidenceCheck:
    """Checks an evidence folder. `commit`, `tag`: what it must belong to; None is not checked.
    Raises UsageError without a manifest.
    """
    if not os.path.lexists(folder / MANIFEST):
        raise UsageError(
            f"{folder}: no {MANIFEST} here; give the evidence/ folder of a release's session"
        )
    manifest = _record(Manifest, folder / MANIFEST)
    faults = [*_check_identity(manifest, commit, tag), *_files(folder, manifest.files)]
    trials, differing = 0, list[str]()
    if not faults:
        try:
            held, meta = _read_folder(folder)
            trials = sum(suite.trials for suite in held.stated.suites.values())
            faults += _agreement(manifest, held, meta)
            faults += _digests(held, meta)
            differing += differences(held.stated, decide_again(held))
        except GateError as error:
            differing += str(error).splitlines()
        except Exception as error:  # arithmetic on numbers that no run writes
            differing.append(f"the verdict cannot be recomputed ({error!r:.200})")
    if faults or manifest.build == digest_of_gate():
        faults, differing = [*faults, *differing], []
    return EvidenceCheck(
        manifest=manifest, faults=tuple(faults), undecided=tuple(differing), trials=trials
    )


def _record(record: type[T], path: Path) -> T:
    """A record of that class; raises UsageError for what is none."""
    data = read_json(path, MOST_JSON)
    check_form(record, data, path, quick=path.stat().st_size > _QUICK)
    return from_json(record, data)


def _check_identity(manifest: Manifest, commit: str | None, tag: str | None) -> Iterator[str]:
    if commit and manifest.commit != commit:
        yield f"{MANIFEST}: commit is {manifest.commit}, not {commit}"
    if tag and manifest.tag != tag:
        yield f"{MANIFEST}: tag is {manifest.tag}, not {tag}"


# -------------------------------------------------------------------------------------------- files


def _files(folder: Path, stated: Mapping[str, Sealed]) -> list[str]:
    """Faults of the files themselves. Nothing is opened before it is known to be a plain file."""
    faults = [
        f"{MANIFEST}: files: '{name[:80]}' is not a plain file name"
        for name in stated
        if not _PLAIN.fullmatch(name) or name == MANIFEST
    ]
    names, sizes = [], 0
    for name, path in _walk(folder, folder, 1):
        names.append(name)
        if len(names) > MOST_FILES:
            return [*faults, f"more than {MOST_FILES} files"]
        kind = path.lstat()
        sizes += kind.st_size
        if name != MANIFEST and not S_ISREG(kind.st_mode):
            faults.append(f"{name[:80]}: a link or special file, which evidence cannot contain")
        elif name != MANIFEST and name not in stated:
            faults.append(f"{name[:80]}: not listed in the manifest")
        elif kind.st_size > (MOST_BYTES if path.name == DETAILS else MOST_JSON):
            faults.append(f"{name[:80]}: too large for evidence")
    faults += [f"{name}: missing" for name in sorted(stated.keys() - set(names))]
    if sizes > MOST_BYTES:
        faults.append(f"more than {MOST_BYTES} bytes in total")
    return faults or [
        fault for name, seal in stated.items() for fault in _find_changes(folder, name, seal)
    ]


def _walk(top: Path, folder: Path, depth: int) -> Iterator[tuple[str, Path]]:
    """Everything that is no folder, and folders that are too deep; links are not followed."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = Path(entry.path)
            if S_ISDIR(path.lstat().st_mode) and depth < MOST_DEPTH:
                yield from _walk(top, path, depth + 1)
            else:
                yield path.relative_to(top).as_posix(), path


def _find_changes(folder: Path, name: str, stated: Sealed) -> Iterator[str]:
    path = folder / name
    if path.stat().st_size != stated.size:
        yield f"{name}: {path.stat().st_size} bytes, not {stated.size}"
    elif sha256_of(path) != stated.sha256:
        yield f"{name}: changed: its sha256 differs from the manifest's"
    elif path.name == DETAILS and _endless(path):
        yield f"{name}: a line of more than {MOST_LINE} bytes"


def _endless(path: Path) -> bool:
    with path.open("rb") as file:
        while line := file.readline(MOST_LINE):
            if len(line) == MOST_LINE:
                return True
    return False


# ------------------------------------------------------------------------------------------ content


def _read_folder(folder: Path) -> tuple[EvidenceContent, Meta]:
    for name in (META, SUMMARY, DETAILS, CONFIG, RULES):
        if not (folder / name).is_file():
            raise UsageError(f"{name}: missing")
    rules = _record(RulesInEffect, folder / RULES)
    datasets = {}
    for suite in rules.config.suites:
        dataset = _dataset(folder, suite)
        if dataset is not None:
            datasets[suite.name] = dataset
    session = load_session(folder, most=MOST_JSON)
    stated = cast("Report", session.report)  # its file is there
    content = EvidenceContent(folder=folder, stated=stated, rules=rules, datasets=datasets)
    return content, session.meta


def _dataset(folder: Path, suite: Suite) -> Summary | None:
    """None for a CSV whose cells only a user's own grader can type: its code is not run here."""
    name = dataset_file(suite.name, suite.dataset)
    ours = [spec for spec in suite.graders if ":" not in spec.name]
    if Path(name).suffix.lower() == ".csv" and len(ours) < len(suite.graders):
        return None
    source = DatasetSource(name=name, open=lambda: (folder / name).open("rb"))
    return check(source, make_graders(ours, folder))


def _agreement(manifest: Manifest, held: EvidenceContent, meta: Meta) -> Iterator[str]:
    stated, provenance = held.stated, held.stated.provenance
    pairs: dict[str, tuple[Json, Json]] = {
        "outcome": (stated.outcome, manifest.outcome),
        "exit_code": (stated.exit_code, manifest.exit_code),
        "created_at": (stated.created_at, manifest.created_at),
        "session_id": (stated.session_id, manifest.session_id),
        "commit": (provenance.commit, manifest.commit),
        "repository": (provenance.repository, manifest.repository),
        "run": (provenance.run_url, manifest.run),
        "event": (provenance.event, manifest.event),
        "tool_version": (provenance.tool_version, manifest.tool_version),
    }
    for what, (reported, sealed) in pairs.items():
        if reported != sealed:
            yield f"{SUMMARY} has {what} {reported}, {MANIFEST} has {sealed}"
    if provenance.mode != "release":
        yield f"{SUMMARY} is of a run in {provenance.mode} mode, not of a release"
    if provenance != meta.provenance:
        yield f"{META} and {SUMMARY} are of different runs"
    if stated.policy != held.rules.config.policy:
        yield f"{SUMMARY} has another policy than {RULES}"
    if {suite.name for suite in held.rules.config.suites} != stated.suites.keys():
        yield f"{SUMMARY} and {RULES} are not of the same suites"


def _digests(held: EvidenceContent, meta: Meta) -> Iterator[str]:
    """Digests in the summary against what was copied, and the trials against their cases."""
    config = read_json(held.folder / CONFIG, MOST_JSON)
    if codec.digest(config) != held.stated.provenance.config_digest:
        yield f"{CONFIG}: {SUMMARY} was judged by other rules (config_digest)"
    yield from _rules(config, held.rules)
    for name, suite in held.stated.suites.items():
        dataset = held.datasets.get(name)
        if dataset is not None and dataset.digest != suite.dataset_digest:
            yield f"{dataset_file(name, suite.dataset)}: {SUMMARY} used another dataset"
        if name not in meta.suites or meta.suites[name].dataset_digest != suite.dataset_digest:
            yield f"{META} and {SUMMARY} differ in the dataset of '{name}'"
    yield from _strangers(held, meta)


def _rules(config: Json, rules: RulesInEffect) -> Iterator[str]:
    """The rules in effect are those that were hashed, but for what options may change."""
    if not isinstance(config, dict):
        return
    mine = codec.to_json(rules.config)
    for key in _SAME_RULES:
        if _bare(mine[key]) != _bare(config.get(key)):
            yield f"{RULES}: {key} are not those of {CONFIG}"
    hashed = {one.get("name"): one for one in config.get("suites", []) if isinstance(one, dict)}
    for suite in mine["suites"]:
        theirs = hashed.get(suite["name"])
        for key in ("dataset", "suite", "graders", "gates"):
            if theirs is not None and _bare(suite[key]) != _bare(theirs.get(key)):
                yield f"{RULES}: {key} of suite '{suite['name']}' are not those of {CONFIG}"


def _bare(value: Json) -> Json:
    """Without the places in gate.yml, which the digest leaves out."""
    if isinstance(value, dict):
        return {key: _bare(item) for key, item in value.items() if key != "place"}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def _strangers(held: EvidenceContent, meta: Meta) -> Iterator[str]:
    """Trials of cases that the dataset does not have, or has otherwise."""
    session = load_session(held.folder)
    told_keys: set[tuple[str, str]] = set()
    for row in check_rows(session.rows(), meta.suites, held.folder):
        dataset, key = held.datasets.get(row["suite"]), (row["suite"], row["case_id"])
        if dataset is None or key in told_keys or len(told_keys) >= 20:
            continue
        if dataset.digests.get(row["case_id"]) != row["case_digest"]:
            told_keys.add(key)
            yield f"{DETAILS}: the dataset of '{row['suite']}' has no such case '{key[1][:80]}'"
