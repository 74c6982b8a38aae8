"""Traces as agents, their libraries and their tracing write them, one shape a module."""

from gate.traces.detecting import is_whole, shape_of
from gate.traces.reading import read_trace
from gate.traces.trace import MAX_STEPS, Shape, Trace

__all__ = ["MAX_STEPS", "Shape", "Trace", "is_whole", "read_trace", "shape_of"]
