"""The optional check run: begun beside the run, concluded at every end, with its annotations."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gate.errors import Place
from gate.github.api import Api, Time
from gate.github.checks import (
    SUMMARY_LIMIT,
    CheckIdentity,
    CheckResult,
    CheckRun,
    conclusion,
    verdict,
)
from tests.support.github_server import HEAD, REPOSITORY, Answer, GitHub, Seen
from tests.support.reports import change, regression
from tests.support.small_report import report

IDENTITY = CheckIdentity(
    head_sha=HEAD, name="gate", run="7", attempt=2, run_url="https://example.test/run"
)
WELL = CheckResult(conclusion="success", title="pass: why", summary="text")
STOPPED = CheckResult(conclusion="cancelled", title="cancelled", summary="text", judged=False)
UNAVAILABLE = Answer(502, {"message": "Bad Gateway"})


def connect(github: GitHub) -> Api:
    return Api(github.url, "token", REPOSITORY, clock=Time(sleep=lambda seconds: None))


@pytest.fixture
def api(github: GitHub) -> Iterator[Api]:
    client = connect(github)
    yield client
    client.close()


def begun(github: GitHub, identity: CheckIdentity = IDENTITY) -> CheckRun:
    check = CheckRun(identity, lambda: connect(github))
    check.begin()
    return check


def same(text: str) -> str:
    return text


@pytest.mark.parametrize(
    ("outcome", "code", "wanted"),
    [
        ("pass", 0, "success"),
        ("fail", 1, "failure"),
        ("inconclusive", 0, "neutral"),
        ("inconclusive", 3, "failure"),
        ("no_baseline", 0, "neutral"),
        ("error", 6, "failure"),
    ],
)
def test_conclusions(outcome: str, code: int, wanted: str) -> None:
    assert conclusion(report(outcome, code)) == wanted


def test_it_is_in_progress_first_and_concluded_in_place(api: Api, github: GitHub) -> None:
    done = begun(github).finish(api, WELL)
    assert (done.action, done.url) == ("created", "https://example.test/check/1")
    first, last = github.requests("POST")[0].body, github.requests("PATCH")[0].body
    assert (first["status"], first["head_sha"]) == ("in_progress", HEAD)
    assert (first["external_id"], first["details_url"]) == ("7.2", "https://example.test/run")
    assert (last["status"], last["conclusion"]) == ("completed", "success")
    assert last["output"] == {"title": "pass: why", "summary": "text"}
    assert len(github.checks) == 1


def test_beginning_waits_for_nobody(github: GitHub, api: Api) -> None:
    answered = threading.Event()
    route = github.handle

    def slow(seen: Seen) -> Answer:
        if seen.method == "POST":
            assert answered.wait(20)
        return route(seen)

    github.handle = slow  # type: ignore[method-assign]
    check = begun(github)
    assert github.checks == []
    answered.set()
    assert check.finish(api, WELL).action == "created"


def placed(number: int) -> Any:
    cases = tuple(change(n, place=Place("d.jsonl", n)) for n in range(1, number + 1))
    return replace(regression(), cases=replace(regression().cases, newly_failing=cases))


def test_annotations_go_fifty_a_request_at_their_lines(github: GitHub, api: Api) -> None:
    ended = verdict(placed(120), lambda limit: "text", same)
    assert begun(github).finish(api, ended).action == "created"
    batches = [seen.body["output"]["annotations"] for seen in github.requests("PATCH")]
    assert [len(batch) for batch in batches] == [50, 50, 20]
    concluded = ["conclusion" in seen.body for seen in github.requests("PATCH")]
    assert concluded == [False, False, True]
    (check,) = github.checks
    assert check["conclusion"] == "failure"
    shown = check["output"]["annotations"]
    assert len(shown) == 120
    assert {one["path"] for one in shown} == {"d.jsonl"}
    assert sorted(one["start_line"] for one in shown) == list(range(1, 121))
    assert shown[0]["annotation_level"] == "warning"
    assert "newly fails" in shown[0]["title"]
    assert len({one["message"] for one in shown}) > 1


@pytest.mark.parametrize("number", [1, 50, 120])
def test_a_batch_that_is_refused_does_not_keep_it_open(
    github: GitHub, api: Api, number: int
) -> None:
    github.faults = [("PATCH", Answer(422, {"message": "no"}))]
    ended = verdict(placed(number), lambda limit: "text", same)
    assert begun(github).finish(api, ended).action == "created"
    assert github.checks[0]["conclusion"] == "failure"


def test_what_has_no_place_is_no_annotation() -> None:
    assert verdict(regression(), lambda limit: "text", same).annotations == ()


def test_more_annotations_than_anybody_reads_are_counted() -> None:
    ended = verdict(placed(250), lambda limit: "x" * limit, same)
    assert len(ended.annotations) == 200
    assert ended.summary.endswith("200 of 250 findings are annotated; the others are in report.md.")
    assert len(ended.summary.encode()) <= SUMMARY_LIMIT


def test_nothing_secret_is_sent() -> None:
    hidden = verdict(
        replace(placed(1), reason="hunter2"),
        lambda limit: "hunter2",
        lambda text: text.replace("hunter2", "***").replace("churn", "***"),
    )
    assert "hunter2" not in f"{hidden.title}{hidden.summary}"
    assert "churn" not in str(hidden.annotations)


def test_a_refused_check_run_is_a_result_and_is_not_tried_twice(api: Api, github: GitHub) -> None:
    github.forbidden = ("check-runs",)
    check = begun(github)
    done = check.finish(api, WELL)
    assert done.action == "failed"
    assert check.forbidden
    assert "permissions: checks: write" in done.reason
    assert len(github.seen) == 1


def test_a_creation_that_failed_is_made_up_for(api: Api, github: GitHub) -> None:
    github.faults = [("check-runs", UNAVAILABLE)]
    check = begun(github)
    assert check.finish(api, WELL).action == "created"
    assert not check.forbidden
    (made,) = github.checks
    assert (made["status"], made["conclusion"]) == ("completed", "success")


def test_a_rate_limit_is_no_missing_permission(api: Api, github: GitHub) -> None:
    limited = Answer(403, {"message": "rate limit"}, {"X-RateLimit-Remaining": "0"})
    github.faults = [("check-runs", limited)]
    check = begun(github)
    assert check.finish(api, WELL).action == "created"


@pytest.mark.parametrize("gateway", [True, False])
def test_an_answer_that_was_lost_does_not_leave_one_in_progress(
    github: GitHub, api: Api, gateway: bool
) -> None:
    route = github.handle

    def lost(seen: Seen) -> Answer:
        answer = route(seen)
        github.handle = route  # type: ignore[method-assign]
        if gateway:
            return UNAVAILABLE
        raise ConnectionAbortedError(answer)

    github.handle = lost  # type: ignore[method-assign]
    assert begun(github).finish(api, WELL).action == "created"
    (made,) = github.checks
    assert made["conclusion"] == "success"


def test_cancelling_is_one_try(github: GitHub, api: Api) -> None:
    check = begun(github)
    github.faults = [("PATCH", UNAVAILABLE), ("PATCH", UNAVAILABLE)]
    check.cancel(api, STOPPED)
    assert len(github.requests("PATCH")) == 1
    github.faults = []
    check.cancel(api, STOPPED)
    assert github.checks[0]["conclusion"] == "cancelled"


def test_cancelling_says_nothing_new_and_nothing_against_a_verdict(
    github: GitHub, api: Api
) -> None:
    CheckRun(IDENTITY, lambda: connect(github)).cancel(api, STOPPED)
    assert github.seen == []
    check = begun(github)
    check.finish(api, WELL)
    check.cancel(api, STOPPED)
    assert github.checks[0]["conclusion"] == "success"


def stale(github: GitHub, external_id: str, name: str = "gate") -> dict[str, Any]:
    made = {"id": len(github.checks) + 1, "html_url": "", "head_sha": HEAD, "name": name}
    github.checks.append({**made, "status": "in_progress", "external_id": external_id})
    return github.checks[-1]


def test_a_later_attempt_ends_what_a_killed_one_left(github: GitHub, api: Api) -> None:
    killed, other = stale(github, "7.1"), stale(github, "8.1")
    elsewhere = stale(github, "7.1", "another")
    check = begun(github)
    check.finish(api, WELL)
    for _ in range(100):
        if killed["status"] == "completed":
            break
        threading.Event().wait(0.05)
    assert (killed["status"], killed["conclusion"]) == ("completed", "cancelled")
    assert other["status"] == elsewhere["status"] == "in_progress"


def test_a_first_attempt_asks_for_no_list(github: GitHub, api: Api) -> None:
    begun(github, replace(IDENTITY, attempt=1)).finish(api, WELL)
    assert [seen.method for seen in github.seen] == ["POST", "PATCH"]
