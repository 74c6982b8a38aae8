"""Every command and option for argparse. It imports nothing slow, so that --help is fast."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from gate import __version__
from gate.commands.options.judging import (
    add_calibrate_options,
    add_compare_options,
    add_config,
    add_format,
    add_import_options,
    add_merge_options,
    add_output,
    add_plan_options,
    add_run_options,
    add_suites,
    add_whole_number,
)
from gate.commands.options.values import moment


class Parser(argparse.ArgumentParser):
    """A parser that exits with 2 and one sentence, like every other usage error."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"gate: {message}; see `{self.prog} --help`\n")


def actions_of(p: argparse.ArgumentParser) -> argparse._SubParsersAction[Parser]:
    """The object to which the sub-commands of a command are added."""
    return p.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=Parser)


def add_action(
    actions: argparse._SubParsersAction[Parser], name: str, text: str
) -> argparse.ArgumentParser:
    return actions.add_parser(name, help=text, description=sentence(text))


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


COMMANDS: dict[str, str] = {
    "run": "run the suites, compare with the baseline and report a verdict",
    "compare": "compare two sessions or baseline files; calls no agent",
    "merge": "join the shards of one run and report one verdict",
    "plan": "estimate what a run can detect and what it costs; calls no agent",
    "calibrate": "measure how often an unchanged agent would be blocked",
    "report": "write the reports of a session again",
    "comment": "publish a session on its pull request",
    "baseline": "save, pull, show or accept a baseline",
    "import": "turn another tool's results into a session; calls no agent",
    "export": "write a session as CSV, JSON Lines, JUnit, OpenTelemetry events or promptfoo JSON",
    "history": "show past runs and where their results changed",
    "review": "let people rate answers, and compare the judge with them",
    "validate": "check the config, datasets and baselines; calls no agent",
    "init": "create gate.yml, three workflows and an example dataset, ready to run",
    "dataset": "propose, approve, summarize and check the cases of a dataset",
    "agent": "run the bundled sample agent as a local server",
    "action": "entry point of the GitHub Action; reads INPUT_* and GITHUB_*",
    "verify": "verify the evidence folder of a release; calls nothing",
    "schema": "print a JSON Schema: of the config, a case, a baseline or a file of a session",
}


def parser(names: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser with all commands, or only those of `names`, which is faster."""
    top = Parser(
        prog="gate",
        description="Blocks pull requests that make an AI agent worse.",
        epilog="Exit codes: 0 pass, 1 fail, 2 usage or config, 3 inconclusive, 4 no baseline, "
        "5 not comparable, 6 infrastructure, 70 our bug, 130/143 interrupted. "
        "Defaults of options are in parentheses.",
    )
    top.add_argument("--version", action="version", version=f"gate {__version__}")
    about = "check this installation; needs no network"
    top.add_argument("--self-test", action="store_true", help=about)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name in names:
        text = COMMANDS[name]
        command = commands.add_parser(name, help=text, description=sentence(text))
        _ADD[name](command)
    return top


def _comment(p: argparse.ArgumentParser) -> None:
    p.add_argument("session", metavar="SESSION", help="session folder")
    p.add_argument(
        "--comment-id",
        metavar="ID",
        help="id of the comment; each id has one comment per pull request (gate)",
    )
    modes = ("always", "on-change", "on-failure", "never")
    p.add_argument("--when", choices=modes, default="always", help="when to comment (always)")
    add_output(p)


def _baseline(p: argparse.ArgumentParser) -> None:
    actions = actions_of(p)
    save = add_action(actions, "save", "append a session of the base branch to the baseline")
    about = "session folder (the latest in results)"
    save.add_argument("session", nargs="?", default="latest", metavar="SESSION", help=about)
    about = "also store the folder as the artifact baseline.artifact; in a container action only"
    save.add_argument("--upload-artifact", action="store_true", help=about)
    pull = add_action(actions, "pull", "fetch the baselines that a run would compare with")
    show = add_action(actions, "show", "print the stored baseline")
    accept = add_action(
        actions, "accept", "record that a change is intended; the next run starts a new baseline"
    )
    accept.add_argument(
        "--reason", required=True, metavar="TEXT", help="why the change is intended"
    )
    accept.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="accept this metric only; repeatable (all)",
    )
    for action in (save, pull, show, accept):
        add_config(action)
        action.add_argument(
            "--suite", action="append", metavar="NAME", help="suite to use; repeatable (all)"
        )
    for action in (save, pull):
        action.add_argument("--out", metavar="DIR", help="folder for the files (baseline.path)")
    for action in (pull, show):
        action.add_argument(
            "--baseline", metavar="SOURCE", help="where the baseline is (baseline.source)"
        )


def _history(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    about = "sessions, baseline files or folders of them (the baselines of gate.yml)"
    add("paths", nargs="*", metavar="PATH", help=about)
    add_suites(p)
    add(
        "--format",
        choices=("table", "md", "json", "html"),
        default="table",
        help="format of the output (table)",
    )
    add_whole_number(p, "--last", "show the newest N runs of each suite (all)")
    add("--since", type=moment, metavar="DATE", help="show runs since this date, in UTC")
    add("--out", metavar="FILE", help="write to FILE instead of printing")
    add_config(p)
    add("--baseline", metavar="SOURCE", help="where the baseline is (baseline.source)")


def _review(p: argparse.ArgumentParser) -> None:
    actions = actions_of(p)
    sample = add_action(
        actions,
        "sample",
        "select answers of a session to rate, and write a form and a CSV file for them",
    )
    sample.add_argument("session", metavar="SESSION", help="session whose answers are to be rated")
    sample.add_argument(
        "--suite", metavar="NAME", help="suite to use (the only one, or the one with a judge)"
    )
    add_whole_number(sample, "--size", "number of cases (20)", default=20)
    about = "name for the files, e.g. 2026-W47 (the ISO week of the session)"
    sample.add_argument("--period", metavar="NAME", help=about)
    sample.add_argument(
        "--config", metavar="FILE", help="config with the judge's rubric (gate.yml)"
    )
    back = add_action(actions, "import", "read completed forms or CSV files")
    back.add_argument(
        "files", nargs="+", metavar="FILE", help="file saved by the form, or CSV file"
    )
    about = "overwrite earlier ratings of the same reviewer"
    back.add_argument("--replace", action="store_true", help=about)
    agreement = add_action(actions, "agreement", "show how well the judge agrees with people")
    agreement.add_argument(
        "--labels", metavar="FILE", help="file of the ratings (judge.labels: reviews/labels.jsonl)"
    )
    add_config(agreement)
    add_format(agreement)
    for action in (sample, back):
        action.add_argument(
            "--reviews", default="reviews", metavar="DIR", help="folder of the samples (reviews)"
        )


_FAULTS = (
    *("wrong-args", "wrong-tool", "hallucinate", "loop", "refuse", "unsafe"),
    *("malformed", "disobey", "invent"),
)


def _agent(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    add("--host", default="127.0.0.1", metavar="NAME", help="address to listen on (127.0.0.1)")
    add(
        "--port",
        type=int,
        default=14000,
        metavar="N",
        help="port to listen on; 0 picks a free one and prints it (14000)",
    )
    add("--api-key-env", metavar="NAME", help="variable with the key that clients must send")
    add(
        "--provider-key-env",
        metavar="NAME",
        help="variable with a key that gives clients no tools",
    )
    add("--log-dir", metavar="DIR", help="write OpenAgent's access and console logs to this folder")
    add(
        "--console-format",
        choices=("new", "old"),
        default="new",
        help="format of the console log (new)",
    )
    add("--audit-dir", metavar="DIR", help="write audit logs to this folder, one file per chat")
    add("--scratch", metavar="DIR", help="folder where tasks may write text files (none)")
    add("--top-k", type=int, metavar="N", help="number of documents to retrieve (5)")
    add("--stale", action="store_true", help="answer from an older snapshot of the documents")
    add("--no-tool", action="append", metavar="NAME", help="remove a tool; repeatable")
    add(
        "--latency",
        dest="latency_ms",
        type=float,
        metavar="MS",
        help="delay before each answer, in ms (0)",
    )
    add("--seed", type=int, metavar="N", help="random seed (0)")
    add("--flaky", type=float, metavar="P", help="probability of a degraded answer (0)")
    add("--error-rate", type=float, metavar="P", help="probability of an HTTP 500 (0)")
    for name in _FAULTS:
        help_text = f"probability of the fault '{name}'; without a value: 1 (0)"
        add(f"--{name}", type=float, nargs="?", const=1.0, metavar="P", help=help_text)


def _init(p: argparse.ArgumentParser) -> None:
    p.add_argument("dir", nargs="?", metavar="DIR", help="folder to write to (the current folder)")
    p.add_argument("--force", action="store_true", help="overwrite existing files")


def _validate(p: argparse.ArgumentParser) -> None:
    add_config(p)
    add_suites(p)


def _dataset(p: argparse.ArgumentParser) -> None:
    actions = actions_of(p)
    extend = add_action(actions, "extend", "let the judge's model propose new cases")
    extend.add_argument(
        "--logs",
        metavar="FILE",
        help="make cases from questions of users, one per line of FILE",
    )
    add_whole_number(extend, "--count", "most cases to propose (20)", most=1000, default=20)
    about = "propose relevant documents for existing cases that have none; adds no case"
    extend.add_argument("--existing", action="store_true", help=about)
    extend.add_argument(
        "--out", metavar="FILE", help="file to append the proposals to (the dataset)"
    )
    approve = add_action(actions, "approve", "mark cases as read by a person, so that they run")
    approve.add_argument(
        "--case", action="append", required=True, metavar="ID", help="id of the case; repeatable"
    )
    approve.add_argument(
        "--reviewer", required=True, metavar="NAME", help="name of the person who read it"
    )
    approve.add_argument(
        "--reject", action="store_true", help="reject the case, so that it never runs"
    )
    about = "relevant document, replacing the proposed ones; repeatable"
    approve.add_argument("--relevant", action="append", metavar="ID", help=about)
    approve.add_argument("--note", metavar="TEXT", help="note to store with the decision")
    stats = add_action(actions, "stats", "show coverage, origins, duplicates and leaks")
    add_format(stats)
    check = add_action(actions, "check", "check that right answers pass and wrong ones fail")
    add_suites(check)
    check.add_argument("--judge", action="store_true", help="also run graders that call a model")
    check.add_argument(
        "--format", choices=("text", "json"), default="text", help="format of the output"
    )
    for action in (extend, approve, stats):
        action.add_argument("dataset", metavar="DATASET", help="dataset file")
    for action in (extend, approve, check):
        add_config(action)


def _report(p: argparse.ArgumentParser) -> None:
    p.add_argument("session", metavar="SESSION", help="session folder, or `latest` (in results)")
    add_output(p)


def _export(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    add("session", metavar="SESSION", help="session folder")
    about = "csv, jsonl, junit, otel or promptfoo; see docs/export.md"
    add("--format", required=True, metavar="FORMAT", help=about)
    add_suites(p)
    add("--out", metavar="FILE", help="write to FILE instead of printing")
    add("--force", action="store_true", help="overwrite an existing file")


def _verify(p: argparse.ArgumentParser) -> None:
    p.add_argument("dir", metavar="DIR", help="the evidence/ folder of a release's session")
    p.add_argument("--commit", metavar="SHA", help="commit that it must be for (GITHUB_SHA)")
    p.add_argument("--tag", metavar="NAME", help="tag that it must be for (that of the job)")


def _schema(p: argparse.ArgumentParser) -> None:
    kinds = ("config", "case", "baseline", "session", "details", "meta", "evidence", "label")
    p.add_argument("what", choices=(*kinds, "history"))


_ADD: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "run": add_run_options,
    "compare": add_compare_options,
    "merge": add_merge_options,
    "plan": add_plan_options,
    "calibrate": add_calibrate_options,
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
    "import": add_import_options,
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
    """The parsed arguments. Their `secrets` is not an option: it collects what no output may show.
    Exits with 2 and one sentence for an error, also for an empty value: that of a variable which is
    not set would look like the working folder, or like nothing.
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
