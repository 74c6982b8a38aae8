"""`bfcl`: results, scores and questions of the Berkeley Function Calling Leaderboard."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar

from gate.errors import UsageError
from gate.files.json_values import as_amount, as_object
from gate.files.plain import digest_of, json_lines
from gate.files.problems import Findings, refuse_problems
from gate.files.sniff import FirstLook
from gate.importers.formats.bfcl import leaderboard, results
from gate.importers.formats.bfcl.calls import inference_error, read_calls
from gate.importers.trials import build
from gate.importers.trials.nobodys_fault import status_of
from gate.plugins import IMPORTERS
from gate.records import Case, Json, MetricSpec, Response, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.figures import count


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
            return (
                leaderboard.parse_name(found.path) is not None
                and leaderboard.kind_of(found.item) is not None
            )
        deep = [name.rpartition("/")[2] for name in found.names if "BFCL_v" in name]
        with suppress(OSError, ValueError):
            for top in ("result", "score"):
                deep += [p.name for p in islice(found.path.glob(f"{top}/*/*/BFCL_v*.json"), 10)]
        return any((name := leaderboard.parse_name(Path(one))) and name.kind for one in deep)

    def read(self, path: Path) -> Imported:
        if not path.is_dir():
            kind = leaderboard.kind_of_file(path)
            if kind == "questions":
                return self._cases_alone(path)
            if kind in (None, "answers"):
                raise UsageError(
                    f"{path}: not a score, result or question file of BFCL; give one, or "
                    "a folder with result/ and score/"
                )
        board = leaderboard.find_files(path, Path(self.score) if self.score else None, self.model)
        findings = Findings()
        questions, answers = self._companions(board.parts)
        asked = results.read_questions(questions, answers, findings)
        given = [results.check_category(part, asked, findings) for part in board.parts]
        findings.refuse()
        categories = [category for category in given if category is not None]
        read = tuple(file for part in board.parts for file in part.files)
        return _import_results(board, categories, (*read, *questions, *answers))

    def _companions(
        self, parts: Sequence[leaderboard.CategoryFiles]
    ) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """Raises UsageError."""
        if self.answers is not None and self.questions is None:
            raise UsageError("--option answers: needs --option questions=FILE, too")
        inner = "possible_answer"
        place = self.answers
        if place is None and self.questions and (Path(self.questions) / inner).is_dir():
            place = self.questions
        questions = tuple(leaderboard.companions(self.questions, parts))
        return questions, tuple(leaderboard.companions(place, parts, inner))

    def _cases_alone(self, path: Path) -> Imported:
        """A dataset. Raises UsageError where only the benchmark itself can judge the questions."""
        findings = Findings()
        answers = (Path(self.answers),) if self.answers else ()
        asked = results.read_questions((path,), answers, findings)
        findings.refuse()
        unjudged = tuple(own for own, one in asked.items() if not one.keys)
        if unjudged:
            why = "only categories that compare Python calls can be graded; remove the others"
            if not answers:
                why = "the questions have no expected answers; add --option answers=FILE"
            raise UsageError(f"{path}: cannot grade {results.list_first(unjudged)}: {why}")
        note = (
            "to grade answers to these questions, add this grader to the suite in gate.yml: "
            "tool_calls: {mode: unordered, strings: loose, numbers: typed}"
        )
        cases = [
            SUITE.case(own, input=one.input, keys=one.keys, category=results.category_of(own))
            for own, one in asked.items()
        ]
        files = (path, *answers)
        return build.import_cases(files, lambda: iter(cases), tool="BFCL questions", notes=[note])


def _import_results(
    board: leaderboard.LeaderboardFiles,
    categories: Sequence[results.Category],
    files: tuple[Path, ...],
) -> Imported:
    totals = {category.name: category.total for category in categories}
    columns = Columns.of(totals)
    named_by = next(
        (m for category in categories if category.scored for m in category.scored.models),
        "unknown model (the files do not name it)",
    )
    return Imported(
        files=files,
        provenance=build.provenance_of(f"BFCL {board.version}", board.model or named_by),
        suites={
            SUITE.name: ImportedSuite(
                cases=sum(totals.values()),
                dataset="Berkeley Function Calling Leaderboard",
                version=board.version,
                metrics=columns.metrics(),
                graders=_graders(categories, columns, files),
            )
        },
        trials=lambda: chain.from_iterable(trials_of(one, columns) for one in categories),
        notes=tuple(_notes(categories)),
    )


def _graders(
    categories: Sequence[results.Category], columns: Columns, files: tuple[Path, ...]
) -> dict[str, str]:
    """Column -> who judged it. Where it is unknown which questions passed, nothing is compared."""
    mark = digest_of(files)[:12] if any(one.unnamed for one in categories) else ""
    judges = {one.name: _judge(one, mark) for one in categories}
    judges_by_column: dict[str, set[str]] = {}
    for category, judge in judges.items():
        for column in build.name_judge(judge, *columns.worth[category]):
            judges_by_column.setdefault(column, set()).add(judge)
    return {column: "; ".join(sorted(names)) for column, names in judges_by_column.items()}


def _judge(category: results.Category, mark: str) -> str:
    if category.scored is None:
        return "tool_calls, as BFCL compares calls"
    return f"bfcl-eval, passed questions not named ({mark})" if category.unnamed else "bfcl-eval"


def _notes(categories: Sequence[results.Category]) -> Iterator[str]:
    for category in categories:
        size = leaderboard.SIZES.get(category.name)
        if size is not None and category.total != size:
            yield (
                f"{category.name}: only {category.total} of its {size} questions were run, so "
                "its accuracy cannot be compared with published ones"
            )
        if category.unnamed:
            yield (
                f"{category.name}: the score file does not name "
                f"{count(category.unnamed, 'answer')} that passed; {ACCURACY} counts them, but is "
                "not compared with a baseline; to compare it, give the result file too"
            )
        if category.doubtful:
            yield (
                f"{category.name}: BFCL failed {count(len(category.doubtful), 'answer')} that "
                "Agent Gate finds right, counted as failed: "
                f"{results.list_first(category.doubtful)}"
            )
        if not category.judged:
            yield (
                f"{category.name}: without a score file nothing passed or failed; add --option "
                "score=FILE, or --option questions=FILE and --option answers=FILE"
            )


SUITE = build.ToolSuite("bfcl", "bfcl")
ACCURACY, OVERALL, GROUP = "bfcl.accuracy", "bfcl.overall", "bfcl.group_accuracy"
_ORDER = (OVERALL, GROUP, ACCURACY)
_NOT_SCORED = "format_sensitivity"  # beside the leaderboard's accuracy


@dataclass(frozen=True, slots=True)
class Columns:
    """What one right answer of a category adds to each column, so that the mean over all questions
    of a group is the group's accuracy, and over all questions of the five groups the overall score.
    """

    worth: Mapping[str, Mapping[str, float]]  # category -> column -> value

    @classmethod
    def of(cls, totals: Mapping[str, int]) -> Columns:
        """`totals`: category -> number of questions, above 0."""
        worth: dict[str, dict[str, float]] = {}
        for name in totals:
            counted = {} if name == _NOT_SCORED else {ACCURACY: 1.0}
            worth[name] = {**counted, f"{ACCURACY}[{name}]": 1.0}
        parts = {
            f"{GROUP}[{group}]": own for group, own in leaderboard.group_shares(totals).items()
        }
        for column, shares in {**parts, OVERALL: leaderboard.overall_shares(totals)}.items():
            size = sum(totals[name] for name in shares)
            for name, share in shares.items():
                worth[name][column] = share * size / totals[name]
        return cls(worth)

    def metrics(self) -> tuple[MetricSpec, ...]:
        names = dict.fromkeys(name for columns in self.worth.values() for name in columns)
        ordered = sorted(names, key=lambda name: _ORDER.index(name.partition("[")[0]))
        return tuple(map(_metric, ordered))

    def values(self, category: str, right: bool | None) -> dict[str, float | None]:
        return {
            name: None if right is None else worth * right
            for name, worth in self.worth[category].items()
        }


def _metric(name: str) -> MetricSpec:
    of = name.partition("[")[2].rstrip("]")
    if name.startswith(ACCURACY):
        about = f"share of the questions{f' of {of}' if of else ''} that were answered right"
        return MetricSpec(name=name, column=name, family="rate", unit="share", description=about)
    weights = ", ".join(f"{group} {weight:.0%}" for group, weight in leaderboard.WEIGHTS.items())
    about = f"accuracy of the group {of}" if of else f"overall accuracy of BFCL v4: {weights}"
    # a right answer is worth more than 1 where its category is small
    return MetricSpec(name=name, column=name, unit="share", high=None, description=about)


def trials_of(category: results.Category, columns: Columns) -> Iterator[Trial]:
    """In the order of the files. Raises InvalidInput where they have changed meanwhile."""
    part = category.part
    if part.result is not None:
        for line in refuse_problems(leaderboard.read_rows(part.result, "result")):
            yield _answer_trial(category, columns, line.own, line.data)
        return
    if part.score is not None:
        for scored in islice(refuse_problems(json_lines(part.score)), 1, None):
            failed = as_object(scored.data)
            raw = failed.get("model_result_raw", failed.get("model_result"))
            yield _answer_trial(category, columns, str(failed["id"]), {"result": raw})
    for own in category.passed:
        yield _passed_trial(category, columns, own)
    for n in range(1, category.unnamed + 1):
        yield _passed_trial(category, columns, f"{part.category}: passed, not named {n}")


def _passed_trial(category: results.Category, columns: Columns, own: str) -> Trial:
    case = _case(category.part, own, category.asked.get(own))
    return SUITE.trial(case, passed=True, values=columns.values(category.name, True))


def _answer_trial(
    category: results.Category, columns: Columns, own: str, data: Mapping[str, Json]
) -> Trial:
    result = data["result"]
    asked, error = category.asked.get(own), inference_error(result)
    made = read_calls(result, many_turns=results.has_turns(category.name))
    right, codes, reason = _verdict(category, own, results.faults(category.name, made.calls, asked))
    status = status_of(error)
    latency = results.sum_amounts(data.get("latency"))
    return SUITE.trial(
        _case(category.part, own, asked),
        status=status,
        passed=right,
        failures=codes,
        reason=reason,
        values=columns.values(category.name, right),
        response=Response(
            answer=made.answer,
            steps=made.calls if made.calls is not None else (),
            turns=made.turns,
            usage=build.usage_of(
                input=results.sum_amounts(data.get("input_token_count")),
                output=results.sum_amounts(data.get("output_token_count")),
            ),
        )
        if status == "completed"
        else None,
        latency_ms=as_amount(latency * 1000.0) if latency is not None else None,
        error=error[:2_000] if error else None,
    )


def _verdict(
    category: results.Category, own: str, codes_by_reading: Sequence[tuple[str, ...]]
) -> tuple[bool | None, tuple[str, ...], str]:
    """The score file's verdict; without one, that of our own comparison."""
    if category.scored is not None:
        failed = category.scored.failed.get(own)
        return (False, results.with_mode(failed.code), failed.reason) if failed else (True, (), "")
    if not codes_by_reading:
        return None, (), ""
    fewest = min(codes_by_reading, key=len)
    codes = results.with_mode(fewest[0]) if len(fewest) == 1 else fewest
    return not fewest, codes, ""


def _case(part: leaderboard.CategoryFiles, own: str, asked: results.BfclQuestion | None) -> Case:
    """A question as a case: its id says which one it is, whether or not its text is known."""
    mark = f"{SUITE.tool}\n{part.version}\n{part.category}\n{own}"
    group = leaderboard.group_of(part.category)
    return SUITE.case(
        own,
        input=asked.input if asked else "",
        keys=asked.keys if asked else None,
        category=part.category,
        tags=(group,) if group else (),
        digest=hashlib.sha256(mark.encode(errors="surrogatepass")).hexdigest()[:16],
    )
