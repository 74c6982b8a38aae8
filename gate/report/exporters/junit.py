"""`junit`: junit.xml of the session, as the report is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gate.plugins import EXPORTERS, REPORTERS, Rows
from gate.records import Report


@EXPORTERS.register("junit")
@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitExport:
    """The session's own junit.xml, byte for byte, or that of some of its suites."""

    def pieces(self, report: Report, rows: Rows) -> Iterator[str]:
        yield REPORTERS.get_class("junit")().render(report, rows)
