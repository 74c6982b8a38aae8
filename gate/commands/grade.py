"""`gate grade FILE...`: judges recorded answers as `gate run` judges those of an agent, on all
cores; no agent is called.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

from gate.commands.options.records import host_of, run_options
from gate.run.execute import execute
from gate.run.grading.collect import Helpers
from gate.run.grading.read_trials import AnswerFile
from gate.run.grading.recorded_answers import RecordedAnswers
from gate.run.options import RunOptions


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Returns the exit code of the verdict."""
    request, host = replace(run_options(options), stop_rule="off"), host_of(options, env)
    files = tuple(AnswerFile(path=Path(name).absolute(), name=name) for name in request.answers)
    with _open_cluster(request) as helpers:
        recorded = RecordedAnswers(
            files=files,
            processes=request.processes or _count_cores(),
            secrets=host.secrets,
            helpers=helpers,
        )
        outcome = execute(request, host, given=recorded, measure=recorded.measure)
    for line in outcome.words(request, env):
        print(line)
    return outcome.report.exit_code


def _open_cluster(options: RunOptions) -> AbstractContextManager[Helpers | None]:
    if options.executor != "dask" or options.scheduler is None:
        return nullcontext()
    from gate.run.cluster.grading import open_helpers

    return open_helpers(options.scheduler, send_secrets=options.send_secrets)


def _count_cores() -> int:
    """Those that this process may use, where the system tells."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
