"""Options of the commands that judge answers, and those that several commands share."""

from __future__ import annotations

import argparse

from gate.commands.options.values import moment, parse_whole_number, positive, rate, seconds, shard


def add_config(p: argparse.ArgumentParser, about: str = "config file (gate.yml)") -> None:
    p.add_argument("--config", metavar="FILE", help=about)


def add_suites(p: argparse.ArgumentParser) -> None:
    about = "suite to use, or `all`; repeatable (all)"
    p.add_argument("--suite", action="append", metavar="NAME", help=about)


def add_format(p: argparse.ArgumentParser) -> None:
    choices = ("text", "json", "markdown")
    p.add_argument("--format", choices=choices, default="text", help="format of the output")


def add_whole_number(
    p: argparse.ArgumentParser,
    name: str,
    about: str,
    *,
    least: int = 1,
    most: int | None = None,
    default: int | None = None,
) -> None:
    kind = parse_whole_number(least, most)
    p.add_argument(name, type=kind, default=default, metavar="N", help=about)


def add_output(p: argparse.ArgumentParser) -> None:
    """What every command with a verdict has."""
    p.add_argument("--quiet", action="store_true", help="print only the verdict")
    p.add_argument("--verbose", action="store_true", help="print a line per trial, and tracebacks")
    p.add_argument("--no-color", action="store_true", help="print no colors, as with NO_COLOR")


def add_run_options(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    add_config(p)
    add_suites(p)
    about = "only show what the agent answers to this case; repeatable"
    add("--case", action="append", metavar="ID", help=about)
    about = "only show the answers to the cases that failed in a session (the latest)"
    add("--failed", nargs="?", const="latest", metavar="SESSION", help=about)
    add("--dataset", metavar="FILE", help="use these cases for the suite given with --suite")
    add("--base-url", metavar="URL", help="address of the agent (http://127.0.0.1:14000)")
    add("--model", help="model of the agent (deepseek/deepseek-v4-flash)")
    add(
        "--provider-key",
        metavar="KEY",
        help="provider key for OpenAgent; safer in the variable OPENAGENT_PROVIDER_KEY",
    )
    add_whole_number(
        p, "--rounds", "times to run each case (3); with --resume, the new total", most=10_000
    )
    add_whole_number(p, "--max-attempts", "tries per trial, including the first (2)")
    add("--timeout", type=seconds, metavar="S", help="time limit of a request, in seconds (240)")
    add_whole_number(p, "--concurrency", "requests in parallel (16)")
    add(
        "--baseline",
        metavar="SOURCE",
        help="where the baseline is: auto, repo, artifact, none or a path (auto)",
    )
    add("--out", metavar="DIR", help="folder for the sessions (results)")
    add_whole_number(p, "--sample", "run only N cases of each suite, the same N every time")
    add(
        "--shard",
        type=shard,
        metavar="I/N",
        help="run part I of N; join the parts with `gate merge`",
    )
    about = "judge like a pull request to REF (the base branch)"
    add("--protect", nargs="?", const=True, metavar="REF", help=about)
    add(
        "--stop",
        dest="stop_rule",
        choices=("early", "off"),
        help="stop early when the verdict is certain, or never: off (early)",
    )
    add("--resume", metavar="SESSION", help="continue a session; with --rounds, add rounds to it")
    add("--record", metavar="FILE", help="write every answer of the agent to FILE")
    add("--replay", metavar="FILE", help="read the answers from FILE; calls no agent")
    add("--budget-usd", type=positive, metavar="USD", help="stop when this much is spent")
    add_format(p)
    add_output(p)


def add_compare_options(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "baseline", metavar="BASELINE", help="session folder or baseline file to compare with"
    )
    p.add_argument("current", metavar="CURRENT", help="session folder or baseline file to judge")
    add_config(p, "config with the gates and rules (gate.yml)")
    p.add_argument("--out", metavar="DIR", help="also write the reports to this folder")
    add_format(p)
    add_output(p)


def add_merge_options(p: argparse.ArgumentParser) -> None:
    p.add_argument("sessions", nargs="+", metavar="SESSION", help="session folders of the shards")
    add_config(p, "config with the gates and rules (gate.yml)")
    p.add_argument(
        "--baseline",
        metavar="SOURCE",
        help="where the baseline is: auto, repo, artifact, none or a path",
    )
    p.add_argument("--out", metavar="DIR", required=True, help="folder for the joined session")
    add_format(p)
    add_output(p)


def add_plan_options(p: argparse.ArgumentParser) -> None:
    about = "session to use as the baseline, or baseline files"
    p.add_argument("session", nargs="?", metavar="SESSION", help=about)
    add_config(p)
    add_suites(p)
    add_whole_number(p, "--rounds", "times to run each case (3)", most=10_000)
    add_whole_number(p, "--sample", "plan for N cases of each suite (all)")
    p.add_argument(
        "--baseline",
        metavar="SOURCE",
        help="where the baseline is: auto, repo, artifact, none or a path (auto)",
    )
    add_format(p)


def add_calibrate_options(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    about = "sessions of the same, unchanged agent, or baseline files"
    add("sessions", nargs="*", metavar="SESSION", help=about)
    add_whole_number(p, "--runs", "first run the agent N times; this costs money")
    add(
        "--baseline",
        metavar="SOURCE",
        help="where the baseline is: auto, repo, artifact or a path (auto)",
    )
    add_config(p)
    add_suites(p)
    add_whole_number(p, "--rounds", "times to run each case in a run (3)", most=10_000)
    add_whole_number(p, "--reps", "pull requests to simulate (2000)", default=2000)
    add_whole_number(p, "--seed", "random seed (1)", least=0, default=1)
    add(
        "--max",
        type=rate,
        metavar="RATE",
        help="exit 1 if clearly more than this are blocked, e.g. 2%%",
    )
    add_format(p)


def add_import_options(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    add("source", metavar="FORMAT", help="format of the results, or `auto`; see docs/import.md")
    add("path", metavar="PATH", help="file or folder to import")
    add(
        "--option",
        "-o",
        action="append",
        metavar="NAME=VALUE",
        help="option of the format; repeatable",
    )
    add(
        "--at",
        type=moment,
        metavar="TIME",
        help="time of the measurement, if the results have none",
    )
    add_suites(p)
    about = "grade the answers again with the suite of gate.yml"
    add("--regrade", action="store_true", help=about)
    add("--config", metavar="FILE", help="config with gates and prices (gate.yml)")
    add(
        "--baseline",
        metavar="SOURCE",
        help="baseline to compare with: auto, repo, artifact or a path",
    )
    add("--dataset", metavar="FILE", help="also write the cases to FILE, as a dataset")
    add(
        "--recording",
        metavar="FILE",
        help="also write the answers to FILE, for `gate run --replay`",
    )
    add("--out", metavar="DIR", help="folder for the session (results)")
    add_format(p)
    add_output(p)
