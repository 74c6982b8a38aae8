"""Whole runs against providers with limits, on loopback: every trial is answered, few requests are
refused, and most of what is allowed is used.
"""

import os
import re
import signal
import time
from functools import partial

import pytest

from tests.support.as_process import start_gate
from tests.support.in_process import gate
from tests.support.limited_server import (
    Bucket,
    limited_server,
    tell_as_anthropic,
    tell_as_openai,
    tell_nothing,
)
from tests.support.session_files import sessions_in, trials_in, wait_for_trials
from tests.support.yes_project import write_project

AT_ONCE = ("--concurrency", "32")


def run_cases(folder, server, number, *, agent="", at_once=32):
    """A run of so many cases; `agent`: more of the agent's keys. Its rows, and what it said."""
    write_cases(folder, server, number, agent=agent)
    done = gate(folder, "run", "--baseline", "none", "--concurrency", str(at_once))
    assert done.returncode == 0, done.stdout + done.stderr
    rows = trials_in(sessions_in(folder)[-1])
    assert len(rows) == number
    assert all(row["passed"] and len(row["attempts"]) == 1 for row in rows)
    return rows, done.stderr


def write_cases(folder, server, number, *, agent=""):
    cases = [{"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"} for n in range(number)]
    write_project(folder, server.url, cases=cases, suite_more="rounds: 1")
    config = folder / "gate.yml"
    config.write_text(config.read_text().replace("timeout_s: 20", f"timeout_s: 20{agent}"))


@pytest.mark.parametrize("refusal", [429, 503])
def test_fifty_requests_a_second_by_refusals_alone(tmp_path, refusal):
    bucket = Bucket(per_s=50, size=50, left=50)
    with limited_server(bucket, latency_s=0.02, refusal=refusal) as server:
        rows, said = run_cases(tmp_path, server, 300)
    assert server.find_share(50, 50) >= 0.7  # on a busy machine; test_pace.py has 0.95
    assert server.refused <= 150
    assert all(row["latency_ms"] < 900 for row in rows)  # no wait is in it
    assert re.search(r"; refused by the provider: \d+; now [\d.]+ calls (a second|at once)", said)


def test_as_many_at_once_as_there_may_be_when_it_is_not_adaptive(tmp_path):
    with limited_server(Bucket(per_s=50, size=50, left=50), latency_s=0.02) as server:
        run_cases(tmp_path, server, 200, agent=", adaptive: false")
    assert server.refused > 75  # about 250; fewer on a busy machine


@pytest.mark.parametrize("tell", [tell_as_openai, tell_as_anthropic])
@pytest.mark.parametrize("name", ["requests", "tokens"])
def test_a_limit_that_the_provider_tells_is_kept_before_it_refuses(tmp_path, tell, name):
    """40 requests are left of the 3,000 of a minute; tokens: 1,000 for each request."""
    cost = 1.0 if name == "requests" else 1000.0
    bucket = Bucket(per_s=50 * cost, size=3000 * cost, left=40 * cost)
    with limited_server(bucket, latency_s=0.05, tell=partial(tell, name=name), cost=cost) as server:
        run_cases(tmp_path, server, 200)
    assert server.find_share(50, 40) >= 0.7
    assert server.refused <= 20  # untold more than 200 are


@pytest.mark.parametrize(("agent", "is_few"), [("", True), (", adaptive: false", False)])
def test_no_more_at_once_where_more_only_wait_longer(tmp_path, agent, is_few):
    """The provider works on two at a time, 20 ms on each."""
    free = Bucket(per_s=1e9, size=1e9, left=1e9)
    with limited_server(free, latency_s=0.02, workers=2) as server:
        run_cases(tmp_path, server, 120, at_once=64, agent=agent)
    assert (server.most_busy <= 45) is is_few


def test_an_interrupted_run_does_not_wait_for_its_turn_and_goes_on_later(tmp_path):
    """Two requests a second are allowed, so that nearly all threads wait when it is stopped."""
    bucket = Bucket(per_s=2, size=20, left=20)
    tell = tell_as_openai
    with limited_server(bucket, latency_s=0.02, tell=tell) as server:
        write_cases(tmp_path, server, 60)
        process = start_gate(tmp_path, "run", "--baseline", "none", *AT_ONCE)
        wait_for_trials(tmp_path, 15)
        time.sleep(0.5)
        begun = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130
        assert time.monotonic() - begun < 10  # the next turns come within 20 s
        (session,) = sessions_in(tmp_path)
        rows = trials_in(session)
        assert 15 <= len(rows) < 60
        assert all(row["passed"] for row in rows)  # who waited has no row
        bucket.per_s, bucket.left, bucket.size = 500, 500, 500
        done = gate(tmp_path, "run", "--baseline", "none", "--resume", str(session), *AT_ONCE)
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(trials_in(session)) == 60
    assert len(server.accepted) <= 60 + 32


def test_a_told_limit_is_named_while_it_is_waited_for(tmp_path):
    bucket = Bucket(per_s=0.2, size=200, left=12)
    with limited_server(bucket, latency_s=0.02, tell=tell_as_openai) as server:
        write_cases(tmp_path, server, 12)
        done = gate(tmp_path, "run", "--baseline", "none", "--concurrency", "1")
    assert done.returncode == 0
    assert "12/12 trials, 0 failed; waiting " in (done.stderr)
    assert server.refused == 0


def test_nothing_is_said_of_a_provider_without_limits(tmp_path):
    free = Bucket(per_s=1e9, size=1e9, left=1e9)
    with limited_server(free, latency_s=0.0, tell=tell_nothing) as server:
        _, said = run_cases(tmp_path, server, 12)
    assert "12/12 trials, 0 failed\n" in said
