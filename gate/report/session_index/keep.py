"""Writes index.html of a folder of sessions whenever one of them has ended."""

from __future__ import annotations

from pathlib import Path

from gate.errors import GateError
from gate.files.locked_update import write_whole
from gate.files.plain_file import read_if_there
from gate.report.session_index.page import read_entries, render
from gate.store.session_list import list_sessions

INDEX = "index.html"


def keep_index(session: Path) -> str:
    """Why the list beside the session could not be written; empty where it was. A file of somebody
    else's under its name stays as it is.
    """
    folder, index = session.parent, session.parent / INDEX
    try:
        before = read_if_there(index)
        known = read_entries(before.decode("utf-8", "replace")) if before is not None else ()
        if known is None:
            return (
                f"{index}: not a list of sessions, so none is kept here; rename this file, or "
                "choose another folder with --out"
            )
        write_whole(index, render(list_sessions(folder, known)).encode("utf-8", "replace"))
    except OSError as error:
        return f"{index}: cannot be written: {error.strerror}; the session itself is whole"
    except GateError as error:
        return f"{error}; this is the list of sessions, the session itself is whole"
    return ""
