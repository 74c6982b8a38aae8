"""Tells what is wrong with the agent with its line in gate.yml."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gate.errors import InvalidInput, UsageError
from gate.records import Config


@contextmanager
def tell_agent_line(config: Config) -> Iterator[None]:
    """Adds the line of the agent to a UsageError, unless an option gave what is wrong."""
    try:
        yield
    except InvalidInput:
        raise
    except UsageError as error:
        message = str(error)
        where = ((message.startswith("retriever.") and config.retriever) or config.agent).place
        if where.line is None or message.startswith("--"):
            raise
        raise UsageError(f"{where.file}:{where.line}: {message}") from error
