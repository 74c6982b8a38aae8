"""`gate run --executor dask` against a real scheduler and real workers, some of which end."""

import json
import re
import shutil
import signal
import sys
import threading
import time

import pytest

from gate.errors import InfrastructureError
from gate.run.cluster.connect import connect
from gate.store.session import load_session
from tests.support.as_process import start_gate
from tests.support.chat_server import ChatServer
from tests.support.dask_cluster import dask_cluster
from tests.support.grading_project import (
    files_without_times,
    write_answers,
    write_grading_project,
)
from tests.support.in_process import gate
from tests.support.yes_project import CASES, right, write_project

pytest.importorskip("distributed", reason="the extra `dask` is not installed")


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of Unix")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with dask_cluster(tmp_path_factory.mktemp("cluster"), "a", "b") as running:
        yield running


def on(cluster, *more):
    return ("run", "--executor", "dask", "--scheduler", cluster.address, *more)


def rows_of(run, folder):
    """The rows of a run's session, sorted, without what differs from run to run anyway."""
    name = re.search(r"Session written to: (\S+)", run.stdout)[1]
    rows = [dict(row) for row in load_session(folder / name).rows()]
    for row in rows:
        for part in (row, *row["attempts"]):
            for key in ("latency_ms", "waited_ms", "started_at"):
                part.pop(key, None)
    return sorted(rows, key=lambda row: (row["case_id"], row["round"]))


def many(number):
    return [{"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"} for n in range(number)]


def odd(question, nth):
    """Right and wrong answers, a 429 that passes, a 503 that stays, a refusal, half an answer."""
    behaviours = {
        1: "no",
        2: (429, {"Retry-After": "0"}, {}) if nth == 0 else "yes",
        3: (503, {}, {"error": "down"}),
        4: (400, {}, {"error": "never"}),
        5: (200, {"Content-Type": "application/json"}, b'{"choices": ['),
        6: (500, {}, {"error": "boom"}) if nth == 0 else "yes",
    }
    return behaviours.get(int(question[1:]), "yes")


def test_the_rows_are_those_of_threads_whatever_the_agent_does(cluster, tmp_path):
    with ChatServer(odd) as server:
        write_project(tmp_path, server.url, suite_more="rounds: 1")
        threads = gate(tmp_path, "run")
        server.asked.clear()
        dask = gate(tmp_path, *on(cluster))
    assert (dask.returncode, dask.stderr.count("Traceback")) == (threads.returncode, 0)
    assert rows_of(dask, tmp_path) == rows_of(threads, tmp_path)
    statuses = {row["case_id"]: row["status"] for row in rows_of(dask, tmp_path)}
    assert (statuses["c3"], statuses["c4"]) == ("infra_error", "agent_error")


def test_a_worker_that_is_killed_loses_nothing(cluster, tmp_path):
    victim = cluster.add_worker("victim")
    cluster.await_workers(3)

    def reply(question, nth):
        if len(server.asked) >= 30:
            victim.kill()
        return "yes"

    with ChatServer(reply, delay_s=0.02) as server:
        write_project(tmp_path, server.url, cases=many(120), suite_more="rounds: 1")
        run = gate(tmp_path, *on(cluster, "--concurrency", "12"))
        asked = sum(server.asked.values())
    assert victim.wait(timeout=10) == -signal.SIGKILL
    rows = rows_of(run, tmp_path)
    assert [len(rows), {row["passed"] for row in rows}] == [120, {True}]
    assert 120 <= asked <= 120 + 8, "at most what the worker had at hand is asked again"


def test_a_worker_that_comes_after_the_last_one_was_killed_goes_on(tmp_path):
    with dask_cluster(tmp_path / "cluster", "only") as own:

        def reply(question, nth):
            if len(server.asked) >= 10 and own.workers[0].poll() is None:
                own.workers[0].kill()
                own.add_worker("next")
            return "yes"

        with ChatServer(reply, delay_s=0.02) as server:
            write_project(tmp_path, server.url, cases=many(40), suite_more="rounds: 1")
            run = gate(tmp_path, *on(own))
    assert len(rows_of(run, tmp_path)) == 40


AGENT = """import os, pathlib, time

def answer(question: str) -> str:
    time.sleep(float(os.environ.get("SLOW", "0")))
    pathlib.Path(os.environ["MADE_BY"]).open("a").write(question + "\\n")
    return "yes"
"""


def write_own_agent(folder):
    write_project(folder, "", cases=many(60), suite_more="rounds: 1")
    (folder / "own.py").write_text(AGENT)
    text = (folder / "gate.yml").read_text()
    agent = "agent: {type: python, callable: './own.py:answer', concurrency: 4}"
    (folder / "gate.yml").write_text(re.sub("agent: .*", agent, text))


def test_own_code_runs_on_the_workers_and_a_slow_one_gets_less(tmp_path):
    with dask_cluster(tmp_path / "cluster") as own:
        for name, slow in (("fast", "0.005"), ("slow", "0.5")):
            own.add_worker(name, {"SLOW": slow, "MADE_BY": str(tmp_path / name)})
        own.await_workers(2)
        project = tmp_path / "project"
        project.mkdir()
        write_own_agent(project)
        run = gate(project, *on(own))
        assert len(rows_of(run, project)) == 60
        fast, slow = ((tmp_path / n).read_text().splitlines() for n in ("fast", "slow"))
        assert sorted([*fast, *slow]) == sorted(f"q{n}" for n in range(60))
        assert 1 <= len(slow) < len(fast)

        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        own.add_worker("old", {"GATE_ROOT": str(elsewhere), "MADE_BY": str(tmp_path / "old")})
        own.await_workers(3)
        (elsewhere / "own.py").write_text(AGENT + "# an older commit\n")
        refused = gate(project, *on(own))
    assert refused.returncode == 2
    assert re.search(r"worker tcp://127.0.0.1:\d+: own.py differs from this", refused.stderr)
    assert "bring the same commit there" in refused.stderr
    assert not (tmp_path / "old").exists()
    assert len(list((project / "results").glob("session-*"))) == 1, (
        "a refused run leaves no session"
    )


def test_a_worker_with_another_version_is_refused_by_name(cluster, tmp_path):
    about = tmp_path / "agent_gate-9.9.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: agent-gate\nVersion: 9.9\n")
    other = cluster.add_worker("other", {"PYTHONPATH": str(tmp_path)})
    cluster.await_workers(3)
    try:
        with ChatServer(right) as server:
            write_project(tmp_path, server.url)
            run = gate(tmp_path, *on(cluster))
            assert server.asked == {}
    finally:
        other.kill()
        cluster.await_workers(2)
    assert run.returncode == 2
    assert re.search(r"worker tcp://\S+ has agent-gate 9.9 \(here [\d.a-z]+\)", run.stderr)
    assert not (tmp_path / "results").exists()


KEY = "sk-never-shown-4711-abcdef"


def write_keyed_project(folder, url, more=""):
    write_project(folder, url, suite_more="rounds: 1")
    text = (folder / "gate.yml").read_text()
    key = f"api_key_env: JUST_A_KEY, {more}"
    (folder / "gate.yml").write_text(text.replace("model: m,", f"model: m, {key}"))


def test_a_worker_without_the_variable_of_a_secret_is_refused_unless_it_is_sent(cluster, tmp_path):
    with ChatServer(lambda question, nth: f"yes, and {KEY}") as server:
        write_keyed_project(tmp_path, server.url)
        env = {"JUST_A_KEY": KEY}
        refused = gate(tmp_path, *on(cluster), env=env)
        assert refused.returncode == 2
        assert "the environment variable JUST_A_KEY is not set there" in refused.stderr
        assert server.asked == {}
        sent = gate(tmp_path, *on(cluster, "--send-secrets"), env=env)
        assert len(rows_of(sent, tmp_path)) == len(CASES)
    (session,) = (tmp_path / "results").glob("session-*")
    texts = [path.read_text() for path in session.rglob("*") if path.is_file()]
    assert not any(KEY in text for text in [*texts, sent.stdout, sent.stderr])
    assert any("yes, and ***" in text for text in texts)


def test_options_with_the_value_of_a_secret_are_not_sent(cluster, tmp_path):
    with ChatServer(right) as server:
        write_keyed_project(tmp_path, server.url, "options: {user: '${JUST_A_KEY}'}, ")
        run = gate(tmp_path, *on(cluster), env={"JUST_A_KEY": KEY})
        assert server.asked == {}
    assert run.returncode == 2
    assert "the options of the agent 'openai' hold the value of a secret" in run.stderr
    assert KEY not in run.stderr


def test_a_lost_scheduler_ends_as_a_session_to_be_resumed(cluster, tmp_path):
    with dask_cluster(tmp_path / "lost", "c", "d") as other:

        def reply(question, nth):
            if len(server.asked) >= 25:
                other.scheduler.kill()
            return "yes"

        with ChatServer(reply, delay_s=0.02) as server:
            write_project(tmp_path, server.url, cases=many(80), suite_more="rounds: 1")
            begun = time.monotonic()
            run = gate(tmp_path, *on(other))
            assert time.monotonic() - begun < 15
            assert run.returncode == 6
            assert f"the Dask scheduler at {other.address} is gone" in run.stderr
            session = next((tmp_path / "results").glob("session-*"))
            assert f"--resume {session.relative_to(tmp_path)}" in run.stderr
            made = (session / "events.jsonl").read_text().count('"case_id"')
            assert 0 < made < 80
            server.asked.clear()
            resumed = gate(tmp_path, *on(cluster, "--resume", str(session)))
            assert sum(server.asked.values()) == 80 - made
    assert len(rows_of(resumed, tmp_path)) == 80


def test_ctrl_c_ends_what_the_workers_do_and_the_session_can_be_resumed(cluster, tmp_path):
    half = threading.Event()

    def reply(question, nth):
        if len(server.asked) >= 20:
            half.set()
        return "yes"

    with ChatServer(reply, delay_s=0.05) as server:
        write_project(tmp_path, server.url, cases=many(200), suite_more="rounds: 1")
        process = start_gate(tmp_path, *on(cluster))
        assert half.wait(30)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=20)
        assert process.returncode == 130, said
        asked = sum(server.asked.values())
        time.sleep(0.3)
        assert sum(server.asked.values()) == asked < 100, "nobody is asked any more"
        (session,) = (tmp_path / "results").glob("session-*")
        resumed = gate(tmp_path, *on(cluster, "--resume", str(session)))
    assert len(rows_of(resumed, tmp_path)) == 200


def grade(folder, *arguments, code=0, env=None):
    run = gate(folder, "grade", "answers.jsonl", *arguments, env=env)
    assert run.returncode == code, run.stderr
    return [*(folder / "results").glob("session-*")]


def test_recorded_answers_are_graded_as_in_one_process(cluster, tmp_path):
    write_answers(tmp_path / "answers.jsonl", write_grading_project(tmp_path, cases=300))
    (here,) = grade(tmp_path, "--processes", "1")
    wanted = files_without_times(here)
    shutil.rmtree(here)
    victim = cluster.add_worker("grader")
    cluster.await_workers(3)
    threading.Timer(0.7, victim.kill).start()
    (there,) = grade(tmp_path, *on(cluster)[1:])
    assert files_without_times(there) == wanted
    victim.wait(timeout=10)
    cluster.await_workers(2)


@pytest.mark.parametrize("more", [(), ("--send-secrets",)])
def test_a_secret_in_a_recorded_answer_is_not_shown(cluster, tmp_path, more):
    answers = write_grading_project(tmp_path, cases=3)
    answers[0]["answer"] += f" {KEY}"
    write_answers(tmp_path / "answers.jsonl", answers)
    (session,) = grade(tmp_path, *on(cluster)[1:], *more, env={"A_SECRET_KEY": KEY})
    texts = [path.read_text() for path in session.rglob("*") if path.is_file()]
    assert not any(KEY in text for text in texts)
    assert any("***" in text for text in texts)


OWN = """from dataclasses import dataclass
from gate.records import MetricSpec, Score

@dataclass(frozen=True)
class Own:
    keys, needs = {}, ()
    def metrics(self):
        return (MetricSpec(name="correctness.own", column="own", unit="share"),)
    def grade(self, case, response):
        return Score(values={"own": 1.0}, passed=response.answer == "yes")
"""


def test_own_graders_run_on_the_workers_of_a_run_and_are_refused_by_grade(cluster, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    with ChatServer(right) as server:
        write_project(tmp_path, server.url, suite_more="rounds: 1")
        config = (tmp_path / "gate.yml").read_text()
        (tmp_path / "gate.yml").write_text(config.replace("[exact_match]", "['./own.py:Own']"))
        run = gate(tmp_path, *on(cluster))
    assert [row["scores"] for row in rows_of(run, tmp_path)] == [{"own": 1.0}] * 12
    meta = json.loads(next((tmp_path / "results").glob("*/meta.json")).read_text())
    assert list(meta["sources"]["./own.py:Own"]) == ["own.py"]
    write_answers(tmp_path / "answers.jsonl", [{"id": "c1", "answer": "yes"}])
    shutil.rmtree(tmp_path / "results")
    assert grade(tmp_path, *on(cluster)[1:], code=2) == []


def test_what_cannot_be_sent_is_refused_by_name(cluster, tmp_path):
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        for arguments, word in (
            (("--record", "answers.jsonl"), "--record works in one process only"),
            (("--case", "c1"), "--case only shows answers"),
        ):
            run = gate(tmp_path, *on(cluster, *arguments))
            assert (run.returncode, word in run.stderr) == (2, True), run.stderr
        judged = (
            (tmp_path / "gate.yml").read_text().replace("[exact_match]", "[exact_match, judge]")
        )
        judge = f"judge: {{type: openai, base_url: '{server.url}', model: j}}\n"
        (tmp_path / "gate.yml").write_text(judged + judge)
        run = gate(tmp_path, *on(cluster))
        assert "the suite 's' has judge, which asks a model" in run.stderr
        assert server.asked == {}
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--scheduler", "tcp://127.0.0.1:9"), 2, "--scheduler: only works with --executor dask"),
        (("--executor", "dask"), 2, "say with --scheduler ADDRESS where the cluster is"),
        (
            ("--executor", "dask", "--scheduler", "nonsense://x"),
            2,
            "give an address such as tcp://",
        ),
    ],
)
def test_a_cluster_that_is_not_there(tmp_path, arguments, code, words):
    write_project(tmp_path, "http://127.0.0.1:9")
    run = gate(tmp_path, "run", *arguments)
    assert (run.returncode, words in run.stderr) == (code, True), run.stderr
    assert not (tmp_path / "results").exists()


def test_a_scheduler_that_does_not_answer(tmp_path):
    address = "tcp://127.0.0.1:9"
    with (
        pytest.raises(InfrastructureError, match="no Dask scheduler answers there; start one with"),
        connect(address, patience_s=0.2),
    ):
        pass


def test_looks_and_budgets_are_those_of_threads(cluster, tmp_path):
    with ChatServer(right) as server:
        write_project(tmp_path, server.url, more="budget: {calls: 10}\n")
        run = gate(tmp_path, *on(cluster))
        assert sum(server.asked.values()) == 10
    assert "the budget of 10 calls was used up after" in run.stdout
    summary = json.loads(next((tmp_path / "results").glob("session-*/summary.json")).read_text())
    assert summary["calls"]["made"] == 10
