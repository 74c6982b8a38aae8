"""Every command and option for argparse. It imports nothing slow, so that --help is fast."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence

from gate import __version__
from gate.commands.options.judging import (
    Parser,
    add_calibrate_options,
    add_compare_options,
    add_config,
    add_env_file,
    add_format,
    add_grade_options,
    add_import_options,
    add_merge_options,
    add_output,
    add_plan_options,
    add_run_options,
    add_suites,
    moment,
)


def actions_of(p: Parser) -> argparse._SubParsersAction[Parser]:
    """The object to which the sub-commands of a command are added."""
    return p.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=Parser)


def add_action(actions: argparse._SubParsersAction[Parser], name: str, text: str) -> Parser:
    return actions.add_parser(name, help=text, description=sentence(text))


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


COMMANDS: dict[str, str] = {
    "run": "run the suites, compare with the baseline and report a verdict",
    "grade": "judge recorded answers on all cores; calls no agent",
    "compare": "compare two sessions or baseline files; calls no agent",
    "merge": "join the shards of one run and report one verdict",
    "plan": "estimate what a run can detect and what it costs; calls no agent",
    "calibrate": "measure how often an unchanged agent would be blocked",
    "sessions": "list the stored sessions, or remove the older ones",
    "show": "show everything about one case of a session; calls no agent",
    "report": "write the reports of a session again",
    "open": "open the report of a session in the browser",
    "serve": "serve the reports of sessions to a browser on this machine",
    "comment": "publish a session on its pull request, or merge request of GitLab",
    "baseline": "save, pull, show or accept a baseline, and judge main by its anchor",
    "import": "turn another tool's results into a session; calls no agent",
    "export": "write a session as CSV, JSON Lines, JUnit, OpenTelemetry events or promptfoo JSON",
    "history": "show past runs and where their results changed",
    "review": "let people rate answers, and compare the judge with them",
    "doctor": "check all that a run needs, and say what to do; asks the agent one question",
    "validate": "check the config, datasets and baselines; calls no agent",
    "init": "create gate.yml, questions to fill in and three workflows for your agent",
    "demo": "show the whole story with the sample agent, in about a minute",
    "dataset": "propose, approve, summarize and check the cases of a dataset",
    "agent": "run the bundled sample agent as a local server",
    "action": "entry point of the GitHub Action; reads INPUT_* and GITHUB_*",
    "verify": "verify the evidence folder of a release; calls nothing",
    "help": "show how a command is used; --json: everything there is, for programs",
    "completion": "print a script with which bash, zsh or tcsh completes commands and options",
    "schema": "print a JSON Schema: of the config, a case, a baseline or a file of a session",
}


def parser(names: Iterable[str] = COMMANDS) -> Parser:
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


def _comment(p: Parser) -> None:
    _add_latest(p)
    p.value(
        "--comment-id", "ID", "id of the comment; each id has one comment per pull request (gate)"
    )
    p.value("--title", "TEXT", "words before the verdict in the comment's first line")
    modes = ("always", "on-change", "on-failure", "on-error", "never")
    p.add_argument("--when", choices=modes, default="always", help="when to comment (always)")
    add_output(p)


def _baseline(p: Parser) -> None:
    actions = actions_of(p)
    save = add_action(actions, "save", "append a session of the base branch to the baseline")
    _add_latest(save)
    save.flag(
        "--upload-artifact",
        "also store the folder as the artifact baseline.artifact; in a container action only",
    )
    pull = add_action(actions, "pull", "fetch the baselines that a run would compare with")
    show = add_action(actions, "show", "print the stored baseline")
    accept = add_action(
        actions, "accept", "record that a change is intended; the next run starts a new baseline"
    )
    accept.value("--reason", "TEXT", "why the change is intended", required=True)
    accept.value("--metric", "NAME", "accept this metric only; repeatable (all)", action="append")
    accept.flag("--anchor", "also start a new anchor, if too little of the old one can be compared")
    verdict = add_action(
        actions,
        "verdict",
        "say whether main is as good as its anchor; keeps its issue up to date",
    )
    _add_latest(verdict)
    for action in (save, pull, show, accept, verdict):
        add_config(action)
    for action in (save, pull, show, accept):
        action.value("--suite", "NAME", "suite to use; repeatable (all)", action="append")
    for action in (save, pull):
        action.value("--out", "DIR", "folder for the files (baseline.path)")
    for action in (pull, show):
        action.value("--baseline", "SOURCE", "where the baseline is (baseline.source)")


def _history(p: Parser) -> None:
    p.value(
        "paths",
        "PATH",
        "sessions, baseline files or folders of them (the baselines of gate.yml)",
        nargs="*",
    )
    add_suites(p)
    p.add_argument(
        "--format",
        choices=("table", "md", "json", "html"),
        default="table",
        help="format of the output (table)",
    )
    p.number("--last", "show the newest N runs of each suite (all)")
    p.value("--since", "DATE", "show runs since this date, in UTC", type=moment)
    p.value(
        "--out", "FILE", "write to FILE; with html, a name without a suffix is a folder for a site"
    )
    p.value(
        "--reports",
        "PATH",
        "put the report of this session, or of those in this folder, into the site; repeatable",
        action="append",
    )
    p.number("--keep", "keep the newest N reports of the site (all)")
    add_config(p)
    p.value("--baseline", "SOURCE", "where the baseline is (baseline.source)")


def _review(p: Parser) -> None:
    actions = actions_of(p)
    sample = add_action(
        actions,
        "sample",
        "select answers of a session to rate, and write a form and a CSV file for them",
    )
    _add_latest(sample)
    sample.value("--suite", "NAME", "suite to use (the only one, or the one with a judge)")
    sample.number("--size", "number of cases (20)", default=20)
    sample.value(
        "--period", "NAME", "name for the files, e.g. 2026-W47 (the ISO week of the session)"
    )
    sample.value("--config", "FILE", "config with the judge's rubric (gate.yml)")
    back = add_action(actions, "import", "read completed forms or CSV files")
    back.value("files", "FILE", "file saved by the form, or CSV file", nargs="+")
    back.flag("--replace", "overwrite earlier ratings of the same reviewer")
    agreement = add_action(actions, "agreement", "show how well the judge agrees with people")
    agreement.value("--labels", "FILE", "file of the ratings (judge.labels: reviews/labels.jsonl)")
    add_config(agreement)
    add_format(agreement)
    for action in (sample, back):
        action.value("--reviews", "DIR", "folder of the samples (reviews)", default="reviews")


_FAULTS = (
    *("wrong-args", "wrong-tool", "hallucinate", "loop", "refuse", "unsafe"),
    *("malformed", "disobey", "invent"),
)


def _agent(p: Parser) -> None:
    p.value("--host", "NAME", "address to listen on (127.0.0.1)", default="127.0.0.1")
    p.value(
        "--port",
        "N",
        "port to listen on; 0 picks a free one and prints it (14000)",
        type=int,
        default=14000,
    )
    p.value("--api-key-env", "NAME", "variable with the key that clients must send")
    p.value("--provider-key-env", "NAME", "variable with a key that gives clients no tools")
    p.value("--log-dir", "DIR", "write OpenAgent's access and console logs to this folder")
    p.add_argument(
        "--console-format",
        choices=("new", "old"),
        default="new",
        help="format of the console log (new)",
    )
    p.value("--audit-dir", "DIR", "write audit logs to this folder, one file per chat")
    p.value("--scratch", "DIR", "folder where tasks may write text files (none)")
    p.value("--top-k", "N", "number of documents to retrieve (5)", type=int)
    p.flag("--stale", "answer from an older snapshot of the documents")
    p.value("--no-tool", "NAME", "remove a tool; repeatable", action="append")
    p.value("--latency", "MS", "delay before each answer, in ms (0)", dest="latency_ms", type=float)
    p.value("--seed", "N", "random seed (0)", type=int)
    p.value("--flaky", "P", "probability of a degraded answer (0)", type=float)
    p.value("--error-rate", "P", "probability of an HTTP 500 (0)", type=float)
    for name in _FAULTS:
        help_text = f"probability of the fault '{name}'; without a value: 1 (0)"
        p.value(f"--{name}", "P", help_text, type=float, nargs="?", const=1.0)


def _init(p: Parser) -> None:
    p.value("dir", "DIR", "folder to write to (the current folder)", nargs="?")
    kinds = ("sample", "openai", "openagent", "anthropic", "http", "command", "python")
    p.add_argument("--agent", choices=kinds, help="how your agent is asked (the sample agent)")
    p.value(
        "--base-url", "URL", "address of your agent (http://127.0.0.1:8000, or the protocol's own)"
    )
    p.value("--model", "MODEL", "model of your agent")
    p.value("--api-key-env", "NAME", "name of the variable with its key")
    add_env_file(p)
    p.value(
        "--command", "TEXT", "your agent is this program, started for each question", dest="program"
    )
    p.value("--callable", "NAME", "your agent is this Python function, ./file.py:name")
    p.add_argument(
        "--template",
        choices=("chat", "rag", "tools", "langgraph"),
        help="what your agent does: decides which graders are written (chat)",
    )
    p.add_argument(
        "--from",
        dest="source",
        nargs=2,
        metavar=("FORMAT", "FILE"),
        help="make the first suite of a file that you have: csv or promptfoo (its configuration)",
    )
    p.flag(
        "--pages",
        "write only the workflow that publishes history and reports on GitHub Pages, which may be "
        "public",
    )
    p.flag("--force", "overwrite existing files")


def _validate(p: Parser) -> None:
    add_config(p)
    add_suites(p)


def _completion(p: Parser) -> None:
    what = "the shell that reads it; needs the package shtab"
    p.add_argument("shell", choices=("bash", "zsh", "tcsh"), help=what)


def _demo(p: Parser) -> None:
    out = "results/demo"
    p.value("--out", "FOLDER", f"folder for the sessions ({out})", default=out)


def _doctor(p: Parser) -> None:
    add_config(p)
    add_env_file(p)
    add_suites(p)
    p.value("--base-url", "URL", "address of the agent (that of gate.yml)")
    p.add_argument(
        "--format", choices=("plain", "json"), default="plain", help="format of the output (plain)"
    )


def _dataset(p: Parser) -> None:
    actions = actions_of(p)
    extend = add_action(actions, "extend", "let the judge's model propose new cases")
    extend.value("--logs", "FILE", "make cases from questions of users, one per line of FILE")
    extend.number("--count", "most cases to propose (20)", most=1000, default=20)
    extend.flag(
        "--existing", "propose relevant documents for existing cases that have none; adds no case"
    )
    extend.value("--out", "FILE", "file to append the proposals to (the dataset)")
    approve = add_action(actions, "approve", "mark cases as read by a person, so that they run")
    approve.value("--case", "ID", "id of the case; repeatable", action="append", required=True)
    approve.value("--reviewer", "NAME", "name of the person who read it", required=True)
    approve.flag("--reject", "reject the case, so that it never runs")
    approve.value(
        "--relevant",
        "ID",
        "relevant document, replacing the proposed ones; repeatable",
        action="append",
    )
    approve.value("--note", "TEXT", "note to store with the decision")
    stats = add_action(actions, "stats", "show coverage, origins, duplicates and leaks")
    add_format(stats)
    check = add_action(actions, "check", "check that right answers pass and wrong ones fail")
    add_suites(check)
    check.flag("--judge", "also run graders that call a model")
    check.add_argument(
        "--format", choices=("text", "json"), default="text", help="format of the output"
    )
    for action in (extend, approve, stats):
        action.value("dataset", "DATASET", "dataset file")
    for action in (extend, approve, check):
        add_config(action)


def _report(p: Parser) -> None:
    _add_latest(p)
    add_format(p, None, "print the verdict, as `gate run` does, in place of the written files")
    add_output(p)


def _sessions(p: Parser) -> None:
    p.value("dir", "DIR", "folder of the sessions (that of gate.yml, else results)", nargs="?")
    p.number("--keep", "remove all but the newest N sessions")
    p.add_argument(
        "--format", choices=("plain", "json"), default="plain", help="format of the output (plain)"
    )


def _show(p: Parser) -> None:
    p.value("case", "CASE", "id of the case")
    p.value("--session", "SESSION", "session folder (the latest in results)", default="latest")
    add_suites(p)
    add_format(p)
    p.flag("--no-color", "print no colors, as with NO_COLOR")


def _open(p: Parser) -> None:
    _add_latest(p)


def _serve(p: Parser) -> None:
    _add_latest(p)
    p.value("--port", "N", "port of 127.0.0.1; 0 picks a free one (0)", type=int, default=0)


def _add_latest(p: Parser) -> None:
    p.value(
        "session", "SESSION", "session folder (the latest in results)", nargs="?", default="latest"
    )


def _export(p: Parser) -> None:
    _add_latest(p)
    p.value(
        "--format",
        "FORMAT",
        "csv, jsonl, junit, otel or promptfoo; see docs/export.md",
        required=True,
    )
    add_suites(p)
    p.value("--out", "FILE", "write to FILE instead of printing")
    p.flag("--force", "overwrite an existing file")


def _verify(p: Parser) -> None:
    p.value("dir", "DIR", "the evidence/ folder of a release's session")
    p.value("--commit", "SHA", "commit that it must be for (GITHUB_SHA)")
    p.value("--tag", "NAME", "tag that it must be for (that of the job)")


def _help(p: Parser) -> None:
    p.value("topic", "COMMAND", "command, with --json also a grader, to show (all)", nargs="*")
    p.flag("--json", "print commands, options, graders, metrics and exit codes as JSON")


def _schema(p: Parser) -> None:
    kinds = ("config", "case", "baseline", "session", "details", "meta", "evidence", "label")
    p.add_argument("what", choices=(*kinds, "history"), help="of what")


_ADD: dict[str, Callable[[Parser], None]] = {
    "run": add_run_options,
    "grade": add_grade_options,
    "compare": add_compare_options,
    "merge": add_merge_options,
    "plan": add_plan_options,
    "calibrate": add_calibrate_options,
    "report": _report,
    "open": _open,
    "sessions": _sessions,
    "show": _show,
    "serve": _serve,
    "comment": _comment,
    "baseline": _baseline,
    "history": _history,
    "review": _review,
    "demo": _demo,
    "doctor": _doctor,
    "validate": _validate,
    "init": _init,
    "dataset": _dataset,
    "agent": _agent,
    "action": lambda p: None,
    "import": add_import_options,
    "export": _export,
    "verify": _verify,
    "help": _help,
    "completion": _completion,
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
            top.prog += f" {argv[0]}" if argv[0] in COMMANDS else ""
            top.error(f"{shown_name}: the value is empty; leave it out, or give one")
    options.secrets = set()
    return options
