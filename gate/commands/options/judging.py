"""Options of the commands that judge answers, and those that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

_OLDER_FORMATS = {"text": "rich", "markdown": "github"}  # names that version 0.1 had


class Parser(argparse.ArgumentParser):
    """A parser that exits with 2 and one sentence, like every other usage error."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"gate: {message}; see `{self.prog} --help`\n")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Of a command: what it does not know is an error here, where its options are known."""
        found, rest = super().parse_known_args(args, namespace)
        if rest and self._subparsers is None:
            known = [name for action in self._actions for name in action.option_strings]
            name = next((one for one in rest if one.startswith("-")), rest[0]).partition("=")[0]
            what = "option" if name.startswith("-") else "argument"
            self.error(f"{name}: unknown {what}{_suggest(name, known)}")
        return found, rest

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            known = list(map(str, action.choices))
            hint = _suggest(str(value), known) or f" - known: {', '.join(known)}"
            raise argparse.ArgumentError(action, f"{value!r} is unknown{hint}")

    def value(self, name: str, metavar: str, about: str, **more: Any) -> None:  # as argparse has it
        """Adds an argument with a value; --help says `about` of it."""
        self.add_argument(name, metavar=metavar, help=about, **more)

    def number(
        self,
        name: str,
        about: str,
        *,
        least: int = 1,
        most: int | None = None,
        default: int | None = None,
    ) -> None:
        """Adds an option whose value is a whole number from `least` to `most`."""
        self.value(name, "N", about, type=parse_whole_number(least, most), default=default)

    def flag(self, name: str, about: str) -> None:
        """Adds an option without a value."""
        self.add_argument(name, action="store_true", help=about)


def _suggest(name: str, known: list[str]) -> str:
    """` - did you mean 'x'?`; empty where nothing is near."""
    from gate.text.suggestions import nearest

    near = nearest(name, known, most=1)
    return f" - did you mean '{near[0]}'?" if near else ""


def add_config(p: Parser, about: str = "config file (gate.yml)") -> None:
    p.value("--config", "FILE", about)


def add_env_file(p: Parser) -> None:
    p.value("--env-file", "FILE", "read variables that are not set from this file (.env)")


def add_suites(p: Parser) -> None:
    p.value("--suite", "NAME", "suite to use, or `all`; repeatable (all)", action="append")


def add_format(
    p: Parser,
    default: str | None = "rich",
    what: str = "format of the output: rich, plain text, JSON, or Markdown as GitHub has it (rich)",
) -> None:
    p.add_argument(
        "--format",
        choices=("plain", "rich", "json", "github"),
        type=lambda name: _OLDER_FORMATS.get(name, name),
        default=default,
        help=what,
    )


def add_output(p: Parser) -> None:
    """What every command with a verdict has."""
    p.flag("--quiet", "print only the verdict")
    p.flag("--verbose", "print a line per trial, and tracebacks")
    p.flag("--no-color", "print no colors, as with NO_COLOR")


def add_executor(p: Parser) -> None:
    p.add_argument(
        "--executor",
        choices=("threads", "dask"),
        help="who does the work: this machine, or the workers of a Dask cluster (threads)",
    )
    p.value("--scheduler", "ADDRESS", "scheduler of the Dask cluster, e.g. tcp://10.0.0.5:8786")
    p.flag("--send-secrets", "send secrets to the workers, which otherwise need the variables")


def add_run_options(p: Parser) -> None:
    add_config(p)
    add_env_file(p)
    add_suites(p)
    p.value(
        "--case", "ID", "only show what the agent answers to this case; repeatable", action="append"
    )
    p.value(
        "--failed",
        "SESSION",
        "only show the answers to the cases that failed in a session (the latest)",
        nargs="?",
        const="latest",
    )
    p.value("--dataset", "FILE", "use these cases for the suite given with --suite")
    p.value("--base-url", "URL", "address of the agent (http://127.0.0.1:14000)")
    p.add_argument("--model", help="model of the agent (deepseek/deepseek-v4-flash)")
    p.value(
        "--provider-key",
        "KEY",
        "provider key for OpenAgent; safer in the variable OPENAGENT_PROVIDER_KEY",
    )
    p.number("--rounds", "times to run each case (3); with --resume, the new total", most=10_000)
    p.number("--max-attempts", "tries per trial, including the first (2)")
    p.value("--timeout", "S", "time limit of a request, in seconds (240)", type=seconds)
    p.number("--concurrency", "requests in parallel (16)")
    p.value(
        "--baseline", "SOURCE", "where the baseline is: auto, repo, artifact, none or a path (auto)"
    )
    p.value("--out", "DIR", "folder for the sessions (results)")
    p.number("--sample", "run only N cases of each suite, the same N every time")
    p.value("--shard", "I/N", "run part I of N; join the parts with `gate merge`", type=shard)
    p.number("--stage", "1: a shard's planned rounds; 2: more rounds, if still open", most=2)
    p.value(
        "--protect",
        "REF",
        "judge like a pull request to REF (the base branch)",
        nargs="?",
        const=True,
    )
    p.add_argument(
        "--stop",
        dest="stop_rule",
        choices=("early", "off"),
        help="stop early when the verdict is clear, or never: off (early)",
    )
    p.value(
        "--resume",
        "SESSION",
        "continue a session (the newest); with --rounds, add rounds to it",
        nargs="?",
        const="latest",
    )
    p.flag("--dry-run", "check everything and say what would be asked; calls no agent")
    p.value("--record", "FILE", "write every answer of the agent to FILE")
    p.value("--replay", "FILE", "read the answers from FILE; calls no agent")
    p.value("--budget-usd", "USD", "stop when this much is spent", type=positive)
    add_executor(p)
    add_format(p)
    add_output(p)


def add_grade_options(p: Parser) -> None:
    p.value(
        "answers",
        "FILE",
        "recorded answers: JSON Lines, also packed as .gz or .zst, or Parquet; see docs/grading.md",
        nargs="+",
    )
    add_config(p)
    add_suites(p)
    p.value("--dataset", "FILE", "use these cases for the suite given with --suite")
    p.number("--rounds", "rounds of each case that are expected (3)", most=10_000)
    p.number("--processes", "processes that grade (the number of cores)", most=1_000)
    p.value(
        "--baseline", "SOURCE", "where the baseline is: auto, repo, artifact, none or a path (auto)"
    )
    p.value("--out", "DIR", "folder for the sessions (results)")
    p.number("--sample", "grade only N cases of each suite, the same N every time")
    p.value(
        "--protect",
        "REF",
        "judge like a pull request to REF (the base branch)",
        nargs="?",
        const=True,
    )
    p.value("--resume", "SESSION", "continue an interrupted session with the same files")
    add_executor(p)
    add_format(p)
    add_output(p)


def add_compare_options(p: Parser) -> None:
    p.value("baseline", "BASELINE", "session folder or baseline file to compare with")
    p.value(
        "current",
        "CURRENT",
        "session folder or baseline file to judge (the latest in results)",
        nargs="?",
        default="latest",
    )
    add_config(p, "config with the gates and rules (gate.yml)")
    p.value("--out", "DIR", "also write the reports to this folder")
    p.number("--max-mb", "largest baseline file to read, in MB (256)", default=256, most=1_000_000)
    add_format(p)
    add_output(p)


def add_merge_options(p: Parser) -> None:
    p.value("sessions", "SESSION", "session folders of the shards, or a folder of them", nargs="+")
    add_config(p, "config with the gates and rules (gate.yml)")
    p.value("--baseline", "SOURCE", "where the baseline is: auto, repo, artifact, none or a path")
    p.value("--out", "DIR", "folder for the joined session", required=True)
    add_format(p)
    add_output(p)


def add_plan_options(p: Parser) -> None:
    p.value("session", "SESSION", "session to use as the baseline, or baseline files", nargs="?")
    add_config(p)
    add_suites(p)
    p.number("--rounds", "times to run each case (3)", most=10_000)
    p.number("--sample", "plan for N cases of each suite (all)")
    p.value(
        "--baseline", "SOURCE", "where the baseline is: auto, repo, artifact, none or a path (auto)"
    )
    add_format(p)


def add_calibrate_options(p: Parser) -> None:
    p.value(
        "sessions", "SESSION", "sessions of the same, unchanged agent, or baseline files", nargs="*"
    )
    p.number("--runs", "first run the agent N times; this costs money")
    p.value("--baseline", "SOURCE", "where the baseline is: auto, repo, artifact or a path (auto)")
    add_config(p)
    add_suites(p)
    p.number("--rounds", "times to run each case in a run (3)", most=10_000)
    p.number("--reps", "pull requests to simulate (2000)", default=2000)
    p.number("--seed", "random seed (1)", least=0, default=1)
    p.value("--max", "RATE", "exit 1 if clearly more than this are blocked, e.g. 2%%", type=rate)
    add_format(p)


def add_import_options(p: Parser) -> None:
    p.value("source", "FORMAT", "format of the results, or `auto`; see docs/import.md")
    p.value("path", "PATH", "file or folder to import")
    p.add_argument(
        "--option",
        "-o",
        action="append",
        metavar="NAME=VALUE",
        help="option of the format; repeatable",
    )
    p.value("--at", "TIME", "time of the measurement, if the results have none", type=moment)
    add_suites(p)
    p.flag("--regrade", "grade the answers again with the suite of gate.yml")
    p.value("--config", "FILE", "config with gates and prices (gate.yml)")
    p.value("--baseline", "SOURCE", "baseline to compare with: auto, repo, artifact or a path")
    p.value("--dataset", "FILE", "also write the cases to FILE, as a dataset")
    p.value("--recording", "FILE", "also write the answers to FILE, for `gate run --replay`")
    p.value("--out", "DIR", "folder for the session (results)")
    add_format(p)
    add_output(p)


def parse_whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    end = "on" if most is None else f"to {most}"

    def convert(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} {end}")
        return int(text)

    return convert


def positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return value


def seconds(text: str) -> float:
    from gate.records import LONGEST_S

    value = positive(text)
    if value > LONGEST_S:
        raise argparse.ArgumentTypeError(f"'{text}' is more than a week, {LONGEST_S:g} seconds")
    return value


def rate(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a rate from 0 to 1 or from 0% to 100%")
    return value


def shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise argparse.ArgumentTypeError(f"'{text}' is not I/N with I from 1 to N, e.g. 2/8")
    return int(index), int(count)


def moment(text: str) -> datetime:
    """A day, or a moment; UTC where it names no offset."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a date such as 2026-11-21 or 2026-11-21T03:17"
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
