"""`gate verify DIR`: checks a release's evidence folder; asks nobody and runs nothing from it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from gate.run.release_evidence.check import EvidenceCheck, verify
from gate.text.escaping import plain

MOST_TOLD = 50


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Returns 0 if the evidence is verified, else 1 with a line for each fault. Raises UsageError
    (2) without a manifest. Commit and tag are those of the options, else those of the job
    (GITHUB_SHA, the tag of its ref).
    """
    commit = options.commit or env.get("GITHUB_SHA") or None
    here = env.get("GITHUB_REF_NAME") if env.get("GITHUB_REF_TYPE") == "tag" else None
    tag = options.tag or here
    checked = verify(Path(options.dir), commit=commit, tag=tag)
    for fault in checked.faults[:MOST_TOLD]:
        print(plain(f"not verified: {fault}"))
    if len(checked.faults) > MOST_TOLD:
        print(f"not verified: {len(checked.faults) - MOST_TOLD} more faults")
    if checked.faults:
        return 1
    for line in _words(checked, commit, tag):
        print(plain(line))
    return 0


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
