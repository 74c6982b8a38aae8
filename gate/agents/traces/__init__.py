"""Traces as agents, their libraries and their tracing write them, one shape a module."""
