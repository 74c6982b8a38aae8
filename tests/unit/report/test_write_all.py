import json
from dataclasses import replace

from gate.plugins import REPORTERS
from gate.records import Report, ReportOptions
from gate.records.codec import from_json
from gate.report.write_all import report_of_suite, summary, write_reports
from gate.store.code_marks import put_marks
from tests.support.reports import SCENARIOS, rows_of, several_suites


def written(report, **options):
    files = {}
    write_reports(files.__setitem__, report, rows_of(report), ReportOptions(**options))
    return files


def test_every_reporter_and_every_suite_has_its_files():
    report = several_suites()
    files = written(report, sarif=True)
    own = {REPORTERS.get_class(name).filename for name in REPORTERS}
    parts = {f"{name}/{file}" for name in report.suites for file in ("summary.json", "report.md")}
    assert files.keys() == {"summary.json", *own, *parts}
    assert all(isinstance(text, str) and text.strip() for text in files.values())


def test_twice_gives_the_same_text():
    for make in SCENARIOS.values():
        assert written(make()) == written(make())


def test_what_gate_yml_turns_off_is_not_written():
    files = written(several_suites(), html=False, junit=False)
    assert "report.html" not in files
    assert "junit.xml" not in files
    assert "gate.sarif" not in files
    assert "comment.md" in files


def test_all_reports_of_a_run_share_one_pass_over_its_rows():
    """The page and the violations read what they show of single trials again."""
    report, passes = several_suites(), []

    def rows():
        passes.append(1)
        return (row for row in rows_of(report)() if row.get("violations") is None)

    write_reports(lambda name, text: None, report, rows, ReportOptions(html=False))
    assert len(passes) == 1


def test_the_summary_is_the_report():
    report = several_suites()
    read = put_marks(from_json(Report, json.loads(summary(report))))
    assert replace(read, counts=None, metrics={}) == report
    assert summary(report).endswith("}\n")


def test_a_suites_part_holds_nothing_of_the_others():
    report = several_suites()
    part = report_of_suite(report, "analytics")
    assert list(part.suites) == ["analytics"]
    assert {c.suite for c in part.comparisons} == {"analytics"}
    assert {g.suite for g in part.gates} <= {"analytics"}
    assert part.cases.newly_failing == report.cases.newly_failing
    other = report_of_suite(report, "tool")
    assert other.cases.newly_failing == other.comparisons == ()
    assert other.outcome == report.suites["tool"].outcome
    assert other.exit_code == report.exit_code
    assert replace(part, suites=report.suites) != report
