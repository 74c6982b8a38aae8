"""The importer of OpenTelemetry traces: what becomes a result, whatever lines it is spread over."""

import gzip
import json
import random
import re

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.importers.formats.otel import group_spans
from gate.importers.formats.otel.runs import runs_of
from gate.importers.formats.otel.span_filter import PIECE
from gate.importers.formats.otel.worker_pool import Crew
from gate.plugins import IMPORTERS
from gate.records import Usage
from tests.support.otlp_spans import ASKS, CHAT, RAN, TEXT, attributes, export, says, span

OTEL = IMPORTERS.get_class("otel")
T1, T2 = f"{1:032x}", f"{2:032x}"
AGENT = {"gen_ai.operation.name": "invoke_agent"}


def asked(text):
    return [{"role": "user", "parts": [{"type": "text", "content": text}]}]


def chat(id, start, *parts, trace=T1, parent="r", question="Which?", **more):
    found = {
        **CHAT,
        "gen_ai.input.messages": asked(question),
        "gen_ai.output.messages": says(*parts),
    }
    return span(id, {**found, **more}, start=start, trace=trace, parent=parent)


def root(start=1, ms=5000, trace=T1, found=AGENT, **more):
    return span("r", found, start=start, ms=ms, trace=trace, **more)


def judged(name="Tone", **told):
    keys = {"value": "score.value", "label": "score.label", "why": "explanation"}
    found = {f"gen_ai.evaluation.{keys[key]}": value for key, value in told.items()}
    named = {"gen_ai.evaluation.name": name, **found}
    return {"name": "gen_ai.evaluation.result", "attributes": attributes(named)}


def written(folder, *lines, name="spans.jsonl", end="\n"):
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / name).write_text("\n".join(texts) + end, encoding="utf-8")
    return folder / name


def read(path, **options):
    return OTEL(**options).read(path)


def trials(path, **options):
    return list(read(path, **options).trials())


def trial(folder, *spans, **options):
    (found,) = trials(written(folder, export(*spans)), **options)
    return found


def refused(path, **options):
    with pytest.raises((InvalidInput, UsageError)) as caught:
        read(path, **options)
    return str(caught.value).replace(f"{path.parent.as_posix()}/", "")


def test_a_trace_is_one_result_with_all_that_it_says(tmp_path):
    one = trial(
        tmp_path, root(), chat("a", 2, ASKS), span("b", RAN, start=3, trace=T1), chat("c", 4, TEXT)
    )
    answer = one.attempt.response
    assert (one.case.input, answer.answer, answer.turns, answer.model) == ("Which?", "x", 2, "m")
    (step,) = answer.steps
    assert (step.name, step.arguments, step.result) == ("f", {"a": 1}, "r")
    assert answer.usage == Usage(input_tokens=10, output_tokens=4)
    assert (one.attempt.latency_ms, one.attempt.status, one.attempt.passed) == (
        *(5000.0, "completed"),
        None,
    )
    assert one.started_at == "1970-01-01T00:00:01.000Z"


def test_spans_may_lie_in_any_order_lines_and_files(tmp_path):
    spans = [
        one
        for n in range(4)
        for trace in [f"{n + 1:032x}"]
        for one in (
            root(n + 1, trace=trace),
            chat("a", n + 2, ASKS, trace=trace, question=f"{n}?"),
            span("b", RAN, start=n + 3, trace=trace),
            chat("c", n + 4, TEXT, trace=trace),
        )
    ]
    whole = trials(written(tmp_path, export(*spans)))
    assert len(whole) == 4
    random.Random(5).shuffle(spans)
    for n, part in enumerate((spans[:5], spans[5:11], spans[11:])):
        written(tmp_path / "", *(export(one) for one in part), name=f"{n}.jsonl")
    (tmp_path / "spans.jsonl").unlink()
    assert trials(tmp_path, suite="otel") == whole


@pytest.mark.parametrize(
    "form",
    [
        lambda one: json.dumps(one),
        lambda one: json.dumps(one, indent=1),
        lambda one: json.dumps([one], indent=1),
        lambda one: json.dumps(one["resourceSpans"][0]),
        lambda one: json.dumps(one["resourceSpans"][0]["scopeSpans"][0]["spans"]),
        lambda one: json.dumps({"batches": one["resourceSpans"]}),
        lambda one: "\n\n" + json.dumps(one) + "\n\n",
    ],
)
def test_every_form_of_export_is_read(tmp_path, form):
    path = written(tmp_path, form(export(root(), chat("a", 2, TEXT))))
    assert [one.attempt.response.answer for one in trials(path)] == ["x"]


def test_packed_files_are_read_and_bombs_are_not(tmp_path):
    line = json.dumps(export(root(), chat("a", 2, TEXT))).encode()
    (tmp_path / "spans.jsonl.gz").write_bytes(gzip.compress(line))
    assert len(trials(tmp_path)) == 1
    (tmp_path / "spans.jsonl.gz").write_bytes(gzip.compress(b" " * (30 << 20)))
    assert "unpacks to more than 500 times its size" in refused(tmp_path)
    (tmp_path / "spans.jsonl.gz").write_bytes(gzip.compress(line + b"\n" * 1_000_002))
    assert "more than 1,000,000 empty lines" in refused(tmp_path)
    (tmp_path / "spans.jsonl.gz").write_bytes(gzip.compress(line)[:-20])
    assert "cannot be unpacked" in refused(tmp_path)


def test_the_case_is_the_attribute_or_the_question_or_the_trace(tmp_path):
    named = root(found={**AGENT, "gate.case_id": "c-1", "app.test": 7})
    assert trial(tmp_path, named, chat("a", 2, TEXT)).case.id == "c-1"
    assert trial(tmp_path, named, chat("a", 2, TEXT), case="app.test").case.id == "7"
    by_question = trial(tmp_path, root(), chat("a", 2, TEXT)).case
    assert re.fullmatch(rf"{re.escape(by_question.input)} [0-9a-f]{{8}}", by_question.id)
    assert trial(tmp_path, root(trace=T2), chat("a", 2, TEXT, trace=T2)).case == by_question
    assert trial(tmp_path, root(), chat("a", 2, TEXT, question="Other?")).case.id != by_question.id
    assert trial(tmp_path, root(), span("a", CHAT, trace=T1)).case.id == T1
    assert trial(tmp_path, named, chat("a", 2, TEXT), case="trace").case.id == T1


def test_a_resource_may_name_case_and_suite(tmp_path):
    whole = export(root(), chat("a", 2, TEXT))
    told = attributes({"service.name": "My agent/2", "gate.case_id": "c-2"})
    nameless = {"key": ["service.name"], "value": {"stringValue": "x"}}
    whole["resourceSpans"][0]["resource"] = {"attributes": [*told, nameless, 5]}
    (one,) = trials(written(tmp_path, whole))
    assert (one.suite, one.case.id) == ("My-agent-2", "c-2")


def test_traces_of_a_case_are_its_rounds_in_the_order_of_time(tmp_path):
    later = export(root(50, trace=T1), chat("a", 51, TEXT, trace=T1))
    text = {"type": "text", "content": "first"}
    earlier = export(root(5, trace=T2), chat("a", 6, text, trace=T2))
    found = read(written(tmp_path, later, earlier))
    told = [(one.round, one.attempt.response.answer) for one in found.trials()]
    assert told == [(1, "first"), (2, "x")]
    assert (found.suites["otel"].rounds, found.suites["otel"].cases) == (2, 1)
    assert found.created_at == "1970-01-01T00:00:05Z"


def test_a_conversation_is_one_result_of_all_its_traces(tmp_path):
    def turn(trace, start, said, **more):
        text = {"type": "text", "content": said}
        found = {**AGENT, "gen_ai.conversation.id": "talk", "gen_ai.output.messages": says(text)}
        return [root(start, 1000, trace, found), chat("a", start + 1, TEXT, trace=trace, **more)]

    path = written(
        tmp_path,
        export(*turn(T2, 20, "second", question="And then?"), *turn(T1, 1, "first")),
        export(root(9, trace=f"{3:032x}"), chat("a", 10, TEXT, trace=f"{3:032x}")),
    )
    one, alone = sorted(trials(path, by="conversation", case="gone"), key=lambda t: t.case.input)
    one, alone = (one, alone) if one.attempt.response.turns == 2 else (alone, one)
    assert (one.case.input, one.attempt.response.answer) == ("Which?", "second")
    assert (one.attempt.latency_ms, one.attempt.response.usage.input_tokens) == (2000.0, 10)
    assert alone.attempt.response.turns == 1


# ------------------------------------------------------------------------------- whose failure


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("ValueError", {}, "agent_error"),
        ("timeout", {}, "agent_error"),
        (None, {"code": 2, "message": "went wrong"}, "agent_error"),
        ("429", {}, "infra_error"),
        ("openai.RateLimitError", {"code": 2, "message": "slow down"}, "infra_error"),
        (None, {"code": 2, "message": "Connection refused"}, "infra_error"),
    ],
)
def test_an_error_of_the_root_is_the_agents_unless_nobody_answered(
    tmp_path, kind, status, expected
):
    found = {**AGENT, "error.type": kind} if kind else AGENT
    one = trial(tmp_path, root(found=found, status=status), chat("a", 2, TEXT)).attempt
    assert (one.status, one.passed) == (expected, False if expected == "agent_error" else None)
    assert one.failures == (("agent_error",) if expected == "agent_error" else ())


def test_an_error_further_in_is_the_agents_where_no_answer_came(tmp_path):
    outer = span("h", {}, trace=T1)
    failed = {**root(found={**AGENT, "error.type": "Crash"}), "parentSpanId": "h"}
    assert trial(tmp_path, outer, failed).attempt.error == "Crash"
    assert trial(tmp_path, outer, failed, chat("a", 2, TEXT)).attempt.status == "completed"
    tool = span("b", {**RAN, "error.type": "late"}, start=3, trace=T1)
    assert trial(tmp_path, root(), tool).attempt.status == "completed", "a tool may fail"


def test_the_root_may_be_a_span_of_http(tmp_path):
    server = span("h", {"http.request.method": "POST"}, ms=9000, trace=T1)
    inner = {**root(), "parentSpanId": "h"}
    assert trial(tmp_path, server, inner, chat("a", 2, TEXT)).attempt.latency_ms == 9000.0


# ------------------------------------------------------------------------------- evaluations


def test_evaluations_are_metrics_and_their_labels_decide(tmp_path):
    events = [judged(value=0.25, label="pass", why="kind"), judged("Form", label="fail")]
    whole = export(root(events=events), chat("a", 2, TEXT, trace=T1))
    found = read(written(tmp_path, whole))
    (one,) = found.trials()
    scores = one.attempt.scores
    assert scores["otel.tone"].values == {"otel.tone": 0.25}
    assert (scores["otel.tone"].passed, scores["otel.tone"].reason) == (True, "pass / kind")
    assert scores["otel.form"].values == {"otel.form": 0.0}
    assert scores["otel.form"].reason == "form: fail"
    assert one.attempt.passed is False
    suite = found.suites["otel"]
    assert [metric.name for metric in suite.metrics] == ["otel.form", "otel.tone"]
    assert suite.graders["success"] == "otel: otel.form, otel.tone"


def test_several_results_of_one_evaluation_are_their_mean(tmp_path):
    first = root(events=[judged(value=0.0, label="pass")])
    second = chat("a", 2, TEXT)
    second["events"] = [judged(value=1.0, label="FAILED"), judged(value="high")]
    score = trial(tmp_path, first, second).attempt.scores["otel.tone"]
    assert (score.values["otel.tone"], score.passed) == (0.5, False)


@pytest.mark.parametrize("told", [{"value": "NaN"}, {"label": "relevant"}, {"value": True}, {}])
def test_what_an_evaluation_does_not_tell_is_unscored(tmp_path, told):
    one = trial(tmp_path, root(events=[judged(**told)]), chat("a", 2, TEXT)).attempt
    assert (
        one.scores["otel.tone"].unscored
        == "the evaluation has neither a score nor a label of pass or fail"
    )
    assert (dict(one.scores["otel.tone"].values), one.passed) == ({}, None)


def test_events_may_be_logged_beside_the_spans(tmp_path):
    def log(name, found, **more):
        return {"eventName": name, "traceId": T1, "attributes": attributes(found), **more}

    told = {"gen_ai.evaluation.name": "Tone", "gen_ai.evaluation.score.value": 1}
    details = {"gen_ai.input.messages": asked("Logged?"), "gen_ai.output.messages": says(TEXT)}
    name = "gen_ai.client.inference.operation.details"
    logs = [
        log("gen_ai.evaluation.result", told),
        log(name, details, spanId="a"),
        log("gen_ai.evaluation.result", told, traceId=""),
        log("other", {}),
    ]
    bare = span("a", CHAT, start=2, trace=T1, parent="r")
    found = read(
        written(
            tmp_path,
            {"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]},
            export(root(), bare),
        )
    )
    (one,) = found.trials()
    assert (one.case.input, one.attempt.response.answer) == ("Logged?", "x")
    assert one.attempt.response.usage.input_tokens == 5
    assert one.attempt.scores["otel.tone"].values == {"otel.tone": 1.0}
    assert "logged events without a trace id, left out: 1" in found.notes


# ---------------------------------------------------------------------------- odd and hostile


def test_what_is_of_no_agent_is_left_out_and_told(tmp_path):
    plain = [span("h", {"http.request.method": "GET"}, trace=f"{n:032x}") for n in range(5, 8)]
    found = read(
        written(tmp_path, export(*plain), export(chat("a", 2, TEXT)), {"resourceMetrics": []})
    )
    assert len(list(found.trials())) == 1
    assert "traces without any span of an agent or a model, left out: 3" in found.notes
    assert "lines of JSON without a span, left out: 1" in found.notes


def test_a_span_that_is_there_twice_counts_once(tmp_path):
    line = export(root(), chat("a", 2, TEXT))
    written(tmp_path, line, line)
    found = read(written(tmp_path, line, name="copy.jsonl").parent)
    (one,) = found.trials()
    assert one.attempt.response.usage.input_tokens == 5
    assert "spans that appear twice with the same content and count once: 4" in found.notes


def test_two_spans_of_one_id_that_differ_are_refused(tmp_path):
    path = written(tmp_path, export(chat("a", 2, TEXT)), export(chat("a", 3, TEXT)))
    assert (
        refused(path)
        == "spans.jsonl:2: span a is also in line 1, with different content - remove one of the two"
    )


def test_ids_in_other_writings_are_the_same_trace(tmp_path):
    as_base64 = "AAAAAAAAAAAAAAAAAAAAqg=="
    number = f"{0xAA:032x}"
    spans = [root(trace=number.upper()), chat("a", 2, TEXT, trace=number)]
    spans.append(chat("c", 3, TEXT, trace=as_base64))
    assert trial(tmp_path, *spans).attempt.response.turns == 3 - 1
    found = read(written(tmp_path, export(chat("a", 2, TEXT, trace="no hex"))))
    assert "spans whose traceId is not 32 hexadecimal digits; it is used as it is: 1" in found.notes
    for missing in ("", "0" * 32):
        path = written(tmp_path, export(chat("a", 2, TEXT, trace=missing)))
        assert "a span has no traceId" in refused(path)


def test_times_may_be_numbers_zero_or_backwards(tmp_path):
    numbers = {**root(), "startTimeUnixNano": 10**9, "endTimeUnixNano": 3 * 10**9}
    assert trial(tmp_path, numbers, chat("a", 2, TEXT)).attempt.latency_ms == 2000.0
    zero = {**root(), "startTimeUnixNano": "0", "endTimeUnixNano": 0}
    assert trial(tmp_path, zero, chat("a", 2, TEXT)).attempt.latency_ms is None
    backwards = trial(tmp_path, root(ms=-5), chat("a", 2, TEXT)).attempt
    assert backwards.latency_ms is None
    assert any("ends before it starts:" in fault for fault in backwards.response.trace_faults)
    found = read(written(tmp_path, export({**span("a", CHAT, trace=T1), "startTimeUnixNano": 0})))
    assert (found.created_at, next(found.trials()).started_at) == (None, "")


def test_messages_that_an_exporter_cut_off_are_unknown_and_told(tmp_path):
    cut = json.dumps(says(TEXT))[:-9]
    one = trial(tmp_path, root(), span("a", {**CHAT, "gen_ai.output.messages": cut}, trace=T1))
    answer = one.attempt.response
    assert (answer.answer, answer.usage.input_tokens) == ("", 5)
    assert "are not JSON and are ignored" in answer.trace_faults[0]


def test_of_a_trace_without_end_the_rest_is_counted_and_its_usage_unknown(tmp_path):
    long = {**RAN, "gen_ai.tool.call.result": "x" * (1 << 20)}
    lines = [export(span(f"{n}", long, start=n + 2, trace=T1)) for n in range(70)]
    found = read(written(tmp_path, export(root(), chat("a", 1, TEXT)), *lines))
    (one,) = found.trials()
    answer = one.attempt.response
    kept = group_spans.MOST_BYTES >> 20
    assert (len(answer.steps), answer.usage, answer.turns) == (kept, Usage(), None)
    assert f"{70 - kept} spans too many were not read" in answer.trace_faults[-1]
    assert "results with too many spans to read them all; their usage is unknown: 1" in found.notes


def test_problems_of_all_lines_are_told_at_once(tmp_path):
    path = written(
        tmp_path,
        export(chat("a", 2, TEXT)),
        "{oops}",
        {"resourceSpans": 5},
        export({**chat("a", 2, TEXT), "spanId": 5}),
        json.dumps(export(chat("b", 2, TEXT)))[:80],
        end="",
    )
    said = refused(path)
    assert [line.partition(": ")[0] for line in said.splitlines()] == [
        f"spans.jsonl:{n}" for n in (2, 3, 4, 5)
    ]
    assert "not JSON" in said
    assert "spanId is not a text" in said
    assert said.endswith("cut off in the middle - copy the file again, or remove its last line")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "has no spans"),
        (b'{"messages": []}\n', "has no spans"),
        (b'{"resourceSpans": []}\n', "has no spans"),
        (b"\xff\xfe{\x00}\x00\n", "not UTF-8"),
        (b"[" * 200_000 + b"\n", "nested too deeply"),
        (b"{\n", "cut off in the middle"),
        (b"5\n", "an entry is not an object"),
    ],
)
def test_what_is_no_otlp_is_refused(tmp_path, content, said):
    (tmp_path / "x.json").write_bytes(content)
    assert said in refused(tmp_path / "x.json")


def test_values_nested_without_end_are_refused(tmp_path):
    deep = "x"
    for _ in range(300):
        deep = [deep]
    for value in (deep, {"stringValue": deep}):
        pair = {"key": "gen_ai.tool.call.result", "value": value}
        one = {**span("a", RAN, trace=T1), "attributes": [*attributes(RAN), pair]}
        assert "nested too deeply" in refused(written(tmp_path, export(one)))


def test_halves_of_characters_and_control_characters_are_text(tmp_path):
    text = {"type": "text", "content": "\ud83d \x1b[31m \u0000"}
    whole = json.dumps(export(chat("a", 2, text, question="\udc00?")))
    (one,) = trials(written(tmp_path, whole))
    one.attempt.response.answer.encode()
    assert one.case.input == "??"


def test_a_case_that_is_asked_far_more_often_than_others_is_no_round(tmp_path):
    spans = [chat("a", 2, TEXT, trace=f"{n:032x}", question=f"{n}?") for n in range(1, 600)]
    spans += [chat("a", 2, TEXT, trace=f"{n:032x}", question="Hi") for n in range(600, 900)]
    path = written(tmp_path, export(*spans))
    assert "has 300 results, others have few," in refused(path)
    assert len(trials(path, case="trace")) == 899


def test_one_case_with_two_questions_is_told(tmp_path):
    named = {**AGENT, "gate.case_id": "c"}
    lines = [
        export(root(n, trace=t, found=named), chat("a", n + 1, TEXT, trace=t, question=f"{n}?"))
        for n, t in ((1, T1), (2, T2))
    ]
    assert any(
        "with a different question" in note for note in read(written(tmp_path, *lines)).notes
    )


@pytest.mark.parametrize("options", [{"suite": "a/b"}, {"case": ""}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(UsageError, match="--option"):
        OTEL(**options)


def test_what_is_recognised(tmp_path):
    def known(*lines):
        return OTEL.recognises(look(written(tmp_path, *lines)))

    one = export(chat("a", 2, TEXT))
    assert known(one, one)
    assert known(json.dumps(one, indent=1))
    assert known(one["resourceSpans"][0])
    assert known(json.dumps([chat("a", 2, TEXT)]))
    assert known(export(*(chat(str(n), 2, TEXT, trace=T2) for n in range(900)))), "a long line"
    assert not known({"messages": [{"role": "user", "content": "x"}]})
    assert not known({"spans": []})
    assert not OTEL.recognises(look(tmp_path))


def test_several_processes_come_to_the_same_as_one(tmp_path):
    long = {"type": "text", "content": "x" * 9_000}
    whole = [
        export(*(chat("a", n, long, trace=f"{n:032x}", question=f"{n}?") for n in range(k, k + 5)))
        for k in range(1, 1_001, 5)
    ]
    path = written(tmp_path, *whole, '{"resourceSpans": 5}', *whole[:1], end="")
    assert path.stat().st_size > 2 * PIECE
    found = []
    for size in (0, 2):
        traces = group_spans.Traces(files=(path,))
        with Crew(size) as crew:
            group_spans.group_spans(traces, frozenset(), crew)
            groups = [[*group] for group in traces.groups()]
            made = list(
                crew.map(runs_of, (("trace", "", part) for part in (groups[:7], groups[7:])))
            )
        found.append((made, traces.counted, traces.findings.problems))
    assert found[0] == found[1]
    made, counted, problems = found[0]
    assert [len(runs) for runs, _, _ in made] == [7, 993]
    assert (counted["spans"], made[0][2]["twice"]) == (1_005, 5)
    assert [str(problem.place) for problem in problems] == [f"{path.as_posix()}:201"]


@pytest.mark.parametrize("indent", [None, 4])
def test_spans_of_the_sdk_are_recognised_and_read(tmp_path, indent):
    """A span a line, or as its console exporter writes them."""
    told = [
        ("b", "a", {**CHAT, "gen_ai.output.messages": says(TEXT)}),
        ("a", None, {**AGENT, "gate.case_id": "one"}),
    ]
    spans = [
        {
            "name": id,
            "context": {"trace_id": f"0x{T1}", "span_id": f"0x{id}"},
            "parent_id": parent and f"0x{parent}",
            "start_time": f"2026-05-12T14:30:0{9 - n}.000000Z",
            "end_time": "2026-05-12T14:30:10.000000Z",
            "status": {"status_code": "UNSET"},
            "attributes": attributes,
            "events": [],
            "resource": {"attributes": {"service.name": "desk"}},
        }
        for n, (id, parent, attributes) in enumerate(told)
    ]
    path = written(tmp_path, *(json.dumps(one, indent=indent) for one in spans))
    assert [n for n in IMPORTERS.names() if IMPORTERS.get_class(n).recognises(look(path))] == [
        "otel"
    ]
    (trial,) = trials(path)
    answer = trial.attempt.response.answer
    assert (trial.suite, trial.case.id, answer) == ("desk", "one", "x")
    if indent:
        broken = path.read_text(encoding="utf-8").replace('"events": []', '"events": ', 1)
        line = broken[: broken.index('"events": ,')].count("\n") + 1
        assert f":{line}: " in refused(written(tmp_path, broken))


def test_a_total_alone_counts_as_tokens_also_beside_calls_that_tell_both(tmp_path):
    total = {"gen_ai.usage.input_tokens": None, "gen_ai.usage.output_tokens": None}
    total["llm.usage.total_tokens"] = 30
    one = trial(tmp_path, root(), chat("a", 1, TEXT, **total), chat("b", 2, TEXT))
    usage = one.attempt.response.usage
    assert (usage.total_tokens, usage.input_tokens) == (37, None)
    one = trial(tmp_path, root(), chat("a", 1, TEXT, **total))
    assert one.attempt.response.usage == Usage(total_tokens=30)
