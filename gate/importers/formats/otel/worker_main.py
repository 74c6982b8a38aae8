"""What one process of the worker pool does: it works until its input ends."""

from __future__ import annotations

import gc
import sys

from gate.importers.formats.otel.runs import runs_of
from gate.importers.formats.otel.span_filter import filter_piece
from gate.importers.formats.otel.worker_pool import serve


def work() -> None:
    gc.set_threshold(100_000, 20, 50)  # as the command line does: many objects, no cycles
    serve((filter_piece, runs_of), sys.stdin.buffer, sys.stdout.buffer)
