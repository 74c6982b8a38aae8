"""Datasets: every row is checked with file and line, then cases are read one by one."""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from types import NoneType

from gate.errors import InvalidInput, Place, Problem
from gate.files.json_values import is_integer
from gate.files.rows import DatasetRow, DatasetSource, read_dataset
from gate.plugins import Grader
from gate.records import Case, CheckedJson, Json
from gate.suites.cases.keys import (
    GRADER_KEYS,
    INPUT_KEYS,
    OUTSIDE_DIGEST,
    REQUEST_KEYS,
    KeyRules,
    find_unfilled,
    is_unfilled,
    key_rules,
)
from gate.text.suggestions import did_you_mean, nearest

_HASHED = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
MAX_PROBLEMS = 50  # told one by one; the rest is a number
_FEW_LINES = 5  # that are all named


@dataclass(frozen=True, slots=True)
class CasePlaces:
    """Where the cases of a dataset stand, approved or not."""

    source: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)  # case id -> line
    # Case id -> its file, where that is not the source itself.
    files: Mapping[str, str] = field(default_factory=dict)

    def find(self, case_id: str) -> Place | None:
        line = self.lines.get(case_id)
        return None if line is None else Place(self.files.get(case_id, self.source), line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The summary of a whole dataset; only approved cases count and run."""

    digests: Mapping[str, str]  # case id -> content hash, in file order
    categories: Mapping[str, str | None]  # case id -> category
    digest: str  # sha256 over (id, content hash), sorted
    not_run: Mapping[str, int]  # status -> cases that are not approved
    warnings: tuple[str, ...]
    places: CasePlaces = field(default_factory=CasePlaces)
    marks: Sequence[int] = ()  # of the rows by line, from 1; 0: none, or no row

    @property
    def cases(self) -> int:
        return len(self.digests)

    def find_digest(self, row: DatasetRow, case_id: str) -> str | None:
        """The content hash of the case in the row, if its line is as it was when it was checked."""
        is_same = 0 < row.line <= len(self.marks) and 0 != self.marks[row.line - 1] == row.mark
        return self.digests.get(case_id) if is_same else None


def check(source: DatasetSource, graders: Mapping[str, Grader]) -> Summary:
    """Reads the whole dataset once and returns its summary. `graders`: name -> grader of the suite.
    Raises InvalidInput with every problem (the first 50 in full).
    """
    checking = _Checking(source=source, rules=key_rules(graders))
    for row in read_dataset(source):
        if isinstance(row, Problem):
            checking.problems.append(row)
        else:
            checking.take(row)
    return checking.summary()


def cases(
    source: DatasetSource,
    graders: Mapping[str, Grader],
    lines: Container[int] | None = None,
    checked: Summary | None = None,
) -> Iterator[Case]:
    """The approved cases in file order, read again from the file. `lines`: where the wanted ones
    stand, so that others may be left out; None: all are wanted. `checked`: what `check` made of the
    source; lines that are as they were then are not hashed again. Raises InvalidInput at a row that
    is invalid, which `check` would have reported.
    """
    rules = key_rules(graders)
    for row in read_dataset(source, lines):
        if isinstance(row, Problem):
            raise InvalidInput([row])
        data: dict[str, CheckedJson] = _data(row, rules)
        if data.get("status", "approved") == "approved":
            place, case_id = Place(row.file or source.name, row.line), _text_id(data)
            if not case_id or "input" not in data:
                raise InvalidInput([Problem(place, "the case has no 'id' or no 'input'")])
            known = checked.find_digest(row, case_id) if checked else None
            yield Case(
                id=case_id,
                input=data["input"],
                keys=rules.normalise_keys(data),
                category=data.get("category"),
                tags=tuple(data.get("tags") or ()),
                digest=known or content_hash(data),
                place=place,
                request={key: data[key] for key in REQUEST_KEYS if data.get(key) is not None},
                timeout_s=data.get("timeout_sec"),
            )


def read_cases(
    sources: Sequence[DatasetSource],
    summaries: Sequence[Summary],
    graders: Mapping[str, Grader],
    added: Set[str],
    wanted: Set[str] | None,
) -> Iterator[Case]:
    """The cases of the first source, then those that only the second one has (`added`), as `cases`
    reads them; of each only the `wanted` ones, if they are told. `summaries`: what `check` made of
    each source.
    """
    of_each = (wanted, added if wanted is None else wanted & added)
    for source, checked, ids in zip(sources, summaries, of_each, strict=False):
        if ids is None:
            yield from cases(source, graders, checked=checked)
        elif ids:
            at = checked.places.lines
            numbers = frozenset([at[case_id] for case_id in ids if case_id in at])
            yield from (c for c in cases(source, graders, numbers, checked) if c.id in ids)


def content_hash(data: Mapping[str, Json]) -> str:
    """sha256[:16] of what the agent sees and the graders read (docs/semantics.md 5). Raises
    ValueError for numbers that are not finite.
    """
    seen = {key: value for key, value in data.items() if key not in OUTSIDE_DIGEST}
    return hashlib.sha256(_HASHED.encode(seen).encode()).hexdigest()[:16]


def dataset_digest(digests: Mapping[str, str]) -> str:
    """sha256 over the sorted pairs of case id and content hash."""
    text = json.dumps(sorted(digests.items()), separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


_MOST_DOUBTS = 5  # of a dataset, that are told


def _missing(key: str, grader: str, misspelt: str = "") -> str:
    """`misspelt`: a key of the case that no grader reads and that looks like it."""
    todo = (
        f"the case has '{misspelt}': rename that key"
        if misspelt
        else "write it, or null where it does not apply"
    )
    return f"'{key}' is missing, the grader '{grader}' needs it - {todo}"


def _join_equal(problems: list[Problem]) -> list[Problem]:
    """One problem for all lines of a file with the same one, at the first of them."""
    together: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in problems:
        key = (problem.message, problem.place.file, problem.place.key)
        together.setdefault(key, []).append(problem)
    return [
        replace(same[0], message=f"{same[0].message} ({_list_lines(same)})")
        if len(same) > 1
        else same[0]
        for same in together.values()
    ]


def _list_lines(same: list[Problem]) -> str:
    """`4 cases: lines 2, 3, 9, 10`; of many the first and the last."""
    lines = [str(problem.place.line) for problem in same]
    named = ", ".join(lines) if len(lines) <= _FEW_LINES else f"{lines[0]} to {lines[-1]}"
    return f"{len(lines)} cases: lines {named}"


def _shorten(problems: list[Problem]) -> list[Problem]:
    shown, rest = problems[:MAX_PROBLEMS], problems[MAX_PROBLEMS:]
    if rest:
        shown.append(Problem(rest[0].place, "and more problems from here on; mend these first"))
    return shown


@dataclass(slots=True, kw_only=True)
class _Checking:
    source: DatasetSource
    rules: KeyRules
    problems: list[Problem] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    categories: dict[str, str | None] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    unfilled: int = 0  # cases that are not approved, as the form of `gate init` has them
    strangers: dict[str, int] = field(default_factory=dict)  # unknown key -> its first line
    # Key, grader that needs it -> places of cases that lack it and have another one's.
    absent: dict[tuple[str, str], list[Place]] = field(default_factory=dict)  # the first of them
    lacking: Counter[tuple[str, str]] = field(default_factory=Counter)  # how many there are
    present: set[str] = field(default_factory=set)  # keys that a grader needs and some case has
    doubts: dict[str, str] = field(default_factory=dict)  # what a case may mean -> its first place
    marks: array[int] = field(default_factory=lambda: array("q"))  # as Summary has them

    def take(self, row: DatasetRow) -> None:
        if not isinstance(row.data, dict):
            kind = "a list" if isinstance(row.data, list) else f"{row.data!r:.40}"
            self._wrong(row, f"a case must be a mapping, not {kind}")
            return
        before = len(self.problems)
        data = _data(row, self.rules)
        case_id = _text_id(data)
        for message in (*_input_faults(row.data), *self._id_faults(data, case_id, row)):
            self._wrong(row, message)
        if data.get("status", "approved") == "approved":
            for message in find_unfilled(data):
                self._wrong(row, message)
        self._keys(data, row)
        try:
            digest = content_hash(data)
        except ValueError:
            self._wrong(row, "a number is too large or not a number")
            return
        if len(self.problems) == before:
            self._doubt(data, row)
            self._keep(data, case_id, digest)
            if row.mark:
                self.marks.extend([0] * (row.line - 1 - len(self.marks)))
                self.marks.append(row.mark)

    def _doubt(self, data: Mapping[str, Json], row: DatasetRow) -> None:
        for doubts in self.rules.doubts:
            for message in doubts(data):
                self.doubts.setdefault(message, f"{row.file or self.source.name}:{row.line}")

    def _keep(self, data: Mapping[str, CheckedJson], case_id: str, digest: str) -> None:
        status = data.get("status", "approved")
        self.statuses[status] += 1
        if status == "approved":
            self.digests[case_id] = digest
            self.categories[case_id] = data.get("category")
        else:
            self.unfilled += is_unfilled(data)

    def _id_faults(self, data: Mapping[str, Json], case_id: str, row: DatasetRow) -> Iterator[str]:
        if "id" not in data:
            yield "'id' is missing - give each case an id that never changes, such as its number"
        elif not case_id.strip():
            if isinstance(data["id"], str):
                yield "id: is empty"
        elif case_id in self.lines:
            yield f"id: '{case_id}' is taken by line {self.lines[case_id]} - ids must be unique"
        else:
            self.lines[case_id] = row.line
            if row.file:
                self.files[case_id] = row.file

    def _keys(self, data: Mapping[str, Json], row: DatasetRow) -> None:
        for key in data:
            if key not in self.rules.known:
                self.strangers.setdefault(key, row.line)
        read = self.rules.normalise_keys(data)
        if len(self.problems) <= MAX_PROBLEMS:
            for message in self.rules.faults(read):
                self._wrong(row, message)
        self._needs(data, read, row)

    def _needs(self, data: Mapping[str, Json], read: Mapping[str, Json], row: DatasetRow) -> None:
        """A key that is absent does not apply to the case, as null says. Where it is misspelled, or
        no grader is left that judges the case, the case is wrong, and where no case has it, all
        are. Only cases that run count.
        """
        lacks = [
            (key, grader)
            for key, grader in self.rules.needs
            if key not in data and read.get(key) is None
        ]
        runs = data.get("status", "approved") == "approved"
        if runs:
            self.present.update([need[0] for need in self.rules.needs if need not in lacks])
        for key, grader in lacks:
            strangers = [key for key in data if key not in self.rules.known]
            misspelt = "".join(nearest(key, strangers, most=1))
            if misspelt or (len(lacks) == len(self.rules.needs) and not self.rules.always):
                self._wrong(row, _missing(key, grader, misspelt))
            elif runs:
                place = Place(row.file or self.source.name, row.line)
                self.lacking[key, grader] += 1
                if self.lacking[key, grader] <= MAX_PROBLEMS:
                    self.absent.setdefault((key, grader), []).append(place)

    def _wrong(self, row: DatasetRow, message: str) -> None:
        place = Place(row.file or self.source.name, row.line)
        self.problems.append(Problem(place, message))

    def summary(self) -> Summary:
        for (key, grader), places in self.absent.items():
            if key not in self.present:
                self.problems += [Problem(place, _missing(key, grader)) for place in places]
        if not self.problems and not self.digests:
            self.problems.append(Problem(Place(self.source.name), self._nothing()))
        if self.problems:
            raise InvalidInput(_shorten(_join_equal(self.problems)))
        return Summary(
            digests=self.digests,
            categories=self.categories,
            digest=dataset_digest(self.digests),
            not_run={name: n for name, n in self.statuses.items() if name != "approved"},
            warnings=tuple(self._warnings()),
            places=CasePlaces(self.source.name, self.lines, self.files),
            marks=self.marks,
        )

    def _nothing(self) -> str:
        if not self.statuses:
            return "the dataset is empty - write at least one case into it"
        if self.unfilled == self.statuses.total():
            return (
                f"no question is filled in yet: write them in {self.source.name} and delete their "
                "lines `status: proposed`"
            )
        counts = ", ".join(f"{n} {status}" for status, n in sorted(self.statuses.items()))
        return f"no case is approved ({counts}): delete `status` of the cases that are to run"

    def _warnings(self) -> Iterator[str]:
        for (key, grader), places in self.absent.items():
            lacking, cases = self.lacking[key, grader], len(self.digests)
            more = f" and in {lacking - 1:,} more" if lacking > 1 else ""
            yield (
                f"{places[0]}: '{key}' is missing in this case{more}: the grader '{grader}' does "
                f"not score {lacking:,} of {cases:,} cases, as with null"
            )
        for message, place in list(self.doubts.items())[:_MOST_DOUBTS]:
            yield f"{place}: {message}"
        if len(self.doubts) > _MOST_DOUBTS:
            yield (
                f"{self.source.name}: and {len(self.doubts) - _MOST_DOUBTS} more warnings "
                "like these"
            )
        if not self.strangers or self.source.any_keys:
            return
        known_keys = sorted(self.rules.known | GRADER_KEYS)
        for key, line in sorted(self.strangers.items(), key=lambda item: item[1]):
            if key in GRADER_KEYS:
                continue
            hint = did_you_mean(key, known_keys)
            yield f"{self.source.name}:{line}: {key}: no grader reads this key{hint}"


def _data(row: DatasetRow, rules: KeyRules) -> dict[str, Json]:
    """The row's keys with the alias of `input` resolved, CSV cells in the type they want, and lists
    where one value stands for itself.
    """
    if not isinstance(row.data, dict):
        return {}
    data = dict(row.data)
    for alias in INPUT_KEYS[1:]:
        if alias in data and "input" not in data:
            data["input"] = data.pop(alias)
    if row.texts:
        typed = {k: rules.from_text(k, v) if isinstance(v, str) else v for k, v in data.items()}
        data.update(typed)
    for key in rules.lists & data.keys():
        if not isinstance(data[key], (list, NoneType)):
            data[key] = [data[key]]
    return data


def _input_faults(written: Mapping[str, Json]) -> Iterator[str]:
    names = [key for key in INPUT_KEYS if key in written]
    if not names:
        yield "'input' is missing - give the question this name, or query, question or prompt"
    elif len(names) > 1:
        yield f"'{names[0]}' and '{names[1]}' are two names of the same key - keep one"
    elif written[names[0]] in ("", [], {}):
        yield f"{names[0]}: is empty"


def _text_id(data: Mapping[str, Json]) -> str:
    """The id as text; a whole number counts as its digits. All who keep it share one string."""
    value = data.get("id")
    if isinstance(value, str):
        return sys.intern(value)
    return sys.intern(str(value)) if is_integer(value) else ""
