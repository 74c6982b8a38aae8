"""What a process of the crew does: it works until its input ends."""

from __future__ import annotations

import gc
import sys

from gate.sources.otel.crew import serve
from gate.sources.otel.taking import taken_of_piece
from gate.sources.otel.trials import runs_of


def work() -> None:
    gc.set_threshold(100_000, 20, 50)  # as the command line does: many objects, no cycles
    serve((taken_of_piece, runs_of), sys.stdin.buffer, sys.stdout.buffer)
