"""A run in shards that may end early: stage 1, one look at all shards, stage 2 if it is open."""

import hashlib
import json
import shutil

import pytest

from gate.suites.cases.sampling import in_shard
from tests.support.chat_server import ChatServer
from tests.support.in_process import run_command, run_session, save_baseline
from tests.support.session_files import details_of, summary_of, told_session

SHARDS = 4
KEY = ("--provider-key", "a-key-that-no-merge-has")
WORSE = 29  # per cent of wrong answers: worse than main, and not certainly after stage 1
CASES = [f"c{n:02d}" for n in range(60)]
CONFIG = """version: 1
agent: {type: openai, base_url: "URL", model: m, concurrency: 1, timeout_s: 20}
suites:
  - {name: s, dataset: s.jsonl, graders: [exact_match], rounds: 3}
  - {name: t, dataset: t.jsonl, graders: [exact_match], rounds: 3}
baseline: {source: repo}
protect: false
"""


def answers(wrong_percent):
    """The same answer to the nth call about a case in every run; `t` is answered right."""

    def reply(question, nth):
        drawn = int(hashlib.sha256(f"{question} {nth}".encode()).hexdigest(), 16) % 100
        return "no" if question.startswith("s") and drawn < wrong_percent else "yes"

    return reply


def write_rules(folder, url, more=""):
    (folder / "gate.yml").write_text(CONFIG.replace("URL", url) + more)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    for suite, ids in (("s", CASES), ("t", CASES[:20])):
        rows = [{"id": i, "input": suite + i, "expected_answer": "yes"} for i in ids]
        (folder / f"{suite}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with ChatServer(answers(20)) as server:
        write_rules(folder, server.url)
        save_baseline(folder, run_session(folder, "--baseline", "none", "--stop", "off"))
    return folder


@pytest.fixture
def project(tmp_path, measured):
    return shutil.copytree(measured, tmp_path / "project")


def run_stage_1(folder):
    for n in range(1, SHARDS + 1):
        given = ("--stage", "1", "--shard", f"{n}/{SHARDS}", "--out", f"one/{n}")
        run_session(folder, *given, *KEY)


def run_stage_2(folder, look, n, *more, code=0):
    given = ("--stage", "2", "--shard", f"{n}/{SHARDS}", "--resume", str(look), "--out", f"two/{n}")
    return run_command(folder, "run", *given, *KEY, *more, code=code)


def merge(folder, *paths, code=0):
    done = run_command(folder, "merge", *map(str, paths), "--out", "merged", code=code)
    return folder / told_session(done)


@pytest.fixture(scope="module")
def opened(measured, tmp_path_factory):
    """After stage 1 of an agent that is worse, but not certainly; and its look."""
    folder = shutil.copytree(measured, tmp_path_factory.mktemp("opened") / "project")
    with ChatServer(answers(WORSE)) as server:
        write_rules(folder, server.url)
        run_stage_1(folder)
        look = merge(folder, "one").relative_to(folder)
        for n in range(1, SHARDS + 1):
            run_stage_2(folder, look, n)
    return folder, look


def measured_rows(session):
    """What was answered and judged, without times."""
    times = ("latency_ms", "started_at", "attempts", "output_id")
    return [
        {k: v for k, v in row.items() if k not in times} | {"tries": len(row["attempts"])}
        for row in details_of(session)
    ]


def judged(session):
    """The verdict and what it rests on; latencies are left out."""
    report = summary_of(session)
    whole = [report[key] for key in ("outcome", "exit_code", "reason", "calls", "cases", "gates")]
    shown = ("outcome", "reason", "look", "looks", "ended", "trials", "failures_top")
    suites = {name: [one[key] for key in shown] for name, one in report["suites"].items()}
    blocking = [row for row in report["comparisons"] if row["level"] == "block"]
    return whole, suites, blocking


def test_a_decided_look_ends_the_run_and_refuses_stage_2(project):
    with ChatServer(answers(20)) as server:
        write_rules(project, server.url)
        run_stage_1(project)
        look = merge(project, "one")
        report = summary_of(look)
        assert (report["outcome"], report["open_suites"]) == ("pass", [])
        refused = run_stage_2(project, look, 1, code=2)
        assert "leaves no suite open, its verdict is pass; leave out stage 2" in refused.stderr
        assert server.calls == 240


def test_an_open_look_decides_nothing_and_says_what_to_do(opened):
    folder, look = opened
    report = summary_of(folder / look)
    assert (report["outcome"], report["exit_code"]) == ("inconclusive", 0)
    assert report["open_suites"] == ["s"]
    assert report["reason"].startswith("stage 1 leaves s open; run gate run --shard I/N --stage")
    (state,) = (
        json.loads(line)
        for line in (folder / look / "events.jsonl").read_text().splitlines()
        if '"event": "look"' in line
    )
    assert (state["looks"], state["going"]) == ({"s": 1, "t": 1}, ["s"])


def test_stage_2_makes_the_other_rounds_of_the_open_suites_only(opened):
    folder, _ = opened
    for n in range(1, SHARDS + 1):
        (session,) = (folder / "two" / str(n)).glob("session-*")
        own = [case for case in CASES if in_shard(case, n, SHARDS)]
        made = {(row["suite"], row["case_id"], row["round"]) for row in details_of(session)}
        assert made == {("s", case, number) for case in own for number in (4, 5, 6)}


def test_both_stages_are_the_undivided_run_with_two_looks(opened, measured, tmp_path):
    folder, look = opened
    joined = merge(folder, look, "two", code=1)
    whole = shutil.copytree(measured, tmp_path / "whole")
    with ChatServer(answers(WORSE)) as server:
        write_rules(whole, server.url, "policy: {inconclusive: extend}\n")
        alone = run_session(whole, "--stop", "off", *KEY, code=1)
    assert measured_rows(joined) == measured_rows(alone)
    assert judged(joined) == judged(alone)
    asked = [summary_of(session)["provenance"] for session in (joined, alone)]
    for name in ("agent_options", "concurrency"):  # the address is another one
        assert asked[0][name] == asked[1][name]


def test_a_lost_shard_of_stage_2_is_an_error_that_names_its_cases(opened, tmp_path):
    folder = shutil.copytree(opened[0], tmp_path / "project")
    shutil.rmtree(folder / "two" / "3")
    report = summary_of(merge(folder, opened[1], "two", code=6))
    assert report["outcome"] == "error"
    errored = {(case["suite"], case["case_id"]) for case in report["cases"]["errored"]}
    assert errored == {("s", case) for case in CASES if in_shard(case, 3, SHARDS)}
    assert report["suites"]["t"]["outcome"] == "pass"


def test_a_lost_shard_of_stage_1_opens_nothing(opened, tmp_path):
    folder = shutil.copytree(opened[0], tmp_path / "project")
    report = summary_of(merge(folder, "one/1", "one/2", "one/4", code=6))
    assert (report["outcome"], report["open_suites"]) == ("error", [])


def test_one_machine_may_go_on_with_the_look_alone(opened, tmp_path):
    """`--resume` without --stage makes the next batch as of any other session."""
    folder = shutil.copytree(opened[0], tmp_path / "project")
    with ChatServer(answers(WORSE)) as server:
        write_rules(folder, server.url)
        session = run_session(folder, "--resume", str(opened[1]), code=1)
    assert summary_of(session)["suites"]["s"]["trials"] == 360


# -------------------------------------------------------------------------------------- wrong uses


def test_a_shard_of_stage_1_is_not_merged_with_one_of_an_undivided_plan(opened, tmp_path):
    folder = shutil.copytree(opened[0], tmp_path / "project")
    with ChatServer(answers(WORSE)) as server:
        write_rules(folder, server.url)
        run_session(folder, "--shard", "2/4", "--out", "plain")
        run_session(folder, "--stage", "1", "--shard", "1/4", "--out", "staged")
    done = run_command(folder, "merge", "staged", "plain", "--out", "refused", code=2)
    assert "was run without --stage, the others with --stage 1; merge the shards of" in done.stderr


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (["two"], "is a shard of stage 2; give the session that `gate merge` made of stage 1, too"),
        (["LOOK"], "the shards of stage 1 are merged already; give the shards of stage 2, too"),
        (["LOOK", "two", "one"], "is no shard of stage 2, and"),
        (["LOOK", "LOOK", "two"], "is the joined session of a stage 1, as"),
        (["LOOK", "two", "two/1"], "is in"),
    ],
)
def test_sessions_that_do_not_belong_together_are_refused(opened, paths, words):
    folder, look = opened
    given = [str(look) if path == "LOOK" else path for path in paths]
    done = run_command(folder, "merge", *given, "--out", "refused", code=2)
    assert words in done.stderr
    assert not (folder / "refused").exists()


def test_stage_2_of_another_look_is_refused(opened):
    folder, look = opened
    other = merge(folder, "one").relative_to(folder)
    done = run_command(folder, "merge", str(other), "two", "--out", "refused", code=2)
    assert f"goes on with session {look.name.removeprefix('session-')}, and" in done.stderr


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (("model: m", "model: other"), "the agent differs"),
        (("version: 1", "version: 1\ngates: {agent.success_rate: {min: 0.3}}"), "gate.yml differs"),
        (
            ("graders: [exact_match]", "graders: [{exact_match: {normalize: []}}]"),
            "differs from that of stage 1",
        ),
    ],
)
def test_stage_2_of_something_else_is_refused(opened, tmp_path, change, what):
    folder = shutil.copytree(opened[0], tmp_path / "project")
    text = (folder / "gate.yml").read_text().replace(*change)
    (folder / "gate.yml").write_text(text)
    shutil.rmtree(folder / "two")
    refused = run_stage_2(folder, opened[1], 1, code=2)
    assert what in refused.stderr
    assert "run stage 2 with the files and options of stage 1" in refused.stderr
    assert not (folder / "two").exists()
