"""The release before this one: what a release is compared with.

A tag with a version is compared with the highest lower one (order: semver.org 2.0.0, item 11) under
the same prefix, any other with the newest release before it. A prerelease is compared with
releases of any kind, a final one with final ones. The release's own commit is no predecessor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from urllib.parse import quote

from gate.github.api import Api, ApiError
from gate.github.context import Job
from gate.github.payload import text

NEEDS = "contents: read"
TAGS_LISTED = 200  # two pages
PAGE = 100
_VERSION = re.compile(
    r"(?P<prefix>.*?)[vV]?(?P<major>\d{1,9})\.(?P<minor>\d{1,9})(?:\.(?P<patch>\d{1,9}))?"
    r"(?:-(?P<pre>[0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)

Order = tuple[int, int, int, bool, tuple[tuple[int, int, str], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """`order` is semver's precedence; versions under another prefix are another product's."""

    prefix: str
    order: Order

    @property
    def is_final(self) -> bool:
        return self.order[3]

    def is_below(self, other: Version) -> bool:
        return self.prefix == other.prefix and self.order < other.order


@dataclass(frozen=True, slots=True, kw_only=True)
class _Release:
    tag: str
    final: bool
    at: str  # ISO 8601, UTC: sorts as text
    sha: str | None = None

    @property
    def version(self) -> Version | None:
        return version_of(self.tag)


def version_of(tag: str) -> Version | None:
    """`v1.2.3`, `1.2.3-rc.1`, `agent/v1.2`, ...; None for any other name."""
    match = _VERSION.fullmatch(tag)
    if match is None or (match["prefix"] and match["prefix"][-1] not in "-_/@."):
        return None
    major, minor, patch = (int(match[part] or 0) for part in ("major", "minor", "patch"))
    pre = tuple(_identifier(one) for one in (match["pre"] or "").split(".") if one)
    return Version(prefix=match["prefix"], order=(major, minor, patch, not pre, pre))


def with_previous(job: Job, api: Api | None) -> Job:
    """The job with the commit and the tag to compare with, or why there is none; at most two
    requests. Raises ApiError.
    """
    if api is None:
        return replace(job, no_base="no earlier release is known: GitHub's API is not available")
    if not job.head_ref:
        return replace(job, no_base="no earlier release is known: the event names no tag")
    release, why = (_release_by_event if job.event == "release" else _release_by_tag)(
        api, job, job.head_ref
    )
    if release is None:
        return replace(job, no_base=f"no earlier release than {job.head_ref}: {why}")
    reason = f"release {job.head_ref}, compared with {release.tag}"
    return replace(job, base_sha=release.sha, base_name=release.tag, reason=reason)


def _release_by_event(api: Api, job: Job, tag: str) -> tuple[_Release | None, str]:
    listed = _releases(api)
    earlier = [one for one in listed if job.released_at is None or one.at < job.released_at]
    release = _before(tag, earlier, final=not job.prerelease)
    if release is None:
        return None, _format_searched(f"{len(listed)} published", not job.prerelease)
    sha = _commit(api, release.tag)
    if sha is None:
        return None, f"{release.tag} is not a tag of this repository"
    if sha == job.head_sha:
        return None, f"{release.tag} is the same commit"
    return replace(release, sha=sha), ""


def _release_by_tag(api: Api, job: Job, tag: str) -> tuple[_Release | None, str]:
    tags = _tags(api)
    version = version_of(tag)
    final = version is None or version.is_final
    others = [one for one in tags if one.sha and one.sha != job.head_sha]
    if version is not None:
        release = _highest([other for other in others if other.final or not final], version)
        if release is not None:
            return release, ""
    looked_at = f"{len(tags)} tags"
    if len(tags) <= PAGE:
        listed, release_by_tag = _releases(api), {other.tag: other for other in others}
        # A release's own commit would be a third request, and the list of tags has it.
        here = [
            replace(one, sha=release_by_tag[one.tag].sha)
            for one in listed
            if one.tag in release_by_tag
        ]
        release = _before(tag, here, final=final)
        if release is not None:
            return release, ""
        looked_at += f" and {len(listed)} published releases"
    return None, _format_searched(looked_at, final)


def _format_searched(what: str, final: bool) -> str:
    return f"{what} searched, prereleases {'left out' if final else 'too'}"


def _before(tag: str, earlier: Iterable[_Release], *, final: bool) -> _Release | None:
    """The highest lower version, else the newest that is not a higher one."""
    version = version_of(tag)
    fit = [one for one in earlier if one.tag != tag and (one.final or not final)]
    if version is None:
        return max(fit, key=lambda one: one.at, default=None)
    fit = [one for one in fit if one.version is None or not version.is_below(one.version)]
    return _highest(fit, version) or max(fit, key=lambda one: one.at, default=None)


def _highest(fit: Sequence[_Release], version: Version) -> _Release | None:
    lower = [(v.order, one.tag, one) for one in fit if (v := one.version) and v.is_below(version)]
    return max(lower, key=lambda item: item[:2])[2] if lower else None


def _releases(api: Api) -> list[_Release]:
    """The newest hundred that are published, with their moment."""
    listed = islice(api.pages("releases", {}, needs=NEEDS), PAGE)
    return [
        _Release(tag=tag, final=one.get("prerelease") is not True, at=at)
        for one in listed
        if not one.get("draft") and (tag := text(one, "tag_name"))
        if (at := text(one, "published_at"))
    ]


def _tags(api: Api) -> list[_Release]:
    releases = []
    for tag in islice(api.pages("tags", {}, needs=NEEDS), TAGS_LISTED):
        name = text(tag, "name")
        version = version_of(name) if name else None
        final = version is None or version.is_final
        releases.append(_Release(tag=name or "", final=final, at="", sha=text(tag, "commit.sha")))
    return releases


def _commit(api: Api, tag: str) -> str | None:
    try:
        commit = api.get(f"commits/{quote(f'tags/{tag}', safe='')}", needs=NEEDS)
    except ApiError as error:
        if error.status in (404, 422):
            return None
        raise
    return text(commit, "sha")


def _identifier(part: str) -> tuple[int, int, str]:
    """Numbers come before words and are compared as numbers."""
    return (0, int(part[:18]), "") if part.isdecimal() else (1, 0, part)
