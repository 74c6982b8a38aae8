"""`gate export SESSION --format F`: writes a stored session in another tool's form; no agent is
asked.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from gate.commands.options.records import find_stored
from gate.errors import InfrastructureError, UsageError
from gate.files.plain_file import check_target
from gate.plugins import EXPORTERS, Exporter
from gate.records import Report, TrialRow
from gate.store.session import CONTROL, Session, load_session, refuse_debugging
from gate.store.session_check import check_rows
from gate.text.suggestions import did_you_mean
from gate.user_code.loading import Workspace, load_object, place_of

_ODD = "replace"  # half a surrogate pair has no UTF-8, and no other reader takes its escape


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Writes the file and returns 0. Raises UsageError, with nothing written, if the session or a
    row is invalid.
    """
    exporter = _load_exporter(options.format)
    folder = find_stored(options.session)
    out = Path(options.out) if options.out else None
    if out is not None:
        _check(out, force=options.force)
    session = load_session(folder)
    refuse_debugging(session)
    wanted = _choose_suites([*session.meta.suites], options.suite or ())
    report = _report(session)
    report = replace(report, suites={n: s for n, s in report.suites.items() if n in wanted})
    deque(check_rows(session.rows(), session.meta.suites, folder), maxlen=0)

    def rows() -> Iterator[TrialRow]:
        return (row for row in session.rows() if row["suite"] in wanted)

    pieces = (piece.encode("utf-8", _ODD) for piece in exporter.pieces(report, rows))
    if out is None:
        _print(pieces)
    else:
        _write(pieces, out)
    return 0


def _load_exporter(name: str) -> Exporter:
    """One of ours, or the user's own, which decides nothing: it runs here."""
    if ":" not in name:
        return EXPORTERS.get_class(name)()
    workspace = Workspace(Path())
    try:
        exporter_class, _ = load_object(name, workspace, workspace_first=False)
        return cast("Callable[[], Exporter]", exporter_class)()
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        place = place_of(error, workspace)
        at = f"{place}: " if place else ""
        message = f"'{name}': {at}does not load: {type(error).__name__}: {error}"
        raise UsageError(message) from error


def _check(out: Path, *, force: bool) -> None:
    check_target(out, "--out")
    if out.exists() and not force:
        raise UsageError(f"--out {out}: already exists; choose another file, or add --force")


def _choose_suites(suites: Sequence[str], names: Sequence[str]) -> frozenset[str]:
    for name in names:
        if name not in suites and name != "all":
            raise UsageError(f"--suite {name}: not in this session{did_you_mean(name, [*suites])}")
    return frozenset(suites if not names or "all" in names else names)


def _report(session: Session) -> Report:
    """The verdict. A control has none of its own: that of its session, without any suite."""
    if session.report is not None:
        return session.report
    parent = session.folder.resolve().parent
    above = load_session(parent).report if session.folder.resolve().name == CONTROL else None
    if above is None:
        raise UsageError(
            f"{session.folder}: the run has no verdict; continue it with `gate run --resume "
            f"{session.folder}`"
        )
    meta = session.meta
    return replace(
        above,
        session_id=meta.session_id,
        created_at=meta.created_at,
        provenance=meta.provenance,
        suites={},
    )


def _print(pieces: Iterable[bytes]) -> None:
    """Bytes as they are: a console's encoding and line ends are none of a file's."""
    stream = getattr(sys.stdout, "buffer", None)
    sys.stdout.flush()
    for piece in pieces:
        if stream is None:
            sys.stdout.write(piece.decode())
        else:
            stream.write(piece)
    sys.stdout.flush()


def _write(pieces: Iterable[bytes], out: Path) -> None:
    """Whole or not at all."""
    part = out.with_name(f".{out.name}.part")
    try:
        with part.open("wb") as file:
            file.writelines(pieces)
        part.replace(out)
    except OSError as error:
        message = f"--out {out}: cannot be written: {error.strerror}; choose another file"
        raise InfrastructureError(message) from error
    finally:
        part.unlink(missing_ok=True)
