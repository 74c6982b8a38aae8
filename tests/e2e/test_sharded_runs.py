"""A run in shards, joined by `gate merge`, is the undivided run; what is lost or wrong is told."""

import gzip
import json
import re
import shutil
from pathlib import Path

import pytest

from gate.suites.cases.sampling import in_shard
from tests.support.chat_server import ChatServer
from tests.support.in_process import gate, run_command, run_session, save_baseline
from tests.support.session_files import details_of, summary_of, told_session

SHARDS = 3
AGENT = """
import hashlib

asked = {}

def agent(case):
    number = asked[case["id"]] = asked.get(case["id"], 0) + 1
    drawn = int(hashlib.sha256(f"{case['id']} {number}".encode()).hexdigest(), 16)
    right = drawn % 100 >= (45 if drawn % 3 else 15)
    return {
        "answer": f"It is {case['input'][1:]}." if right else "I do not know.",
        "retrieved": [{"id": f"d{drawn % 3}"}],
        "steps": [{"name": "look", "arguments": {"n": drawn % 2}, "result": "found"}],
        "usage": {"input_tokens": drawn % 97, "output_tokens": 9, "cost_usd": drawn % 1001 / 7e5},
    }
"""
CONFIG = """version: 1
agent: {AGENT}
suites:
  - name: wide
    dataset: wide.jsonl
    graders: [facts, {retrieval: {k: [1, 3]}}, tool_calls]
    rounds: 3
  - {name: brief, dataset: brief.jsonl, graders: [facts], rounds: 2}
gates: {agent.success_rate: {min: 0.2}}
regression: {stop: off}
baseline: {source: repo}
protect: false
"""


def write_cases(file: Path, prefix: str, number: int) -> list[str]:
    cases = [
        {
            "id": f"{prefix}{n}",
            "input": f"q{n}",
            "category": "even" if n % 2 == 0 else "odd",
            "expected_facts": [{"value": n}],
            "relevant_doc_ids": ["d1"],
            "expected_tool_calls": [{"name": "look", "args": {"n": 1}}],
        }
        for n in range(10, 10 + number)
    ]
    file.write_text("".join(json.dumps(case) + "\n" for case in cases))
    return [case["id"] for case in cases]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A project with a baseline; its agent replays answers, so that even latencies are the same."""
    folder = tmp_path_factory.mktemp("measured")
    write_cases(folder / "wide.jsonl", "w", 40)
    write_cases(folder / "brief.jsonl", "b", 12)
    (folder / "agent.py").write_text(AGENT)
    live = 'type: python, callable: "./agent.py:agent"'
    (folder / "gate.yml").write_text(CONFIG.replace("AGENT", live))
    save_baseline(folder, run_session(folder, "--baseline", "none"))
    run_session(folder, "--baseline", "none", "--record", "answers.jsonl", "--out", "recorded")
    recorded = "type: replay, file: answers.jsonl, concurrency: 1"  # one: in the order of rounds
    (folder / "gate.yml").write_text(CONFIG.replace("AGENT", recorded))
    for n in range(1, SHARDS + 1):
        run_session(folder, "--shard", f"{n}/{SHARDS}", "--out", f"shards/{n}", "--rounds", "2")
    return folder


@pytest.fixture
def project(tmp_path, measured):
    return shutil.copytree(measured, tmp_path / "project")


def merge(folder, *paths, code=0):
    done = run_command(folder, "merge", *paths, "--out", "merged", code=code)
    return folder / told_session(done)


def shard(folder, n):
    return next((folder / "shards" / str(n)).glob("session-*"))


# ------------------------------------------------------------------------------ the undivided run

TIMES = (
    re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}"),  # of a session
    re.compile(r"\d{4}-\d\d-\d\dT\d\d:(&#8203;)?\d\d:\d\d(\.\d+)?Z"),
    re.compile(r'(?<="duration_s": )[\d.]+|(?<="age_days": )[\d.e-]+'),
    re.compile(r'(?<="latency_ms": )[\d.]+(?=,\n    "status": null)'),  # of the health check
    re.compile(r"(?<= calls · )\d+ s\b"),
    re.compile(r'(?<=<testsuites name="Agent Gate" )(.*) time="[\d.]+"'),
    re.compile(r"(?<=calls · )\d+ s\b"),  # how long it took
)


def read_without_times(session):
    """File -> text without times and the session's name; the log's lines in an order of their
    own, as trials end in any order.
    """
    found = {}
    for path in sorted(session.rglob("*")):
        if path.is_file() and path.name != ".lock":
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            text = data.decode("utf-8").replace('"out": "merged"', '"out": "undivided"')
            for times in TIMES:
                text = times.sub("", text)
            lines = text.split("\n")
            sort = sorted if path.name == "events.jsonl" else list
            found[path.relative_to(session).as_posix()] = sort(lines)
    return found


def test_the_joined_session_is_that_of_the_undivided_run_but_for_times(project):
    whole = run_session(project, "--out", "undivided", "--rounds", "2")
    expected, found = read_without_times(whole), read_without_times(merge(project, "shards"))
    assert found.keys() == expected.keys()
    assert {"summary.json", "details.jsonl", "events.jsonl", "report.html"} <= found.keys()
    for name in expected:
        assert found[name] == expected[name], name


def test_the_order_in_which_shards_are_given_does_not_matter(project):
    one = merge(project, *(str(shard(project, n)) for n in (3, 1, 2)))
    assert read_without_times(one) == read_without_times(merge(project, "shards"))


def test_suites_may_be_split_differently(project):
    for suite, count in (("wide", 2), ("brief", 1)):
        for n in range(1, count + 1):
            given = ("--suite", suite, "--shard", f"{n}/{count}", "--rounds", "2")
            run_session(project, *given, "--out", f"split/{suite}")
    found, expected = summary_of(merge(project, "split")), summary_of(merge(project, "shards"))
    for key in ("outcome", "calls", "cost"):
        assert found[key] == expected[key], key
    for suite in ("wide", "brief"):
        assert found["suites"][suite]["metrics"] == expected["suites"][suite]["metrics"]
        assert found["suites"][suite]["reason"] == expected["suites"][suite]["reason"]
    lost = merge(
        project, "split/brief", str(next((project / "split" / "wide").glob("session-*"))), code=6
    )
    assert {case["suite"] for case in summary_of(lost)["cases"]["errored"]} == {"wide"}
    assert summary_of(lost)["suites"]["brief"]["outcome"] == "pass"


# ------------------------------------------------------------------------------------ lost shards


def cases_of_shard(folder, number):
    ids = [case["case_id"] for n in range(1, SHARDS + 1) for case in details_of(shard(folder, n))]
    return {case for case in ids if in_shard(case, number, SHARDS)}


def test_a_lost_shard_is_an_error_that_names_its_cases(project):
    lost = cases_of_shard(project, 2)
    done = run_command(
        project, "merge", "shards/1", "shards/3", "--out", "merged", "--no-color", code=6
    )
    report = summary_of(project / told_session(done))
    assert (report["outcome"], report["exit_code"]) == ("error", 6)
    assert {case["case_id"] for case in report["cases"]["errored"]} == lost
    assert report["cases"]["removed"] == []
    assert report["lost"] == ["shard 2/3 is not among the merged sessions"]
    wide = sorted(case for case in lost if case.startswith("w"))
    reason = report["suites"]["wide"]["reason"]
    assert f"{len(wide)} cases have no result ({wide[0]}, {wide[1]}" in reason
    assert "Next: run them again, then merge all shards again" in done.stdout


def test_a_policy_lets_a_lost_shard_through(project):
    with (project / "gate.yml").open("a") as file:
        file.write("policy: {error: warn}\n")
    session = merge(project, "shards/1", "shards/3")
    assert (summary_of(session)["outcome"], summary_of(session)["exit_code"]) == ("error", 0)


def test_a_regression_among_the_other_cases_is_no_failure(project):
    """What a part of the cases says is not the last word."""
    text = (project / "gate.yml").read_text().replace("{min: 0.2}", "{min: 0.99}")
    (project / "gate.yml").write_text(text)
    assert summary_of(merge(project, "shards/1", "shards/3", code=6))["outcome"] == "error"
    assert summary_of(merge(project, "shards", code=1))["outcome"] == "fail"


def test_an_interrupted_shard_is_lost_as_far_as_it_did_not_come(project):
    folder = shard(project, 2)
    rows = (folder / "details.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "details.jsonl").write_text("".join(rows[:-3]), "utf-8")
    (folder / "summary.json").unlink()
    report = summary_of(merge(project, "shards", code=6))
    cut = {json.loads(row)["case_id"] for row in rows[-3:]}
    assert {case["case_id"] for case in report["cases"]["errored"]} == cut
    assert report["lost"] == ["shard 2/3: it was interrupted"]


def test_a_shard_that_reached_no_agent_is_lost(tmp_path):
    cases = write_cases(tmp_path / "brief.jsonl", "b", 12)
    config = """version: 1
agent: {type: openai, base_url: "URL", model: m, timeout_s: 5}
suites: [{name: brief, dataset: brief.jsonl, graders: [facts], rounds: 1}]
"""
    with ChatServer(lambda question, nth: "10") as server:
        for n, url in ((1, server.url), (2, "http://127.0.0.1:9")):
            (tmp_path / "gate.yml").write_text(config.replace("URL", url))
            gate(tmp_path, "run", "--shard", f"{n}/2", "--baseline", "none", "--out", f"s{n}")
    done = gate(tmp_path, "merge", "s1", "s2", "--baseline", "none", "--out", "merged")
    assert done.returncode == 6, done.stdout + done.stderr
    report = summary_of(tmp_path / told_session(done))
    assert report["outcome"] == "error"
    errored = {case["case_id"] for case in report["cases"]["errored"]}
    assert errored == {case for case in cases if in_shard(case, 2, 2)}


def test_no_policy_lets_a_shard_through_whose_agent_was_there_and_broken(tmp_path):
    """As of an undivided run: a change may have broken it."""
    write_cases(tmp_path / "brief.jsonl", "b", 12)
    config = """version: 1
agent: {type: openagent, base_url: "URL", model: m, timeout_s: 5}
suites: [{name: brief, dataset: brief.jsonl, graders: [facts], rounds: 1}]
policy: {error: warn}
"""
    with ChatServer(lambda question, nth: "10") as server:
        (tmp_path / "gate.yml").write_text(config.replace("URL", server.url))
        given = ("--baseline", "none", "--provider-key", "k" * 20)
        whole = gate(tmp_path, "run", *given, "--out", "whole")
        for n in (1, 2):
            gate(tmp_path, "run", *given, "--shard", f"{n}/2", "--out", "parts")
    done = gate(tmp_path, "merge", "parts", "--baseline", "none", "--out", "merged")
    assert (done.returncode, whole.returncode) == (6, 6), done.stdout + whole.stdout


def test_a_shard_that_its_budget_ended_is_told(project):
    shutil.rmtree(project / "shards" / "2")
    with (project / "gate.yml").open("a") as file:
        file.write("budget: {calls: 5}\n")
    shutil.rmtree(project / "shards")
    for n in (1, 2, 3):
        run_session(project, "--shard", f"{n}/3", "--out", "shards", "--rounds", "2")
    report = summary_of(merge(project, "shards", code=1))
    assert any(note.startswith("shard 1/3 ended early") for note in report["notes"])
    assert report["lost"] == []


# -------------------------------------------------------------------------------------- wrong uses


def again(folder, n, of, *options):
    """One more session of a shard."""
    return str(run_session(folder, "--shard", f"{n}/{of}", "--out", f"other/{n}", *options))


WRONG = {
    "a shard twice": (
        lambda folder: ["shards", again(folder, 2, 3, "--rounds", "2")],
        r"shard 2/3 is in .* too; merge each shard once",
    ),
    "another N": (
        lambda folder: ["shards/1", again(folder, 2, 4, "--rounds", "2")],
        r"other/2/\S+: is shard 2/4, and shards/1/\S+ is one of 3; merge the shards of one run",
    ),
    "another number of rounds": (
        lambda folder: ["shards/1", again(folder, 2, 3)],
        r"other/2/\S+: is of another run than shards/1/\S+: its --rounds differs; merge the",
    ),
    "another sample": (
        lambda folder: ["shards/1", again(folder, 2, 3, "--rounds", "2", "--sample", "9")],
        r"its --sample differs",
    ),
    "an empty folder": (
        lambda folder: [(folder / "empty").mkdir() or "empty"],
        r"empty: no session here; give a session or a folder of sessions, and if every shard",
    ),
    "no folder": (
        lambda folder: ["nowhere"],
        r"nowhere: no session here; give",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_sessions_that_are_no_parts_of_one_run_are_refused(project, name):
    make, words = WRONG[name]
    done = run_command(project, "merge", *make(project), "--out", "merged", code=2)
    assert re.search(words, done.stderr), done.stderr
    assert not (project / "merged").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--stage", "1"], "--stage 1: works for shards only; give --shard I/N"),
        (["--stage", "2", "--shard", "1/3"], "--stage 2: give --resume SESSION"),
        (["--stage", "1", "--shard", "1/3", "--stop", "off"], "--stop off: has no effect with"),
        (["--stage", "1", "--shard", "1/3"], "--stage: recorded answers are replayed in one piece"),
        (["--stage", "1", "--case", "w10"], "--stage: cannot be combined with --case"),
        (["--stage", "2", "--shard", "1/3", "--resume", "shards/1/S"], "is not the joined session"),
    ],
)
def test_a_stage_is_refused_where_it_makes_no_sense(project, options, words):
    options = [word.replace("shards/1/S", str(shard(project, 1))) for word in options]
    done = run_command(project, "run", *options, "--out", "new", code=2)
    assert words in done.stderr
    assert not (project / "new").exists()
