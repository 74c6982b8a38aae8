"""What a suite written as code imports (docs/suite-as-code.md); its address does not change."""

from gate.agents.task_result import RunRecord

__all__ = ["RunRecord"]
