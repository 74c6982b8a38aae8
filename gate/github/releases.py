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
    found = _VERSION.fullmatch(tag)
    if found is None or (found["prefix"] and found["prefix"][-1] not in "-_/@."):
        return None
    major, minor, patch = (int(found[part] or 0) for part in ("major", "minor", "patch"))
    pre = tuple(_identifier(one) for one in (found["pre"] or "").split(".") if one)
    return Version(prefix=found["prefix"], order=(major, minor, patch, not pre, pre))


def with_previous(job: Job, api: Api | None) -> Job:
    """The job with the commit and the tag to compare with, or why there is none; at most two
    requests. Raises ApiError.
    """
    if api is None:
        return replace(job, no_base="no earlier release is known: GitHub's API cannot be asked")
    if not job.head_ref:
        return replace(job, no_base="no earlier release is known: the event names no tag")
    found, why = (_release_by_event if job.event == "release" else _release_by_tag)(
        api, job, job.head_ref
    )
    if found is None:
        return replace(job, no_base=f"no earlier release than {job.head_ref}: {why}")
    reason = f"release {job.head_ref}, compared with {found.tag}"
    return replace(job, base_sha=found.sha, base_name=found.tag, reason=reason)


def _release_by_event(api: Api, job: Job, tag: str) -> tuple[_Release | None, str]:
    listed = _releases(api)
    earlier = [one for one in listed if job.released_at is None or one.at < job.released_at]
    found = _before(tag, earlier, final=not job.prerelease)
    if found is None:
        return None, _format_searched(f"{len(listed)} published", not job.prerelease)
    sha = _commit(api, found.tag)
    if sha is None:
        return None, f"{found.tag} is no tag of the repository"
    if sha == job.head_sha:
        return None, f"{found.tag} is the same commit"
    return replace(found, sha=sha), ""


def _release_by_tag(api: Api, job: Job, tag: str) -> tuple[_Release | None, str]:
    tags = _tags(api)
    own = version_of(tag)
    final = own is None or own.is_final
    others = [one for one in tags if one.sha and one.sha != job.head_sha]
    if own is not None:
        found = _highest([one for one in others if one.final or not final], own)
        if found is not None:
            return found, ""
    looked_at = f"{len(tags)} tags"
    if len(tags) <= PAGE:
        listed, known = _releases(api), {one.tag: one for one in others}
        # A release's own commit would be a third request, and the list of tags has it.
        here = [replace(one, sha=known[one.tag].sha) for one in listed if one.tag in known]
        found = _before(tag, here, final=final)
        if found is not None:
            return found, ""
        looked_at += f" and {len(listed)} published releases"
    return None, _format_searched(looked_at, final)


def _format_searched(what: str, final: bool) -> str:
    return f"{what} looked at, prereleases {'left out' if final else 'too'}"


def _before(tag: str, earlier: Iterable[_Release], *, final: bool) -> _Release | None:
    """The highest lower version, else the newest that is not a higher one."""
    own = version_of(tag)
    fit = [one for one in earlier if one.tag != tag and (one.final or not final)]
    if own is None:
        return max(fit, key=lambda one: one.at, default=None)
    fit = [one for one in fit if one.version is None or not own.is_below(one.version)]
    return _highest(fit, own) or max(fit, key=lambda one: one.at, default=None)


def _highest(fit: Sequence[_Release], own: Version) -> _Release | None:
    lower = [(v.order, one.tag, one) for one in fit if (v := one.version) and v.is_below(own)]
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
    found = []
    for one in islice(api.pages("tags", {}, needs=NEEDS), TAGS_LISTED):
        name = text(one, "name")
        version = version_of(name) if name else None
        final = version is None or version.is_final
        found.append(_Release(tag=name or "", final=final, at="", sha=text(one, "commit.sha")))
    return found


def _commit(api: Api, tag: str) -> str | None:
    try:
        found = api.get(f"commits/{quote(f'tags/{tag}', safe='')}", needs=NEEDS)
    except ApiError as error:
        if error.status in (404, 422):
            return None
        raise
    return text(found, "sha")


def _identifier(one: str) -> tuple[int, int, str]:
    """Numbers come before words and are compared as numbers."""
    return (0, int(one[:18]), "") if one.isdecimal() else (1, 0, one)
