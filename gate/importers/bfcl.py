"""`bfcl`: results, scores and questions of the Berkeley Function Calling Leaderboard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar

from gate.errors import UsageError
from gate.files.plain import digest_of
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats.bfcl.categories import SIZES, parse_name
from gate.importers.formats.bfcl.files import (
    CategoryFiles,
    LeaderboardFiles,
    companions,
    find_files,
    kind_of,
    kind_of_file,
)
from gate.importers.formats.bfcl.questions import BfclQuestion, category_of, read_questions
from gate.importers.formats.bfcl.results import Category, check_category, list_first
from gate.importers.formats.bfcl.trials import ACCURACY, SUITE, TOOL, Columns, trials_of
from gate.importers.trials.build import case_of, import_cases, name_judge
from gate.plugins import IMPORTERS
from gate.records import Case, Provenance, Trial
from gate.records.imported import Imported, ImportedSuite


@IMPORTERS.register("bfcl")
@dataclass(frozen=True, slots=True, kw_only=True)
class Bfcl:
    """`score`: the score file of a result file; `questions`, `answers`: files or folders, by which
    calls are compared again; `model`: which one of a folder, or what one file's is called.
    """

    score: str | None = None
    questions: str | None = None
    answers: str | None = None
    model: str | None = None

    reads: ClassVar[str] = "a score, result or question file, or a folder with result/ and score/"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if not found.is_folder:
            return parse_name(found.path) is not None and kind_of(found.item) is not None
        deep = [name.rpartition("/")[2] for name in found.names if "BFCL_v" in name]
        with suppress(OSError, ValueError):
            for top in ("result", "score"):
                deep += [p.name for p in islice(found.path.glob(f"{top}/*/*/BFCL_v*.json"), 10)]
        return any((name := parse_name(Path(one))) and name.kind for one in deep)

    def read(self, path: Path) -> Imported:
        if not path.is_dir():
            kind = kind_of_file(path)
            if kind == "questions":
                return self._cases_alone(path)
            if kind in (None, "answers"):
                raise UsageError(
                    f"{path}: not a score, result or question file of the benchmark; name one, or "
                    "a folder with result/ and score/"
                )
        found = find_files(path, Path(self.score) if self.score else None, self.model)
        findings = Findings()
        questions, answers = self._companions(found.parts)
        asked = _by_category(read_questions(questions, answers, findings))
        given = [
            check_category(part, asked.get(part.category, {}), findings) for part in found.parts
        ]
        findings.refuse()
        categories = [one for one in given if one is not None]
        read = tuple(file for part in found.parts for file in part.files)
        return _import_results(found, categories, (*read, *questions, *answers))

    def _companions(
        self, parts: Sequence[CategoryFiles]
    ) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """Raises UsageError."""
        if self.answers is not None and self.questions is None:
            raise UsageError("--option answers: needs the questions; name --option questions=FILE")
        inner = "possible_answer"
        place = self.answers
        if place is None and self.questions and (Path(self.questions) / inner).is_dir():
            place = self.questions
        questions = tuple(companions(self.questions, parts))
        return questions, tuple(companions(place, parts, inner))

    def _cases_alone(self, path: Path) -> Imported:
        """A dataset. Raises UsageError where only the benchmark itself can judge the questions."""
        findings = Findings()
        answers = (Path(self.answers),) if self.answers else ()
        asked = read_questions((path,), answers, findings)
        findings.refuse()
        unjudged = tuple(own for own, one in asked.items() if not one.keys)
        if unjudged:
            why = "their answers are not compared with expected calls of Python functions"
            if not answers:
                why = "there is no answer to them; name --option answers=FILE"
            raise UsageError(f"{path}: {len(unjudged)} questions ({list_first(unjudged)}): {why}")
        note = "grade it with tool_calls: {mode: unordered, strings: loose, numbers: typed}"
        files = (path, *answers)
        return import_cases(files, lambda: _cases(asked), tool="BFCL questions", notes=[note])


def _cases(asked: Mapping[str, BfclQuestion]) -> Iterator[Case]:
    for own, one in asked.items():
        category = category_of(own)
        yield case_of(TOOL, SUITE, own, input=one.input, keys=one.keys, category=category)


def _by_category(asked: Mapping[str, BfclQuestion]) -> dict[str, dict[str, BfclQuestion]]:
    found: dict[str, dict[str, BfclQuestion]] = {}
    for own, one in asked.items():
        found.setdefault(category_of(own), {})[own] = one
    return found


def _import_results(
    found: LeaderboardFiles, categories: Sequence[Category], files: tuple[Path, ...]
) -> Imported:
    totals = {category.name: category.total for category in categories}
    columns = Columns.of(totals)
    named_by = next(
        (m for category in categories if category.scored for m in category.scored.models), ""
    )
    return Imported(
        files=files,
        created_at=None,
        provenance=Provenance(
            agent=found.model or named_by or "a model that the files do not name",
            tool_version=f"BFCL {found.version}",
            event="import",
        ),
        suites={
            SUITE: ImportedSuite(
                rounds=1,
                cases=sum(totals.values()),
                dataset="Berkeley Function Calling Leaderboard",
                version=found.version,
                metrics=columns.metrics(),
                graders=_graders(categories, columns, files),
            )
        },
        trials=lambda: _trials(categories, columns),
        notes=tuple(_notes(categories)),
    )


def _trials(categories: Sequence[Category], columns: Columns) -> Iterator[Trial]:
    for category in categories:
        yield from trials_of(category, columns)


def _graders(
    categories: Sequence[Category], columns: Columns, files: tuple[Path, ...]
) -> dict[str, str]:
    """By column who judged. Where nobody knows which questions passed, nothing can be compared."""
    mark = digest_of(files)[:12] if any(one.unnamed for one in categories) else ""
    judges = {one.name: _judge(one, mark) for one in categories}
    told: dict[str, set[str]] = {}
    for category, judge in judges.items():
        for column in name_judge(judge, *columns.worth[category]):
            told.setdefault(column, set()).add(judge)
    return {column: "; ".join(sorted(names)) for column, names in told.items()}


def _judge(category: Category, mark: str) -> str:
    if category.scored is None:
        return "tool_calls, as BFCL compares calls"
    return f"bfcl-eval, passed questions not named ({mark})" if category.unnamed else "bfcl-eval"


def _notes(categories: Sequence[Category]) -> Iterator[str]:
    for category in categories:
        size = SIZES.get(category.name)
        if size is not None and category.total != size:
            yield f"{category.name}: {category.total} of its {size} questions"
        if category.unnamed:
            yield (
                f"{category.name}: {category.unnamed} answers passed that the score file does not "
                f"name: they count, and {ACCURACY} is compared with nothing; name the result "
                "file, too"
            )
        if category.doubtful:
            yield (
                f"{category.name}: {len(category.doubtful)} answers failed in the score file, and "
                f"are right by our own comparison: {list_first(category.doubtful)}"
            )
        if not category.judged:
            yield f"{category.name}: no score file, so nobody says which answers are right"
