"""`python -m tests.support.counted FILE WHAT ARGUMENT ...`: one `gate` command here, and in FILE
what it loaded or called. WHAT: `modules` or `calls`; a profiler would be a module more.

`modules`: of sys.modules at its end (`end`), and when it first connected to anybody (`first`).
`calls`: how many Python functions were called, by all threads, generators' steps included.
"""

import json
import os
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import NoReturn


def main() -> None:
    file, what, *arguments = sys.argv[1:]
    found: dict[str, object] = {}
    calls: Counter[str] = Counter()

    def look(event: str, details: tuple[object, ...]) -> None:
        if event == "socket.connect" and "first" not in found:
            found["first"] = sorted(sys.modules)

    def count(frame: object, event: str, details: object) -> None:
        if event == "call":
            calls[event] += 1

    def end(code: int) -> NoReturn:
        sys.setprofile(None)
        threading.setprofile(None)
        found.update(code=code, calls=calls["call"], end=sorted(sys.modules))
        Path(file).write_text(json.dumps(found), encoding="utf-8")
        leave(code)

    leave, os._exit = os._exit, end  # type: ignore[assignment]
    sys.argv = ["gate", *arguments]
    if what == "modules":
        sys.addaudithook(look)
    else:
        threading.setprofile(count)
        sys.setprofile(count)
    from gate.cli import main as run

    run()


if __name__ == "__main__":
    main()
