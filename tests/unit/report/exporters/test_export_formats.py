"""The export formats one by one, as those who read them see them."""

import csv
import io
import json
from dataclasses import replace

import pytest

from gate.errors import UsageError
from gate.plugins import EXPORTERS
from gate.report.formats.junit import JUnit
from tests.support.reports import FACTS, passing, row, rows_of


def exported(name, *rows, report=None):
    pieces = EXPORTERS.get_class(name)().pieces(report or passing(), lambda: iter(rows))
    return "".join(pieces)


# --------------------------------------------------------------------------------------------- csv


def table(*rows):
    return list(csv.DictReader(io.StringIO(exported("csv", *rows), newline="")))


def test_csv_is_read_back_with_the_standard_library():
    (found,) = table(row("c,1", output='say "a"\nb', passed=False, latency_ms=812.5))
    assert found["case_id"] == "c,1"
    assert found["output"] == 'say "a"\nb'
    assert (found["verdict"], found["failures"]) == ("failed", "fact_missing:4.2 %")
    assert (found["latency_ms"], found["input_tokens"], found["steps"]) == ("812.5", "1500", "1")
    assert found[f"score.{FACTS}"] == "0.5"
    assert json.loads(found["more"])["reasons"] == {"facts": "4.2 % is not in the answer"}


def test_csv_lines_end_as_rfc_4180_has_them_and_null_is_empty():
    text = exported("csv", row(latency_ms=None, cost_usd=None, usage=None, steps=None))
    assert text.count("\r\n") == 2
    (found,) = table(row(latency_ms=None, usage=None, steps=None, passed=None))
    assert [found[name] for name in ("latency_ms", "input_tokens", "steps")] == [""] * 3
    assert found["verdict"] == "unscored"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "＝1", '=HYPERLINK("http://e")']
)
def test_csv_has_no_formula_wherever_the_text_stands(text):
    found = table(row(text, output=text, question=text, scores={text: 0.5}, failures=[text]))
    cells = [*found[0].values(), *found[0]]
    assert not [cell for cell in cells if cell.lstrip(" ").startswith(("=", "+", "-", "@", "＝"))]
    assert found[0]["output"].startswith("'")


def test_csv_leaves_negative_numbers_and_shows_control_characters():
    (found,) = table(row(scores={"drop": -0.5}, output="\x1b[31mred\x00\x07"))
    assert found["score.drop"] == "-0.5"
    assert found["output"] == "␛[31mred␀␇"


def test_csv_has_a_header_without_any_trial():
    assert exported("csv").startswith("session_id,suite,case_id")
    assert exported("csv").count("\n") == 1


# ------------------------------------------------------------------------------------------- jsonl


def lines(*rows):
    return [json.loads(line) for line in exported("jsonl", *rows).splitlines()]


def kinds(rows):
    found = {}
    for one in rows:
        for name, value in one.items():
            found.setdefault(name, set()).add(type(value).__name__)
    return found


def test_a_column_of_jsonl_has_one_type_and_nothing_lies_in_it():
    rows = (
        row("a", scores={"x": 1, "y": None}, latency_ms=5),
        row("b", scores={"x": 0.5}, usage=None, category=None, output=None, model=None),
        row(
            "c", scores={}, passed=None, status="infra_error", error="no", cost_usd=None, steps=None
        ),
    )
    found = kinds(lines(*rows))
    assert all(len(some - {"NoneType"}) <= 1 for some in found.values())
    assert not {name for name, some in found.items() if some & {"list", "dict", "bool"}}
    texts = {"category", "output", "model", "error", "verdict", "failures", "mode", "more"}
    assert {name: found[name] for name in texts} == {name: {"str"} for name in texts}
    assert [list(one) for one in lines(*rows)] == [list(lines(*rows)[0])] * 3


def test_rows_with_the_first_number_of_a_column_stand_first():
    blank = {"latency_ms": None, "cost_usd": None, "usage": None, "steps": None}
    rows = [row(f"c{n}", scores={}, **blank) for n in range(5)]
    rows += [row("late", scores={"x": 0.5}, latency_ms=5.0, cost_usd=None, usage=None, steps=None)]
    found = lines(*rows)
    assert [one["case_id"] for one in found] == ["late", "c0", "c1", "c2", "c3", "c4"]
    assert found[0]["score.x"] == 0.5


def test_what_is_no_time_and_no_amount_is_null():
    (found,) = lines(row(started_at="\x1b[31m", usage={"input_tokens": 10**40}, latency_ms=1e50))
    assert found["started_at"] == passing().created_at
    assert found["input_tokens"] is None
    odd = row(steps=[{"name": "t", "arguments": {"a": float("nan")}}], scores={"x": float("inf")})
    (found,) = lines(odd)
    assert found["score.x"] is None
    assert json.loads(found["more"], parse_constant=pytest.fail)["steps"][0]["arguments"] == {
        "a": None
    }


def test_a_session_of_a_thousand_and_one_scores_is_refused():
    many = row(scores={f"s{n}": 0.5 for n in range(1_001)})
    for name in ("jsonl", "csv"):
        with pytest.raises(
            UsageError, match="more than 1,000 different scores; export one --suite"
        ):
            exported(name, many)


# ------------------------------------------------------------------------------------------- junit


def test_junit_is_that_of_the_session():
    report = passing()
    pieces = EXPORTERS.get_class("junit")().pieces(report, rows_of(report))
    assert "".join(pieces) == JUnit().render(report, rows_of(report))


# -------------------------------------------------------------------------------------------- otel


def records(text):
    for line in text.splitlines():
        for resource in json.loads(line)["resourceLogs"]:
            for scope in resource["scopeLogs"]:
                yield from scope["logRecords"]


def told(record):
    return {a["key"]: next(iter(a["value"].values())) for a in record["attributes"]}


def evaluations(*rows):
    return {told(r)["gen_ai.evaluation.name"]: told(r) for r in records(exported("otel", *rows))}


@pytest.mark.parametrize(
    "moment", ["1970-01-02T00:00:01.002003+00:00", "1970-01-02T00:00:01.002003"]
)
def test_otel_has_the_time_of_the_trial_to_the_microsecond(moment):
    first = next(records(exported("otel", row(started_at=moment))))
    assert first["timeUnixNano"] == "86401002003000"


def test_otel_tells_pass_scores_and_what_could_not_be_judged():
    found = evaluations(row("c1", 2, passed=False, unscored={"judge": "out of reach"}))
    assert set(found) == {"agent_gate.passed", *row()["scores"], "judge"}
    verdict = found["agent_gate.passed"]
    assert verdict["gen_ai.evaluation.score.value"] == 0.0
    assert verdict["gen_ai.evaluation.score.label"] == "fail"
    assert "4.2 % is not in the answer" in verdict["gen_ai.evaluation.explanation"]
    assert (verdict["agent_gate.case.id"], verdict["agent_gate.round"]) == ("c1", "2")
    assert found[FACTS]["gen_ai.evaluation.score.value"] == 0.5
    assert found["judge"]["error.type"] == "unscored"
    assert "gen_ai.evaluation.score.value" not in found["judge"]


def test_otel_says_what_ended_without_an_answer():
    found = evaluations(row(passed=None, status="infra_error", error="HTTP 503", scores={}))
    verdict = found["agent_gate.passed"]
    assert verdict["error.type"] == "infra_error"
    assert verdict["gen_ai.evaluation.score.label"] == "unscored"
    assert "gen_ai.evaluation.score.value" not in verdict


def test_ids_of_otel_are_those_of_the_trial_and_differ_between_events():
    first, again = (list(records(exported("otel", row("a"), row("b")))) for _ in range(2))
    assert first == again
    assert len({r["traceId"] for r in first}) == 2
    assert len({told(r)["log.record.uid"] for r in first}) == len(first)
    other = replace(passing(), session_id="another")
    assert first[0]["traceId"] != next(records(exported("otel", row("a"), report=other)))["traceId"]


def test_a_line_of_otel_has_at_most_two_hundred_events():
    text = exported("otel", *(row("a", n) for n in range(1, 141)))
    counts = [len(list(records(line))) for line in text.splitlines()]
    assert counts == [200, 200, 20]


def test_otel_is_what_the_protocol_reads():
    pytest.importorskip("opentelemetry.proto", reason="opentelemetry-proto is not installed")
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    hostile = row("\x00\u202e", output="x", passed=False, error="\ud800", started_at="banana")
    text = exported("otel", row(), hostile).encode("utf-8", "replace").decode()
    (line,) = text.splitlines()
    found = json_format.Parse(line, ExportLogsServiceRequest())
    (resource,) = found.resource_logs
    named = {a.key: a.value.string_value for a in resource.resource.attributes}
    assert named["service.name"] == "agent-gate"
    assert named["agent_gate.session.id"] == passing().session_id
    (scope,) = resource.scope_logs
    assert {r.event_name for r in scope.log_records} == {"gen_ai.evaluation.result"}
    # Two fields of bytes are hexadecimal in OTLP, not base64 as JSON of Protocol Buffers has them.
    for one in json.loads(line)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
        assert len(bytes.fromhex(one["traceId"])) == 16
        assert len(bytes.fromhex(one["spanId"])) == 8
    moments = [r.time_unix_nano for r in scope.log_records]
    assert moments[0] == 1768904101 * 10**9
    assert moments[-1] == 1768904100 * 10**9  # the session's, where the trial's is none


# --------------------------------------------------------------------------------------- promptfoo


def evaluation(*rows, report=None):
    return json.loads(exported("promptfoo", *rows, report=report))


def test_promptfoo_counts_what_it_holds():
    found = evaluation(
        row("a"),
        row("b", passed=False),
        row("c", passed=None, failures=[], reasons={}, status="infra_error", error="HTTP 503"),
        row("d", passed=False, status="agent_error", error="it broke", output=None, scores={}),
        row("e", passed=None, failures=[], reasons={}, unscored={"judge": "no reply"}),
    )["results"]
    assert found["version"] == 3
    assert found["stats"]["successes"] == 1
    assert (found["stats"]["failures"], found["stats"]["errors"]) == (1, 3)
    assert [one["failureReason"] for one in found["results"]] == [0, 1, 2, 2, 2]
    assert [one["success"] for one in found["results"]] == [True, False, False, False, False]
    assert found["results"][2]["response"]["error"] == "HTTP 503"
    assert found["results"][4]["error"] == "no reply"
    (prompt,) = found["prompts"]
    assert prompt["metrics"]["testErrorCount"] == 3
    assert prompt["metrics"]["tokenUsage"]["total"] == 5 * 1800


def test_a_suite_is_a_prompt_and_each_round_a_test_of_promptfoo():
    rows = (row("a", 1), row("a", 2), row("a", 1, suite="other"))
    found = evaluation(*rows)["results"]
    assert [(one["promptIdx"], one["testIdx"]) for one in found["results"]] == [
        (0, 0),
        (0, 1),
        (1, 2),
    ]
    assert [one["label"] for one in found["prompts"]] == ["analytics", "other"]
    assert len({one["id"] for one in found["results"]}) == 3
    assert {one["testCase"]["description"] for one in found["results"]} == {"a"}


def test_graders_that_failed_are_failed_assertions_of_promptfoo():
    one = row(passed=False, reasons={"facts": "missing", "style": "fine"}, failed_by=["facts"])
    (found,) = evaluation(one)["results"]["results"]
    parts = found["gradingResult"]["componentResults"]
    assert [(part["assertion"]["metric"], part["pass"]) for part in parts] == [
        ("facts", False),
        ("style", True),
    ]
    assert found["namedScores"][FACTS] == 0.5
