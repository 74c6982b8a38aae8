"""What the agent did, kept in the baseline file, and what a report makes of it."""

import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from gate.errors import UsageError
from gate.graders.trajectories.path import Path, path_of
from gate.graders.trajectories.reference import reference_path
from gate.records import Case, ToolCall
from gate.store.baseline.file import BaselineFile, newest, parse, render
from gate.store.baseline.pool import accept, append, digest, starts_anew
from gate.store.baseline.schema import schema
from gate.store.baseline.sources.file import session_baseline
from gate.store.session import load_session
from gate.verdict.conclude import conclude
from gate.verdict.step_diffs import CASES
from tests.support.main_runs import stored_table, told_header
from tests.support.measured_suites import CONFIG, SETTING, measured_suite, success_table
from tests.support.stored_session import store


def path(letters: str, **arguments: object) -> Path:
    return path_of([ToolCall(name=letter, arguments=arguments) for letter in letters])


def pool(onto: BaselineFile | None, number: int, paths, cases="ab", **more) -> BaselineFile:
    values = {case: [1.0, 0.0] for case in cases}
    return append(
        onto, stored_table(values), told_header(number), keep_rounds=15, paths=paths, **more
    )


# ----------------------------------------------------------------------------------------- the file


def test_what_is_read_is_what_was_written():
    whole = pool(None, 1, {"a": path("xy", q="rain"), "b": replace(path("x"), omitted=9)})
    text = render(whole)
    again = parse(text.encode(), "f")
    assert again.paths == whole.paths
    assert render(again) == text
    Draft202012Validator(schema()).validate(json.loads(text))


def test_a_file_without_paths_reads_and_stays_as_it_is():
    text = render(pool(None, 1, None))
    assert "path" not in text
    again = parse(text.encode(), "f")
    assert again.paths == {}
    assert render(again) == text


def test_the_newest_run_wins_also_where_it_tells_no_steps():
    first = pool(None, 1, {"a": path("x"), "b": path("x")})
    second = pool(first, 2, {"a": path("y")})
    assert second.paths == {"a": path("y")}


def test_a_sample_keeps_the_paths_of_the_cases_that_it_left_out():
    first = pool(None, 1, {"a": path("x"), "b": path("x")})
    assert pool(first, 2, {"a": path("y")}, "a", partial=True).paths == {
        "a": path("y"),
        "b": path("x"),
    }
    assert pool(first, 2, {"a": path("y")}, "a").paths == {"a": path("y")}


def test_after_a_change_was_accepted_no_older_path_is_left():
    first = pool(None, 1, {"a": path("x"), "b": path("x")})
    meant = accept(parse(render(first).encode(), "f"), who="w", when="now", why="y")
    assert starts_anew(meant)
    assert pool(meant, 2, {"a": path("y")}, "a", partial=True).paths == {"a": path("y")}


def test_fewer_rounds_lose_no_path():
    first = pool(None, 1, {"a": path("x")})
    assert newest(first, 1).paths == first.paths
    assert digest(first) != digest(replace(first, paths={}))


STEP = {"tool": "x", "digest": "0" * 12, "arguments": ""}


@pytest.mark.parametrize(
    "hostile",
    [
        [],
        "x",
        {},
        {"steps": [STEP] * 31},
        {"steps": [{**STEP, "tool": "x" * 81}]},
        {"steps": [{**STEP, "tool": "two\nlines"}]},
        {"steps": [{**STEP, "arguments": "x" * 81}]},
        {"steps": [{**STEP, "digest": "../../etc/pw"}]},
        {"steps": [{**STEP, "more": 1}]},
        {"steps": [STEP], "omitted": -1},
        {"steps": [STEP], "omitted": "many"},
    ],
)
def test_a_path_that_no_run_wrote_is_refused_with_its_line(hostile):
    data = json.loads(render(pool(None, 1, {"a": path("x")})))
    data["cases"][0]["path"] = hostile
    with pytest.raises(UsageError, match=r"^base\.json:\d+: path"):
        parse(json.dumps(data, indent=0).encode(), "base.json")


def told_steps(folder, tools):
    """The session's rows with these tools called, by case and round."""
    file = folder / "details.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        names = tools[row["case_id"]][row["round"] - 1]
        row["steps"] = [{"name": name, "arguments": {}} for name in names]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_session(folder)


def test_a_session_as_baseline_has_the_paths_of_rounds_that_passed(tmp_path):
    folder = store(tmp_path, {"a": [False, True], "b": [False, False]})
    session = told_steps(folder, {"a": ["x", "yz"], "b": ["p", "q"]})
    found = session_baseline(session, "analytics")
    tools = {case: [step.tool for step in one.steps] for case, one in found.paths.items()}
    assert tools == {"a": ["y", "z"], "b": ["p"]}


# --------------------------------------------------------------------------------------- the report


def rows(suite, ids):
    """The first round is of a shard that told no steps, the second took another way."""
    for case in sorted(ids):
        for number, steps in ((1, None), (2, "xz"), (3, "zzz")):
            calls = None if steps is None else [{"name": n, "arguments": {}} for n in steps]
            yield {
                "suite": suite,
                "case_id": case,
                "round": number,
                "status": "completed",
                "passed": False,
                "question": "?",
                "output": "so",
                "failures": [],
                "error": "",
                "reasons": {},
                "mode": "wrong_answer",
                "steps": calls,
            }


def failing(paths_of=None, references_of=None, failed=8, **more):
    one = measured_suite(success_table(failed=failed, **more), baseline=success_table(**more))
    if paths_of:
        one = replace(one, compared=replace(one.compared, paths_of=paths_of))
    if references_of:
        one = replace(one, references_of=references_of)
    return conclude([one], CONFIG, SETTING, rows).cases.newly_failing


def all_alike(letters):
    return lambda ids: {case: path(letters) for case in ids}


def shown(change):
    return (
        change.steps.against,
        change.steps.round,
        [(s.kind, s.was, s.now) for s in change.steps.steps],
    )


def test_a_newly_failing_case_shows_what_the_agent_did_otherwise_than_in_the_baseline():
    first, *_ = failing(all_alike("xy"), all_alike("q"))
    assert shown(first) == (
        "baseline",
        2,
        [("same", "x()", "x()"), ("removed", "y()", ""), ("added", "", "z()")],
    )


def test_without_steps_in_the_baseline_the_reference_is_what_is_compared_with():
    case = Case(id="a", input="?", keys={"reference_trajectory": [{"name": "x"}]})
    reference = reference_path(case)
    first, *_ = failing(references_of=lambda ids: dict.fromkeys(ids, reference))
    assert shown(first)[0] == "reference"
    assert [kind for kind, _, _ in shown(first)[2]] == ["same", "added"]


def test_without_either_nothing_is_compared():
    assert {change.steps for change in failing()} == {None}


def test_steps_are_compared_for_a_bounded_number_of_cases():
    changes = failing(all_alike("x"), failed=CASES + 20, cases=200)
    assert [change.steps is not None for change in changes] == [True] * CASES + [False] * 20


def test_a_case_that_was_edited_is_not_compared_with_what_it_was():
    now = success_table(failed=0)
    success = now.columns["success"].copy()
    success[:, 0] = 0.0  # every case flips
    now = replace(now, columns={**now.columns, "success": success})
    was = replace(success_table(), digests=tuple(f"old {d}" for d in now.digests))
    one = measured_suite(now, baseline=was)
    one = replace(one, compared=replace(one.compared, paths_of=all_alike("x")))
    flaky = conclude([one], CONFIG, SETTING, rows).cases.flaky
    assert flaky
    assert {change.steps for change in flaky} == {None}
