"""Which commit of the action a new project's workflows name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from gate import __version__
from gate.records.codec import from_json, parse_json

ACTION = "agent-gate/agent-gate"
RECORD = "release.json"  # in the packages of a release alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release of the action: its version, e.g. 1.2.3, and the commit of its tag."""

    version: str
    commit: str


def read_release(folder: Traversable | None = None) -> Release | None:
    """The release that this installation is; None for a checkout, the image, or a record of another
    version. `folder`: where the record is; by default the package.
    """
    record = (folder or files("gate")).joinpath(RECORD)
    if not record.is_file():
        return None
    found = from_json(Release, parse_json(record.read_bytes()))
    return found if found.version == __version__ else None


def refer_to_action(release: Release | None, *, native: bool = False) -> str:
    """What stands behind `uses:`: the commit with the version behind it, as Dependabot reads and
    renews it; without a release the tag that moves with each of them. `native`: the action that
    runs on the machine of the job.
    """
    action = f"{ACTION}/native" if native else ACTION
    if release:
        return f"{action}@{release.commit} # v{release.version}"
    return f"{action}@v{__version__.partition('.')[0]}"


def tell_reference(release: Release | None, *, native: bool = False) -> str:
    """How the workflows name the action, and how to pin it where they do not. `native`: they ask
    the agent on the machine of the job.
    """
    named = f"{ACTION} and {ACTION}/native" if native else ACTION
    if release:
        return (
            f"The workflows use {named} at {release.commit[:7]}, the commit of v{release.version}."
        )
    tag = refer_to_action(None).rpartition("@")[2]
    return (
        f"The workflows use {named} at {tag}, a tag that moves with each release: this "
        "installation is not a release, so it cannot name a commit. To pin one, write what this "
        f"prints in place of the tag: `git ls-remote https://github.com/{ACTION} {tag}`"
    )
