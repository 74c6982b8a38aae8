"""What a grading process runs: it works until its input ends."""

from __future__ import annotations

import gc

from gate.run.grading.grade_batch import prepare_process
from gate.system.worker_process import serve


def main() -> None:
    gc.set_threshold(100_000, 20, 50)  # as the command line does: many objects, no cycles
    serve(prepare_process)
