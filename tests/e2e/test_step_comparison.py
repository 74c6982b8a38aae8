"""What the agent did otherwise, from a run of main to the report of a change."""

import json

import pytest

from tests.support.in_process import run_command, run_session
from tests.support.session_files import details_of, summary_of

# Asks for another table in the changed version, three times, and gives up.
AGENT = """
TABLE = "orders"

def answer(case):
    table = TABLE
    found = {"name": "run_sql", "arguments": {"table": table}, "result": table}
    steps = [{"name": "list_tables", "arguments": {}, "result": ["orders"]}, found]
    if table != "orders":
        found.update(result=None, error="no such table")
        steps += [found, found]
    return {"answer": "yes" if table == "orders" else "no", "steps": steps}
"""
GRADERS = "[exact_match, trajectory]"
REFERENCE = [{"name": "run_sql", "args": {"table": "orders"}}]


def project(folder, agent=AGENT):
    keys = {"expected_answer": "yes", "reference_trajectory": REFERENCE}
    cases = [{"id": f"c{n}", "input": f"q{n}", **keys} for n in range(6)]
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    (folder / "agent.py").write_text(agent, encoding="utf-8")
    suite = f"suites: [{{name: s, dataset: cases.jsonl, rounds: 3, graders: {GRADERS}}}]\n"
    asked = "agent: {type: python, callable: './agent.py:answer'}\n"
    (folder / "gate.yml").write_text(f"version: 1\n{asked}{suite}", encoding="utf-8")


WRONG = AGENT.replace('TABLE = "orders"', 'TABLE = "customers"')
CHANGED = [
    ("same", "list_tables()", "list_tables()"),
    ("changed", 'run_sql({"table":"orders"})', 'run_sql({"table":"customers"})'),
    ("added", "", 'run_sql({"table":"customers"})'),
    ("added", "", 'run_sql({"table":"customers"})'),
]


def told(report):
    found = [change["steps"] for change in report["cases"]["newly_failing"]]
    return [
        (one["against"], one["round"], [(s["kind"], s["was"], s["now"]) for s in one["steps"]])
        for one in found
    ]


@pytest.fixture
def main(tmp_path):
    """A project with the baseline of its main branch."""
    project(tmp_path)
    session = run_session(tmp_path)
    run_command(tmp_path, "baseline", "save", str(session))
    return tmp_path, session


def test_a_change_of_the_way_is_told_beside_the_baselines(main):
    folder, _ = main
    stored = json.loads((folder / "baselines" / "s.json").read_text(encoding="utf-8"))
    tools = [step["tool"] for step in stored["cases"][0]["path"]["steps"]]
    assert tools == ["list_tables", "run_sql"]
    project(folder, WRONG)
    session = run_session(folder, code=1)
    assert told(summary_of(session)) == [("baseline", 1, CHANGED)] * 6
    (cause,) = summary_of(session)["causes"]
    first, *_ = cause["parts"]
    assert (first["what"], first["was"], first["now"]) == (
        "run_sql.table",
        '"orders"',
        '"customers"',
    )
    assert cause["cases"] == [f"c{n}" for n in range(6)]
    failures = {code for row in details_of(session) for code in row["failures"]}
    assert failures == {"answer_mismatch", "loop:run_sql"}
    ratios = [row["scores"]["agent.trajectory_efficiency"] for row in details_of(session)]
    assert all(ratio > 1 for ratio in ratios)


def test_two_sessions_are_compared_likewise(main):
    folder, before = main
    project(folder, WRONG)
    after = run_session(folder, code=1)
    run_command(folder, "compare", str(before), str(after), "--out", "again", code=1)
    assert "run_sql" in (folder / "again" / "report.md").read_text(encoding="utf-8")


def test_where_the_baseline_has_no_steps_the_reference_is_beside(main):
    folder, _ = main
    file = folder / "baselines" / "s.json"
    stored = json.loads(file.read_text(encoding="utf-8"))
    for case in stored["cases"]:
        del case["path"]
    file.write_text(json.dumps(stored), encoding="utf-8")
    project(folder, WRONG)
    against, number, lines = told(summary_of(run_session(folder, code=1)))[0]
    assert (against, number) == ("reference", 1)
    assert [kind for kind, _, _ in lines] == ["added", "changed", "added", "added"]


def test_a_control_that_is_asked_in_the_same_run_shows_its_own_steps(tmp_path):
    project(tmp_path, WRONG)
    (tmp_path / "before.py").write_text(AGENT, encoding="utf-8")
    with (tmp_path / "gate.yml").open("a", encoding="utf-8") as file:
        file.write("control_agent: {type: python, callable: './before.py:answer'}\n")
        file.write("regression: {control: fresh}\n")
    assert told(summary_of(run_session(tmp_path, code=1))) == [("baseline", 1, CHANGED)] * 6
