"""`/gate accept`: whose word counts, for which commit, and for which metrics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gate.github.acceptance import find_accepted, parse_metric_names, reason_of
from gate.github.api import Api
from gate.github.context import Job
from tests.support.github_server import BOT, HEAD, Answer, GitHub, serving

METRICS = ("agent.success_rate", "retrieval.recall@5")
JUDGED, LATER, EARLIER = "2026-01-02T10:00:00Z", "2026-01-02T11:00:00Z", "2026-01-02T09:00:00Z"
JOB = Job(
    event="pull_request",
    mode="pull_request",
    head_sha=HEAD,
    pull_request=3,
    run_id="7",
    protect_ref="b" * 40,
)
MARK = f"<!-- agent-gate id=gate sha={HEAD} run=7.1 v=1 -->\n## Fail"


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub(permissions={"ann": "write", "eve": "read", "max": "admin"})) as server:
        server.runs.append({"id": 7, "created_at": JUDGED, "head_sha": HEAD})
        yield server
        assert server.violations == []


def say(github: GitHub, body: str, who: str = "ann", when: str = LATER, kind: str = "User") -> None:
    github.comment(body, user={"login": who, "type": kind})["created_at"] = when


def test_a_writers_word_after_the_run_on_the_head_commit_counts(github: GitHub, api: Api) -> None:
    say(github, "/gate accept new prices\nand more text", "ann")
    (change,) = find_accepted(api, JOB, METRICS).changes
    assert (change.who, change.when, change.why) == ("ann", LATER, "new prices")
    assert change.metrics == ()
    assert change.url.startswith("https://")


def test_the_metrics_that_the_reason_names_are_the_ones_accepted(github: GitHub, api: Api) -> None:
    say(github, "/gate accept `retrieval.recall@5`: the corpus shrank")
    (change,) = find_accepted(api, JOB, METRICS).changes
    assert change.metrics == ("retrieval.recall@5",)


def test_a_metric_is_accepted_by_its_old_name_and_its_new_one_is_told(
    github: GitHub, api: Api
) -> None:
    say(github, "/gate accept correctness.completeness: shorter answers are meant")
    found = find_accepted(api, JOB, ("correctness.reference_coverage",))
    assert found.changes[0].metrics == ("correctness.reference_coverage",)
    assert found.notes == (
        "`/gate accept` by ann: `correctness.completeness` is called"
        " `correctness.reference_coverage` now",
    )


def test_an_old_name_of_what_nothing_measures_accepts_nothing(github: GitHub, api: Api) -> None:
    say(github, "/gate accept correctness.completeness: shorter answers are meant")
    found = find_accepted(api, JOB, METRICS)
    assert found.changes == ()
    assert "no suite measures `correctness.completeness`" in found.notes[0]


def test_a_misspelt_metric_does_not_accept_everything(github: GitHub, api: Api) -> None:
    say(github, "/gate accept retrieval.recal@5 the corpus shrank")
    found = find_accepted(api, JOB, METRICS)
    assert found.changes == ()
    assert "did you mean 'retrieval.recall@5'" in found.notes[0]


@pytest.mark.parametrize(
    ("who", "when", "kind", "why"),
    [
        ("eve", LATER, "User", "needs write permission"),
        ("nobody", LATER, "User", "needs write permission"),
        ("ann", EARLIER, "User", "older than the run on the head commit"),
        ("ann", JUDGED, "User", "older than the run on the head commit"),
        ("ann", "yesterday", "User", "older than the run on the head commit"),
    ],
)
def test_what_does_not_count_is_told(
    github: GitHub, api: Api, who: str, when: str, kind: str, why: str
) -> None:
    say(github, "/gate accept because", who, when, kind)
    found = find_accepted(api, JOB, METRICS)
    assert found.changes == ()
    assert why in found.notes[0]


def test_without_a_reason_nothing_is_accepted(github: GitHub, api: Api) -> None:
    say(github, "/gate accept   ")
    found = find_accepted(api, JOB, METRICS)
    assert found.changes == ()
    assert "gives no reason" in found.notes[0]


@pytest.mark.parametrize(
    "body",
    [
        "please do not /gate accept this",
        "> /gate accept quoted",
        "/gate accepted because",
        "/gate acceptance",
        "first\n/gate accept because",
    ],
)
def test_only_a_first_line_that_is_the_command_is_one(body: str) -> None:
    assert reason_of(body) is None


def test_a_bots_comment_never_counts(github: GitHub, api: Api) -> None:
    say(github, "/gate accept because", "ann", kind="Bot")
    assert find_accepted(api, JOB, METRICS).changes == ()


def test_without_such_a_comment_one_request_is_all_it_costs(github: GitHub, api: Api) -> None:
    say(github, "nice")
    find_accepted(api, JOB, METRICS)
    assert len(github.seen) == 1


def test_each_person_is_asked_for_once(github: GitHub, api: Api) -> None:
    say(github, "/gate accept one")
    say(github, "/gate accept two")
    found = find_accepted(api, JOB, METRICS)
    assert [change.why for change in found.changes] == ["two", "one"]
    assert len([seen for seen in github.seen if "permission" in seen.path]) == 1


def test_old_refusals_are_not_told_once_somebody_was_right(github: GitHub, api: Api) -> None:
    say(github, "/gate accept early", "ann", EARLIER)
    say(github, "/gate accept because", "max")
    found = find_accepted(api, JOB, METRICS)
    assert [change.who for change in found.changes] == ["max"]
    assert found.notes == ()


def test_a_reason_is_one_line_with_what_is_hidden_in_it() -> None:
    assert reason_of("/gate accept a\u202eb\x1b[31m  c\r\nrest") == "a\u202eb\x1b[31m c"
    assert len(reason_of("/gate accept " + "x" * 9_000) or "") <= 500


def test_a_merge_group_takes_what_its_pull_request_was_given(github: GitHub, api: Api) -> None:
    github.comment(MARK, user=BOT)
    say(github, "/gate accept because")
    job = replace(
        JOB,
        event="merge_group",
        pull_request=None,
        head_sha="c" * 40,
        head_ref="gh-readonly-queue/main/pr-3-" + "b" * 40,
    )
    assert [change.who for change in find_accepted(api, job, METRICS).changes] == ["ann"]


def on_main(**changes: Any) -> Job:
    job = Job(event="push", mode="branch", head_sha="d" * 40, head_ref="main", run_id="9")
    return replace(job, **changes)


@pytest.fixture
def merged(github: GitHub) -> GitHub:
    pull = {"number": 3, "merged_at": LATER, "head": {"sha": HEAD}}
    github.merged["d" * 40] = [pull]
    return github


def test_the_first_run_of_main_after_the_merge_knows_who_accepted(merged: GitHub, api: Api) -> None:
    merged.comment(MARK, user=BOT)
    say(merged, "/gate accept because")
    assert [change.who for change in find_accepted(api, on_main(), METRICS).changes] == ["ann"]


def test_a_comment_that_a_person_forged_names_no_run(merged: GitHub, api: Api) -> None:
    say(merged, MARK, "eve")
    say(merged, "/gate accept because")
    found = find_accepted(api, on_main(), METRICS)
    assert found.changes == ()
    assert "no run of the gate on the head commit" in found.notes[0]


def test_what_was_accepted_for_an_older_head_is_not_taken(merged: GitHub, api: Api) -> None:
    merged.comment(MARK.replace(HEAD, "e" * 40), user=BOT)
    say(merged, "/gate accept because")
    assert find_accepted(api, on_main(), METRICS).changes == ()


def test_a_push_without_a_pull_request_asks_no_further(github: GitHub, api: Api) -> None:
    assert find_accepted(api, on_main(), METRICS).changes == ()
    assert len(github.seen) == 1


@pytest.mark.parametrize("mode", ["release", "laptop"])
def test_releases_and_laptops_ask_nothing(github: GitHub, api: Api, mode: Any) -> None:
    find_accepted(api, on_main(mode=mode), METRICS)
    assert github.seen == []


def test_a_refusal_of_github_is_a_note_and_no_error(github: GitHub, api: Api) -> None:
    github.faults.append(("/comments", Answer(403, {"message": "Resource not accessible"})))
    (note,) = find_accepted(api, JOB, METRICS).notes
    assert "pull-requests: read" in note


def test_a_word_that_only_looks_like_a_metric_of_ours_is_prose() -> None:
    said = "see example.com, v1.2, e.g. ann.lee@example.com and https://example.com/a_b"
    assert parse_metric_names(said, METRICS) == ((), "")


@pytest.mark.parametrize(
    "reason",
    [
        "retrieval.recall@5 the corpus shrank",
        "mine.tone_of_voice is another one",
        "agent.success-rate=0.8",
        "s/agent.success_rate@5",
        "Agent.Success_Rate fell",
    ],
)
def test_a_metric_that_this_job_does_not_measure_accepts_nothing(reason: str) -> None:
    """Another job of the pull request may: there it was meant, here not "everything"."""
    named, wrong = parse_metric_names(reason, ("agent.success_rate",))
    assert named == ()
    assert "no suite measures" in wrong


@pytest.mark.parametrize("sign", ["=", "/", "(", "*", "."])
def test_a_metric_is_found_between_any_signs(sign: str) -> None:
    reason = f"{sign}agent.success_rate{sign} fell"
    assert parse_metric_names(reason, METRICS) == (("agent.success_rate",), "")


def test_what_was_said_before_the_first_result_is_not_taken(github: GitHub, api: Api) -> None:
    """A push may come while somebody writes: nobody has seen what that commit does."""
    say(github, "/gate accept because")
    assert find_accepted(api, replace(JOB, run_attempt="1"), METRICS).changes == ()
    assert github.seen == []
    assert len(find_accepted(api, replace(JOB, run_attempt="2"), METRICS).changes) == 1


def test_a_deleted_account_and_an_empty_comment_are_passed_over(github: GitHub, api: Api) -> None:
    say(github, "/gate accept because")
    github.comments[-1]["user"] = None
    say(github, "x")
    github.comments[-1]["body"] = None
    github.violations.clear()
    assert find_accepted(api, JOB, METRICS).changes == ()
    github.violations.clear()


def test_the_comment_of_a_personal_token_is_the_gates_own(merged: GitHub, api: Api) -> None:
    merged.login = "max"
    say(merged, MARK, "max")
    say(merged, "/gate accept because")
    assert [change.who for change in find_accepted(api, on_main(), METRICS).changes] == ["ann"]
