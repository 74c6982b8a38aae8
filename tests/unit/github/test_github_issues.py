"""The issue about main: one, kept up to date, closed when main is back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gate.github.api import Api, ApiError, Time
from gate.github.issues import LABEL, MARKER, close_issue, tell_issue
from tests.support.github_server import REPOSITORY, GitHub, serving


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub()) as made:
        yield made
        assert made.violations == []


@pytest.fixture
def api(github: GitHub) -> Api:
    quick = Time(sleep=lambda seconds: None)
    return Api(github.url, "ghs_token", REPOSITORY, clock=quick, http_on_loopback=True)


def test_one_issue_is_opened_updated_and_closed(api: Api, github: GitHub) -> None:
    assert tell_issue(api, title="worse", body="by 5").action == "opened"
    assert tell_issue(api, title="worse", body="by 5").action == "unchanged"
    assert tell_issue(api, title="worse", body="by 7").action == "updated"
    (issue,) = github.issues
    assert issue["body"] == f"{MARKER}\nby 7"
    assert [label["name"] for label in issue["labels"]] == [LABEL]
    assert close_issue(api, run_url="https://example.test/run").action == "closed"
    assert issue["state"] == "closed"
    assert github.comments[-1]["body"].endswith("https://example.test/run")
    assert close_issue(api, run_url="").action == "none"
    assert tell_issue(api, title="worse", body="again").action == "opened"
    assert len(github.issues) == 2


def test_somebody_elses_issue_and_pull_requests_are_left_alone(api: Api, github: GitHub) -> None:
    tell_issue(api, title="worse", body="by 5")
    other = {**github.issues[0], "number": 7, "id": 1, "body": "mine"}
    pull = {**github.issues[0], "number": 8, "id": 2, "pull_request": {}}
    github.issues += [other, pull]
    assert close_issue(api, run_url="").action == "closed"
    assert [issue["state"] for issue in github.issues] == ["closed", "open", "open"]


def test_each_project_of_a_repository_has_an_issue(api: Api, github: GitHub) -> None:
    assert tell_issue(api, title="worse", body="by 5").action == "opened"
    assert tell_issue(api, title="worse", body="by 5", job="bot2").action == "opened"
    assert close_issue(api, run_url="", job="bot2").action == "closed"
    assert [issue["state"] for issue in github.issues] == ["open", "closed"]
    assert tell_issue(api, title="worse", body="by 6").action == "updated"
    assert close_issue(api, run_url="", job="x --> y").action == "none"


def test_of_two_the_older_one_stays(api: Api, github: GitHub) -> None:
    tell_issue(api, title="worse", body="by 5")
    github.issues.append({**github.issues[0], "number": 9, "id": 5000})
    assert tell_issue(api, title="worse", body="by 6").action == "updated"
    assert [(issue["number"], issue["state"]) for issue in github.issues] == [
        (1, "open"),
        (9, "closed"),
    ]


def test_a_missing_permission_is_named(api: Api, github: GitHub) -> None:
    github.forbidden = ("issues",)
    with pytest.raises(ApiError, match="issues: write"):
        tell_issue(api, title="worse", body="by 5")
