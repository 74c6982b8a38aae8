"""Every command and option, as argparse sees it; imports nothing heavy, so that --help is quick."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from gate import __version__


class Parser(argparse.ArgumentParser):
    """Exits with 2 and one sentence, like every other usage error."""

    def error(self, message: str) -> Any:
        self.exit(2, f"gate: {message}; `{self.prog} --help` lists what there is\n")


def actions_of(p: argparse.ArgumentParser) -> Any:
    """Where the sub-commands of a command are added."""
    return p.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=Parser)


def add_action(actions: Any, name: str, text: str) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(
        name, help=text, description=sentence(text)
    )
    return action


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


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
        raise argparse.ArgumentTypeError(f"'{text}' is not a rate from 0 to 1, or 0% to 100%")
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
            f"'{text}' is not a date such as 2026-11-21, nor 2026-11-21T03:17"
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


COMMANDS: dict[str, str] = {
    "run": "run the suites, compare with the baseline, decide, report",
    "compare": "the same decision offline, from two sessions or baseline files",
    "merge": "join the shards of one run into one session and decide once",
    "plan": "what a run could detect and what it costs, before anything is spent",
    "calibrate": "how often an unchanged agent would be blocked, measured on recorded rounds",
    "report": "render every report of a session again, byte for byte the same",
    "comment": "publish a stored session on its pull request",
    "baseline": "save, pull, show or accept a baseline",
    "import": "another tool's results become a session; nothing is asked",
    "export": "a session as CSV, JSON Lines, JUnit, OpenTelemetry events or promptfoo JSON",
    "history": "how the runs of the past went: a table, and where a level changed",
    "review": "have people rate a sample of answers, and see how far the judge agrees with them",
    "validate": "check config, datasets and baselines; nothing is called",
    "init": "write gate.yml, three workflows and a first dataset that run as they are",
    "dataset": "propose cases with a model, approve them by hand, count and check what is there",
    "agent": "serve the bundled sample agent on loopback",
    "action": "the container's entry point: reads INPUT_* and GITHUB_*",
    "verify": "check a release's evidence folder; nothing is called",
    "schema": "print the JSON Schema of the config, a case, a baseline or a session's files",
}


def parser(names: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """With all commands, or those of these `names`: the options of one are few of all there are."""
    top = Parser(
        prog="gate",
        description="Blocks a pull request that made an AI agent worse.",
        epilog="Exit codes: 0 pass, 1 fail, 2 usage or config, 3 inconclusive, 4 no baseline, "
        "5 not comparable, 6 infrastructure, 70 our bug, 130/143 interrupted.",
    )
    top.add_argument("--version", action="version", version=f"gate {__version__}")
    about = "check that this installation is whole, without a network"
    top.add_argument("--self-test", action="store_true", help=about)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name in names:
        text = COMMANDS[name]
        command = commands.add_parser(name, help=text, description=sentence(text))
        _ADD[name](command)
    return top


def _run(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    add("--config", metavar="FILE", help="(gate.yml)")
    add("--suite", action="append", metavar="NAME", help="repeatable; `all` (all)")
    about = "show what the agent answers to this case; compares nothing; repeatable"
    add("--case", action="append", metavar="ID", help=about)
    about = "the same for the cases that failed in a session (the latest)"
    add("--failed", nargs="?", const="latest", metavar="SESSION", help=about)
    add("--dataset", metavar="FILE", help="cases of the one --suite, instead of its own")
    add("--base-url", metavar="URL", help="(http://127.0.0.1:14000)")
    add("--model", help="(deepseek/deepseek-v4-flash)")
    add("--provider-key", metavar="KEY", help="better: the variable OPENAGENT_PROVIDER_KEY")
    add(
        "--rounds",
        type=parse_whole_number(1, 10_000),
        metavar="N",
        help="times each case is run (3); with --resume: in all",
    )
    add(
        "--max-attempts",
        type=parse_whole_number(1),
        metavar="N",
        help="tries of a trial, the first too (2)",
    )
    add("--timeout", type=seconds, metavar="S", help="seconds in total for a request (240)")
    add(
        "--concurrency",
        type=parse_whole_number(1),
        metavar="N",
        help="requests under way at once (16)",
    )
    add("--baseline", metavar="SOURCE", help="auto, repo, artifact, none or a path (auto)")
    add("--out", metavar="DIR", help="where session folders go (results)")
    add(
        "--sample",
        type=parse_whole_number(1),
        metavar="N",
        help="cases a suite, chosen by hash of the id",
    )
    add("--shard", type=shard, metavar="I/N", help="the I-th of N parts; join with `gate merge`")
    about = "judge as a pull request to REF is judged (the base branch)"
    add("--protect", nargs="?", const=True, metavar="REF", help=about)
    add("--stop", dest="stop_rule", choices=("early", "off"), help="off: make every round (early)")
    add(
        "--resume", metavar="SESSION", help="go on with a session; add a batch, or up to --rounds N"
    )
    add("--record", metavar="FILE", help="keep every answer of the agent in FILE")
    add("--replay", metavar="FILE", help="take the answers from FILE, call no agent")
    add("--budget-usd", type=positive, metavar="USD", help="stop spending at this sum")
    add("--format", choices=("text", "json", "markdown"), default="text", help="of the output")
    _output(p)


def _compare(p: argparse.ArgumentParser) -> None:
    p.add_argument("baseline", metavar="BASELINE", help="session folder or baseline file")
    p.add_argument("current", metavar="CURRENT", help="session folder or baseline file")
    p.add_argument("--config", metavar="FILE", help="gates and rules to decide by (gate.yml)")
    p.add_argument("--out", metavar="DIR", help="write the reports there too")
    p.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    _output(p)


def _merge(p: argparse.ArgumentParser) -> None:
    p.add_argument("sessions", nargs="+", metavar="SESSION")
    p.add_argument("--config", metavar="FILE", help="gates and rules to decide by (gate.yml)")
    p.add_argument("--baseline", metavar="SOURCE", help="auto, repo, artifact, none or a path")
    p.add_argument("--out", metavar="DIR", required=True, help="where the joined session goes")
    p.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    _output(p)


def _plan(p: argparse.ArgumentParser) -> None:
    about = "take its rounds as the baseline; a baseline file or a folder of them will do, too"
    p.add_argument("session", nargs="?", metavar="SESSION", help=about)
    p.add_argument("--config", metavar="FILE", help="(gate.yml)")
    p.add_argument("--suite", action="append", metavar="NAME", help="repeatable; `all` (all)")
    p.add_argument(
        "--rounds",
        type=parse_whole_number(1, 10_000),
        metavar="N",
        help="times each case is run (3)",
    )
    p.add_argument("--sample", type=parse_whole_number(1), metavar="N", help="cases a suite (all)")
    p.add_argument(
        "--baseline", metavar="SOURCE", help="auto, repo, artifact, none or a path (auto)"
    )
    p.add_argument("--format", choices=("text", "json", "markdown"), default="text")


def _calibrate(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    about = "made by one and the same agent; baseline files or folders of them will do, too"
    add("sessions", nargs="*", metavar="SESSION", help=about)
    add(
        "--runs",
        type=parse_whole_number(1),
        metavar="N",
        help="ask the agent first, in N runs: costs money",
    )
    add("--baseline", metavar="SOURCE", help="auto, repo, artifact or a path (auto)")
    add("--config", metavar="FILE", help="(gate.yml)")
    add("--suite", action="append", metavar="NAME", help="repeatable; `all` (all)")
    add(
        "--rounds",
        type=parse_whole_number(1, 10_000),
        metavar="N",
        help="times a run asks each case (3)",
    )
    add(
        "--reps",
        type=parse_whole_number(1),
        default=2000,
        metavar="N",
        help="pull requests to judge (2000)",
    )
    add("--seed", type=parse_whole_number(0), default=1, metavar="N", help="of the deals (1)")
    add("--max", type=rate, metavar="RATE", help="exit 1 when more are surely blocked, e.g. 2%%")
    add("--format", choices=("text", "json", "markdown"), default="text", help="of the output")


def _comment(p: argparse.ArgumentParser) -> None:
    p.add_argument("session", metavar="SESSION")
    p.add_argument("--comment-id", metavar="ID", help="one comment a pull request and id (gate)")
    modes = ("always", "on-change", "on-failure", "never")
    p.add_argument("--when", choices=modes, default="always", help="(always)")
    _output(p)


def _baseline(p: argparse.ArgumentParser) -> None:
    actions = actions_of(p)
    save = add_action(actions, "save", "append a session of the base branch to the baseline")
    about = "its folder, or the latest of those in results"
    save.add_argument("session", nargs="?", default="latest", metavar="SESSION", help=about)
    about = "store the folder as the artifact baseline.artifact, too; inside a container action"
    save.add_argument("--upload-artifact", action="store_true", help=about)
    pull = add_action(actions, "pull", "fetch the baselines that a run would compare with")
    show = add_action(actions, "show", "print what is stored")
    accept = add_action(actions, "accept", "record that a change is meant; a new pool starts")
    accept.add_argument("--reason", required=True, metavar="TEXT", help="why the change is meant")
    accept.add_argument("--metric", action="append", metavar="NAME", help="repeatable (all)")
    for action in (save, pull, show, accept):
        action.add_argument("--config", metavar="FILE", help="(gate.yml)")
        action.add_argument("--suite", action="append", metavar="NAME", help="repeatable (all)")
    for action in (save, pull):
        action.add_argument("--out", metavar="DIR", help="(baseline.path)")
    for action in (pull, show):
        action.add_argument("--baseline", metavar="SOURCE", help="(baseline.source)")


def _history(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    about = "sessions, baseline files, or folders of them (the baselines of gate.yml)"
    add("paths", nargs="*", metavar="PATH", help=about)
    add("--suite", action="append", metavar="NAME", help="repeatable; `all` (all)")
    add("--format", choices=("table", "md", "json", "html"), default="table", help="(table)")
    add(
        "--last",
        type=parse_whole_number(1),
        metavar="N",
        help="the newest N runs of each suite (all)",
    )
    add("--since", type=moment, metavar="DATE", help="runs from this day on, UTC")
    add("--out", metavar="FILE", help="write it there instead of printing it")
    add("--config", metavar="FILE", help="(gate.yml)")
    add("--baseline", metavar="SOURCE", help="(baseline.source)")


def _review(p: argparse.ArgumentParser) -> None:
    actions = actions_of(p)
    sample = add_action(
        actions, "sample", "draw a sample of a session; write a form and a CSV for the reviewers"
    )
    sample.add_argument(
        "session", metavar="SESSION", help="folder of a run whose answers are rated"
    )
    sample.add_argument("--suite", metavar="NAME", help="(the only one, or the one with a judge)")
    sample.add_argument(
        "--size", type=parse_whole_number(1), default=20, metavar="N", help="cases (20)"
    )
    about = "names the files, e.g. 2026-W47 (the ISO week of the session)"
    sample.add_argument("--period", metavar="NAME", help=about)
    sample.add_argument("--config", metavar="FILE", help="has the judge's rubric (gate.yml)")
    back = add_action(actions, "import", "read filled-in forms or CSV files back")
    back.add_argument("files", nargs="+", metavar="FILE", help="saved by the form, or the CSV")
    about = "take ratings that differ from those of the same reviewer before"
    back.add_argument("--replace", action="store_true", help=about)
    agreement = add_action(actions, "agreement", "how far the judge agrees with people")
    agreement.add_argument("--labels", metavar="FILE", help="(judge.labels: reviews/labels.jsonl)")
    agreement.add_argument("--config", metavar="FILE", help="(gate.yml)")
    agreement.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    for action in (sample, back):
        action.add_argument("--reviews", default="reviews", metavar="DIR", help="(reviews)")


_FAULTS = (
    *("wrong-args", "wrong-tool", "hallucinate", "loop", "refuse", "unsafe"),
    *("malformed", "disobey", "invent"),
)


def _agent(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    add("--host", default="127.0.0.1", metavar="NAME", help="(127.0.0.1)")
    add("--port", type=int, default=14000, metavar="N", help="0: a free one, printed (14000)")
    add("--api-key-env", metavar="NAME", help="variable with the key that callers must send")
    add("--provider-key-env", metavar="NAME", help="the same, of a key without any tools")
    add("--log-dir", metavar="DIR", help="write OpenAgent's access and console log there")
    add("--console-format", choices=("new", "old"), default="new", help="(new)")
    add("--audit-dir", metavar="DIR", help="write its audit log there, a file a chat")
    add("--scratch", metavar="DIR", help="folder that tasks may write text files to (none)")
    add("--top-k", type=int, metavar="N", help="documents retrieved (5)")
    add("--stale", action="store_true", help="answer from an older snapshot of the documents")
    add("--no-tool", action="append", metavar="NAME", help="take a tool away; repeatable")
    add("--latency", dest="latency_ms", type=float, metavar="MS", help="wait before answering (0)")
    add("--seed", type=int, metavar="N", help="of everything that happens by chance (0)")
    add("--flaky", type=float, metavar="P", help="chance of a degraded answer (0)")
    add("--error-rate", type=float, metavar="P", help="chance of an HTTP 500 (0)")
    for name in _FAULTS:
        help_text = f"chance of {name.replace('-', ' ')}; alone: always (0)"
        add(f"--{name}", type=float, nargs="?", const=1.0, metavar="P", help=help_text)


def _init(p: argparse.ArgumentParser) -> None:
    p.add_argument("dir", nargs="?", metavar="DIR", help="(the current folder)")
    p.add_argument("--force", action="store_true", help="overwrite what is there")


def _validate(p: argparse.ArgumentParser) -> None:
    p.add_argument("--config", metavar="FILE", help="(gate.yml)")
    p.add_argument("--suite", action="append", metavar="NAME", help="repeatable; `all` (all)")


def _dataset(p: argparse.ArgumentParser) -> None:
    actions = actions_of(p)
    extend = add_action(actions, "extend", "let the judge's model propose cases")
    extend.add_argument(
        "--logs",
        metavar="FILE",
        help="make cases of what users asked, a line each, instead of new ones",
    )
    extend.add_argument(
        "--count", type=parse_whole_number(1, 1000), default=20, metavar="N", help="at most (20)"
    )
    about = "propose relevant documents for cases that are there without any, and no new case"
    extend.add_argument("--existing", action="store_true", help=about)
    extend.add_argument("--out", metavar="FILE", help="where proposals are appended (the dataset)")
    approve = add_action(actions, "approve", "say that a person has read a case and it may run")
    approve.add_argument("--case", action="append", required=True, metavar="ID", help="repeatable")
    approve.add_argument("--reviewer", required=True, metavar="NAME", help="who has read it")
    approve.add_argument("--reject", action="store_true", help="it must not run")
    about = "a relevant document, instead of those that were proposed; repeatable"
    approve.add_argument("--relevant", action="append", metavar="ID", help=about)
    approve.add_argument("--note", metavar="TEXT", help="why")
    stats = add_action(actions, "stats", "coverage, provenance, doubles, leaks")
    stats.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    check = add_action(actions, "check", "does each right answer pass, and no wrong one?")
    check.add_argument("--suite", action="append", metavar="NAME", help="repeatable; `all` (all)")
    check.add_argument("--judge", action="store_true", help="ask the models of gate.yml, too")
    check.add_argument("--format", choices=("text", "json"), default="text", help="of the output")
    for action in (extend, approve, stats):
        action.add_argument("dataset", metavar="DATASET", help="a file of cases")
    for action in (extend, approve, check):
        action.add_argument("--config", metavar="FILE", help="(gate.yml)")


def _output(p: argparse.ArgumentParser) -> None:
    """What every command with a verdict has."""
    p.add_argument("--quiet", action="store_true", help="the verdict only")
    p.add_argument("--verbose", action="store_true", help="a line a trial, and tracebacks")
    p.add_argument("--no-color", action="store_true", help="plain text, as with NO_COLOR")


def _import(p: argparse.ArgumentParser) -> None:
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
    _output(p)


def _report(p: argparse.ArgumentParser) -> None:
    p.add_argument("session", metavar="SESSION", help="its folder, or `latest` of those in results")
    _output(p)


def _export(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    add("session", metavar="SESSION")
    about = "csv, jsonl, junit, otel or promptfoo (docs/export.md)"
    add("--format", required=True, metavar="FORMAT", help=about)
    add("--suite", action="append", metavar="NAME", help="repeatable; `all` (all)")
    add("--out", metavar="FILE", help="write it there instead of printing it")
    add("--force", action="store_true", help="overwrite that file")


def _verify(p: argparse.ArgumentParser) -> None:
    p.add_argument("dir", metavar="DIR", help="the folder evidence/ of a release's session")
    p.add_argument("--commit", metavar="SHA", help="must be of this commit (GITHUB_SHA)")
    p.add_argument("--tag", metavar="NAME", help="must be of this tag (that of the job)")


def _schema(p: argparse.ArgumentParser) -> None:
    kinds = ("config", "case", "baseline", "session", "details", "meta", "evidence", "label")
    p.add_argument("what", choices=(*kinds, "history"))


_ADD: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "run": _run,
    "compare": _compare,
    "merge": _merge,
    "plan": _plan,
    "calibrate": _calibrate,
    "report": _report,
    "comment": _comment,
    "baseline": _baseline,
    "history": _history,
    "review": _review,
    "validate": _validate,
    "init": _init,
    "dataset": _dataset,
    "agent": _agent,
    "action": lambda p: None,
    "import": _import,
    "export": _export,
    "verify": _verify,
    "schema": _schema,
}


def _find_command(argv: Sequence[str]) -> Iterable[str]:
    """The command that stands first; all where none of ours does, and others may be told of."""
    if list(argv) == ["--version"]:
        return ()
    return argv[:1] if argv and argv[0] in COMMANDS else COMMANDS


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """`secrets` is no option: what the command learns that no output may show.

    Exits with 2 and one sentence, also for a value that is empty: of a variable that is not set, it
    would be taken for `the working folder`, or for nothing at all.
    """
    top = parser(_find_command(argv))
    options = top.parse_args(argv)
    for name, value in vars(options).items():
        given = value if isinstance(value, list) else [value]
        if "" in given:
            option = f"--{name.replace('_', '-')}"
            shown_name = option if any(one.startswith(option) for one in argv) else name.upper()
            top.error(f"{shown_name}: the value is empty; leave it out, or give one")
    options.secrets = set()
    return options
