"""`gate history`: past runs as a table, with the changes of level."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from gate.commands.baseline_sources import find_baselines, open_desk
from gate.commands.options.records import find_stored, page_width
from gate.errors import InfrastructureError, UsageError
from gate.files.plain_file import check_folder, check_target
from gate.records.codec import to_json
from gate.records.history import History
from gate.report.history.badge import as_shields, as_svg
from gate.report.history.page import as_html
from gate.report.history.site_reports import find_report, publish_reports, remove_old_reports
from gate.report.history.text import blocks
from gate.report.wording.blocks import markdown_of, text_of
from gate.run.untrusted import refuse_checkout
from gate.store.baseline.file import parse
from gate.store.event_log import SURROGATES
from gate.store.history import ALPHA, Chain, history_of
from gate.store.past_runs import PastRuns, chain_of, read_past_runs
from gate.text.escaping import plain
from gate.text.suggestions import did_you_mean

NO_HISTORY = 4
WIDTH = 120


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints the table; returns 0, or 4 if there is no run to show: a site with reports is written
    all the same. Raises GateError.
    """
    site = _find_site(options)
    paths = [find_stored(path) for path in options.paths]
    past = _read_paths(paths, options) if paths else _read_baselines(options, env)
    chains = [chain for chain in past.chains if chain.runs]
    printed = chains and options.format in ("table", "md") and not options.out  # with its notes
    for note in () if printed else past.notes:
        _tell(f"note: {note}")
    if not chains and not options.reports:
        places = ", ".join(options.paths) or "the baselines of this repository"
        _tell(f"no history in {places}; `gate history results` shows a folder of sessions")
        return NO_HISTORY
    history = History(
        suites=tuple(
            history_of(
                chain,
                last=options.last,
                since=options.since,
                repository_url=find_repository_url(env),
                cases=options.format == "html",
            )
            for chain in chains
        ),
        alpha=ALPHA,
        notes=past.notes,
    )
    if options.format != "html":
        _out(FORMATS[options.format](history), options.out)
    elif site is not None:
        _write_site(history, site, [Path(place) for place in options.reports or ()], options.keep)
    else:
        beside = Path(options.out).parent if options.out else Path()
        _out(as_html(history, partial(find_report, beside)), options.out)
    return 0 if options.reports or any(suite.runs for suite in history.suites) else NO_HISTORY


def _find_site(options: argparse.Namespace) -> Path | None:
    """The folder of a site; None for any other output."""
    out = Path(options.out) if options.out else None
    if options.format == "html" and out is not None and not out.suffix:
        return out
    if options.reports or options.keep is not None:
        given = "--reports" if options.reports else "--keep"
        raise UsageError(f"gate history: {given} needs a site: --format html --out FOLDER")
    return None


def _read_paths(paths: Sequence[Path], options: argparse.Namespace) -> PastRuns:
    if options.baseline or options.config:
        given = "--baseline" if options.baseline else "--config"
        raise UsageError(f"gate history: {given} and a PATH cannot be combined; use one of the two")
    past = read_past_runs(paths)
    return PastRuns(chains=_choose_chains(past.chains, options.suite or ()), notes=past.notes)


def _read_baselines(options: argparse.Namespace, env: Mapping[str, str]) -> PastRuns:
    """Those that a run here would be compared with; the keys of gate.yml say where they are."""
    refuse_checkout("history", env)
    desk = open_desk(options, env, echo=_tell)
    chains = tuple(
        chain_of(parse(baseline.text, baseline.file), baseline.detail, baseline.notes)
        for baseline in find_baselines(options, desk)
    )
    return PastRuns(chains=chains)


def _choose_chains(chains: tuple[Chain, ...], names: Sequence[str]) -> tuple[Chain, ...]:
    suites = tuple(chain.suite for chain in chains)
    for name in names:
        if suites and name not in (*suites, "all"):
            raise UsageError(f"--suite {name}: has no runs here{did_you_mean(name, suites)}")
    if not names or "all" in names:
        return chains
    return tuple(chain for chain in chains if chain.suite in names)


def _table(history: History) -> str:
    return text_of(blocks(history), width=page_width(WIDTH))


def _json(history: History) -> str:
    return json.dumps(to_json(history), indent=2, ensure_ascii=False)


FORMATS: Mapping[str, Callable[[History], str]] = {
    "table": _table,
    "md": lambda history: markdown_of(blocks(history)),
    "json": _json,
}


def find_repository_url(env: Mapping[str, str]) -> str:
    """`https://github.com/owner/name` in a workflow; empty elsewhere."""
    server, name = env.get("GITHUB_SERVER_URL", "").rstrip("/"), env.get("GITHUB_REPOSITORY", "")
    return f"{server}/{name}" if server and name else ""


def _write_site(history: History, folder: Path, sessions: Sequence[Path], keep: int | None) -> None:
    """The page as index.html, the reports of these sessions, and the badge of each suite as SVG and
    as JSON for shields.io. `keep`: how many reports stay; None: all.
    """
    check_folder(folder, "--out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for note in publish_reports(sessions, folder):
            _tell(f"note: {note}")
        if keep is not None:
            remove_old_reports(folder, keep)
    except OSError as error:
        raise InfrastructureError(
            f"--out {folder}: cannot be written: {error.strerror}; choose another folder"
        ) from error
    _out(as_html(history, partial(find_report, folder)), str(folder / "index.html"))
    for number, suite in enumerate(history.suites, start=1):
        plain_name = re.sub(r"[^\w-]+", "-", suite.suite, flags=re.ASCII)[:100].strip("-")
        name = f"badge-{plain_name or number}"
        _out(as_svg(suite), str(folder / f"{name}.svg"))
        _out(as_shields(suite), str(folder / f"{name}.json"))


def _out(text: str, file: str | None) -> None:
    if file is None:
        print(text)
        return
    check_target(Path(file), "--out")
    try:
        Path(file).write_bytes((text.rstrip("\n") + "\n").encode("utf-8", SURROGATES))
    except OSError as error:
        raise InfrastructureError(
            f"--out {file}: cannot be written: {error.strerror}; choose another file"
        ) from error


def _tell(words: str) -> None:
    print(plain(f"gate history: {words}"), file=sys.stderr)
