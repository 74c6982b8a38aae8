"""An agent that fails alike on nearly all trials, below what it says: an outage, no verdict."""

import json

import pytest

from tests.support.in_process import gate
from tests.support.raw_server import RawServer, ok
from tests.support.session_files import told_session, told_summary

CASES = 10
OUT = {
    "5xx": (ok(b"boom", status="500 Internal Server Error"), True),
    "html": (ok(b"<!DOCTYPE html><h1>Sign in</h1>", "Content-Type: text/html"), True),
    "cut_off": (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", True),
    "not_http": (b"SSH-2.0-OpenSSH_9.6\r\n\r\n\r\n", False),
}
RIGHT = ok(json.dumps({"choices": [{"message": {"content": "yes"}}]}).encode())
WRONG = ok(b"boom", status="500 Internal Server Error")


def project(folder, url, more=""):
    lines = (
        json.dumps({"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"}) + "\n"
        for n in range(CASES)
    )
    (folder / "cases.jsonl").write_text("".join(lines))
    (folder / "gate.yml").write_text(
        f"""version: 1
agent: {{type: openai, base_url: "{url}", model: m, concurrency: 2, timeout_s: 5}}
suites:
  - {{name: s, dataset: cases.jsonl, graders: [exact_match], rounds: 1, max_attempts: 1}}
protect: false
{more}
"""
    )


class Agent(RawServer):
    """Each request gets the next of `replies`, the last one again and again."""

    def __init__(self, *replies):
        self.replies = list(replies)
        super().__init__(self._handle)

    def _handle(self, peer):
        if peer.request() is not None:
            peer.send(self.replies.pop(0) if len(self.replies) > 1 else self.replies[0])


def run(folder, *replies, more="", options=()):
    with Agent(*replies) as agent:
        project(folder, agent.url, more)
        return gate(folder, "run", *options)


WARN = "policy: {error: warn, inconclusive: warn, no_baseline: warn}"
LIMIT = "gates: {agent.success_rate: {min: 0.5}}"


@pytest.mark.parametrize("kind", OUT)
@pytest.mark.parametrize("more", ["", LIMIT])
def test_the_same_failure_of_all_trials_is_an_outage_and_never_a_fail(tmp_path, kind, more):
    reply, answered = OUT[kind]
    done = run(tmp_path, reply, more=f"{WARN}\n{more}", options=("--baseline", "none"))
    found = told_summary(tmp_path, done)
    assert found["outcome"] == "error"
    assert done.returncode == (6 if answered else 0)
    assert "100 % of the calls" in found["reason"]
    assert "outage" in found["reason"]


def test_a_closed_port_behind_a_gateway_is_an_outage_that_no_policy_lets_through(tmp_path):
    reply = ok(b"no upstream", status="503 Service Unavailable")
    done = run(tmp_path, reply, more=WARN, options=("--baseline", "none"))
    assert (told_summary(tmp_path, done)["outcome"], done.returncode) == ("error", 6)


@pytest.mark.parametrize(("broken", "outcome"), [(3, "fail"), (8, "fail"), (9, "error")])
def test_an_agent_that_breaks_on_some_cases_is_judged(tmp_path, broken, outcome):
    more = f"{WARN}\ngates: {{agent.success_rate: {{min: 0.8, rule: point}}}}"
    replies = [*[WRONG] * broken, RIGHT]
    once = ("--baseline", "none", "--stop", "off")
    found = told_summary(tmp_path, run(tmp_path, *replies, more=more, options=once))
    assert found["outcome"] == outcome
    assert found["suites"]["s"]["agent_errors"] == broken


def test_a_run_that_may_stop_early_does_not_ask_an_agent_that_is_down_for_all(tmp_path):
    with Agent(RIGHT) as agent:
        project(tmp_path, agent.url, "regression: {stop: early}")
        rounds = ("--rounds", "4", "--baseline")
        main = gate(tmp_path, "run", *rounds, "none")
        agent.replies = [WRONG]
        out = gate(tmp_path, "run", *rounds, told_session(main))
        found = told_summary(tmp_path, out)
        agent.replies = [RIGHT]
        again = gate(tmp_path, "run", *rounds, told_session(main), "--resume", told_session(out))
    assert (found["outcome"], out.returncode) == ("error", 6)
    assert found["calls"]["made"] < 40
    assert told_summary(tmp_path, again)["outcome"] == "pass", again.stdout
    assert told_summary(tmp_path, again)["suites"]["s"]["agent_errors"] == 0


def test_an_outage_stays_one_when_it_is_compared_and_replayed_and_is_no_baseline(tmp_path):
    main = run(tmp_path, RIGHT, options=("--baseline", "none"))
    recorded = ("--baseline", told_session(main), "--record", "answers.jsonl")
    out = run(tmp_path, WRONG, more=WARN, options=recorded)
    assert told_summary(tmp_path, out)["outcome"] == "error"
    compared = gate(tmp_path, "compare", told_session(main), told_session(out))
    assert (compared.returncode, "outage" in compared.stdout) == (6, True), compared.stdout
    replayed = gate(tmp_path, "run", "--replay", "answers.jsonl", "--baseline", told_session(main))
    assert (told_summary(tmp_path, replayed)["outcome"], replayed.returncode) == ("error", 6)
    assert gate(tmp_path, "baseline", "save", told_session(out)).returncode == 2


def test_all_trials_of_an_outage_are_made_again_when_it_is_resumed(tmp_path):
    with Agent(WRONG) as agent:
        project(tmp_path, agent.url, LIMIT)
        out = gate(tmp_path, "run", "--baseline", "none")
        agent.replies = [WRONG, WRONG, RIGHT]
        again = gate(tmp_path, "run", "--baseline", "none", "--resume", told_session(out))
        third = gate(tmp_path, "run", "--baseline", "none", "--resume", told_session(out))
    assert out.returncode == 6
    assert again.returncode == 0, again.stdout
    assert told_summary(tmp_path, third)["suites"]["s"]["agent_errors"] == 2, (
        "now they are the agent's"
    )


def test_shards_of_an_outage_are_one_when_they_are_merged(tmp_path):
    parts = [
        run(tmp_path, WRONG, more=WARN, options=("--baseline", "none", "--shard", f"{n}/2"))
        for n in (1, 2)
    ]
    folders = map(told_session, parts)
    merged = gate(tmp_path, "merge", *folders, "--baseline", "none", "--out", "m")
    assert (told_summary(tmp_path, merged)["outcome"], merged.returncode) == ("error", 6)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (ok(b"boom", status="500 Internal Server Error"), 6),
        (ok(b"<html>Sign in</html>", "Content-Type: text/html"), 6),
        (ok(b'{"status": "starting"}'), 0),
    ],
)
def test_a_health_check_that_an_agent_answers_as_none_does_is_let_through_by_no_policy(
    tmp_path, reply, code
):
    with Agent(reply) as agent:
        project(tmp_path, agent.url, WARN)
        written = (tmp_path / "gate.yml").read_text().replace("type: openai", "type: openagent")
        (tmp_path / "gate.yml").write_text(written)
        done = gate(tmp_path, "run", "--baseline", "none")
    assert told_summary(tmp_path, done)["outcome"] == "error"
    assert done.returncode == code, done.stdout
