"""`gate history` on five real runs of the sample agent: the table of every format, both sources."""

import csv
import json
import re
import time
from collections import Counter

import pytest

from gate.commands.schema import SCHEMAS
from gate.files.json_schema_quick import compile_check
from tests.support.in_process import gate
from tests.support.paths import ANALYTICS
from tests.support.session_files import sessions_in

AGENTS = (  # one a run, oldest first
    "{}",
    "{}",
    "{refuse: 0.6, seed: 3}",
    "{no_tool: [run_sql]}",
    "{hallucinate: true}",
)
HEAD = [
    "Date (UTC)",
    "Commit",
    "Success Rate",
    "Avg Steps",
    "Avg Cost",
    "Top Failure Mode",
    "Cases x Rounds",
]


def configure(folder, options):
    (folder / "gate.yml").write_text(
        f"""version: 1
agent: {{type: sample, options: {options}}}
pricing: {{sample-analytics-1: {{input: 0.5, output: 1.5}}}}
suites:
  - name: analytics
    dataset: cases.jsonl
    graders: [facts, hallucination, {{tool_calls: {{mode: superset, args: ignore}}}}]
    rounds: 1
baseline: {{source: {folder.as_posix()}/kept}}
protect: false
"""
    )


def on_push(folder, branch):
    """What GitHub tells a job after a push."""
    repository = {"full_name": "octo/demo", "id": 1, "default_branch": "main"}
    event = {"ref": f"refs/heads/{branch}", "before": "0" * 40, "repository": repository}
    (folder / "event.json").write_text(json.dumps(event))
    return {
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_REF": f"refs/heads/{branch}",
        "GITHUB_REPOSITORY": "octo/demo",
    }


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Five sessions in results/, and the chain that `gate baseline save` made of them in kept/."""
    folder = tmp_path_factory.mktemp("history")
    with ANALYTICS.open(encoding="utf-8") as cases:
        (folder / "cases.jsonl").write_text("".join(list(cases)[::8]), encoding="utf-8")
    known = set()
    for options in AGENTS:
        configure(folder, options)
        time.sleep(1 - time.time() % 1)  # the second tells the order of runs
        run = gate(folder, "run", "--baseline", "none", "--quiet")
        assert run.returncode == 0, run.stderr + run.stdout
        (new,) = set(sessions_in(folder)) - known
        known.add(new)
        saved = gate(folder, "baseline", "save", str(new), "--out", "kept")
        assert saved.returncode == 0, saved.stderr
    return folder


def shown(project, *arguments, code=0):
    done = gate(project, "history", *arguments, env={"COLUMNS": "120"})
    assert done.returncode == code, done.stderr + done.stdout
    return done.stdout


def test_the_table_of_five_runs_is_the_same_from_sessions_and_from_the_chain(project):
    of_sessions = json.loads(shown(project, "results", "--format", "json"))
    of_chain = json.loads(shown(project, "--format", "json"))
    assert of_sessions["suites"][0]["runs"] == of_chain["suites"][0]["runs"]
    assert compile_check(SCHEMAS["history"]())(of_chain)
    runs = of_chain["suites"][0]["runs"]
    assert [run["session_id"] for run in runs] == sorted(run["session_id"] for run in runs)
    assert [(run["cases"], run["rounds"]) for run in runs] == [(25, 1)] * 5
    assert all(run["avg_steps"] > 0 and run["cost_per_task"] > 0 for run in runs)
    rates = [run["success_rate"] for run in runs]
    assert rates[0] == rates[1] > max(rates[2:]), "each switch breaks cases"


def test_the_top_failure_mode_follows_what_was_broken(project):
    runs = json.loads(shown(project, "--format", "json"))["suites"][0]["runs"]
    assert [run["top_mode"] for run in runs[2:]] == [
        "refusal",
        "missing_tool_use",
        "hallucinated_data",
    ]
    for run in runs:
        assert run["top_mode_cases"] == max(run["modes"].values(), default=0)


def test_the_figures_are_those_of_the_trials(project):
    """Added up again from the rows, with nothing of ours."""
    told = json.loads(shown(project, "results", "--format", "json"))["suites"][0]["runs"]
    for run, session in zip(told, sorted(sessions_in(project)), strict=True):
        assert run["session_id"] in session.name
        lines = (session / "details.jsonl").read_text("utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        assert run["success_rate"] == pytest.approx(sum(row["passed"] for row in rows) / len(rows))
        assert run["avg_steps"] == pytest.approx(sum(len(r["steps"]) for r in rows) / len(rows))
        assert run["cost_per_task"] == pytest.approx(sum(r["cost_usd"] for r in rows) / len(rows))
        cases = {(row["mode"], row["case_id"]) for row in rows if not row["passed"]}
        assert run["modes"] == Counter(mode for mode, _ in cases)


def test_on_a_terminal_and_as_markdown_there_is_one_row_a_run_oldest_first(project):
    text = shown(project, "results").splitlines()
    assert re.split(r"\s{2,}", next(line for line in text if "Date" in line).strip()) == HEAD
    rows = [line for line in text if re.match(r"  \d{4}-\d{2}-\d{2} \d{2}:\d{2} ", line)]
    assert len(rows) == 5
    assert "25 x 1" in rows[0]
    lines = shown(project, "results", "--format", "md").splitlines()
    table = [row for row in csv.reader(lines, delimiter="|") if len(row) > 5]
    assert [cell.strip() for cell in table[0][1:-1]] == HEAD
    assert len(table) == 2 + 5
    assert any("cases)" in row[6] for row in table[2:])


def test_the_page_needs_nothing_from_elsewhere(project, tmp_path):
    page = tmp_path / "history.html"
    assert shown(project, "--format", "html", "--out", str(page)) == ""
    text = page.read_text("utf-8")
    assert text.count('<th scope="row" class="date"') == 5
    assert "default-src &#39;none&#39;; style-src &#39;sha256-" in text
    assert "<svg" in text
    assert not re.search(r"src=|href=|url\(|@import", text)


def test_last_and_suite_choose_what_is_shown(project):
    found = json.loads(shown(project, "--format", "json", "--last", "2", "--suite", "analytics"))
    (suite,) = found["suites"]
    assert (len(suite["runs"]), suite["older"]) == (2, 3)
    assert "older runs are not shown" in shown(project, "results", "--last", "2")
    assert "did you mean 'analytics'" in gate(project, "history", "--suite", "analytcs").stderr
    assert shown(project, "results", "--since", "2999-01-01", code=4)


def pushed(project, branch, options):
    """What a run after a push prints, and its decision."""
    configure(project, options)
    out = f"pushed-{branch}"
    done = gate(project, "run", "--out", out, env=on_push(project, branch))
    newest = max((project / out).glob("session-*"), key=lambda path: path.stat().st_mtime)
    return done, json.loads((newest / "summary.json").read_text("utf-8"))["decision"]


def test_main_says_deploy_once_it_is_proved_better_and_a_topic_branch_says_nothing(project):
    """The newest stored run made numbers up; the one before the switches did not."""
    better, decision = pushed(project, "main", "{}")
    assert better.returncode == 0, better.stderr
    assert (decision["deploy"], "analytics/agent.success_rate" in decision["improved"]) == (
        True,
        True,
    )
    assert "Deploy: " in better.stdout
    _, decision = pushed(project, "main", "{hallucinate: true}")
    assert decision["deploy"] is False
    quiet, decision = pushed(project, "topic", "{}")
    assert decision is None
    assert "deploy" not in quiet.stdout.lower()
