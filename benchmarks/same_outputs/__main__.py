"""Whether two states of the gate write the same: everything, byte for byte.

    python benchmarks/same_outputs make CHECKOUT FOLDER [--python PYTHON] [--only SCENARIO]...
    python benchmarks/same_outputs compare BEFORE AFTER

`make` runs the gate of CHECKOUT on the inputs of inputs.py and keeps in FOLDER, for each command,
what it printed and its exit code, and for each scenario every file that was there in the end and
every request to GitHub. `compare` lists what differs, with the first lines, and exits with 1.

Only the command line, files, the environment and loopback servers are used, so that it runs with
any state of the gate. The same interpreter, with the same packages, has to serve both sides:
PYTHON, else that of CHECKOUT's .venv. Inputs (the files of tests/data/imports, too) are those
beside this script; the bundled suites are those of CHECKOUT.

What would differ from run to run is held still: the gate is copied to
one place and the projects lie in another, ports are always the same, fixed_clock.py stands in for
clock and chance in every process, and calls of an agent are made one at a time. Left out are
`__pycache__` and `.git`. On another machine or with another Python or package some outputs differ
(a release's evidence names them), so both sides are to be made on one.

Two things are left to chance by the gate's own threads, and `compare` looks past them: the order of
lines, and of keys in a line, of a session's log (events.jsonl), and which lines of progress
("8/16 trials, ...") stand on standard error before the last one. Nothing else is masked.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from inputs import SCENARIOS
from peers import serving
from project import ROOT, Project

HERE = Path(__file__).resolve().parent
LEFT_OUT = (".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "build", "dist", "results")
_EARLIER_PROGRESS = re.compile(rb"(?m)^\d+/\d+ trials, [^\n]*\n(?=\d+/\d+ trials, )")
SHOWN_FILES, SHOWN_LINES = 60, 14


def make(checkout: Path, out: Path, python: Path, only: Sequence[str]) -> None:
    """Two scenarios at once, each with calls one after another."""
    if unknown := set(only) - set(SCENARIOS):
        raise SystemExit(f"no scenario {', '.join(sorted(unknown))}: {', '.join(SCENARIOS)}")
    if out.exists():
        raise SystemExit(f"{out} is there already")
    try:
        ROOT.mkdir()
    except FileExistsError:
        raise SystemExit(f"{ROOT} is there: another run is under way, or remove it") from None
    try:
        _set_up(checkout, python)
        out.mkdir(parents=True)
        with serving() as githubs, ThreadPoolExecutor(2) as pool:

            def run(name: str) -> str | None:
                begun, project = time.monotonic(), Project(name, out, githubs)
                try:
                    SCENARIOS[name](project)
                except Exception:  # the other scenarios are of use all the same
                    return f"{name} ended early:\n{traceback.format_exc()}"
                finally:
                    project.finish()
                    print(f"{time.monotonic() - begun:6.1f} s  {name}", flush=True)
                return None

            ended = [told for told in pool.map(run, only or SCENARIOS) if told]
    finally:
        shutil.rmtree(ROOT)
    files = sum(path.is_file() for path in out.rglob("*"))
    calls = sum(1 for _ in out.glob("*/*/call.json"))
    print(f"{calls} commands, {files} files in {out}")
    if ended:
        raise SystemExit("\n".join(ended))


def _set_up(checkout: Path, python: Path) -> None:
    """A copy of the gate, and an environment of its own with the packages of `python`."""
    leave = shutil.ignore_patterns(*LEFT_OUT)
    shutil.copytree(checkout, ROOT / "checkout", ignore=leave, symlinks=True)
    (ROOT / "home").mkdir()
    subprocess.run([python, "-m", "venv", "--without-pip", ROOT / "python"], check=True)
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages, own = (
        subprocess.run(
            [one, "-c", asked], check=True, capture_output=True, text=True
        ).stdout.strip()
        for one in (python, ROOT / "python" / "bin" / "python")
    )
    (Path(own) / "gate_and_packages.pth").write_text(f"{ROOT / 'checkout'}\n{packages}\n")
    shutil.copy(HERE / "fixed_clock.py", Path(own) / "sitecustomize.py")
    found = subprocess.run(
        [ROOT / "python" / "bin" / "python", "-c", "import gate; print(gate.__file__)"],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout.strip()
    if not Path(found).is_relative_to(ROOT / "checkout"):
        raise SystemExit(f"this would run the gate of {found}")


def compare(before: Path, after: Path) -> int:
    """How many files differ or are on one side only; each is told."""
    sides = [{p.relative_to(s): p for p in _files(s)} for s in (before, after)]
    different = 0
    for path in sorted(sides[0].keys() | sides[1].keys()):
        one, other = (side.get(path) for side in sides)
        if one and other and _told(one) == _told(other):
            continue
        different += 1
        if different > SHOWN_FILES:
            continue
        if not (one and other):
            print(f"{'only before' if one else 'only after'}: {path}")
            continue
        print(f"differs: {path}")
        texts = [_told(p).decode(errors="replace").splitlines() for p in (one, other)]
        lines = difflib.unified_diff(*texts, "before", "after", n=0, lineterm="")
        for line in [line for line in lines if not line.startswith(("---", "+++"))][:SHOWN_LINES]:
            print(f"    {line[:300]}")
    if different > SHOWN_FILES:
        print(f"... and {different - SHOWN_FILES} more")
    print(f"{different} of {len(sides[0].keys() | sides[1].keys())} files differ")
    return different


def _told(file: Path) -> bytes:
    """What is compared: the bytes, less what the gate's threads leave to chance."""
    found = file.read_bytes()
    if file.name == "events.jsonl":
        lines = [json.dumps(json.loads(line), sort_keys=True) for line in found.splitlines()]
        return "\n".join(sorted(lines)).encode()
    if file.name == "stderr":
        return _EARLIER_PROGRESS.sub(b"", found)
    return found


def _files(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise SystemExit(f"{folder}: no such folder")
    return (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ways = options.add_subparsers(dest="way", required=True)
    making = ways.add_parser("make")
    making.add_argument("checkout", type=Path)
    making.add_argument("folder", type=Path)
    making.add_argument("--python", type=Path, help="(CHECKOUT/.venv/bin/python)")
    making.add_argument("--only", action="append", default=[], metavar="SCENARIO")
    comparing = ways.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = options.parse_args()
    if given.way == "compare":
        return 1 if compare(given.before, given.after) else 0
    python = given.python or given.checkout / ".venv" / "bin" / "python"
    if not os.access(python, os.X_OK):
        options.error(f"no interpreter at {python}; name one with --python")
    make(given.checkout.resolve(), given.folder.resolve(), python.absolute(), given.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
