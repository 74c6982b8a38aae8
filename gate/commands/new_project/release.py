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

    @property
    def reference(self) -> str:
        """For `uses:`, with the version behind it, as Dependabot reads and renews it."""
        return f"{ACTION}@{self.commit} # v{self.version}"


def read_release(folder: Traversable | None = None) -> Release | None:
    """The release that this installation is; None for a checkout, the image, or a record of another
    version. `folder`: where the record is; by default the package.
    """
    record = (folder or files("gate")).joinpath(RECORD)
    if not record.is_file():
        return None
    found = from_json(Release, parse_json(record.read_bytes()))
    return found if found.version == __version__ else None


def refer_to_action(release: Release | None) -> str:
    """What stands behind `uses:`; without a release the tag that moves with each of them."""
    return release.reference if release else f"{ACTION}@v{__version__.partition('.')[0]}"


def tell_reference(release: Release | None) -> str:
    """How the workflows name the action, and how to pin it where they do not."""
    if release:
        return (
            f"The workflows use {ACTION} at {release.commit[:7]}, the commit of v{release.version}."
        )
    reference = refer_to_action(None)
    return (
        f"The workflows use {reference}, a tag that moves with each release: this copy of Agent "
        "Gate knows no commit of one. To pin it, write what this prints in place of the tag: "
        f"`git ls-remote https://github.com/{reference.replace('@', ' ')}`"
    )
