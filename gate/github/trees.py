"""Which files a commit has, as far as they count: two commits with the same ones are told by it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gate.files.json_values import as_objects
from gate.github.api import Api
from gate.records import Json
from gate.records.codec import digest

NEEDS = "contents: read"
# The workflows decide what is run and stored at all: without them a change to one could leave a
# session of its own making for the next commit.
ALWAYS = ".github"
_ID = re.compile(r"[0-9a-f]{40,64}")
_STARS = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


class Trees:
    """Reads trees of the repository by their id, each once."""

    def __init__(self, api: Api, paths: Sequence[str]) -> None:
        """`paths` and globs start at the top of the repository; none: every file counts."""
        self._api = api
        self._paths = tuple(paths)
        self._fits = re.compile("|".join(map(_pattern, paths)), re.DOTALL) if paths else None
        self._known: dict[str, str] = {}
        self.note = ""  # why every file counts though paths were given

    def files(self, tree: str) -> str:
        """The same text for two trees with the same files that count. Raises ApiError."""
        if self._fits is None or self.note:
            return tree
        if tree not in self._known:
            self._known[tree] = self._digest(tree, self._fits)
        return self._known[tree]

    def _digest(self, tree: str, fits: re.Pattern[str]) -> str:
        tree_object: Json = None
        if _ID.fullmatch(tree):
            tree_object = self._api.get(f"git/trees/{tree}", {"recursive": "1"}, needs=NEEDS)
        if not isinstance(tree_object, Mapping) or tree_object.get("truncated") is not False:
            return self._mark_incomplete(
                tree, "the repository has too many files for GitHub to list"
            )
        files = [
            [str(entry.get(key)) for key in ("path", "mode", "sha")]
            for entry in as_objects(tree_object.get("tree"))
            if entry.get("type") != "tree"
        ]
        own_files = sorted(file for file in files if fits.fullmatch(file[0]))
        if not own_files:
            named = ", ".join(f"`{path}`" for path in self._paths)
            return self._mark_incomplete(tree, f"no file of this commit matches {named}")
        return digest(
            [own_files, sorted(file for file in files if file[0].startswith(f"{ALWAYS}/"))]
        )

    def _mark_incomplete(self, tree: str, why: str) -> str:
        """Notes why a tree cannot be read. For the first tree, the run's own, that holds for all
        trees; any other tree then counts as different.
        """
        if not self._known:
            self.note = f"agent.paths: {why}: every file counts"
        return tree


def _pattern(path: str) -> str:
    """A folder stands for all below it; `*` and `?` stop at a slash, `**` does not."""
    if path == ".":
        return ".*"
    parts, last = [], 0
    for star in _STARS.finditer(path):
        parts += [re.escape(path[last : star.start()]), _MEANS[star[0]]]
        last = star.end()
    return f"(?:{''.join(parts)}{re.escape(path[last:])})(?:/.*)?"
