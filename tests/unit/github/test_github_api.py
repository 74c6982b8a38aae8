"""The REST client: pages, retries, rate limits, redirects, and messages without the token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from gate.github.api import Api, ApiError, Time
from tests.support.github_server import REPOSITORY, Answer, GitHub, serving
from tests.support.raw_server import Peer, RawServer, ok

TOKEN = "ghs_0123456789secret"


@dataclass
class FakeTime:
    now: float = 1_000_000.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def clock(self) -> Time:
        return Time(sleep=self.sleep, seconds=lambda: self.now, unix=lambda: self.now)


@dataclass
class Recorder:
    """Answers each connection once, and keeps what was asked."""

    reply: bytes
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def __call__(self, peer: Peer) -> None:
        request = peer.request()
        assert request is not None
        self.seen.append(request[:2])
        peer.send(self.reply)


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def api(github: GitHub, time: FakeTime) -> Iterator[Api]:
    client = Api(github.url, TOKEN, REPOSITORY, clock=time.clock(), http_on_loopback=True)
    yield client
    client.close()


def test_every_page_is_read_and_a_foreign_link_gets_no_request(api: Api, github: GitHub) -> None:
    for number in range(250):
        github.comment(f"comment {number}")
    bodies = [c["body"] for c in api.pages("issues/3/comments", {})]
    assert bodies == [f"comment {number}" for number in range(250)]
    assert [s.query["per_page"] for s in github.seen] == ["100", "100", "100"]


def test_headers_name_the_version_and_the_token(api: Api, github: GitHub) -> None:
    api.get("pulls/3")
    headers = github.seen[0].headers
    assert headers["x-github-api-version"] == "2022-11-28"
    assert headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("answer", "slept"),
    [
        (Answer(502), [1.0]),
        (Answer(503, {"message": "busy"}, {"Retry-After": "7"}), [7.0]),
        (Answer(503, {"message": "busy"}, {"Retry-After": "soon"}), [1.0]),
        (Answer(429, {"message": "slow down"}, {"Retry-After": "3"}), [3.0]),
        (Answer(429, {"message": "slow down"}, {"Retry-After": "0"}), [1.0]),
        (Answer(429, {"message": "slow down"}), [60.0]),
        (Answer(429, {"message": "slow down"}, {"Retry-After": "-3"}), [60.0]),
        (Answer(403, {"message": "secondary"}, {"Retry-After": "33"}), [33.0]),
        (
            Answer(429, {}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000042"}),
            [42.0],
        ),
        (
            Answer(429, {}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "999000"}),
            [1.0],
        ),
        (
            Answer(403, {}, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"}),
            [60.0],
        ),
        (
            Answer(
                403,
                {},
                {"X-RateLimit-Remaining": "7", "Retry-After": "5", "X-RateLimit-Reset": "9"},
            ),
            [5.0],
        ),
        (
            Answer(
                403,
                {"message": "API rate limit exceeded"},
                {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000042"},
            ),
            [42.0],
        ),
        (Answer(403, {"message": "You have exceeded a secondary rate limit"}), [60.0]),
    ],
)
def test_passing_troubles_are_waited_out(
    api: Api, github: GitHub, time: FakeTime, answer: Answer, slept: list[float]
) -> None:
    github.faults = [("pulls", answer)]
    assert api.get("pulls/3")["head"]
    assert time.slept == slept


def test_a_rate_limit_of_an_hour_is_not_waited_out(
    api: Api, github: GitHub, time: FakeTime
) -> None:
    limits = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1003600"}
    github.faults = [("pulls", Answer(403, {"message": "API rate limit exceeded"}, limits))]
    with pytest.raises(ApiError, match="rate limit is used up") as caught:
        api.get("pulls/3", needs="pull-requests: read")
    assert time.slept == []
    assert "permissions" not in str(caught.value)


def test_a_secondary_limit_without_a_time_grows_up_to_three_minutes(
    api: Api, github: GitHub, time: FakeTime
) -> None:
    limited = Answer(403, {"message": "You have exceeded a secondary rate limit"})
    github.faults = [("pulls", limited)] * 9
    with pytest.raises(ApiError, match="rate limit is used up: run the job again later"):
        api.get("pulls/3")
    assert time.slept == [60.0, 120.0]


@pytest.mark.parametrize("remaining", ["", "7"])
def test_a_plain_403_is_not_asked_again(
    api: Api, github: GitHub, time: FakeTime, remaining: str
) -> None:
    refused = Answer(403, {"message": "no"}, {"X-RateLimit-Remaining": remaining})
    github.faults = [("pulls", refused)]
    with pytest.raises(ApiError, match="add `permissions: pull-requests: read`"):
        api.get("pulls/3", needs="pull-requests: read")
    assert time.slept == []


def test_a_lasting_fault_ends_after_four_tries(api: Api, github: GitHub, time: FakeTime) -> None:
    github.faults = [("pulls", Answer(500))] * 9
    with pytest.raises(ApiError, match="answered 500 to GET pulls/3"):
        api.get("pulls/3")
    assert len(github.seen) == 4
    assert time.slept == [1.0, 2.0, 4.0]


def test_a_refused_write_names_the_permission_and_never_the_token(api: Api, github: GitHub) -> None:
    github.faults = [
        ("POST", Answer(403, {"message": f"no access for {TOKEN}\n::error::forged"})),
    ]
    with pytest.raises(ApiError) as caught:
        api.write("POST", "issues/3/comments", {"body": "x"}, needs="pull-requests: write")
    message = str(caught.value)
    assert "add `permissions: pull-requests: write` to the job" in message
    assert "\n" not in message
    assert TOKEN not in message + repr(api) + repr(caught.value)
    assert caught.value.exit_code == 6


def test_a_wrong_token_is_told(api: Api, github: GitHub) -> None:
    github.faults = [("user", Answer(401, {"message": "Bad credentials"}))]
    with pytest.raises(ApiError, match="token is wrong or has expired"):
        api.get("/user")


def test_writes_keep_a_second_apart(api: Api, github: GitHub, time: FakeTime) -> None:
    for _ in range(2):
        api.write("POST", "issues/3/comments", {"body": "x"}, needs="")
    assert time.slept == [1.0]


def test_a_write_that_was_limited_keeps_its_distance_too(
    api: Api, github: GitHub, time: FakeTime
) -> None:
    github.faults = [("POST", Answer(429, {}, {"Retry-After": "4"}))]
    for _ in range(2):
        api.write("POST", "issues/3/comments", {"body": "x"}, needs="")
    assert time.slept == [4.0, 1.0]


def test_a_refused_write_keeps_its_distance_too(api: Api, github: GitHub, time: FakeTime) -> None:
    github.faults = [("POST", Answer(403, {"message": "no"}))]
    with pytest.raises(ApiError):
        api.write("POST", "issues/3/comments", {"body": "x"}, needs="")
    api.write("POST", "issues/3/comments", {"body": "x"}, needs="")
    assert time.slept == [1.0]


def test_a_read_that_is_moved_to_another_host_leaves_the_token_behind(
    api: Api, github: GitHub
) -> None:
    with RawServer(record := Recorder(ok(b"{}", "Content-Type: application/json"))) as other:
        elsewhere = other.url.replace("127.0.0.1", "localhost")
        github.faults = [("pulls", Answer(301, None, {"Location": f"{elsewhere}/there"}))]
        assert api.get("pulls/3") == {}
    ((line, headers),) = record.seen
    assert line == "GET /there HTTP/1.1"
    assert "authorization" not in headers


def test_nobody_there_says_which_address(time: FakeTime) -> None:
    client = Api("http://127.0.0.1:9", TOKEN, REPOSITORY, clock=time.clock())
    with pytest.raises(ApiError, match=r"cannot be reached at http://127\.0\.0\.1:9") as caught:
        client.get("pulls/3")
    client.close()
    assert caught.value.status is None
    assert len(time.slept) == 3


def test_an_answer_that_is_no_json_is_told(api: Api, github: GitHub) -> None:
    github.faults = [("pulls", Answer(200, b"<html>", {"Content-Type": "text/html"}))]
    with pytest.raises(ApiError, match="not JSON"):
        api.get("pulls/3")


def test_a_moved_repository_is_told_for_writes(api: Api, github: GitHub) -> None:
    github.faults = [("POST", Answer(307, None, {"Location": "https://elsewhere.test/"}))]
    with pytest.raises(ApiError, match="moved"):
        api.write("POST", "issues/3/comments", {"body": "x"}, needs="")


def test_a_missing_file_is_none_and_another_error_is_not(api: Api, github: GitHub) -> None:
    github.contents["main", "a/b.json"] = b"bytes"
    assert api.raw("contents/a%2Fb.json", {"ref": "main"}) == b"bytes"
    assert api.raw("contents/b.json", {"ref": "main"}) is None
    github.faults = [("contents", Answer(403, {"message": "no"}))]
    with pytest.raises(ApiError, match="contents: read"):
        api.raw("contents/b.json", {"ref": "main"}, needs="contents: read")


def test_a_download_goes_without_the_token(api: Api, github: GitHub) -> None:
    headers = {"Content-Type": "application/zip; x=y", "Content-Disposition": 'a; filename="b.zip"'}
    github.blobs[7] = Answer(200, b"zip", headers)
    got = api.download("actions/artifacts/7/zip", limit=10)
    assert (got.content, got.content_type, got.filename) == (b"zip", "application/zip", "b.zip")
    assert "authorization" not in github.seen[-1].headers


def test_a_download_that_breaks_off_is_begun_anew(api: Api, github: GitHub, time: FakeTime) -> None:
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nhalf"

    def handler(peer: Peer) -> None:
        peer.request()
        peer.send([cut, ok(b"", status="503 Busy"), ok(b"whole")][peer.nth])

    with RawServer(handler) as store:
        github.stores[7] = store.url
        assert api.download("actions/artifacts/7/zip", limit=10).content == b"whole"
    assert time.slept == [2.0, 4.0]


def test_a_download_that_keeps_breaking_off_never_shows_its_address(
    api: Api, github: GitHub
) -> None:
    github.stores[7] = "http://127.0.0.1:9/blob?sig=c2lnbmF0dXJl"
    with pytest.raises(ApiError, match="interrupted") as caught:
        api.download("actions/artifacts/7/zip", limit=10)
    assert "sig" not in f"{caught.value!r} {caught.value.__cause__!r}"
    assert len(github.seen) == 4


@pytest.mark.parametrize(
    ("blob", "limit", "message"),
    [
        (Answer(200, b"x" * 100), 99, "larger than"),
        (Answer(403, b"denied"), 99, "the artifact store answered 403"),
        (
            Answer(302, None, {"Location": "https://elsewhere.test"}),
            99,
            "the artifact store answered 302",
        ),
    ],
)
def test_a_bad_download_is_refused(
    api: Api, github: GitHub, blob: Answer, limit: int, message: str
) -> None:
    github.blobs[7] = blob
    with pytest.raises(ApiError, match=message):
        api.download("actions/artifacts/7/zip", limit=limit)


def test_a_redirect_to_plain_http_is_refused(github: GitHub, time: FakeTime) -> None:
    client = Api(github.url, TOKEN, REPOSITORY, clock=time.clock())
    with pytest.raises(ApiError, match="not https"):
        client.download("actions/artifacts/7/zip", limit=10)
    client.close()


def test_an_expired_artifact_keeps_its_status(api: Api, github: GitHub) -> None:
    github.faults = [("zip", Answer(410, {"message": "Artifact has expired"}))]
    with pytest.raises(ApiError) as caught:
        api.download("actions/artifacts/7/zip", limit=10)
    assert caught.value.status == 410


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "issues/3/comments", {"bod": "x"}),
        ("POST", "check-runs", {"name": "x", "head_sha": "y", "status": "done"}),
        ("POST", "issues/3/remarks", {"body": "x"}),
    ],
)
def test_the_test_server_itself_notices_wrong_requests(
    time: FakeTime, method: str, path: str, body: dict[str, str]
) -> None:
    with serving(GitHub()) as server:
        client = Api(server.url, TOKEN, REPOSITORY, clock=time.clock())
        with pytest.raises(ApiError, match="422"):
            client.write(method, path, body, needs="")
        client.close()
    assert len(server.violations) == 1
