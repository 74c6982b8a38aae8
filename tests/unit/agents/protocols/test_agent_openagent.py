"""What is special about an OpenAgent server: codes, health, its logs, a task's own folder."""

import json
import re
import sys
import threading
import time
from dataclasses import fields, replace
from datetime import date
from functools import partial
from pathlib import Path

import pytest

from gate.agents.protocols.openagent import OpenAgent
from gate.agents.protocols.openai import OpenAI
from gate.agents.server_logs.options import LogOptions
from gate.agents.under_test import check_health
from gate.analysis.failures.modes import mode_of
from gate.analysis.tally import Tally
from gate.errors import AgentFailure, InfraFailure
from gate.plugins import AGENTS, World, build
from gate.records import Case, Suite
from gate.run.grade import grade_attempt
from gate.run.trial_worker import Task, TrialWorker
from gate.store.trial_rows import row_of
from gate.suites.config.load import load
from gate.system.executors import Later
from tests.support.paths import ROOT
from tests.support.raw_server import RawServer, hang, ok, scripted

CASE = Case(id="FI-2", input="hi", keys={})
EVIDENCE = {"required_tools": ["shell"]}
SOON = 5.0  # seconds; only a broken test waits that long


def world(root=Path(), session=None, **env):
    return World(env=env, root=root, session=session)


def answered(text="Paris"):
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    return ok(json.dumps({"choices": [choice]}).encode())


def asked(agent, case=CASE, made=None, timeout_s=SOON):
    connection = agent.connect(made or world())
    try:
        return connection.ask(case, timeout_s=timeout_s)
    finally:
        connection.close()


def server(said=lambda body: "Paris", bodies=None):
    """Answers with what `said` makes of a request's body; the bodies are kept."""

    def handler(peer):
        while (request := peer.request()) is not None:
            body = json.loads(request[2])
            if bodies is not None:
                bodies.append(body)
            peer.send(answered(said(body)))

    return RawServer(handler)


# --------------------------------------------------------------------------------------- codes

ERROR_BODY = ok(b'{"status": "error", "msg": "the model crashed", "data": null, "data2": null}')
CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"


@pytest.mark.parametrize(
    ("reply", "kind", "code"),
    [
        (ok(b"boom", status="500 Internal Server Error"), AgentFailure, "api_error"),
        (ok(b"?", status="404 Not Found"), AgentFailure, "api_error"),
        (ERROR_BODY, AgentFailure, "api_error"),
        (ok(b'{"choices": []}'), AgentFailure, "api_error"),
        (CUT, AgentFailure, "api_error"),
        (ok(b"no", status="401 Unauthorized"), InfraFailure, "api_error"),
        (ok(b'{"status": "error", "msg": "Authentication failed"}'), InfraFailure, "api_error"),
        (ok(b"<html>"), AgentFailure, "parse_error"),
        (ok(b'{"choices": [{}]}'), AgentFailure, "parse_error"),
        (ok(b'{"choices": [{"message": {"content": 5}}]}'), AgentFailure, "parse_error"),
        (ok(b"late", status="408 Request Timeout"), AgentFailure, "timeout"),
    ],
)
def test_what_is_no_answer_has_the_code_of_its_kind_and_whose_fault_it_is(reply, kind, code):
    with RawServer(scripted(reply)) as peer, pytest.raises(kind) as caught:
        asked(OpenAgent(base_url=peer.url))
    assert caught.value.code == code


def test_other_agents_keep_their_one_code():
    with RawServer(scripted(ERROR_BODY)) as peer, pytest.raises(AgentFailure) as caught:
        asked(OpenAI(base_url=peer.url))
    assert caught.value.code == "agent_error"


def test_a_server_that_asks_to_wait_is_still_waited_for():
    reply = ok(b"slow down", "Retry-After: 3", status="429 Too Many Requests")
    with RawServer(scripted(reply)) as peer, pytest.raises(InfraFailure) as caught:
        asked(OpenAgent(base_url=peer.url))
    assert caught.value.retry_after == 3


def test_a_request_that_the_run_gave_up_is_no_error_of_the_api():
    with RawServer(hang) as peer:
        connection = OpenAgent(base_url=peer.url).connect(world())
        threading.Timer(0.1, connection.close).start()
        with pytest.raises(InfraFailure, match="being stopped") as caught:
            connection.ask(CASE, timeout_s=SOON)
    assert caught.value.code is None


def trial(url, *, attempts, timeout_s=None):
    """The row of a whole trial."""
    worker = TrialWorker(OpenAgent(base_url=url), world(), grade_attempt)
    suite = Suite(name="s", dataset="d", graders=(), max_attempts=attempts)
    task = Task(suite=suite, graders={}, case=replace(CASE, timeout_s=timeout_s), round=1)
    step = worker.work(task)
    while isinstance(step, Later):
        step = worker.work(step.task)
    worker.close()
    return row_of(step, cost_usd=None, on_agent_error={}, specs={})


def test_a_code_of_nobodys_fault_is_counted_and_is_no_failed_answer():
    refused = ok(b"busy", status="502 Bad Gateway")
    with RawServer(scripted(refused, refused, refused, answered())) as peer:
        lost, again = trial(peer.url, attempts=2), trial(peer.url, attempts=2)
    assert (lost["status"], lost["passed"]) == ("infra_error", None)
    assert lost["failures"] == ["api_error"]
    assert (again["status"], again["failures"]) == ("completed", [])
    assert [one["status"] for one in again["attempts"]] == ["infra_error", "completed"]
    tally = Tally()
    tally.add(lost)
    tally.add(again)
    assert tally.top() == (("api_error", 1),)
    assert (tally.infra_errors, tally.agent_errors) == (1, 0)
    assert mode_of(lost) is None


@pytest.mark.parametrize(("reply", "code"), [(ERROR_BODY, "api_error"), (ok(b"x"), "parse_error")])
def test_a_code_of_the_agents_fault_is_a_failed_trial(reply, code):
    with RawServer(scripted(reply)) as peer:
        row = trial(peer.url, attempts=1)
    assert (row["status"], row["passed"], row["failures"]) == ("agent_error", False, [code])
    assert row["mode"] == "agent_error"


def test_a_case_may_have_less_time_than_the_agent():
    with RawServer(hang) as peer:
        row = trial(peer.url, attempts=1, timeout_s=0.1)
    assert (row["failures"], row["mode"]) == (["timeout"], "timeout")
    assert "within 0.1 s" in row["error"]


# -------------------------------------------------------------------------------------- health


@pytest.mark.parametrize(
    ("reply", "found", "error"),
    [
        (ok(b'{"status": "ok"}'), (True, 200), ""),
        (ok(b'{"status": "error", "msg": "database is gone"}'), (False, None), "database is gone"),
        (ok(b"<html>"), (False, None), "check that an OpenAgent server runs"),
        (ok(b"down", status="503 Unavailable"), (False, None), "answered 503"),
    ],
)
def test_health_is_what_the_body_says(reply, found, error):
    with RawServer(scripted(reply)) as peer:
        said = check_health(OpenAgent(base_url=peer.url), world())
    assert (said.ok, said.status) == found
    assert error in said.error
    assert said.latency_ms > 0


def test_health_of_a_server_that_is_down():
    with RawServer(hang) as peer:
        pass
    said = check_health(OpenAgent(base_url=peer.url), world())
    assert (said.ok, said.status) == (False, None)
    assert "refused the connection" in said.error


# ---------------------------------------------------------------------------------------- logs


def case(given="hi", **keys):
    return Case(id="FI-2", input=given, keys=keys)


def calling(log, tool):
    """A server that logs a call of `tool` before it answers."""

    def said(body):
        with log.open("a") as out:
            out.write(f"Tool Call: [{tool}]\n")
        return "done"

    return said


@pytest.fixture
def console(tmp_path):
    log = tmp_path / "console.log"
    log.write_text("Tool Call: [of_another_request]\n")
    return log


def logged(**options):
    return LogOptions(**{"console": "console.log", "settle_s": 0.2, **options})


def test_the_logs_of_a_case_that_wants_evidence_come_with_its_answer(tmp_path, console):
    with server(calling(console, "shell")) as peer:
        agent = OpenAgent(base_url=peer.url, logs=logged())
        response = asked(agent, case(**EVIDENCE), world(tmp_path))
        other = asked(agent, case(), world(tmp_path))
    logs = response.server_logs
    assert response.answer == "done"
    assert [call.name for call in logs.calls] == ["shell"]
    assert logs.alone
    assert 1e12 < logs.started_ms <= logs.ended_ms  # not seconds
    assert logs.files is None
    assert other.server_logs is None


@pytest.mark.parametrize("keys", [EVIDENCE, {"output_requirements": {}}])
def test_without_any_log_the_notes_say_so(tmp_path, keys):
    with server() as peer:
        made = world(tmp_path, tmp_path / "session")
        response = asked(OpenAgent(base_url=peer.url), case(**keys), made)
    assert not (tmp_path / "session").exists()  # the task names no paths
    assert response.server_logs.calls is None
    assert response.server_logs.notes


def test_logs_null_reads_none(tmp_path, console):
    with server(calling(console, "shell")) as peer:
        agent = OpenAgent(base_url=peer.url, logs=None)
        response = asked(agent, case(**EVIDENCE), world(tmp_path))
    assert response.server_logs.calls is None
    assert "logs: null" in response.server_logs.notes[0]


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot go away there")
def test_a_log_that_goes_away_does_not_lose_the_answer(tmp_path, console):
    def said(body):
        console.unlink()
        console.mkdir()
        return "still here"

    with server(said) as peer:
        agent = OpenAgent(base_url=peer.url, logs=logged())
        response = asked(agent, case(**EVIDENCE), world(tmp_path))
    assert response.answer == "still here"
    assert not response.server_logs.calls


class Holding:
    """Of a server: every answer waits until it may go."""

    def __init__(self):
        self.came, self.go = threading.Semaphore(0), threading.Event()

    def __call__(self, body):
        self.came.release()
        assert self.go.wait(SOON)
        return "done"


def at_once(agent, cases, made):
    """Asks all at the same time, each on its connection; the answers come in by number."""
    answers = {}
    connections = [agent.connect(made) for _ in cases]

    def ask(number, connection, one):
        answers[number] = connection.ask(one, timeout_s=SOON)

    threads = [
        threading.Thread(target=ask, args=(n, c, one))
        for n, (c, one) in enumerate(zip(connections, cases, strict=True))
    ]
    for thread in threads:
        thread.start()
    return answers, threads, connections


def finish(threads, connections):
    for thread in threads:
        thread.join(SOON)
    for connection in connections:
        connection.close()


def test_a_request_whose_logs_are_read_by_what_they_grow_by_is_alone(tmp_path, console):
    lock, running, crowds = threading.Lock(), [], []

    def said(body):
        text = body["messages"][0]["content"]
        with lock:
            running.append(text)
            crowds.append(list(running))
        time.sleep(0.01)
        with lock:
            running.remove(text)
        return "done"

    cases = [case("alone", **EVIDENCE), case("other")] * 4
    with server(said) as peer:
        agent = OpenAgent(base_url=peer.url, logs=logged(settle_s=0))
        answers, threads, connections = at_once(agent, cases, world(tmp_path))
        finish(threads, connections)
    assert [crowd for crowd in crowds if "alone" in crowd and len(crowd) > 1] == []
    assert [answers[n].server_logs.alone for n in (0, 2, 4, 6)] == [True] * 4


@pytest.mark.parametrize(
    "logs", [LogOptions(), logged(bind="window"), LogOptions(access="console.log")]
)
def test_without_a_log_that_grows_by_the_request_nobody_waits(tmp_path, console, logs):
    holding = Holding()
    with server(holding) as peer:
        agent = OpenAgent(base_url=peer.url, logs=replace(logs, settle_s=0))
        cases = [case(**EVIDENCE), case(**EVIDENCE)]
        answers, threads, connections = at_once(agent, cases, world(tmp_path))
        assert all(holding.came.acquire(timeout=SOON) for _ in cases)  # both are under way
        holding.go.set()
        finish(threads, connections)
    assert [answers[n].server_logs.alone for n in (0, 1)] == [False, False]


def test_a_task_with_paths_that_wants_no_evidence_waits_for_nobody(tmp_path, console):
    holding = Holding()
    with server(holding) as peer:
        agent = OpenAgent(base_url=peer.url, logs=logged(settle_s=0))
        made = world(tmp_path, tmp_path / "session")
        _, threads, connections = at_once(agent, [case(TASK), case(TASK)], made)
        assert all(holding.came.acquire(timeout=SOON) for _ in threads)  # both are under way
        holding.go.set()
        finish(threads, connections)


def test_the_wait_for_a_turn_is_no_latency(tmp_path, console):
    holding = Holding()
    with server(holding) as peer:
        agent = OpenAgent(base_url=peer.url, logs=logged(settle_s=0))
        answers, threads, connections = at_once(agent, [case(**EVIDENCE)], world(tmp_path))
        assert holding.came.acquire(timeout=SOON)
        begun = time.perf_counter()
        late, more, others = at_once(agent, [case()], world(tmp_path))
        time.sleep(0.05)
        held_ms = (time.perf_counter() - begun) * 1e3  # it cannot have been sent before
        holding.go.set()
        finish(more, others)
        whole_ms = (time.perf_counter() - begun) * 1e3
        finish(threads, connections)
    assert answers[0].latency_ms > 0
    assert late[0].latency_ms <= whole_ms - held_ms


def test_a_wait_uses_up_no_time_out_and_closing_ends_it(tmp_path, console):
    holding = Holding()
    with server(holding) as peer:
        agent = OpenAgent(base_url=peer.url, logs=logged(settle_s=0))
        _, threads, connections = at_once(agent, [case(**EVIDENCE)], world(tmp_path))
        assert holding.came.acquire(timeout=SOON)
        waiting = agent.connect(world(tmp_path))
        threading.Timer(0.1, waiting.close).start()
        with pytest.raises(InfraFailure, match="being stopped") as caught:
            waiting.ask(case(), timeout_s=0.01)
        holding.go.set()
        finish(threads, connections)
    assert caught.value.code is None


def test_a_time_out_casts_doubt_on_what_the_next_request_logs(tmp_path, console):
    with RawServer(scripted(ok(b"late", status="408 Request Timeout"), answered())) as peer:
        agent = OpenAgent(base_url=peer.url, logs=logged(settle_s=0))
        ask = partial(asked, agent, case(**EVIDENCE), world(tmp_path))
        with pytest.raises(AgentFailure) as late:
            ask(timeout_s=SOON)
        logs = ask(timeout_s=SOON).server_logs
    assert late.value.latency_ms > 0
    assert not logs.alone
    assert any("that timed out" in note for note in logs.notes)


@pytest.mark.parametrize(
    ("reply", "alone"),
    [
        (ok(b"late", status="504 Gateway Timeout"), False),
        (ok(b"late", status="502 Bad Gateway"), False),
        (b"", False),
        (ok(b"busy", status="429 Too Many Requests"), True),
        (ok(b"busy", status="503 Service Unavailable"), True),
    ],
)
def test_what_a_server_behind_a_gateway_may_still_do_is_not_the_next_requests(
    tmp_path, console, reply, alone
):
    def handler(peer):
        if peer.request() is not None:
            peer.send(answered() if peer.nth else reply)

    with RawServer(handler) as peer:
        agent = OpenAgent(base_url=peer.url, logs=logged(settle_s=0))
        ask = partial(asked, agent, case(**EVIDENCE), world(tmp_path))
        with pytest.raises(InfraFailure):
            ask()
        assert ask().server_logs.alone is alone


@pytest.mark.parametrize(("key", "alone"), [("provider", False), ("store", True), (None, True)])
def test_with_a_provider_key_the_calls_of_a_log_are_anothers(tmp_path, console, key, alone):
    with server(calling(console, "shell")) as peer:
        agent = OpenAgent(base_url=peer.url, logs=logged(), key=key)
        logs = asked(agent, case(**EVIDENCE), world(tmp_path)).server_logs
    assert logs.alone is alone
    assert any("provider key" in note for note in logs.notes) is not alone


# --------------------------------------------------------------------------------------- paths

TASK = "Write ./scratch/a.md, read ./openagent/logs/openagent.log"


def test_relative_paths_lead_into_a_fresh_folder_of_the_session(tmp_path):
    bodies = []

    def said(body):
        Path(body["messages"][0]["content"].split()[1].rstrip(",")).write_text("x")
        return "done"

    session = tmp_path / "session"
    with server(said, bodies) as peer:
        made = world(tmp_path, session)
        first = asked(OpenAgent(base_url=peer.url), case(TASK, **EVIDENCE), made)
        asked(OpenAgent(base_url=peer.url), case(TASK), made)
    sent = [body["messages"][0]["content"] for body in bodies]
    folders = [session.resolve() / ".tasks" / f"FI-2-{n}" for n in (1, 2)]
    assert sent == [
        f"Write {folder.as_posix()}/scratch/a.md, "
        f"read {folder.as_posix()}/openagent/logs/openagent.log"
        for folder in folders
    ]
    assert first.server_logs.files == ("a.md",)
    assert not any("as written" in note for note in first.server_logs.notes)


@pytest.mark.parametrize("keys", [EVIDENCE, {}])
def test_the_log_of_a_prompt_is_the_one_that_is_read(tmp_path, keys):
    bodies, log = [], tmp_path / "logs" / "openagent.log"
    log.parent.mkdir()
    log.write_text("")
    with server(bodies=bodies) as peer:
        agent = OpenAgent(base_url=peer.url)
        asked(agent, case(TASK, **keys), world(tmp_path, tmp_path / "session"))
    assert bodies[0]["messages"][0]["content"].endswith(f"read {log.as_posix()}")


def test_a_server_elsewhere_gets_the_prompt_as_written_and_that_is_noted(tmp_path):
    bodies = []
    (tmp_path / "openagent_console.log").write_text("")
    with server(bodies=bodies) as peer:
        agent = OpenAgent(base_url=peer.url, same_machine=False)
        made = world(tmp_path, tmp_path / "session")
        response = asked(agent, case(TASK, **EVIDENCE), made)
        plain = asked(agent, case(**EVIDENCE), made)
    assert not any("as written" in note for note in plain.server_logs.notes)
    assert bodies[0]["messages"] == [{"role": "user", "content": TASK}]
    assert not (tmp_path / "session").exists()
    assert response.server_logs.files is None
    assert response.server_logs.logs == ()
    assert any("sent as written" in note for note in response.server_logs.notes)


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.0.0.1:14000", True),
        ("http://localhost/api", True),
        ("http://[::1]:1", True),
        ("http://127.8.0.1", True),
        ("http://host.docker.internal:14000", False),
        ("http://10.0.0.1", False),
        ("http://[", False),
    ],
)
def test_a_loopback_address_is_this_machine(address, here):
    assert OpenAgent(base_url=address).is_here is here
    assert OpenAgent(base_url=address, same_machine=not here).is_here is not here


def test_a_folder_that_cannot_be_made_is_nobodys_answer(tmp_path):
    (tmp_path / "session").write_text("a file")
    with server() as peer, pytest.raises(InfraFailure, match="no folder for the task"):
        asked(OpenAgent(base_url=peer.url), case(TASK), world(tmp_path, tmp_path / "session"))


# ----------------------------------------------------------------------------------------- docs


def test_the_example_of_the_docs_loads_and_names_every_option():
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    section = page.partition("\n## openagent\n")[2].partition("\n## ")[0]
    block = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)[0]
    suites = "suites: [{name: s, dataset: s.jsonl, graders: [exact_match]}]\n"
    text = (block + suites).encode()
    config = load(lambda path: text, "gate.yml", env={}, root=Path(), today=date(2026, 11, 22))
    agent = build(AGENTS, config.agent, Path())
    assert agent.describe() == "openagent deepseek/deepseek-v4-flash at http://127.0.0.1:14000"
    named = {"type", *(one.name for one in fields(OpenAgent))} - {"requests_per_minute", "adaptive"}
    assert {"type", *config.agent.options} == named
    for name in ("base_url", "timeout_s", "concurrency"):
        assert getattr(OpenAgent(), name) == config.agent.options[name]
    assert config.agent.options["logs"].keys() == {one.name for one in fields(LogOptions)}
