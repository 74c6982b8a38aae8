"""`gate dataset extend`, `approve`, `stats`, `check`: a model proposes cases, a person decides;
figures; and whether wrong answers fail.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from gate.agents.judges.judge_panel import panel_of
from gate.commands import dataset_check
from gate.commands.options.records import own_config
from gate.errors import (
    AgentFailure,
    InfraFailure,
    InfrastructureError,
    InvalidInput,
    Problem,
    UsageError,
)
from gate.files.locked_update import alone, write_whole
from gate.files.plain_file import is_there, open_plain, read_if_there
from gate.files.rows import DatasetSource, read_dataset
from gate.files.source import locate_dataset
from gate.plugins import RETRIEVERS, World, build
from gate.records import Case, CheckedJson, Config, Json
from gate.records.codec import to_json
from gate.run.grade import make_graders
from gate.suites.cases.curation.counting import figures, question
from gate.suites.cases.curation.lines import append_cases, cases_of, change_cases, writable
from gate.suites.cases.curation.proposing import (
    Entry,
    Intake,
    ProposedDocuments,
    document_ids,
    entry,
    more_like,
    out_of_log,
)
from gate.suites.cases.curation.relevant import (
    add_proposal,
    find_lacking,
    is_waiting,
    metadata_of,
    reject_proposal,
    take_proposal,
)
from gate.suites.cases.curation.similar import Known
from gate.suites.cases.curation.summary_text import as_markdown, as_text
from gate.suites.cases.dataset import check
from gate.system.sealing import nameable
from gate.text.escaping import plain
from gate.text.redaction import Redactor
from gate.text.secret_names import secrets_sent

_TOLD = 20  # proposals that were left out and are named


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Runs the sub-command and returns its exit code. Raises GateError."""
    return _ACTIONS[options.action](options, env)


# -------------------------------------------------------------------------------------------- stats


def _stats(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    path = Path(options.dataset)
    statistics = figures(cases_of(path))
    if options.format == "json":
        print(json.dumps(to_json(statistics), indent=2))
    else:
        tell = as_markdown if options.format == "github" else as_text
        print(plain(tell(path.as_posix(), statistics)))
    return 0


# ------------------------------------------------------------------------------------------ approve


def _approve(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    path, now = Path(options.dataset), datetime.now(UTC).date().isoformat()
    status = "rejected" if options.reject else "approved"
    if not options.reviewer.strip():
        raise UsageError(
            "--reviewer: give the name of the person who read the case, e.g. --reviewer maria"
        )
    if options.relevant and (len(set(options.case)) > 1 or options.reject):
        raise UsageError("--relevant: works for one case at a time; approve the others separately")
    review = {"by": options.reviewer.strip(), "date": now}
    if options.note:
        review["note"] = options.note

    documents: set[str] = set()  # cases of which these alone are decided

    def decided(case: dict[str, Json]) -> dict[str, Json]:
        if is_waiting(case):
            documents.add(str(case.get("id")))
        if is_waiting(case) and options.reject:
            return reject_proposal(case, review["by"])
        if is_waiting(case):
            case = take_proposal(case, review["by"], options.relevant)
        metadata = {**metadata_of(case), "review": review}
        if isinstance(about := metadata.get("relevant_doc_ids"), dict):
            metadata["relevant_doc_ids"] = {**about, "read_by": review["by"]}
        relevant = {"relevant_doc_ids": options.relevant} if options.relevant else {}
        return {**case, **relevant, "status": status, "metadata": metadata}

    writable(path)
    with _alone(path):
        content = change_cases(_content(path), options.case, decided, path.as_posix())
        _still_fits(content, path, options, env)
        write_whole(path, content)
    for case in dict.fromkeys(options.case):
        what = f"relevant documents of {case}" if case in documents else case
        print(plain(f"{path.as_posix()}: {what} {status} by {review['by']} on {now}"))
    return 0


def _still_fits(
    content: bytes, path: Path, options: argparse.Namespace, env: Mapping[str, str]
) -> None:
    """What is approved runs: it must have what the graders of its suites need. Raises
    InvalidInput, and nothing is written.
    """
    config, root = own_config(options, env)
    source = DatasetSource(name=path.as_posix(), open=lambda: BytesIO(content))
    for suite in config.suites:
        file = locate_dataset(root / suite.dataset)
        if file is not None and file.resolve() == path.resolve():
            check(source, make_graders(suite.graders, root))


# ------------------------------------------------------------------------------------------- extend


def _extend(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    path = Path(options.dataset)
    out = Path(options.out) if options.out else path
    writable(out)
    config, root = own_config(options, env)
    if options.existing:
        return _extend_existing(path, config, World(env=nameable(env), root=root), options)
    if config.judge is None:
        raise UsageError(
            "gate dataset extend asks the model under `judge` in gate.yml, and gate.yml "
            "has none; see docs/judge.md for how to add one"
        )
    options.secrets.update(_secrets(config, env))
    there = cases_of(path)
    entries = _log(Path(options.logs), config, env) if options.logs else None
    with _alone(out):
        if out != path and is_there(out):
            there += cases_of(out)
        intake = _intake(there, config)
        world = World(env=nameable(env), root=root)
        with _documents(config, world, intake):
            proposed = _propose_cases(there, entries, intake, options, config, world)
        write_whole(out, append_cases(_content(out), proposed))
    _tell(out, proposed, intake)
    return 0


def _extend_existing(path: Path, config: Config, world: World, options: argparse.Namespace) -> int:
    """Asks no model: the retriever finds, and a person decides."""
    if options.logs or options.out:
        raise UsageError("--existing: it changes cases of the dataset; leave out --logs and --out")
    if config.retriever is None:
        raise UsageError(
            "--existing asks the `retriever` in gate.yml for documents, and there is none; "
            "docs/retrievers.md shows the lines it takes"
        )
    options.secrets.update(_secrets(config, world.env))
    with _alone(path):
        lacking = list(find_lacking(cases_of(path)))
        intake = Intake(known=Known(), ids=set(), absent={}, made_by={})
        proposals: dict[str, ProposedDocuments] = {}
        with _documents(config, world, intake):
            for case in lacking:
                if len(proposals) < options.count:
                    documents = intake.found(question(case))
                    if documents and documents.ids:
                        proposals[str(case.get("id"))] = documents

        def proposed(case: dict[str, Json]) -> dict[str, Json]:
            return add_proposal(case, proposals[str(case.get("id"))])

        write_whole(path, change_cases(_content(path), list(proposals), proposed, path.as_posix()))
    for name, documents in proposals.items():
        print(plain(f"{name}: relevant, says {documents.by}: {', '.join(documents.ids)}", 200))
    for why in intake.left_out:
        print(plain(f"left out: {why}"))
    of = f"{len(proposals)} of {len(lacking)} cases without relevant documents"
    print(plain(f"{path.as_posix()}: documents proposed for {of}; `gate dataset approve` decides"))
    return 0


@contextmanager
def _documents(config: Config, world: World, intake: Intake) -> Iterator[None]:
    """Has the retriever of gate.yml, where there is one, find documents for what is proposed. One
    that fails proposes none from then on, which is told.
    """
    if config.retriever is None:
        yield
        return
    retriever = build(RETRIEVERS, config.retriever, world.root)
    retriever_world = replace(world, section="retriever")
    retriever.check(retriever_world)
    connection = retriever.connect(retriever_world)
    lost: list[str] = []

    def find_documents(text: str) -> ProposedDocuments | None:
        if lost:
            return None
        case = Case(id="proposed", input=text, keys={})
        try:
            documents = connection.ask(case, timeout_s=retriever.timeout_s).retrieved or ()
        except (AgentFailure, InfraFailure) as failure:
            lost.append(str(failure))
            intake.left_out.append(f"relevant documents: the retriever failed: {failure}")
            return None
        ids = document_ids([document.id for document in documents])
        return ProposedDocuments(ids=ids, by=retriever.describe())

    intake.found = find_documents
    try:
        yield
    finally:
        connection.close()


def _intake(there: Sequence[Mapping[str, Json]], config: Config) -> Intake:
    """Compared with every case that is there, the rejected ones too: they were proposed before."""
    known = Known()
    for case in there:
        known.add(str(case.get("id")), question(case))
    judge = config.judge
    model = f"{judge.name} {judge.options.get('model', '')}".strip() if judge else ""
    own_keys = ("id", "input", "category", "tags", "status", "metadata")
    shared = set.intersection(*(set(case) for case in there)) if there else set()
    return Intake(
        known=known,
        ids={str(case.get("id")) for case in there},
        absent=dict.fromkeys(sorted(shared - set(own_keys))),
        made_by={"by": model, "date": datetime.now(UTC).date().isoformat()},
    )


def _propose_cases(
    there: Sequence[Mapping[str, Json]],
    entries: Sequence[Entry] | None,
    intake: Intake,
    options: argparse.Namespace,
    config: Config,
    world: World,
) -> list[dict[str, Json]]:
    panel = panel_of(config, world, hidden=options.secrets)
    try:
        if lost := panel.unreachable():
            raise InfrastructureError(lost)
        if entries is not None:
            return out_of_log(entries, options.count, intake, panel.ask, options.logs)
        seeds = [case for case in there if case.get("status", "approved") == "approved"]
        if not seeds:
            raise UsageError(
                f"{options.dataset}: has no approved case to use as an example; give --logs FILE"
            )
        return more_like(seeds, options.count, intake, panel.ask)
    finally:
        panel.close()


def _log(path: Path, config: Config, env: Mapping[str, str]) -> list[Entry]:
    """Raises InvalidInput for lines that cannot be read."""
    redact = Redactor(_secrets(config, env))
    entries, problems = [], []
    for row in read_dataset(DatasetSource(name=path.as_posix(), open=lambda: open_plain(path))):
        if isinstance(row, Problem):
            problems.append(row)
        elif (new_entry := entry(row.data, row.line, redact)) is not None:
            entries.append(new_entry)
    if problems:
        raise InvalidInput(problems)
    if not entries:
        raise UsageError(
            f"{path}: contains no question: each line must be a text, or an object with `input`"
        )
    return entries


def _secrets(config: Config, env: Mapping[str, str]) -> Iterator[str]:
    plugin_options = [
        plugin.options for plugin in (config.agent, config.judge) if plugin is not None
    ]
    return secrets_sent(env, plugin_options)


def _tell(out: Path, proposed: Sequence[Mapping[str, CheckedJson]], intake: Intake) -> None:
    for case in proposed:
        print(plain(f"proposed {case['id']}: {case['input']}", 200))
        if documents := case.get("relevant_doc_ids"):
            by = case["metadata"]["relevant_doc_ids"]["by"]
            print(plain(f"  relevant, says {by}: {', '.join(documents)}", 200))
    for why in intake.left_out[:_TOLD]:
        print(plain(f"left out: {why}"))
    if len(intake.left_out) > _TOLD:
        print(f"left out: {len(intake.left_out) - _TOLD} more")
    count = f"{len(proposed)} case{'s' * (len(proposed) != 1)}"
    print(
        plain(
            f"{out.as_posix()}: {count} proposed; they are not run until you approve them with "
            "`gate dataset approve`"
        )
    )


# ------------------------------------------------------------------------------------------- files


def _content(path: Path) -> bytes:
    return read_if_there(path) or b""


def _alone(path: Path) -> AbstractContextManager[None]:
    busy = f"{path}: another command is changing this file; try again when it has finished"
    return alone(path.with_name(f".{path.name}.lock"), busy)


_ACTIONS: Mapping[str, Callable[[argparse.Namespace, Mapping[str, str]], int]] = {
    "extend": _extend,
    "approve": _approve,
    "stats": _stats,
    "check": dataset_check.run,
}
