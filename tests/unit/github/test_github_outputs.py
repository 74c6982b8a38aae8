"""Outputs, step summary and raw text: nothing in a value may end it or become a command."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import InfrastructureError
from gate.github import outputs
from gate.github.outputs import (
    error_outputs,
    render_outputs,
    report_outputs,
    stop_commands,
    write_outputs,
    write_summary,
)
from gate.records import CaseChange, CaseChanges, Decision, GateResult
from gate.report.write_all import summary
from tests.support.reports import SCENARIOS
from tests.support.small_report import report


def as_runner_reads(text: str) -> dict[str, str]:
    """The runner's rule: whichever of `=` and `<<` comes first decides."""
    found, lines = {}, iter(text.split("\n"))
    for line in lines:
        if not line:
            continue
        name, delimiter = line.split("<<", 1)
        assert "=" not in name
        value = []
        for inner in lines:
            if inner == delimiter:
                break
            value.append(inner)
        else:
            raise AssertionError(f"{name} is never closed")
        found[name] = "\n".join(value)
    return found


@given(st.dictionaries(st.sampled_from(["a", "b-c", "d"]), st.text()))
def test_the_runner_reads_back_what_was_written(values: dict[str, str]) -> None:
    assert as_runner_reads(render_outputs(values)) == values


def test_a_delimiter_that_occurs_in_the_value_is_not_used() -> None:
    tokens = iter(["one", "one", "two"])
    value = "x\ngate_one\noutcome=pass"
    text = render_outputs({"a": value}, lambda: next(tokens))
    assert as_runner_reads(text) == {"a": value}
    assert text.startswith("a<<gate_two\n")


def test_tokens_are_random() -> None:
    assert outputs.random_token() != outputs.random_token()
    assert len(outputs.random_token()) == 2 * len(secrets.token_bytes(16))


def test_outputs_are_appended_and_skipped_without_a_file(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("before=1\n")
    write_outputs(str(file), {"a": "1"})
    write_outputs(None, {"a": "1"})
    assert file.read_text().startswith("before=1\na<<gate_")
    with pytest.raises(InfrastructureError, match="cannot be written"):
        write_outputs(str(tmp_path / "no" / "such"), {"a": "1"})


def test_all_outputs_of_the_action(tmp_path: Path) -> None:
    session = tmp_path / "results" / "session-1"
    session.mkdir(parents=True)
    (session / "report.md").write_text("x")
    cases = CaseChanges(newly_failing=(CaseChange(suite="s", case_id="c,\n1"),))
    gate = GateResult(
        suite="s", metric="m.n", value=None, min=1, max=None, target=None, rule="point",
        status="missing", level="block",
    )  # fmt: skip
    found = report_outputs(report("fail", 1, cases, gates=(gate,)), session, tmp_path)
    assert found["outcome"] == "fail"
    assert (found["exit-code"], found["passed"], found["summary"]) == ("1", "false", "why")
    assert json.loads(found["newly-failing"]) == ["s: c,\n1"]
    assert json.loads(found["failed-gates"]) == ["s: m.n"]
    assert json.loads(found["regressions"]) == json.loads(found["improvements"]) == []
    assert found["session-dir"] == "results/session-1"
    assert found["report-md"] == "results/session-1/report.md"
    assert (found["report-html"], found["junit"]) == ("", "")
    assert found["report-path"] == "results/session-1/report.md"
    for name in ("report.html", "summary.json"):
        (session / name).write_text("x")
    found = report_outputs(report("fail", 1, cases), session, tmp_path)
    assert found["report-path"] == found["report-html"] == "results/session-1/report.html"
    assert (found["calls"], found["calls-saved"], found["cost-usd"]) == ("1", "0", "")
    assert found["baseline-source"] == "none"


def test_deploy_is_true_only_where_the_report_says_so(tmp_path: Path) -> None:
    told = {
        found: report_outputs(report(decision=found), tmp_path, tmp_path)["deploy"]
        for found in (
            None,
            Decision(deploy=False, reason="r", improved=("s/m",)),
            Decision(deploy=True, reason="r"),
        )
    }
    assert list(told.values()) == ["false", "false", "true"]
    assert error_outputs("why", 6)["deploy"] == "false"


def test_the_verdict_is_json_for_later_steps() -> None:
    made = SCENARIOS["fail_regression"]()
    found = report_outputs(made, Path("s"), Path())
    told = json.loads(found["json"])
    assert "\n" not in found["json"]
    written = json.loads(summary(made))
    assert (told["outcome"], told["passed"], told["exit_code"]) == ("fail", False, 1)
    assert told["counts"] == written["counts"]
    assert told["metrics"] == written["metrics"]
    assert told["metrics_left_out"] == 0
    assert found["summary"] == written["reason"], "plain words"


def test_of_many_metrics_the_json_has_those_that_block() -> None:
    gates = tuple(
        GateResult(
            suite="s", metric=f"m.{n:04}", value=0.5, min=1, max=None, target=None, rule="point",
            status="fail", level="block" if n == 4_999 else "warn",
        )
        for n in range(5_000)
    )  # fmt: skip
    text = report_outputs(report("fail", 1, gates=gates), Path("s"), Path())["json"]
    told = json.loads(text)
    assert len(text) <= outputs.JSON_CHARACTERS
    assert next(iter(told["metrics"])) == "m.4999"
    assert len(told["metrics"]) + told["metrics_left_out"] == 5_000


def test_a_session_outside_the_workspace_keeps_its_path(tmp_path: Path) -> None:
    found = report_outputs(report(), tmp_path / "a", tmp_path / "b")
    assert found["session-dir"] == (tmp_path / "a").as_posix()


def test_a_list_of_many_says_how_many_more(tmp_path: Path) -> None:
    many = tuple(CaseChange(suite="s", case_id=f"case-{n:06}") for n in range(100_000))
    found = report_outputs(report(cases=CaseChanges(newly_failing=many)), tmp_path, tmp_path)
    listed = json.loads(found["newly-failing"])
    assert len(found["newly-failing"]) < 60_000
    assert listed[-1] == f"... and {100_000 - (len(listed) - 1)} more"


def test_an_error_has_outputs_too() -> None:
    assert error_outputs("why", 6)["outcome"] == "error"


def test_the_summary_is_appended_within_what_is_left(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    write_summary(str(file), lambda limit: "x" * 48_576)
    write_summary(str(file), lambda limit: "y" * limit)
    assert file.stat().st_size == 1_048_576 - 1
    write_summary(str(file), lambda limit: "z" * limit)
    assert "z" not in file.read_text()
    write_summary(None, lambda limit: str(1 // 0))


def test_text_between_the_stop_words_has_no_say() -> None:
    (before, after), (_, another) = stop_commands(), stop_commands()
    assert before == "::stop-commands::" + after.strip(":")
    assert after != another  # so that nobody can foresee it


def test_all_outputs_together_fit_what_github_takes() -> None:
    """1 MB counted as UTF-16, for whatever a report holds."""
    cases = tuple(CaseChange(suite="s" * 90, case_id="\U0001f600" * 50) for _ in range(5_000))
    gates = tuple(
        GateResult(
            suite="s",
            metric=f"m{n}" * 50,
            value=None,
            min=1,
            max=None,
            target=None,
            rule="point",
            status="fail",
            level="block",
        )
        for n in range(5_000)
    )
    made = report("fail", 1, CaseChanges(newly_failing=cases), gates=gates, reason="é" * 1_000_000)
    for values in (
        report_outputs(made, Path("s"), Path()),
        error_outputs("x" * 1_000_000, 2),
    ):
        text = "".join(f"{name}{value}" for name, value in values.items())
        assert len(text.encode("utf-16-le")) < 600_000
        assert values["summary"].endswith("…")


def test_the_summary_says_when_it_took_nothing(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    assert not write_summary(None, lambda limit: "text")
    assert write_summary(str(file), lambda limit: "text")
    file.write_bytes(b"x" * outputs.SUMMARY_BYTES)
    assert not write_summary(str(file), lambda limit: "text"[:limit])
