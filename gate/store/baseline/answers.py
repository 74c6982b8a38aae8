"""`<suite>.answers.jsonl.gz`, beside the baseline file: what the newest run of the base branch
answered, a line a case. A session keeps those of its own cases, so that its reports can be made
again. What is read may be anybody's.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import chain, groupby
from pathlib import Path

from gate.analysis.expected import cut_text
from gate.errors import UsageError
from gate.files.json_schema_quick import compile_check
from gate.files.session_file import regular
from gate.records import Json, TrialRow
from gate.records.baseline import StoredAnswer
from gate.records.codec import from_json, json_line, parse_json, schema_of, to_json

MOST_PACKED = 16 << 20  # bytes of a file: about 100,000 answers of 1 KB
_MOST = 512 << 20  # bytes that it may expand to
_MOST_LINE = 64 << 10  # bytes: each sign of an answer may take six
_GZIP = 31  # zlib: the format of gzip with the largest window
_BESIDE = "baseline.answers.jsonl.gz"  # in the folder of a suite in a session
_DAMAGED = (OSError, EOFError, zlib.error, ValueError, RecursionError)  # OSError: no gzip


def choose_answers(rows: Iterable[TrialRow]) -> Iterator[StoredAnswer]:
    """Of each case its first round with the verdict that most rounds have. `rows`: of one suite,
    case by case. A case that nobody answered has none.
    """
    for _, group in groupby(rows, key=lambda row: row["case_id"]):
        rounds = [row for row in group if row["status"] != "infra_error"]
        counts = Counter(row["passed"] for row in rounds)  # of equals the one that came first
        if rounds:
            most = counts.most_common(1)[0][0]
            yield _answer_of(next(row for row in rounds if row["passed"] == most))


def _answer_of(row: TrialRow) -> StoredAnswer:
    answer, error = row["output"], row["error"]
    return StoredAnswer(
        case_id=row["case_id"],
        case_digest=row["case_digest"],
        passed=row["passed"],
        answer=None if answer is None else cut_text(answer),
        error=None if error is None else cut_text(error),
    )


def pack(
    answers: Iterable[StoredAnswer], redact: Callable[[str], str], most: int = MOST_PACKED
) -> tuple[bytes, int]:
    """The file, the same for the same answers, and how many of them found no room in it."""
    packed, left_out = bytearray(), 0
    # Not gzip.GzipFile, which holds back up to half a megabyte from Python 3.14 on.
    deflate = zlib.compressobj(level=9, wbits=_GZIP)
    for answer in answers:
        line = redact(json_line(to_json(answer))).encode("utf-8", "backslashreplace")
        if len(line) >= _MOST_LINE or len(packed) + len(line) > most:
            left_out += 1
        else:
            packed += deflate.compress(line + b"\n")
    packed += deflate.flush()
    return bytes(packed), left_out


def unpack(data: bytes, name: str, most: int = _MOST) -> Iterator[StoredAnswer]:
    """The answers in a file. Raises UsageError at the first line that `pack` would not have
    written, and beyond `most` bytes.
    """
    fits = compile_check(schema_of(StoredAnswer))
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            while line := file.readline(_MOST_LINE + 1):
                most -= len(line)
                if most < 0 or len(line) > _MOST_LINE:
                    raise UsageError(f"{name}: too large for answers of a baseline")
                row: Json = parse_json(line)
                if not fits(row):
                    raise UsageError(f"{name}: a line is no answer of a baseline")
                yield from_json(StoredAnswer, row)
    except _DAMAGED as error:
        raise UsageError(f"{name}: not readable as answers of a baseline ({error})") from error


def keep_beside(
    folder: Path, suite: str, answers: Iterator[StoredAnswer], redact: Callable[[str], str]
) -> None:
    """Into the session `folder`, instead of what it kept; without answers no file is made. Raises
    GateError and OSError, and then keeps none.
    """
    path = folder / suite / _BESIDE
    path.unlink(missing_ok=True)
    for first in answers:
        data, _ = pack(chain([first], answers), redact)
        path.parent.mkdir(exist_ok=True)
        with path.open("xb") as file:  # nothing is written through a link, or into a pipe
            file.write(data)


def read_beside(folder: Path, suite: str) -> Iterator[StoredAnswer]:
    """What a session keeps; nothing where it keeps none, or where the file is broken."""
    path = folder / suite / _BESIDE
    try:
        yield from unpack(regular(path, 2 * MOST_PACKED).read_bytes(), str(path))
    except (UsageError, OSError):
        return
