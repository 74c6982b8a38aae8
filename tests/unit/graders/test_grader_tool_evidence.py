"""Tool tasks: the upstream codes in their order, what strict adds, and what the logs say."""

import json

import pytest

from gate.analysis.failures.modes import mode_of
from gate.graders.openagent_rules.form import FORM
from gate.graders.tool_evidence import DECLARED, FABRICATED, VERIFIED, ToolEvidence
from gate.records import Case, LoggedCall, LogRead, Response, ServerLogs, ToolCall, Trial
from gate.records.codec import to_json
from gate.run.grade import grade_attempt
from gate.store.trial_rows import row_of
from gate.suites.cases.keys import key_rules

CONSOLE = LogRead(kind="console", path="c.log", bound="offset", lines=9, shows_calls=True)
SHELL = {"name": "shell", "arguments": {"cmd": "ls"}}


def case(tools=(), **wanted):
    keys = {"output_requirements": {"must_be_valid_json": True, **wanted}}
    return Case(id="a", input="?", keys={**keys, "required_tools": list(tools)})


def logs(*names, **more):
    calls = tuple(LoggedCall(name=name, log="console") for name in names)
    return ServerLogs(**{"calls": calls, "logs": (CONSOLE,), **more})


def answer(*calls, **fields):
    evidence = {"tool_calls": list(calls), **fields.pop("evidence", {})}
    return json.dumps({"task_id": "T-1", **fields, "evidence": evidence})


def grade(text, task=None, *, server_logs=None, steps=None, **options):
    response = Response(answer=text, server_logs=server_logs, steps=steps)
    return ToolEvidence(**options).grade(task or case(), response)


def codes(*args, **more):
    return list(grade(*args, **more).failures)


def upstream(text, task=None, **more):
    return codes(text, task, mode="upstream", **more)


# ------------------------------------------------------------------------------ codes of upstream


def test_every_code_of_upstream_in_its_order():
    wanted = {
        "must_include_fields": ["task_id", "claims", "evidence.sources"],
        "must_include_tool_calls": ["web_search", "shell"],
        "min_sources": 2,
        "min_tool_calls": 3,
        "expected_path": "./scratch/a.md",
    }
    assert upstream(answer(SHELL), case(**wanted)) == [
        "missing_field:claims",
        "missing_field:evidence.sources",
        "missing_tool_call:web_search",
        "min_sources_not_met:2",
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "output_parse:assistant_text_missing"),
        (" \n", "output_parse:empty response"),
        ("nope", "output_parse:Expecting value: line 1 column 1 (char 0)"),
        ('Here: {"task_id": 1}', "output_parse:Expecting value: line 1 column 1 (char 0)"),
        ("null", "output_parse:None"),
        ("[1]", "output_not_json_object"),
        ('"x"', "output_not_json_object"),
    ],
)
def test_upstream_says_no_more_of_what_is_no_object(text, code):
    assert upstream(text, case(must_include_fields=["a"], min_sources=2)) == [code]


def test_upstream_takes_null_sources_by_number_and_names_as_they_are():
    fenced = "```json\n" + answer(evidence={"sources": [1, 1]}, x=None) + "\n```"
    assert upstream(fenced, case(must_include_fields=["x"], min_sources=2)) == []
    assert upstream(answer(), case(["shell"])) == []
    assert upstream('{"x": NaN}', case(must_include_fields=["x"])) == []
    mcp = {"name": "search-mcp__web_search"}
    assert upstream(answer(mcp), case(must_include_tool_calls=["web_search"])) == [
        "missing_tool_call:web_search"
    ]


def test_evidence_that_is_no_object_is_none():
    wanted = case(must_include_fields=["evidence.tool_calls"], min_sources=1)
    found = ["missing_field:evidence.tool_calls", "min_sources_not_met:1"]
    assert upstream('{"evidence": [1]}', wanted) == found
    assert codes('{"evidence": [1]}', wanted) == found


# --------------------------------------------------------------------------------- strict adds


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (" \n", "output_parse:assistant_text_missing"),
        ("nope", "output_parse:Expecting value"),
        ('{"a": NaN}', "output_parse:NaN is not JSON"),
        ("null", "output_not_json_object"),
        ("[" * 100_000, None),
    ],
)
def test_strict_tells_equal_faults_alike(text, code):
    (found,) = codes(text)
    assert found == code or (code is None and found.startswith("output_parse:"))


def test_words_around_the_json_are_wrong_where_json_alone_is_wanted():
    text = "Here it is:\n" + answer(SHELL) + "\nDone."
    wanted = {"must_include_fields": ["b"]}
    assert codes(text, case(**wanted)) == ["output_not_json_only", "missing_field:b"]
    assert codes(text, case(must_be_valid_json=False, **wanted)) == ["missing_field:b"]
    assert codes(f"```json\n{answer(b=1)}\n```", case(**wanted)) == []
    unsaid = Case(id="a", input="?", keys={"output_requirements": wanted})
    assert codes(text, unsaid) == ["missing_field:b"]


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({"x": None}, True),
        ({"x": " "}, True),
        ({"x": []}, False),
        ({"x": 0}, False),
        ({"x": False}, False),
    ],
)
def test_null_and_blank_fields_are_missing_and_empty_lists_an_answer(fields, missing):
    found = codes(answer(**fields), case(must_include_fields=["x"]))
    assert found == (["missing_field:x"] if missing else [])


def test_an_answer_has_fifty_codes_at_the_most():
    assert len(codes("{}", case(must_include_fields=[f"f{n}" for n in range(80)]))) == 50


def test_an_empty_list_is_no_evidence():
    text = answer(SHELL, evidence={"sources": []})
    assert codes(text, case(must_include_fields=["evidence.sources"])) == [
        "missing_field:evidence.sources"
    ]


def test_sources_are_counted_by_their_addresses():
    told = [
        {"title": "A", "url": "https://www.a.example/x/"},
        {"title": "A again", "url": "http://A.example/x#part"},
        {"url": "https://a.example/x?page=2", "found_on": "https://c.example"},
        "http://b.example",
        {"title": "no address"},
        {"url": "http://[broken"},
        None,
    ]
    text = answer(evidence={"sources": told})
    assert codes(text, case(min_sources=3)) == []
    assert codes(text, case(min_sources=4)) == ["min_sources_not_met:4"]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("min_diffs", {"diffs": [1, 2]}),
        ("min_migration_steps", {"migration_plan": [1, 2]}),
        ("min_picked", {"picked": [1, 2]}),
        ("min_tool_calls", {"evidence": {"tool_calls": [SHELL, SHELL]}}),
    ],
)
def test_numbers_are_enforced(name, fields):
    text = json.dumps(fields)
    assert codes(text, case(**{name: 2})) == []
    assert codes(text, case(**{name: 3})) == [f"{name}_not_met:3"]
    assert codes('{"diffs": "many"}', case(**{name: 1})) == [f"{name}_not_met:1"]


def test_a_required_tool_is_declared_by_the_plain_name_or_that_of_a_server():
    task = case(["web_search"])
    assert codes(answer({"name": "search-mcp__web_search"}), task) == []
    assert codes(answer({"name": "web_fetch"}), task) == ["missing_tool_call:web_search"]


@pytest.mark.parametrize(
    ("text", "files", "met"),
    [
        (answer(path="/s/scratch/a.md"), None, True),
        (answer(artifacts={"report": ["./scratch/a.md"]}), None, True),
        (answer(log_path="./scratch/a.md"), None, True),
        (answer({"name": "shell", "arguments": {"cmd": "echo > ./scratch/a.md"}}), None, True),
        (answer(path="./scratch/a.md"), ("a.md",), True),
        (answer(path="./scratch/a.md"), (), False),
        (answer(notes="./scratch/a.md"), ("a.md",), False),
        (answer(), None, False),
    ],
)
def test_a_file_is_named_and_there(text, files, met):
    given = logs("shell", files=files)
    found = codes(text, case(expected_path="./scratch/a.md"), server_logs=given)
    assert found == ([] if met else ["expected_path_missing:./scratch/a.md"])


def test_of_a_file_elsewhere_nobody_knows_whether_it_is_there():
    given = logs("shell", files=())
    assert codes(answer(path="out/a.md"), case(expected_path="./out/a.md"), server_logs=given) == []


# ------------------------------------------------------------------------------- the server's logs


def verdict(server_logs, tools=("web_search", "shell"), text=None, **more):
    calls = [{"name": name} for name in tools]
    score = grade(text or answer(*calls), case(tools), server_logs=server_logs, **more)
    return score.evidence.verdict, list(score.failures)


def test_every_required_tool_ran():
    assert verdict(logs("shell", "mcp__web_search")) == ("complete", [])
    score = grade(answer(SHELL), case(["shell"]), server_logs=logs("shell"))
    assert score.values == {FORM: 1.0, DECLARED: 1.0, VERIFIED: 1.0, FABRICATED: 0.0}


def test_without_required_tools_those_to_be_declared_must_have_run():
    score = grade(answer(SHELL), case(must_include_tool_calls=["shell"]), server_logs=logs())
    assert (score.evidence.verdict, score.evidence.missing) == ("incomplete", ("shell",))


def test_a_case_without_requirements_is_not_judged():
    score = grade("no", Case(id="a", input="?", keys={"output_requirements": {}}))
    assert (score.passed, set(score.values.values())) == (None, {None})


def test_without_an_answer_nothing_is_known_of_evidence():
    unknown = {spec.name for spec in ToolEvidence().metrics() if spec.on_agent_error is None}
    assert unknown == {VERIFIED, FABRICATED}


def test_required_tools_alone_are_requirements():
    keys = {"required_tools": ["shell"], "output_requirements": {}}
    assert codes("{}", Case(id="a", input="?", keys=keys)) == ["missing_tool_call:shell"]


def test_the_form_is_of_json_and_fields_alone():
    for wanted, form in (
        ({"must_include_tool_calls": ["web_search"]}, 1.0),
        ({"must_include_fields": ["b"]}, 0.0),
    ):
        assert grade(answer(SHELL), case(**wanted)).values[FORM] == form
    assert grade(answer(SHELL)).values[DECLARED] is None


def test_one_that_the_logs_lack_is_missing_and_was_made_up():
    assert verdict(logs("shell")) == (
        "incomplete",
        ["tool_evidence_incomplete:web_search", "fabricated_tool_call:web_search"],
    )
    assert verdict(logs())[0] == "incomplete"
    known = verdict(logs("shell", "web_search"), on_unknown="fail")
    assert known == ("complete", [])
    lenient = verdict(logs("shell"), on_incomplete="warn", on_fabricated="warn")
    assert lenient == ("incomplete", [])


@pytest.mark.parametrize(
    ("given", "note"),
    [
        (None, "no server log was looked for"),
        (logs(calls=None, logs=()), "no server log could be read"),
        (logs(calls=None), "no log that was read shows tool calls"),
        (logs("shell", "web_search", alone=False), "other requests were under way"),
        (logs("shell", "web_search", requests=2), "the access log shows more than one request"),
    ],
)
def test_unknown_is_never_complete_and_fails_only_where_asked(given, note):
    calls = answer({"name": "web_search"}, SHELL)
    task = case(["web_search", "shell"])
    score = grade(calls, task, server_logs=given)
    assert (score.evidence.verdict, score.evidence.notes[0]) == ("unknown", note)
    assert note in score.reason
    assert (score.passed, score.values[VERIFIED]) == (True, None)
    strict = codes(calls, task, server_logs=given, on_unknown="fail")
    assert strict == ["tool_evidence_unverified"]


def test_the_agents_own_steps_prove_nothing():
    for steps in ((), (ToolCall(name="shell"),)):
        score = grade(answer(SHELL), case(["shell"]), steps=steps)
        assert score.evidence.verdict == "unknown"
        assert "own steps are not proof" in score.reason


def test_declared_twice_and_run_once_is_one_made_up():
    score = grade(answer(SHELL, SHELL), case(["shell"]), server_logs=logs("shell", "web_fetch"))
    assert score.failures == ("fabricated_tool_call:shell",)
    assert score.values[FABRICATED] == 1.0
    assert score.evidence.undeclared == ("web_fetch",)


def test_an_entry_with_two_names_is_known_by_the_one_that_ran():
    odd = {"name": "call-1", "tool": "shell"}
    score = grade(answer(odd, odd), case(["shell"]), server_logs=logs("shell"))
    assert score.failures == ("fabricated_tool_call:shell",)
    assert score.evidence.declared == ("shell", "shell")
    fetched = {"name": "call-2", "tool": "web_fetch"}
    assert codes(answer(fetched), server_logs=logs("web_fetch")) == []


def test_what_even_the_lines_of_others_do_not_hold_is_made_up():
    """Lines of other requests can only add calls."""
    score = grade(answer(SHELL), server_logs=logs("web_fetch", alone=False))
    assert score.failures == ("fabricated_tool_call:shell",)
    assert (score.evidence.verdict, score.evidence.undeclared) == ("unknown", ())


def test_without_a_log_of_calls_nothing_is_called_made_up():
    score = grade(answer(SHELL), server_logs=logs(calls=None))
    assert (score.evidence.fabricated, score.values[FABRICATED]) == ((), None)


def test_a_family_is_lax_only_where_asked():
    tools, given = ["browser_use_open", "browser_use_type"], logs("browser_use_open")
    text = answer({"name": "browser_use_open"}, {"name": "browser_use_type"})
    assert verdict(given, tools, text, on_fabricated="warn") == (
        "incomplete",
        ["tool_evidence_incomplete:browser_use_type"],
    )
    assert verdict(given, tools, text, on_fabricated="warn", family="lax") == ("complete", [])
    assert verdict(given, tools, text, mode="upstream") == ("complete", [])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (logs("shell", alone=False), "incomplete"),
        (logs("shell", "web_search", alone=False), "complete"),
        (logs(), "unknown"),
        (None, "unknown"),
    ],
)
def test_the_verdict_of_upstream_is_attached_and_changes_nothing(given, expected):
    assert verdict(given, mode="upstream", on_unknown="fail") == (expected, [])


def test_the_verdict_stands_beside_an_answer_that_is_no_json():
    score = grade("no", case(["shell"]), server_logs=logs("shell"))
    assert score.evidence.verdict == "complete"
    assert score.values == {FORM: 0.0, DECLARED: 0.0, VERIFIED: 1.0, FABRICATED: 0.0}


def test_the_row_of_a_trial_has_the_evidence_and_a_mode():
    task, grader = case(["shell"]), ToolEvidence()
    response = Response(answer=answer(SHELL), server_logs=logs())
    attempt = grade_attempt(task, response, {"tool_evidence": grader})
    trial = Trial(suite="tool", case=task, round=1, attempts=(attempt,), started_at="", judged=0)
    specs = {spec.column: spec for spec in grader.metrics()}
    row = row_of(trial, cost_usd=None, on_agent_error={}, specs=specs)
    assert row["evidence"] == to_json(attempt.scores["tool_evidence"].evidence)
    assert mode_of(row) == "hallucinated_data"


# ------------------------------------------------------------------------------------------- keys


def test_a_requirement_that_nobody_knows_is_refused_but_by_upstream():
    wanted = {mode: ToolEvidence(mode=mode).keys for mode in ("strict", "upstream")}
    assert wanted["strict"]["output_requirements"]["additionalProperties"] is False
    assert wanted["upstream"]["output_requirements"]["additionalProperties"] is True


def test_a_least_number_is_not_below_zero():
    rules = key_rules({"tool_evidence": ToolEvidence()})
    assert list(rules.faults({"output_requirements": {"min_sources": 0}})) == []
    assert len(list(rules.faults({"output_requirements": {"min_sources": -1}}))) == 1


def test_what_no_answer_can_meet_is_a_fault_of_the_case():
    keys = case(["."], must_include_fields=["a..b"], must_include_tool_calls=["ok", " "]).keys
    assert list(ToolEvidence().case_faults(keys)) == [
        "output_requirements.must_include_fields: 'a..b' is not a dotted path",
        "required_tools: '.' is not the name of a tool",
        "output_requirements.must_include_tool_calls: ' ' is not the name of a tool",
    ]
