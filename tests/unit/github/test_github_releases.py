"""Which release a release is compared with, and what is asked for that."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from gate.github.api import Api, ApiError, Time
from gate.github.context import Job
from gate.github.releases import version_of, with_previous
from tests.support.github_server import REPOSITORY, Answer, GitHub

HEAD = "a" * 40


def find(github: GitHub, tag: str | None, event: str = "push", **facts: Any) -> Job:
    api = Api(github.url, "token", REPOSITORY, clock=Time(sleep=lambda seconds: None))
    job = Job(event=event, mode="release", head_sha=HEAD, head_ref=tag, **facts)
    try:
        return with_previous(job, api)
    finally:
        api.close()
        assert len(github.seen) <= 2, "at most two requests"


def tagged(*names: str) -> dict[str, str]:
    return {name: f"{number:040x}" for number, name in enumerate(names, start=1)}


def published(tag: str, day: int, *, prerelease: bool = False, draft: bool = False) -> Any:
    moment = None if draft else f"2026-11-{day:02}T12:00:00Z"
    return {"tag_name": tag, "prerelease": prerelease, "draft": draft, "published_at": moment}


# ---------------------------------------------------------------------------------------- versions


def test_versions_have_the_order_of_semver() -> None:
    order = "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11"
    names = [*order.split(), "1.0.0-rc.1", "1.0.0", "v1.0.1", "v1.2", "V1.10.0", "v2.0.0-0"]
    versions = [version_of(name) for name in names]
    for one, other in pairwise(versions):
        assert one is not None
        assert other is not None
        assert one.is_below(other)
        assert not other.is_below(one)


def test_build_metadata_does_not_count_and_another_prefix_is_another_product() -> None:
    one, same = version_of("v1.2.3+5"), version_of("1.2.3+6")
    assert one == same
    agent, web = version_of("agent/v1.2.3"), version_of("web-v1.3.0")
    assert agent is not None
    assert web is not None
    assert not agent.is_below(web)


@pytest.mark.parametrize("name", ["v1", "nightly", "1", "v1.2.3.4.x", "abc1.2.3", "", "9" * 400])
def test_what_is_no_version(name: str) -> None:
    assert version_of(name) is None


# ------------------------------------------------------------------------------------ push of a tag


def test_a_tag_is_compared_with_the_highest_version_below_it(github: GitHub) -> None:
    github.tags = tagged("v1.10.0", "v1.9.0", "v2.0.0", "v1.9.10", "v1.9.9", "docs-v1.9.11", "x")
    found = find(github, "v1.10.0")
    assert (found.base_name, found.base_sha) == ("v1.9.10", github.tags["v1.9.10"])
    assert found.reason == "release v1.10.0, compared with v1.9.10"
    assert [seen.path.rsplit("/", 1)[1] for seen in github.seen] == ["tags"]


@pytest.mark.parametrize(
    ("tag", "base"), [("v2.0.0", "v1.9.0"), ("v2.0.0-rc.2", "v2.0.0-rc.1"), ("v1.9.1", "v1.9.0")]
)
def test_a_final_release_is_compared_with_final_ones(github: GitHub, tag: str, base: str) -> None:
    github.tags = tagged("v2.0.0-rc.1", "v2.0.0-rc.2", "v1.9.0", "v1.8.0")
    assert find(github, tag).base_name == base


def test_a_tag_on_the_same_commit_is_no_predecessor(github: GitHub) -> None:
    github.tags = tagged("v1.0.0") | {"v1.1.0": HEAD, "v1.1.1": HEAD}
    assert find(github, "v1.1.1").base_name == "v1.0.0"


def test_a_name_that_is_no_version_takes_the_newest_release(github: GitHub) -> None:
    github.tags = tagged("spring", "summer") | {"autumn": HEAD, "v9.9.9": HEAD}
    github.releases = [
        published("winter", 30, draft=True),
        published("v9.9.9", 20),  # the very commit
        published("gone", 19),  # its tag was deleted
        published("summer", 10),
        published("spring", 1),
    ]
    found = find(github, "autumn")
    assert (found.base_name, found.base_sha) == ("summer", github.tags["summer"])


def test_a_first_version_takes_the_newest_release_that_is_not_higher(github: GitHub) -> None:
    github.tags = tagged("spring", "v3.0.0") | {"v1.0.0": HEAD}
    github.releases = [published("v3.0.0", 20), published("spring", 1)]
    assert find(github, "v1.0.0").base_name == "spring"


def test_many_tags_cost_a_second_page_and_no_more(github: GitHub) -> None:
    github.tags = tagged(*(f"v0.{n}.0" for n in range(300)))
    assert find(github, "v9.0.0").base_name == "v0.199.0"
    github.seen.clear()
    github.tags = tagged(*(f"build-{n}" for n in range(300)))
    assert find(github, "v9.0.0").no_base.endswith("200 tags searched, prereleases left out")


def test_without_an_earlier_one_it_is_told_what_was_looked_for(github: GitHub) -> None:
    github.tags = {"v1.0.0": HEAD}
    found = find(github, "v1.0.0")
    assert (found.base_sha, found.base_name) == (None, None)
    assert found.no_base == (
        "no earlier release than v1.0.0: 1 tags and 0 published releases searched, "
        "prereleases left out"
    )


# ----------------------------------------------------------------------------------------- releases


def release(github: GitHub, tag: str, day: int, **facts: Any) -> Job:
    return find(github, tag, "release", released_at=f"2026-11-{day:02}T12:00:00Z", **facts)


def test_a_release_is_compared_with_the_one_published_before_it(github: GitHub) -> None:
    github.tags = tagged("spring", "summer", "autumn", "winter")
    github.releases = [published(t, d) for t, d in (("winter", 28), ("autumn", 20), ("summer", 10))]
    found = release(github, "autumn", 20)
    assert (found.base_name, found.base_sha) == ("summer", github.tags["summer"])


def test_a_fix_of_an_old_line_is_compared_with_that_line(github: GitHub) -> None:
    github.tags = tagged("v2.0.0", "v1.9.0")
    github.releases = [published("v1.9.1", 20), published("v2.0.0", 10), published("v1.9.0", 1)]
    assert release(github, "v1.9.1", 20).base_name == "v1.9.0"


def test_prereleases_and_drafts_are_left_out_but_by_a_prerelease(github: GitHub) -> None:
    github.tags = tagged("v1.0.0", "v1.1.0-rc.1", "v1.1.0-rc.2")
    github.releases = [
        published("v1.1.0-rc.2", 20, prerelease=True),
        published("v1.0.9", 19, draft=True),
        published("v1.1.0-rc.1", 10, prerelease=True),
        published("v1.0.0", 1),
    ]
    assert release(github, "v1.1.0", 25).base_name == "v1.0.0"
    github.seen.clear()
    assert release(github, "v1.1.0-rc.2", 20, prerelease=True).base_name == "v1.1.0-rc.1"


def test_a_release_whose_predecessor_is_unusable_says_so(github: GitHub) -> None:
    github.releases = [published("v1.0.0", 1)]
    assert release(github, "v1.1.0", 20).no_base.endswith("v1.0.0 is not a tag of this repository")
    github.tags = {"v1.0.0": HEAD}
    github.seen.clear()
    assert release(github, "v1.1.0", 20).no_base.endswith("v1.0.0 is the same commit")


def test_what_cannot_be_asked_is_told_and_what_is_refused_is_an_error(github: GitHub) -> None:
    assert "is not available" in with_previous(Job(head_ref="v1"), None).no_base
    assert "names no tag" in find(github, None).no_base
    github.faults = [("tags", Answer(403, {"message": "Resource not accessible by integration"}))]
    with pytest.raises(ApiError, match="contents: read"):
        find(github, "v1.0.0")


def test_hostile_answers_are_no_release(github: GitHub) -> None:
    github.releases = [{"tag_name": 5, "published_at": "x"}, {"tag_name": "v0.1.0"}, {}]
    assert find(github, "v1.0.0").base_sha is None
