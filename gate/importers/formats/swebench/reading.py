"""A path of SWE-bench results as an import: everything found, checked against one another, and
counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import Place, UsageError
from gate.files.problems import Findings
from gate.importers.formats.mini_swe_agent.runs import AgentRun, run_of
from gate.importers.formats.swebench import (
    instance_lists,
    instance_reports,
    predictions,
    run_report,
)
from gate.importers.formats.swebench.counting import check_declared, decide_variant, read_ids
from gate.importers.formats.swebench.files import ResultFiles, find_files
from gate.importers.formats.swebench.identity import Identity, identity_of
from gate.importers.formats.swebench.merging import merge_verdicts
from gate.importers.formats.swebench.outcomes import InstanceVerdict, SourceVerdicts, clash
from gate.importers.formats.swebench.predictions import Predictions
from gate.importers.formats.swebench.trials import MOST_REPOSITORIES, TOOL, Measures, instance_trial
from gate.importers.formats.swebench.variants import CUSTOM, DecidedVariant, repositories
from gate.records import Json, Provenance, Trial
from gate.records.imported import Imported, ImportedSuite


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """As the importers have them."""

    variant: str | None = None
    declared: float | None = None  # percent
    instances: str = ""
    trajectories: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """What was read."""

    verdicts: Mapping[str, InstanceVerdict]
    decided: DecidedVariant
    measures: Measures
    sent: Predictions
    run: AgentRun | None

    @property
    def suite(self) -> str:
        name = self.decided.variant.name
        return TOOL if name == CUSTOM.name else f"{TOOL}-{name}"

    def trials(self) -> Iterator[Trial]:
        patches = self.sent.patches()
        for instance, verdict in self.verdicts.items():
            yield instance_trial(
                self.suite,
                instance,
                verdict,
                self.measures,
                patch=patches.get(instance),
                trajectory=self.run.read(instance) if self.run else None,
            )


def import_run(path: Path, options: Options) -> Imported:
    """Raises InvalidInput with every problem; UsageError where nothing says what was resolved."""
    findings = Findings()
    found = find_files(path, findings)
    sent = predictions.read_predictions(tuple(found.predictions), findings)
    identity = identity_of(path, found, sent, findings)
    main = _main(found, findings)
    reports = instance_reports.read_reports(
        found.reports, found.unreported, _errors(main), findings
    )
    first = main or reports
    if first is None:
        findings.refuse()
        raise UsageError(_nothing(path, sent))
    named = read_ids(Path(options.instances)) if options.instances else None
    verdicts = merge_verdicts(main, reports, sent, named, findings)
    run = _run(options, verdicts, first, findings)
    source = _Source(
        verdicts=verdicts,
        decided=decide_variant(
            verdicts,
            main,
            _knows_rest(main, sent, named),
            options.variant,
            (identity.dataset, identity.split),
            findings,
        ),
        measures=_measures(verdicts, main, reports, sent),
        sent=sent,
        run=run,
    )
    check_declared(verdicts, options.declared, found.metadata, first.place.file, findings)
    findings.refuse()
    return Imported(
        files=(*found.files, *_beside(options, run)),
        created_at=identity.created_at or (run.started if run else None),
        provenance=_provenance(identity, run, main, reports),
        suites={source.suite: _suite(source)},
        trials=source.trials,
        options=_list_options(options),
        notes=tuple(_notes(source, main, named)),
    )


def _run(
    options: Options,
    verdicts: Mapping[str, InstanceVerdict],
    first: SourceVerdicts,
    findings: Findings,
) -> AgentRun | None:
    if not options.trajectories:
        return None
    run = run_of(Path(options.trajectories))
    strange = {*run.trajectories, *run.lost} - verdicts.keys()
    clash(
        findings, first.place.file, "", strange, "has a trajectory, and no verdict - of two runs?"
    )
    return run


def _beside(options: Options, run: AgentRun | None) -> tuple[Path, ...]:
    """The files that options name."""
    return (
        *([Path(options.instances)] if options.instances else ()),
        *(run.files if run else ()),
    )


def _provenance(
    identity: Identity,
    run: AgentRun | None,
    main: SourceVerdicts | None,
    reports: SourceVerdicts | None,
) -> Provenance:
    """Where only the name of a report tells the model, the trajectories know better."""
    agent = identity.model or (run.model if run else "") or identity.file
    return Provenance(agent=agent, tool_version=_version(main, reports), event="import")


def _errors(main: SourceVerdicts | None) -> frozenset[str]:
    verdicts = main.verdicts if main else {}
    return frozenset(i for i, one in verdicts.items() if one.outcome == "error")


def _knows_rest(
    main: SourceVerdicts | None, sent: Predictions, named: frozenset[str] | None
) -> bool:
    """Whether somebody names all instances; lists of what was resolved do not, predictions do."""
    lists = main is not None and main.rest == "unresolved"
    return named is not None or (lists and sent.patched is not None)


def _main(found: ResultFiles, findings: Findings) -> SourceVerdicts | None:
    if len(found.mains) > 1:
        (one, _), (other, _), *_ = found.mains
        message = f"a report, and so is {other.name}: of two runs? - name one file, or take one out"
        findings.add(Place(one.as_posix()), message)
    for path, data in found.mains[:1]:
        name = path.as_posix()
        if run_report.is_run_report(data):
            return run_report.read_run_report(data, name, findings)
        read = (
            instance_lists.read_lists
            if instance_lists.is_lists(data)
            else instance_lists.read_details
        )
        return read(data, name, findings)
    return None


def _nothing(path: Path, sent: Predictions) -> str:
    if sent.patched is None:
        return (
            f"{path}: no results of SWE-bench in it; name a run report (<model>.<run id>.json), "
            "its folder with logs/run_evaluation, or a leaderboard folder"
        )
    empty = sum(not patched for patched in sent.patched.values())
    return (
        f"{path}: {len(sent.patched)} predictions, {empty} of them empty, and nothing that says "
        "what they resolved; evaluate them (python -m swebench.harness.run_evaluation) and import "
        "the report"
    )


def _measures(
    verdicts: Mapping[str, InstanceVerdict],
    main: SourceVerdicts | None,
    reports: SourceVerdicts | None,
    sent: Predictions,
) -> Measures:
    known = repositories(verdicts)
    return Measures(
        repositories=tuple(sorted(known)) if len(known) <= MOST_REPOSITORIES else (),
        submitted=sent.patched is not None or main is None or main.submitted_known,
        infra=any(one is not None and one.infra_known is True for one in (main, reports)),
    )


def _version(main: SourceVerdicts | None, reports: SourceVerdicts | None) -> str:
    for one in (main, reports):
        if one is not None and one.infra_known is not None:
            return f"{TOOL} {'5.0.0 or later' if one.infra_known else 'before 5.0.0'}"
    return TOOL


def _suite(source: _Source) -> ImportedSuite:
    ids = "\n".join(source.verdicts)
    return ImportedSuite(
        rounds=1,
        cases=len(source.verdicts),
        dataset=_dataset(source.decided, len(source.verdicts)),
        dataset_digest=hashlib.sha256(ids.encode()).hexdigest(),
        metrics=tuple(source.measures.specs()),
        graders=source.measures.graders(),
        quoted=source.decided.variant.quoted,
    )


def _dataset(decided: DecidedVariant, n: int) -> str:
    variant = decided.variant
    if decided.part_of:
        return f"{n} of the {decided.part_of}"
    purpose = f": {variant.purpose}" if variant.purpose else ""
    return f"{variant.title}, {n} instances{purpose}"


def _list_options(options: Options) -> dict[str, Json]:
    told = {"variant": options.variant, "declared": options.declared}
    return {key: value for key, value in told.items() if value is not None}


def _notes(
    source: _Source, main: SourceVerdicts | None, named: frozenset[str] | None
) -> Iterator[str]:
    decided, n = source.decided, len(source.verdicts)
    why = f" ({decided.why})" if decided.why else ""
    yield f"{_dataset(decided, n)}{why}; SWE-bench's harness judged it"
    if decided.part_of:
        yield "a part of the dataset was chosen: its rate is none to compare with published ones"
    elif decided.wanted is None and named is None and (main is None or main.total is None):
        yield (
            f"nothing says how many instances there were to be: the rate is over the {n} that are "
            "named; --option variant= checks their number"
        )
    if not source.measures.repositories:
        yield f"no rates by repository: none is known, or more than {MOST_REPOSITORIES}"
    if source.run is not None:
        lacking = n - len(source.run.trajectories)
        if lacking:
            yield f"{lacking} of {n} instances have no trajectory: steps and cost are unknown"
