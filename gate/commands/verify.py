"""`gate verify DIR`: checks a release's evidence folder; asks nobody and runs nothing from it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path

from gate import __version__
from gate.records.release_evidence import Manifest
from gate.run.release_evidence.check import EvidenceCheck, verify
from gate.text.escaping import one_line, plain
from gate.text.late_pattern import late_pattern

MOST_TOLD = 50
SOURCE = "git+https://github.com/agent-gate/agent-gate"
_RELEASED = late_pattern(r"\d{1,6}\.\d{1,6}\.\d{1,6}")


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Returns 0 if the evidence is verified, else 1: with a line for each fault, or where only the
    verdict of another version differs, with those differences and how to verify with that version.
    Raises UsageError (2) without a manifest. Commit and tag are those of the options, else those of
    the job (GITHUB_SHA, the tag of its ref).
    """
    commit = options.commit or env.get("GITHUB_SHA") or None
    here = env.get("GITHUB_REF_NAME") if env.get("GITHUB_REF_TYPE") == "tag" else None
    tag = options.tag or here
    checked = verify(Path(options.dir), commit=commit, tag=tag)
    found = checked.faults or checked.undecided
    what = "not verified" if checked.faults else "differs"
    lines = [f"{what}: {one}" for one in found[:MOST_TOLD]]
    if len(found) > MOST_TOLD:
        lines.append(f"{what}: {len(found) - MOST_TOLD} more")
    if checked.undecided:
        lines += _way_on(checked.manifest, options.dir, commit, tag)
    for line in lines if found else _words(checked, commit, tag):
        print(plain(line))
    return 1 if found else 0


def _way_on(manifest: Manifest, folder: str, commit: str | None, tag: str | None) -> list[str]:
    """No commit that the folder names gets into the command: anybody's fork could have it."""
    version = manifest.tool_version
    known = version != __version__ and _RELEASED.fullmatch(version)
    asked = {"--commit": commit, "--tag": tag}
    given = [word for name, value in asked.items() if value for word in (name, value)]
    reference = f"v{version}" if known else "COMMIT"
    command = shlex.join(["gate", "verify", folder, *given])
    wrote = f"{one_line(version)[:80]} wrote it, this is {__version__}"
    if version == __version__:
        wrote = f"{version} wrote it, but not of the source that is installed here"
    return [
        f"Not decided: the files are those of the manifest, which says {manifest.outcome}, exit "
        f"code {manifest.exit_code}. Agent Gate {wrote}, and what differs above may be due to that "
        "or to a forgery. Verify with the version that wrote it"
        + ("" if known else " (COMMIT: the one behind `uses:` in the release's workflow)")
        + ":",
        f"pipx run --spec {SOURCE}@{reference} {command}",
    ]


def _words(checked: EvidenceCheck, commit: str | None, tag: str | None) -> list[str]:
    manifest = checked.manifest
    unasked = [name for name, given in (("--commit", commit), ("--tag", tag)) if not given]
    lines = [
        f"Verified: {manifest.repository or 'no repository'} {manifest.tag or 'no tag'} at "
        f"{manifest.commit or 'no commit'}: {manifest.outcome}, exit code {manifest.exit_code}; "
        f"{len(manifest.files)} files, verdict recomputed from {checked.trials} trials."
    ]
    if unasked:
        lines.append(f"Not compared with anything outside the folder: {', '.join(unasked)}.")
    return lines
