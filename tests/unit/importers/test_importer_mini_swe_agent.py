"""The importer of mini-SWE-agent's trajectories: every shape, and what contradicts itself."""

import json
import shutil
from functools import partial

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.plugins import IMPORTERS
from tests.support.importing import read_results
from tests.support.paths import DATA

read = partial(read_results, "mini-swe-agent")

EXAMPLES = DATA / "imports"
RUN = EXAMPLES / "mini-swe-agent" / "run"
START = 1_793_491_200  # 2026-11-01
RATE = "mini_swe_agent.submitted_rate"


def trials(path, **options):
    return {one.case.id: one for one in read(path, **options).trials()}


def faults(path, kind=InvalidInput, **options):
    with pytest.raises(kind) as caught:
        read(path, **options)
    return str(caught.value)


def trajectory(folder, *messages, instance="a__b-1", top=None, **info):
    """One file; `info` adds to a submitted run of version 2."""
    whole = {
        "info": {
            "model_stats": {"instance_cost": 0.5, "api_calls": 2},
            "config": {"model": {"model_name": "m/1"}},
            "mini_version": "2.4.6",
            "exit_status": "Submitted",
            "submission": "diff",
            **info,
        },
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "t"},
            *messages,
        ],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": instance,
        **(top or {}),
    }
    path = folder / instance / f"{instance}.traj.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole))
    return path


def answered(folder, *messages, **more):
    (one,) = trials(trajectory(folder, *messages, **more)).values()
    return one.attempt


def said(command, at=None, **extra):
    """An assistant's message of version 2, text."""
    text = f"THOUGHT: so\n\n```mswea_bash_command\n{command}\n```"
    timed = {} if at is None else {"timestamp": START + at}
    return {
        "role": "assistant",
        "content": text,
        "extra": {"actions": [{"command": command}], **timed, **extra},
    }


def heard(output, code=0, at=None, **extra):
    timed = {} if at is None else {"timestamp": START + at}
    own = {"raw_output": output, "returncode": code, "exception_info": "", **timed, **extra}
    text = f"<returncode>{code}</returncode>\n<output>\n{output}</output>"
    return {"role": "user", "content": text, "extra": own}


def commands(attempt):
    return [(one.arguments["command"], one.result, one.error) for one in attempt.response.steps]


# ------------------------------------------------------------------------------------------- shapes


def test_text_with_a_block_of_code(tmp_path):
    one = answered(tmp_path, said("ls"), heard("a.py\n"), said("cat x"), heard("no\n", 1))
    assert commands(one) == [("ls", "a.py\n", None), ("cat x", "no\n", "exit code 1")]
    assert [step.turn for step in one.response.steps] == [0, 1]


def test_version_1_has_everything_in_its_text(tmp_path):
    one = answered(
        tmp_path,
        {"role": "assistant", "content": "THOUGHT\n```bash\nls\n```", "timestamp": START + 1},
        {"role": "user", "content": "<returncode>2</returncode>\n<output>\nno</output>"},
        {"role": "assistant", "content": "```bash\na\n```\n```bash\nb\n```"},
        {"role": "user", "content": "Please give exactly one action."},
        {"role": "assistant", "content": "```bash\necho SUBMIT\n```"},
        {"role": "user", "content": "diff"},
        top={"trajectory_format": "mini-swe-agent-1"},
    )
    shown = "<returncode>2</returncode>\n<output>\nno</output>"
    assert commands(one) == [("ls", shown, "exit code 2"), ("echo SUBMIT", "diff", None)]
    assert [step.turn for step in one.response.steps] == [0, 2]
    assert one.response.trace_faults == ()


def test_tool_calls_pair_by_their_id(tmp_path):
    calls = [
        {"id": name, "function": {"name": "bash", "arguments": json.dumps({"command": name})}}
        for name in ("a", "b")
    ]
    results = [
        {"role": "tool", "tool_call_id": name, "content": name.upper(), "extra": {"returncode": n}}
        for n, name in ((0, "b"), (1, "a"))
    ]
    one = answered(tmp_path, {"role": "assistant", "content": None, "tool_calls": calls}, *results)
    assert commands(one) == [("a", "A", "exit code 1"), ("b", "B", None)]
    assert [step.turn for step in one.response.steps] == [0, 0]


def test_responses(tmp_path):
    call = {
        "type": "function_call",
        "call_id": "c",
        "name": "bash",
        "arguments": '{"command": "ls"}',
    }
    turn = {"object": "response", "output": [{"type": "reasoning"}, call]}
    usage = {"input_tokens": 10, "output_tokens": 5}
    told = {"type": "function_call_output", "call_id": "c", "output": "x"}
    raw = {"raw_output": "y", "returncode": 0, "exception_info": "timed out"}
    one = answered(tmp_path, turn | {"usage": usage}, told | {"extra": raw})
    assert commands(one) == [("ls", "y", "timed out")]
    assert (one.response.usage.input_tokens, one.response.usage.output_tokens) == (10, 5)


def test_a_word_on_the_form_is_no_observation(tmp_path):
    interrupt = {"role": "user", "content": "no", "extra": {"interrupt_type": "FormatError"}}
    one = answered(tmp_path, said("ls"), interrupt, heard("x"))
    assert commands(one) == [("ls", "x", None)]
    stats = {"instance_cost": 0.25, "api_calls": 7}
    counted = answered(tmp_path, said("ls"), heard("x"), model_stats=stats)
    assert counted.response.turns == 7, "as the agent counted: also a call without an answer"


def test_tokens_cost_turns_and_times(tmp_path):
    usage = {"response": {"usage": {"prompt_tokens": 100, "completion_tokens": 10}}}
    one = answered(
        tmp_path,
        said("ls", at=0, **usage),
        heard("x", at=2),
        said("cat", at=12, **usage),
        heard("y", at=11),
        {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}},
    )
    tokens = one.response.usage
    assert (tokens.input_tokens, tokens.output_tokens, tokens.cost_usd) == (200, 20, 0.5)
    assert (one.response.turns, one.response.model, one.response.answer) == (2, "m/1", "diff")
    assert one.latency_ms == 12_000
    assert [step.latency_ms for step in one.response.steps] == [2_000, None], "a clock ran back"
    assert one.scores["mini-swe-agent"].values == {RATE: 1.0}


@pytest.mark.parametrize("bad", [-1, True, "x", 1e300, None])
def test_numbers_that_are_none_are_unknown(tmp_path, bad):
    stats = {"instance_cost": bad, "api_calls": bad}
    turn = said("ls", response={"usage": bad}) | {"timestamp": bad}
    one = answered(tmp_path, turn, heard("x", timestamp=bad), model_stats=stats)
    assert one.response.usage.cost_usd is None
    assert (one.response.turns, one.latency_ms) == (1, None)


def test_a_flood_of_steps_is_counted_and_not_kept(tmp_path):
    one = answered(tmp_path, *(m for _ in range(1_200) for m in (said("ls"), heard("x"))))
    assert (len(one.response.steps), one.response.omitted_steps) == (1_000, 200)


# ------------------------------------------------------------------------------------- how it ended


def test_whether_it_passed_nobody_knows():
    found = trials(RUN)
    assert {one.attempt.passed for one in found.values()} == {None}
    assert "evaluate the predictions and add --option report=FILE" in read(RUN).notes[0]


def test_a_run_report_of_swe_bench_tells():
    report = EXAMPLES / "swebench" / "run" / "acme__agent-x.nightly-001.json"
    found = trials(RUN, report=str(report))
    assert len(found) == 8, "the report has every instance that counts"
    one = found["django__django-11001"].attempt
    assert (one.passed, one.response.usage.cost_usd) == (True, 0.06)
    assert found["psf__requests-3002"].attempt.failures == ("empty_patch", "limits_exceeded")
    assert read(RUN, report=str(report)).provenance.agent == "acme/agent-x"


@pytest.mark.parametrize(
    ("status", "codes", "kind", "rate"),
    [
        ("Submitted", (), "completed", 1.0),
        ("LimitsExceeded", ("limits_exceeded",), "completed", 0.0),
        ("TimeExceeded", ("time_exceeded",), "completed", 0.0),
        ("KeyError", ("key_error",), "completed", 0.0),
        ("", ("unfinished",), "completed", 0.0),
        (None, ("unfinished",), "completed", 0.0),
        ("\x1b[1m" + "X" * 500, ("x" * 59,), "completed", 0.0),
        ("RateLimitError", ("rate_limit_error",), "infra_error", None),
        ("APIConnectionError", ("api_connection_error",), "infra_error", None),
    ],
)
def test_the_exit_status_is_a_failure_code(tmp_path, status, codes, kind, rate):
    one = answered(tmp_path, said("ls"), heard("x"), exit_status=status, submission="")
    assert (one.status, one.failures, one.passed) == (kind, codes, None)
    assert one.scores["mini-swe-agent"].values.get(RATE) == rate


def test_what_version_1_says_of_a_crash_is_no_patch(tmp_path):
    one = answered(tmp_path, said("ls"), exit_status="ValueError", submission="bad \x1b[1mvalue")
    assert (one.response.answer, one.error) == ("", "bad value")
    (tmp_path / "preds.json").write_text(json.dumps({"a__b-1": {"model_patch": "bad value"}}))
    assert trials(tmp_path), "nor is it held against the predictions"


def test_whose_failure_it_was_the_exceptions_text_tells_too(tmp_path):
    said_so = {"exception_str": "HTTP Error 503: Service Unavailable"}
    one = answered(tmp_path, said("ls"), exit_status="ClientError", submission="", **said_so)
    assert (one.status, one.failures) == ("infra_error", ("client_error",))
    one = answered(tmp_path, said("ls"), submission="Connection refused")
    assert (one.status, one.response.answer) == ("completed", "Connection refused"), "a patch"
    empty = trajectory(tmp_path / "empty", submission="")
    (empty.parents[1] / "preds.json").write_text(json.dumps({"a__b-1": {"model_patch": None}}))
    assert trials(empty.parents[1])


def test_an_instance_whose_agent_was_never_started(tmp_path):
    shutil.copytree(RUN, tmp_path / "run")
    (tmp_path / "run" / "exit_statuses_1793491500.yaml").write_text(
        "instances_by_exit_status:\n  Submitted: [django__django-11001, django__django-11002]\n"
        "  LimitsExceeded: [psf__requests-3002]\n  CalledProcessError: [x__y-1]\n"
    )
    found = read(tmp_path / "run")
    one = {trial.case.id: trial.attempt for trial in found.trials()}["x__y-1"]
    assert (one.status, one.failures) == ("infra_error", ("called_process_error",))
    assert found.suites["mini-swe-agent"].cases == 4
    assert "1 instances have no trajectory" in found.notes[1]


def test_a_run_says_when_it_was():
    found = read(RUN)
    assert found.created_at == "2026-11-01T00:00:00Z"
    assert found.provenance.tool_version == "mini-swe-agent 2.4.6"
    assert [one.started_at for one in found.trials()][1] == "2026-11-01T00:01:40Z"


# ----------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("top", "told"),
    [
        ({"info": None}, "info, messages: not a mini-SWE-agent trajectory"),
        ({"messages": {}}, "info, messages: not a mini-SWE-agent trajectory"),
        ({"trajectory_format": "mini-swe-agent-3"}, "'mini-swe-agent-3' is not supported"),
        ({"trajectory_format": ["\x1b[1m"]}, "is not supported, only mini-swe-agent-1, "),
        ({"messages": [1]}, "messages[0]: it is not an object"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0]: it has no name"),
        (
            {"instance_id": "c__d-2"},
            "its instance_id is 'c__d-2', so the file must be named c__d-2",
        ),
    ],
)
def test_what_is_no_trajectory_is_refused(tmp_path, top, told):
    trajectory(tmp_path, top=top)
    assert told in faults(tmp_path)


def test_all_problems_are_told_at_once(tmp_path):
    for n in range(60):
        trajectory(tmp_path, instance=f"a__b-{n}").write_text('{"info": ')
    told = faults(tmp_path).splitlines()
    assert len(told) == 51
    assert sum("cut off in the middle" in one for one in told) == 50
    assert any("and 10 more problems" in one for one in told)


def test_one_folder_is_one_run(tmp_path):
    trajectory(tmp_path, instance="a__b-1")
    trajectory(tmp_path, instance="a__b-2", config={"model": {"model_name": "m/2"}})
    assert "trajectories of different models: m/1 and m/2" in faults(tmp_path)
    trajectory(tmp_path, instance="a__b-2", top={"trajectory_format": "mini-swe-agent-1"})
    assert "trajectories of different formats: mini-swe-agent-1 and mini-swe-agent-1.1" in faults(
        tmp_path
    )
    trajectory(tmp_path, instance="a__b-2", mini_version="2.5.0")
    assert "several versions of mini-SWE-agent took part: 2.4.6, 2.5.0" in read(tmp_path).notes
    trajectory(tmp_path / "again", instance="a__b-1")
    assert "is of the same instance - remove one of the two" in faults(tmp_path)


@pytest.mark.parametrize(
    ("predictions", "told"),
    [
        (
            {"a__b-1": {"model_patch": "other"}},
            "a__b-1: its model_patch differs from the patch in a__b-1.traj",
        ),
        ({"x__y-1": {"model_patch": "diff --git"}}, "x__y-1: has a patch, but its trajectory is"),
        ({"a\nb": {}}, "a b: is not an instance id"),
        ([], "must be a JSON object with an entry for each instance"),
    ],
)
def test_predictions_beside_them_say_the_same(tmp_path, predictions, told):
    trajectory(tmp_path)
    (tmp_path / "preds.json").write_text(json.dumps(predictions))
    assert told in faults(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("instances_by_exit_status: {LimitsExceeded: [a__b-1]}", "says LimitsExceeded, but a__b-1"),
        ("instances_by_exit_status: {Submitted: [x__y-1]}", "x__y-1: was submitted, but its traj"),
        ("a: [", "exit_statuses_2.yaml"),
    ],
)
def test_exit_statuses_say_the_same(tmp_path, text, told):
    trajectory(tmp_path)
    (tmp_path / "exit_statuses_1.yaml").write_text("instances_by_exit_status: {Old: [a__b-1]}")
    (tmp_path / "exit_statuses_2.yaml").write_text(text)
    assert told in faults(tmp_path)


def test_a_folder_without_any_is_refused(tmp_path):
    assert "has no *.traj.json; give a run folder" in faults(tmp_path, UsageError)
    (tmp_path / "x.traj.json").symlink_to(trajectory(tmp_path / "elsewhere"))
    assert "a symbolic link, which is not followed" in faults(tmp_path / "x.traj.json", UsageError)


def test_what_it_looks_like(tmp_path):
    ours = IMPORTERS.get_class("mini-swe-agent").recognises
    assert ours(look(RUN))
    assert ours(look(RUN / "django__django-11001" / "django__django-11001.traj.json"))
    assert not ours(look(EXAMPLES / "swebench" / "run"))
    assert not ours(look(RUN / "preds.json"))
