"""What a suite written as code imports (docs/suite-as-code.md); its address does not change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from gate.agents.task_result import RunRecord

__all__ = ["RunRecord", "SuiteBase"]


class SuiteBase(ABC):
    """A suite that knows its tasks and asks the agent itself. A class with the same two methods
    needs no such base; with it editors and type checkers know what is asked for.
    """

    name: ClassVar[str] = ""  # for your own use; the suite is called as gate.yml or --suite has it
    concurrent: ClassVar[bool] = False  # True: calls may run side by side

    @abstractmethod
    def load_tasks(self) -> Iterable[object]:
        """The tasks: mappings, or objects, each with an `id` that no other has."""

    @abstractmethod
    def run_task(
        self,
        task: Any,  # a subclass says what its own tasks are
        *,
        round_index: int,
        attempt: int,
        base_url: str,
        model: str,
        provider_key: str,
        timeout_s: float,
    ) -> object:
        """One try of one task: a RunRecord, or a mapping with its fields; may be async.

        Round and attempt count from 1; address, model and key are those of the agent that the run
        is about, empty where it has none. An exception is the agent's failure.
        """
