"""Which files there are, of which categories, and how categories add up (v4).

There are five groups, each a mean of its categories' accuracies. Non-live, multi-turn and agentic:
means of categories or of such means, whatever their sizes; live: over all its questions. Relevance
and format sensitivity are in no group.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from gate.errors import Place, Problem, UsageError
from gate.files.json_values import as_object
from gate.files.plain import JsonLine, files_below, json_lines
from gate.records import Json

_FILE = re.compile(r"BFCL_v(\d{1,3})_(\w{1,60}?)(?:_(result|score))?(?:\.\w+)+", re.ASCII)

_LIVE = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
_TURNS = ("base", "miss_func", "miss_param", "long_context")
_SHARES: Mapping[str, Mapping[str, float]] = {  # group -> category -> its share; live: by sizes
    "non_live": {
        **dict.fromkeys(("simple_python", "simple_java", "simple_javascript"), 1 / 12),
        **dict.fromkeys(("multiple", "parallel", "parallel_multiple"), 1 / 4),
    },
    "live": dict.fromkeys(_LIVE, 0.0),
    "irrelevance": dict.fromkeys(("irrelevance", "live_irrelevance"), 1 / 2),
    "multi_turn": dict.fromkeys((f"multi_turn_{one}" for one in _TURNS), 1 / 4),
    "agentic": {
        **dict.fromkeys(("web_search_base", "web_search_no_snippet"), 1 / 4),
        **dict.fromkeys(("memory_kv", "memory_vector", "memory_rec_sum"), 1 / 6),
    },
}
WEIGHTS: Mapping[str, float] = {
    **{"non_live": 0.1, "live": 0.1, "irrelevance": 0.1},
    **{"multi_turn": 0.3, "agentic": 0.4},
}
RELEVANCE, IRRELEVANCE = "live_relevance", ("irrelevance", "live_irrelevance")
_OTHERS = (RELEVANCE, "format_sensitivity")
ORDER = (*(name for shares in _SHARES.values() for name in shares), *_OTHERS)
_GROUPS = {name: group for group, shares in _SHARES.items() for name in shares}
# Those whose questions are numbered through, category_0 to category_n.
SIZES: Mapping[str, int] = {
    **{"simple_python": 400, "simple_java": 100, "simple_javascript": 50, "multiple": 200},
    **{"parallel": 200, "parallel_multiple": 200, "irrelevance": 240},
    **{f"multi_turn_{one}": 200 for one in _TURNS},
}


class FileName(NamedTuple):
    """`kind`: result, score, or empty: questions or answers."""

    version: str
    category: str
    kind: str


def parse_name(path: Path) -> FileName | None:
    """What a file's name tells; None where it is none of the benchmark's."""
    match = _FILE.fullmatch(path.name)
    return FileName(f"v{int(match[1])}", match[2], match[3] or "") if match else None


def rank(category: str) -> tuple[int, str]:
    """The order in which categories are told."""
    return (ORDER.index(category) if category in ORDER else len(ORDER), category)


def group_of(category: str) -> str | None:
    return _GROUPS.get(category)


def group_shares(totals: Mapping[str, int]) -> dict[str, dict[str, float]]:
    """Group -> category -> share; only groups whose categories are all in `totals` (sizes)."""
    whole = {g: shares for g, shares in _SHARES.items() if totals.keys() >= shares.keys()}
    groups = {group: dict(shares) for group, shares in whole.items()}
    if "live" in groups:
        size = sum(totals[name] for name in _LIVE)
        groups["live"] = {name: totals[name] / size for name in _LIVE}
    return groups


def overall_shares(totals: Mapping[str, int]) -> dict[str, float]:
    """Category -> its share of the overall score; empty unless all five groups are there."""
    groups = group_shares(totals)
    if groups.keys() != WEIGHTS.keys():
        return {}
    return {
        name: WEIGHTS[group] * share
        for group, shares in groups.items()
        for name, share in shares.items()
    }


def is_matched(category: str) -> bool:
    """Whether its verdict is a comparison of calls of Python functions with those expected."""
    return not any(
        part in category
        for part in ("java", "multi_turn", "web_search", "memory", "relevance", "sensitivity")
    ) and not re.search(r"exec|rest|sql|chatable", category)


# -------------------------------------------------------------------------------------------- files


Kind = Literal["score", "result", "questions", "answers"]
_SIGNS: tuple[tuple[Kind, frozenset[str]], ...] = (
    ("score", frozenset(("accuracy", "total_count"))),
    ("result", frozenset(("id", "result"))),
    ("answers", frozenset(("id", "ground_truth"))),
    ("questions", frozenset(("id", "question"))),
)
_FOLDERS = {"result": "result", "score": "score"}  # of a whole run, each with a folder a model


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryFiles:
    """What there is of one category."""

    category: str
    version: str
    result: Path | None = None
    score: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(file for file in (self.result, self.score) if file)

    def add(self, kind: str, file: Path) -> CategoryFiles:
        return replace(self, result=file) if kind == "result" else replace(self, score=file)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardFiles:
    model: str
    version: str
    parts: tuple[CategoryFiles, ...]


def kind_of(item: Json) -> Kind | None:
    """The kind of file that begins with this line."""
    keys = frozenset(as_object(item))
    return next((kind for kind, signs in _SIGNS if signs <= keys), None)


class BfclRow(NamedTuple):
    """An object of a file; `own` is its id."""

    place: Place
    own: str
    data: dict[str, Json]


def kind_of_file(path: Path) -> Kind | None:
    first = next(json_lines(path), None)
    return kind_of(first.data) if isinstance(first, JsonLine) else None


def read_rows(path: Path, key: str) -> Iterator[BfclRow | Problem]:
    """Lines of objects with an `id` and this key."""
    for line in json_lines(path):
        if isinstance(line, Problem):
            yield line
            continue
        data = as_object(line.data)
        own = data.get("id")
        if not isinstance(own, str):
            yield Problem(line.place, f"must be an object with `id` and `{key}`")
        elif key not in data:
            message = f"{own[:80]!r} has no `{key}` - give the file that BFCL wrote"
            yield Problem(line.place, message)
        else:
            yield BfclRow(line.place, own, data)


def find_files(path: Path, score: Path | None, model: str | None) -> LeaderboardFiles:
    """Raises UsageError for a name that tells no category, more than one model or version."""
    if path.is_dir():
        if score is not None:
            raise UsageError("--option score: only for a result file; a folder has its own scores")
        return _in_folder(path, model)
    part = _part(path, "score" if kind_of_file(path) == "score" else "result")
    if score is not None:
        other = _part(score, "score")
        if part.score is not None:
            raise UsageError(f"{path}: is a score file; give the result file as PATH")
        if (other.category, other.version) != (part.category, part.version):
            raise UsageError(
                f"--option score: {score} is for {other.version} {other.category}, but {path} is "
                f"for {part.version} {part.category}; give the score file of these results"
            )
        part = replace(part, score=score)
    return LeaderboardFiles(model=model or "", version=part.version, parts=(part,))


def _part(path: Path, kind: Literal["result", "score"]) -> CategoryFiles:
    name = parse_name(path)
    if name is None:
        raise UsageError(
            f"{path}: the file name has no category; rename the file to "
            f"BFCL_v4_<category>_{kind}.json"
        )
    part = CategoryFiles(category=name.category, version=name.version)
    return part.add(kind, path)


def _in_folder(folder: Path, model: str | None) -> LeaderboardFiles:
    files = [
        (file, name)
        for file in files_below(folder, "BFCL_v*.json")
        if (name := parse_name(file)) and name.kind and "prereq" not in name.category
    ]
    models = sorted({one for file, _ in files if (one := _model(file, folder))})
    if model is None and len(models) > 1:
        raise UsageError(
            f"{folder}: has results of {len(models)} models ({', '.join(models[:10])}); "
            "choose one with --option model=NAME"
        )
    if model is not None and models and model not in models:
        raise UsageError(
            f"--option model: '{model[:80]}' not found in {folder}; choose one of "
            f"{', '.join(models[:10])}"
        )
    chosen = model or (models[0] if models else "")
    files = [(file, name) for file, name in files if not models or _model(file, folder) == chosen]
    versions = sorted({name.version for _, name in files})
    if not versions:
        raise UsageError(
            f"{folder}: has no BFCL_v4_<category>_result.json or _score.json; give the "
            "folder with result/ and score/"
        )
    if len(versions) > 1:
        both = f"{versions[0]} and of {versions[1]}"
        raise UsageError(f"{folder}: has files of {both}; import one version at a time")
    parts: dict[str, CategoryFiles] = {}
    for file, name in files:
        part = parts.get(name.category) or CategoryFiles(
            category=name.category, version=name.version
        )
        given = part.result if name.kind == "result" else part.score
        if given is not None:
            raise UsageError(f"{file}: {name.category} is also in {given}; keep one of them")
        parts[name.category] = part.add(name.kind, file)
    ordered = tuple(parts[name] for name in sorted(parts, key=rank))
    return LeaderboardFiles(model=chosen, version=versions[0], parts=ordered)


def _model(file: Path, folder: Path) -> str | None:
    """The folder below `result` or `score`; None where it is the named folder or above it."""
    below = file.relative_to(folder).parts[:-1]
    if below and below[0] in _FOLDERS:
        return below[1] if len(below) > 1 else None
    return None


def digest(value: Json) -> bytes:
    """Equal for results that are equal."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).digest()[:16]


def companions(
    place: str | None, parts: Sequence[CategoryFiles], inner: str = ""
) -> Iterator[Path]:
    """The one file, or the file of each category in a folder or `inner`. Raises UsageError."""
    if place is None:
        return
    path = Path(place)
    if not path.is_dir():
        yield path
        return
    folder = path / inner if inner and (path / inner).is_dir() else path
    wanted = {part.category for part in parts}
    for file in files_below(folder, "BFCL_v*.json", deep=False):
        name = parse_name(file)
        if name and not name.kind and name.category in wanted:
            yield file
