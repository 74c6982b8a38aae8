"""The sticky comment: one per id, from all pages, never an older text over a newer one."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gate.errors import UsageError
from gate.github.api import Api, Time
from gate.github.comments import Marker, Published, RetryPace, decide, marker, parse_marker, publish
from gate.github.pull_requests import PullRequestComments
from gate.records import CaseChange, CaseChanges, Report
from tests.support.github_server import HEAD, REPOSITORY, Answer, GitHub, Seen
from tests.support.small_report import report

QUICK = RetryPace(sleep=lambda seconds: None, jitter=lambda: 0.5)
PERSON = {"login": "mallory", "type": "User"}
OLD_HEAD = "b" * 40


@contextmanager
def client(github: GitHub, token: str = "token") -> Iterator[Api]:
    clock = Time(sleep=lambda seconds: None)
    api = Api(github.url, token, REPOSITORY, clock=clock, http_on_loopback=True)
    try:
        yield api
    finally:
        api.close()


def put(
    github: GitHub, body: str = "text\n", *, run: int = 7, sha: str = HEAD, **more
) -> Published:
    with client(github) as api:
        mark = Marker(id="gate", sha=sha, run=run)
        return publish(PullRequestComments(api, 3), mark, body, pace=QUICK, **more)


def bodies(github: GitHub) -> list[str]:
    return [comment["body"] for comment in github.comments]


def mark(run: int = 7, sha: str = HEAD) -> str:
    return f"<!-- agent-gate id=gate sha={sha} run={run}.1 v=1 -->"


def test_first_created_then_updated_in_place(github: GitHub) -> None:
    first = put(github, "one\n")
    second = put(github, "two\n", run=8)
    assert (first.action, second.action) == ("created", "updated")
    assert first.url == second.url != ""
    assert bodies(github) == [f"{mark(8)}\ntwo\n"]


def test_found_on_the_third_page(github: GitHub) -> None:
    for number in range(249):
        github.comment(f"talk {number}", user=PERSON)
    github.comment(f"{mark(1)}\nold\n")
    assert put(github, "new\n").action == "updated"
    assert len(github.comments) == 250
    assert github.comments[-1]["body"] == f"{mark()}\nnew\n"


def test_the_marker_of_the_body_is_replaced_by_our_own(github: GitHub) -> None:
    put(github, f"{mark(1, OLD_HEAD)}\ntext\n")
    assert bodies(github) == [f"{mark()}\ntext\n"]


def test_others_who_copy_the_marker_are_left_alone(github: GitHub) -> None:
    forged = f"{mark(99)}\nforged\n"
    github.comment(forged, user=PERSON)
    github.comment(f"quoted:\n{mark(99)}\n")
    github.comment("<!-- agent-gate id=other sha=aaaa run=1.1 v=1 -->\nanother job\n")
    assert put(github).action == "created"
    assert bodies(github)[0] == forged
    assert len(github.comments) == 4


def test_a_user_token_owns_its_users_comments_only(github: GitHub) -> None:
    github.login, github.author = "octocat", {"login": "octocat", "type": "User"}
    github.comment(f"{mark(1)}\nthe bot's\n")
    github.comment(f"{mark(1)}\nmine\n", user=github.author)
    assert put(github, "new\n").action == "updated"
    assert bodies(github) == [f"{mark(1)}\nthe bot's\n", f"{mark()}\nnew\n"]


def test_a_workflows_token_is_not_asked_who_it_is(github: GitHub) -> None:
    with client(github, "ghs_x") as api:
        publish(
            PullRequestComments(api, 3), Marker(id="gate", sha=HEAD, run=7), "text\n", pace=QUICK
        )
    asked = [f"{seen.method} {seen.path.rpartition('/')[2]}" for seen in github.seen]
    assert asked == ["GET 3", "GET comments", "POST comments", "GET comments"]


def test_duplicates_of_another_app_stay(github: GitHub) -> None:
    github.comment(f"{mark(1)}\nmine\n")
    github.comment(f"{mark(1)}\nanother app's\n", user={"login": "other[bot]", "type": "Bot"})
    assert put(github, "new\n").action == "updated"
    assert bodies(github) == [f"{mark()}\nnew\n", f"{mark(1)}\nanother app's\n"]


def test_duplicates_go_after_the_oldest_was_written(github: GitHub) -> None:
    for run in (1, 2, 3):
        github.comment(f"{mark(run)}\n{run}\n")
    first = github.comments[0]["id"]
    assert put(github, "new\n").action == "updated"
    assert [c["id"] for c in github.comments] == [first]
    methods = [s.method for s in github.seen if s.method != "GET" or "comments" in s.path]
    assert methods == ["GET", "PATCH", "GET", "DELETE", "DELETE", "GET"]


def test_an_old_head_never_writes_over_a_newer_one(github: GitHub) -> None:
    github.comment(f"{mark(1)}\nnewer\n")
    done = put(github, "older\n", sha=OLD_HEAD, run=99)
    assert done.action == "skipped"
    assert "is now at aaaaaaa, but this run judged bbbbbbb" in done.reason
    assert bodies(github) == [f"{mark(1)}\nnewer\n"]


def test_an_older_run_of_the_same_head_does_not_write(github: GitHub) -> None:
    github.comment(f"{mark(8)}\nrun 8\n")
    done = put(github, "run 7\n", run=7)
    assert (done.action, done.reason) == ("skipped", "run 8.1 of the same commit wrote it already")


def test_a_comment_of_an_older_head_is_replaced_whatever_its_run(github: GitHub) -> None:
    github.comment(f"{mark(99, OLD_HEAD)}\nold head\n")
    assert put(github, "new\n").action == "updated"


def test_a_comment_deleted_in_between_is_made_anew(github: GitHub) -> None:
    github.comment(f"{mark(1)}\nold\n")
    github.faults = [("PATCH", Answer(404, {"message": "Not Found"}))]
    assert put(github, "new\n").action == "updated"
    assert bodies(github) == [f"{mark()}\nnew\n"]


@pytest.mark.parametrize("runs", [(7, 8), (8, 7), (7, 7)])
def test_two_runs_at_once_converge_to_one_comment(github: GitHub, runs: tuple[int, int]) -> None:
    """Both have listed before either has written."""
    both_listed = threading.Barrier(2, timeout=20)
    listed: set[int] = set()
    route = github.handle

    def handle(seen: Seen) -> Answer:
        answer = route(seen)
        if seen.method == "GET" and seen.path.endswith("/3/comments"):
            me = threading.get_ident()
            if me not in listed and len(listed) < 2:
                listed.add(me)
                both_listed.wait()
        return answer

    github.handle = handle  # type: ignore[method-assign]
    done: dict[int, Published] = {}

    def one(place: int) -> None:
        done[place] = put(github, f"run {runs[place]}\n", run=runs[place])

    threads = [threading.Thread(target=one, args=(place,)) for place in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "failed" not in [d.action for d in done.values()]
    assert bodies(github) == [f"{mark(max(runs))}\nrun {max(runs)}\n"]


def test_many_runs_at_once_leave_one_comment_of_the_newest(github: GitHub) -> None:
    """Real threads, each with its own Api; one run judged an older head."""
    start = threading.Barrier(6, timeout=20)
    done: list[Published] = []

    def one(run: int) -> None:
        start.wait()
        sha = OLD_HEAD if run == 99 else HEAD
        with client(github) as api:
            made = Marker(id="gate", sha=sha, run=run)
            pace = RetryPace(sleep=lambda seconds: time.sleep(seconds / 4))
            done.append(publish(PullRequestComments(api, 3), made, f"run {run}\n", pace=pace))

    threads = [threading.Thread(target=one, args=(run,)) for run in (3, 5, 4, 1, 2, 99)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bodies(github) == [f"{mark(5)}\nrun 5\n"]
    assert "failed" not in [one.action for one in done]


def test_what_an_older_run_wrote_on_an_old_list_is_mended(github: GitHub) -> None:
    """Run 4 lists, run 5 writes and looks again, and only then run 4 writes."""
    github.comment(f"{mark(3)}\nrun 3\n")
    listed, verified, overwritten = (threading.Event() for _ in range(3))
    route = github.handle

    def handle(seen: Seen) -> Answer:
        if seen.method == "PATCH" and "run 4" in seen.body["body"]:
            listed.set()
            assert verified.wait(20)
            answer = route(seen)
            overwritten.set()
            return answer
        return route(seen)

    github.handle = handle  # type: ignore[method-assign]

    def looked(seconds: float) -> None:
        verified.set()
        assert overwritten.wait(20)

    older = threading.Thread(target=put, args=(github, "run 4\n"), kwargs={"run": 4})
    older.start()
    assert listed.wait(20)
    with client(github) as api:
        made = Marker(id="gate", sha=HEAD, run=5)
        done = publish(PullRequestComments(api, 3), made, "run 5\n", pace=RetryPace(sleep=looked))
    older.join()
    assert done.action == "updated"
    assert bodies(github) == [f"{mark(5)}\nrun 5\n"]


def test_an_overtaken_run_takes_its_own_duplicate_back(github: GitHub) -> None:
    """Run 8 has written and looked before run 7, which had listed before, writes."""
    route = github.handle

    def handle(seen: Seen) -> Answer:
        if seen.method == "POST":
            github.handle = route  # type: ignore[method-assign]
            github.comment(f"{mark(8)}\nrun 8\n")
        return route(seen)

    github.handle = handle  # type: ignore[method-assign]
    assert put(github, run=7).action == "skipped"
    assert bodies(github) == [f"{mark(8)}\nrun 8\n"]


def test_too_long_is_rendered_shorter_until_it_fits(github: GitHub) -> None:
    github.comment_limit = 40_000
    asked: list[int] = []

    def shorter(limit: int) -> str:
        asked.append(limit)
        return "x" * limit

    assert put(github, "x" * 60_000, shorter=shorter).action == "created"
    room = len(mark()) + 1
    assert asked == [32_768 - room]
    assert len(github.comments[0]["body"]) == 32_768


def test_too_many_bytes_are_never_sent(github: GitHub) -> None:
    put(github, "é" * 60_000, shorter=lambda limit: "short")
    assert bodies(github) == [f"{mark()}\nshort"]
    assert len(github.requests("POST")) == 1


def test_too_long_in_every_rendering_is_told(github: GitHub) -> None:
    github.comment_limit = 10
    done = put(github, "x" * 100, shorter=lambda limit: "x" * 50)
    assert done.action == "failed"
    assert "too long" in done.reason


def test_a_read_only_token_is_a_result_not_an_exception(github: GitHub) -> None:
    github.read_only = True
    done = put(github)
    assert done.action == "failed"
    assert "add `permissions: pull-requests: write` to the job" in done.reason


def test_update_only_writes_nothing_new(github: GitHub) -> None:
    assert put(github, create=False).action == "skipped"
    github.comment(f"{mark(1)}\nred\n")
    assert put(github, "green\n", create=False).action == "updated"


def test_half_a_surrogate_pair_does_not_break_the_write(github: GitHub) -> None:
    assert put(github, "bad \ud800 text\n").action == "created"


@pytest.mark.parametrize("text", ["", "a b", "-->", "x" * 65, "ä", "a\nb", "-a"])
def test_an_id_that_could_leave_the_marker_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="comment-id"):
        marker(text, HEAD, "1", "1")


def test_a_marker_reads_back() -> None:
    made = marker("gate.ana-lytics", HEAD, "123", "2")
    assert parse_marker(f"{made}\r\nbody") == made
    assert parse_marker(f"\n{made}\n") is None
    assert marker("gate", None, None, None) == Marker(id="gate", sha="unknown")


FLIPPED = CaseChanges(newly_passing=(CaseChange(suite="s", case_id="c"),))


@pytest.mark.parametrize(
    ("mode", "made", "wanted"),
    [
        ("always", report(), "write"),
        ("never", report("fail", 1), "nothing"),
        ("on-change", report(), "update"),
        ("on-change", report(cases=FLIPPED), "write"),
        ("on-change", report("no_baseline"), "write"),
        ("on-failure", report("fail", 1), "write"),
        ("on-failure", report("inconclusive", 3), "write"),
        ("on-failure", report("inconclusive", 0), "update"),
        ("on-failure", report(cases=FLIPPED), "update"),
        ("on-error", report("error", 6), "write"),
        ("on-error", report("fail", 1), "update"),
    ],
)
def test_when_to_comment(mode: str, made: Report, wanted: str) -> None:
    assert decide(mode, made) == wanted  # type: ignore[arg-type]


@pytest.mark.parametrize("body", [{}, {"head": None}, "<html>"])
def test_an_answer_without_a_head_is_no_reason_not_to_write(github: GitHub, body: object) -> None:
    """What GitHub, or a proxy before it, says never ends in an exception: the verdict stands."""
    github.faults = [("/pulls/3", Answer(200, body))]
    assert put(github).action == "created"
