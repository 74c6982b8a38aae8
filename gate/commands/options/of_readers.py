"""The options of commands that only read what is stored, as argparse sees them."""

from __future__ import annotations

import argparse

from gate.commands.options.types import moment


def output(p: argparse.ArgumentParser) -> None:
    """What every command with a verdict has."""
    p.add_argument("--quiet", action="store_true", help="the verdict only")
    p.add_argument("--verbose", action="store_true", help="a line a trial, and tracebacks")
    p.add_argument("--no-color", action="store_true", help="plain text, as with NO_COLOR")


def import_(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    add("source", metavar="FORMAT", help="one of docs/import.md, or `auto`")
    add("path", metavar="PATH", help="the file or folder that is imported")
    add("--option", "-o", action="append", metavar="NAME=VALUE", help="of the format; repeatable")
    add("--at", type=moment, metavar="TIME", help="when it was measured, where it does not say")
    add("--suite", action="append", metavar="NAME", help="repeatable; `all` (all)")
    about = "judge the answers again, by the graders and cases that gate.yml has for the suite"
    add("--regrade", action="store_true", help=about)
    add("--config", metavar="FILE", help="gates and prices (gate.yml)")
    add("--baseline", metavar="SOURCE", help="compare with it: auto, repo, artifact or a path")
    add("--dataset", metavar="FILE", help="write the cases there, for a suite of gate.yml")
    add("--recording", metavar="FILE", help="write the answers there, for `gate run --replay`")
    add("--out", metavar="DIR", help="where the session folder goes (results)")
    add("--format", choices=("text", "json", "markdown"), default="text", help="of the output")
    output(p)


def report(p: argparse.ArgumentParser) -> None:
    p.add_argument("session", metavar="SESSION")
    output(p)


def export(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    add("session", metavar="SESSION")
    about = "csv, jsonl, junit, otel or promptfoo (docs/export.md)"
    add("--format", required=True, metavar="FORMAT", help=about)
    add("--suite", action="append", metavar="NAME", help="repeatable; `all` (all)")
    add("--out", metavar="FILE", help="write it there instead of printing it")
    add("--force", action="store_true", help="overwrite that file")


def verify(p: argparse.ArgumentParser) -> None:
    p.add_argument("dir", metavar="DIR", help="the folder evidence/ of a release's session")
    p.add_argument("--commit", metavar="SHA", help="must be of this commit (GITHUB_SHA)")
    p.add_argument("--tag", metavar="NAME", help="must be of this tag (that of the job)")


def schema(p: argparse.ArgumentParser) -> None:
    kinds = ("config", "case", "baseline", "session", "details", "meta", "evidence", "label")
    p.add_argument("what", choices=(*kinds, "history"))
