"""What an import writes beside its session: the cases as a dataset, the answers as a recording.
`gate run --replay` grades such answers again, with any grader or judge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from gate.agents.recordings.answers import recording_line
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.records import Attempt, Case, Json, Response, Trial
from gate.records.codec import to_json
from gate.records.imported import Imported


def write_dataset(
    imported: Imported, suites: frozenset[str], file: Path, redact: Callable[[str], str] = str
) -> int:
    """Writes the cases of one suite as JSON Lines, in their order, and returns their number. Raises
    UsageError if the file exists or the questions are unknown.
    """
    return _write(file, "--dataset", map(redact, _case_lines(_list_cases(imported, suites), file)))


def write_recording(
    imported: Imported, suites: frozenset[str], file: Path, redact: Callable[[str], str] = str
) -> int:
    """Writes every answer and failure like `--record`, and returns their number. Raises
    UsageError.
    """
    chosen = (trial for trial in imported.trials() if trial.suite in suites)
    lines = (redact(_answer_line(trial)) for trial in chosen)
    return _write(file, "--recording", lines)


def _list_cases(imported: Imported, suites: frozenset[str]) -> Iterator[Case]:
    if imported.cases is not None:
        yield from imported.cases()
        return
    if len(suites) != 1:
        names = ", ".join(sorted(suites)[:10])
        raise UsageError(
            f"--dataset: a file holds one suite only; choose it with --suite ({names})"
        )
    seen: set[str] = set()
    for trial in imported.trials():
        if trial.suite in suites and trial.case.id not in seen:
            seen.add(trial.case.id)
            yield trial.case


def _case_lines(cases: Iterator[Case], file: Path) -> Iterator[str]:
    for case in cases:
        if case.input in ("", None):
            raise UsageError(
                f"--dataset {file}: the results do not contain the question of case "
                f"'{case.id[:80]}'; give the file of the tasks too (docs/import.md, by "
                "format)"
            )
        row: dict[str, Json] = {"id": case.id, "input": case.input}
        row |= {"category": case.category} if case.category else {}
        row |= {"tags": list(case.tags)} if case.tags else {}
        yield json.dumps(to_json({**row, **case.keys}), ensure_ascii=False)


def _answer_line(trial: Trial) -> str:
    judged = trial.attempt
    return recording_line(trial.case, trial.round, _answer_of(judged), judged.latency_ms or 0.0)


def _answer_of(attempt: Attempt) -> Response | Exception:
    if attempt.status == "infra_error":
        return InfraFailure(attempt.error or "nobody answered")
    if attempt.status == "agent_error" or attempt.response is None:
        return AgentFailure(attempt.error or "no answer")
    return attempt.response


def _write(file: Path, option: str, lines: Iterator[str]) -> int:
    """A file that is half written is taken away again."""
    try:
        with file.open("x", encoding="utf-8", errors="backslashreplace") as stream:
            try:
                return sum(1 for line in lines if stream.write(f"{line}\n"))
            except BaseException:
                file.unlink()
                raise
    except FileExistsError:
        raise UsageError(f"{option} {file}: already exists; choose a new file name") from None
    except OSError as error:
        raise UsageError(f"{option} {file}: {error.strerror}; choose another path") from error
