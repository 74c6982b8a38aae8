"""For tests of agents, as with pytest: an assertion on a verdict (docs/python.md)."""

from __future__ import annotations

from gate.records import Report
from gate.report.wording.headline import headline
from gate.text.escaping import plain

__all__ = ["assert_passes"]

_MOST = 10  # limits that are named


def assert_passes(report: Report) -> None:
    """Raises AssertionError that begins with the headline of the report and says why, where the
    command would not have ended with 0. `report`: of gate.evaluate, gate.compare, gate.check_gates.
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    if report.passed:
        return
    broken = [gate for gate in report.gates if gate.status == "fail"]
    lines = [headline(report), report.reason]
    lines += [
        f"{gate.suite}: {gate.metric} is {_format_value(gate.value)}" for gate in broken[:_MOST]
    ]
    failing = [f"{suite}: {case}" for suite, case in _list_new_failures(report)[:_MOST]]
    lines += [f"newly failing: {', '.join(failing)}"] if failing else []
    folder = getattr(report, "session", None)
    lines += [f"session: {folder}"] if folder is not None else []
    raise AssertionError(plain("\n".join(lines)))


def _format_value(value: float | None) -> str:
    return "not measured" if value is None else f"{value:g}"


def _list_new_failures(report: Report) -> list[tuple[str, str]]:
    return [(one.suite, one.case_id) for one in report.cases.newly_failing]
