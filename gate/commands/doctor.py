"""`gate doctor`: says for each thing that a run needs whether it is there, and what to do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict

from gate.commands.options.records import host_of, results_folder, run_options
from gate.run.doctor import examine
from gate.text.escaping import plain

FOUND = 1  # exit code: something has to be done before a run can give a verdict


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints a line for each finding as soon as it is known. Returns 0 if a run can give a verdict,
    else 1.
    """
    host = host_of(options, env)
    found, faults = [], 0
    for finding in examine(run_options(options), host, results_folder()):
        faults += not finding.ok
        if options.format == "json":
            found.append({"ok": finding.ok, **asdict(finding)})
            continue
        sign = "ok  " if not finding.advice else "note" if finding.warns else "TODO"
        redact = host.redactor().redact
        print(plain(f"{sign}  {finding.name}: {redact(finding.text)}"), flush=True)
        if finding.advice:
            print(plain(f"      -> {redact(finding.advice)}"), flush=True)
    if options.format == "json":
        print(host.redactor().redact(json.dumps(found, indent=2)))
    elif faults:
        print(f"{faults} to do before a run can give a verdict.")
    else:
        print("A run can give a verdict.")
    return FOUND if faults else 0
