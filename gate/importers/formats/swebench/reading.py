"""A path of SWE-bench results as an import: everything found, checked against one another, and
counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import Place, UsageError
from gate.files.json_values import as_object, as_string
from gate.files.plain import json_of
from gate.files.problems import Findings
from gate.files.timestamps import iso, moment_of
from gate.importers.formats.mini_swe_agent.trajectory import AgentRun, run_of
from gate.importers.formats.swebench import variants
from gate.importers.formats.swebench.files import (
    Predictions,
    ResultFiles,
    find_files,
    read_predictions,
)
from gate.importers.formats.swebench.outcomes import (
    CODES,
    NAME,
    NO_SOURCE,
    InstanceVerdict,
    Outcome,
    SourceVerdicts,
    Verdicts,
    clash,
    is_lists,
    is_run_report,
    read_details,
    read_lists,
    read_reports,
    read_run_report,
)
from gate.importers.formats.swebench.trials import MOST_REPOSITORIES, TOOL, Measures, instance_trial
from gate.importers.trials.build import provenance_of
from gate.records import Json, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.shortening import tidy


@dataclass(frozen=True, slots=True, kw_only=True)
class SweBenchOptions:
    """`instances`: a file with the ids of all that count; `declared`: the published score in
    percent, which is checked; `trajectories`: the run folder of mini-SWE-agent.
    """

    variant: variants.Name | None = None
    declared: float | None = None
    instances: str = ""
    trajectories: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """What was read: the run's own report or lists, and the reports on single instances (NO_SOURCE:
    there are none), the predictions, and the ids of all that count (None: nobody names them).
    """

    main: SourceVerdicts
    reports: SourceVerdicts
    sent: Predictions
    named: frozenset[str] | None

    @property
    def first(self) -> SourceVerdicts:
        return self.reports if self.main is NO_SOURCE else self.main

    @property
    def knows_rest(self) -> bool:
        """Whether somebody names all instances; lists of what was resolved do not, predictions
        do.
        """
        predicted = self.main.rest == "unresolved" and self.sent.patched is not None
        return self.named is not None or predicted

    @property
    def version(self) -> str:
        for one in (self.main, self.reports):
            if one.infra_known is not None:
                return f"{TOOL} {'5.0.0 or later' if one.infra_known else 'before 5.0.0'}"
        return TOOL


def import_run(path: Path, options: SweBenchOptions) -> Imported:
    """One run. Raises InvalidInput with all problems, UsageError."""
    findings = Findings()
    results = find_files(path, findings)
    sent = read_predictions(tuple(results.predictions), findings)
    identity = identity_of(path, results, sent, findings)
    main = _main(results, findings)
    errors = frozenset(i for i, verdict in main.verdicts.items() if verdict.outcome == "error")
    reports = read_reports(results.reports, results.unreported, errors, findings)
    if main is NO_SOURCE and reports is NO_SOURCE:
        findings.refuse()
        raise UsageError(_nothing(path, sent))
    more = [Path(options.instances)] if options.instances else []
    named = variants.read_ids(more[0]) if more else None
    sources = _Sources(main=main, reports=reports, sent=sent, named=named)
    verdicts = merge_verdicts(sources, findings)
    run = _run(options.trajectories, verdicts, sources.first, findings)
    decided = variants.decide_variant(
        verdicts,
        main,
        sources.knows_rest,
        options.variant,
        (identity.dataset, identity.split),
        findings,
    )
    score, file = options.declared, sources.first.place.file
    variants.check_declared(verdicts, score, results.metadata, file, findings)
    findings.refuse()
    known = variants.repositories(verdicts)
    measures = Measures(
        repositories=tuple(sorted(known)) if len(known) <= MOST_REPOSITORIES else (),
        submitted=sent.patched is not None or main.submitted_known,
        infra=main.infra_known is True or reports.infra_known is True,
    )
    variant = decided.variant
    suite = TOOL if variant is variants.CUSTOM else f"{TOOL}-{variant.name}"
    told: dict[str, Json] = {"variant": options.variant, "declared": score}
    return Imported(
        files=(*results.files, *more, *(run.files if run else ())),
        created_at=identity.created_at or (run.started if run else None),
        # where only the name of a report tells the model, the trajectories know better
        provenance=provenance_of(
            sources.version, identity.model or (run.model if run else "") or identity.file
        ),
        suites={
            suite: ImportedSuite(
                cases=len(verdicts),
                dataset=_dataset(decided, len(verdicts)),
                dataset_digest=hashlib.sha256("\n".join(verdicts).encode()).hexdigest(),
                metrics=tuple(measures.specs()),
                graders=measures.graders(),
                quoted=variant.quoted,
            )
        },
        trials=lambda: _trials(suite, verdicts, measures, sent, run),
        options={key: value for key, value in told.items() if value is not None},
        notes=tuple(_notes(sources, verdicts, decided, measures, run)),
    )


def _trials(
    suite: str, verdicts: Verdicts, measures: Measures, sent: Predictions, run: AgentRun | None
) -> Iterator[Trial]:
    patches = sent.patches()
    for instance, verdict in verdicts.items():
        trajectory, patch = run.read(instance) if run else None, patches.get(instance)
        yield instance_trial(suite, instance, verdict, measures, patch=patch, trajectory=trajectory)


def _run(
    trajectories: str, verdicts: Verdicts, first: SourceVerdicts, findings: Findings
) -> AgentRun | None:
    if not trajectories:
        return None
    run = run_of(Path(trajectories))
    strange = {*run.trajectories, *run.lost} - verdicts.keys()
    message = f"has a trajectory, but no result - {_SAME_RUN}"
    clash(findings, first.place, strange, message)
    return run


def _main(results: ResultFiles, findings: Findings) -> SourceVerdicts:
    if len(results.mains) > 1:
        (one, _), (other, _), *_ = results.mains
        message = f"is a report, and so is {other.name} - give one of the two files, or remove one"
        findings.add(Place(one.as_posix()), message)
    for path, data in results.mains[:1]:
        lists = read_lists if is_lists(data) else read_details
        read = read_run_report if is_run_report(data) else lists
        return read(as_object(data), path.as_posix(), findings)
    return NO_SOURCE


def _nothing(path: Path, sent: Predictions) -> str:
    if sent.patched is None:
        return (
            f"{path}: has no SWE-bench results; give a run report (<model>.<run "
            "id>.json), its folder with logs/run_evaluation, or a leaderboard folder"
        )
    empty = sum(not patched for patched in sent.patched.values())
    return (
        f"{path}: has {len(sent.patched)} predictions, {empty} of them empty, but no "
        "report on what they resolved; evaluate them (python -m "
        "swebench.harness.run_evaluation) and import the report"
    )


def _dataset(decided: variants.DecidedVariant, n: int) -> str:
    variant = decided.variant
    if decided.part_of:
        return f"{n} of the {decided.part_of}"
    purpose = f": {variant.purpose}" if variant.purpose else ""
    return f"{variant.title}, {n} instances{purpose}"


def _notes(
    sources: _Sources,
    verdicts: Verdicts,
    decided: variants.DecidedVariant,
    measures: Measures,
    run: AgentRun | None,
) -> Iterator[str]:
    n = len(verdicts)
    why = f" ({decided.why})" if decided.why else ""
    yield f"{_dataset(decided, n)}{why}; judged by the SWE-bench harness"
    if decided.part_of:
        yield "only a part of the dataset was run: its rate cannot be compared with published ones"
    elif decided.wanted is None and sources.named is None and sources.main.total is None:
        yield (
            f"the files do not say how many instances were run, so the rate is over the {n} "
            "that they name; say which dataset it was with --option variant=NAME"
        )
    if not measures.repositories:
        yield (
            "no rates per repository: no repository is known, or there are more than "
            f"{MOST_REPOSITORIES}"
        )
    lacking = n - len(run.trajectories) if run else 0
    if lacking:
        yield f"{lacking} of {n} instances have no trajectory: their steps and cost are unknown"


# ----------------------------------------------------------------------------------------- identity


_LOGS = "run_evaluation"
_SAME_RUN = "use files of the same run"
_MOST = 1 << 20  # bytes of run.json


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """`model` is "" if only the file's name tells: model and run id cannot be told apart there."""

    model: str
    file: str
    dataset: str = ""  # as run.json names it
    split: str = ""
    created_at: str | None = None


def identity_of(
    path: Path, results: ResultFiles, sent: Predictions, findings: Findings
) -> Identity:
    """Reports are called `<model>.<run id>.json`, logs `<run id>/<model>`, with `__` for `/`."""
    model, run = _read_log_folders(path, results, findings)
    written = sent.model.replace("/", "__")
    if model and written and model != written:
        names = f"{tidy(model, 80)}, but the predictions are by {tidy(written, 80)}"
        findings.add(Place(path.as_posix()), f"the logs are of {names} - import one run at a time")
    reports = [one for one, data in results.mains if is_run_report(data)]
    for one in reports:
        expected = f"{model}.{run}" if run else f"{written}."
        whole = one.stem == expected if run else one.stem.startswith(expected)
        if "." in one.stem and (run or written) and not whole:
            message = f"its file name must begin with {tidy(expected.strip('.'), 120)}"
            findings.add(Place(one.as_posix()), f"{message} - {_SAME_RUN}, or rename the file")
    run_file = _read_run_file(results, findings)
    stem = reports[0].stem if reports else path.absolute().name.removesuffix(".json")
    return Identity(
        model=sent.model or model.replace("__", "/"),
        file=tidy(stem, 200),
        dataset=tidy(as_string(run_file.get("dataset")), 200),
        split=tidy(as_string(run_file.get("split")), 200),
        created_at=iso(moment_of(run_file.get("created_at"))) or None,
    )


def _read_log_folders(path: Path, results: ResultFiles, findings: Findings) -> tuple[str, str]:
    """Model and run id by the folders of the instances; "" where these do not say."""
    reported = {report.parent.parent for report in results.reports if report.name == NAME}
    folders = sorted(reported | {folder.parent for folder in results.unreported})
    if len(folders) > 1:
        names = f"{folders[0]} and {folders[1]}"
        findings.add(
            Place(path.as_posix()), f"has two runs or models: {names} - give one of the two folders"
        )
        findings.refuse()  # their instances are the same: what else is wrong follows from it
    if not folders or folders[0].absolute().parent.parent.name != _LOGS:
        return "", ""
    own = folders[0].absolute()
    return own.name, own.parent.name


def _read_run_file(results: ResultFiles, findings: Findings) -> Mapping[str, Json]:
    """What run.json says; others of that name are none of the harness."""
    run_files: list[Mapping[str, Json]] = []
    for file in results.runs:
        with findings.taking():
            data = json_of(file, _MOST)
            run_files += [data] if isinstance(data, dict) and "dataset" in data else []
            if len(run_files) > 1 and run_files[-1] is data:
                findings.add(Place(file.as_posix()), f"is a second run.json - {_SAME_RUN}")
    return run_files[0] if run_files else {}


# ------------------------------------------------------------------------------------------ merging


def merge_verdicts(sources: _Sources, findings: Findings) -> dict[str, InstanceVerdict]:
    """Verdicts by instance: of the run, of single reports, and of the named instances."""
    main, reports, patched = sources.main, sources.reports, sources.sent.patched
    verdicts = dict(main.verdicts)
    if NO_SOURCE not in (main, reports):
        _check_agreement(main, reports, findings)
    for instance, one in reports.verdicts.items():
        verdicts[instance] = _with_reasons(verdicts.get(instance), one)
    if patched is not None:
        _check_predicted(main, verdicts, patched, findings)
        # a run report has every instance that was to be done: predictions of others do not count
        named = sources.named if sources.named is not None else patched.keys()
        chosen = () if main.every_report and sources.named is None else patched.keys() & named
        for instance in chosen - verdicts.keys() if chosen else ():
            verdicts[instance] = _bare(main.unlisted if patched[instance] else "empty_patch")
    for instance in sources.named or ():
        verdicts.setdefault(instance, _bare(main.rest if patched is None else "incomplete"))
    if sources.named is not None:
        strange = verdicts.keys() - sources.named
        message = f"is not in the list of instances - {_SAME_RUN}"
        clash(findings, sources.first.place, strange, message)
    return dict(sorted(verdicts.items()))


def _bare(outcome: Outcome) -> InstanceVerdict:
    return InstanceVerdict(outcome=outcome, codes=CODES[outcome])


def _with_reasons(main: InstanceVerdict | None, own: InstanceVerdict) -> InstanceVerdict:
    """The run's verdict with what the tests tell; what it says of the environment comes first."""
    if main is None:
        return own
    tiers = tuple(code for code in main.codes if ":" in code)
    codes = own.codes if own.outcome == main.outcome else main.codes
    base = tuple(code for code in codes if not (tiers and ":" in code))
    return InstanceVerdict(
        outcome=main.outcome,
        codes=tuple(dict.fromkeys((*base, *tiers))),
        reason=own.reason,
        infra=main.infra if tiers else own.infra,
        cost_usd=main.cost_usd,
        api_calls=main.api_calls,
    )


def _check_agreement(main: SourceVerdicts, reports: SourceVerdicts, findings: Findings) -> None:
    file = main.place.file
    if None not in (main.infra_known, reports.infra_known) and (
        main.infra_known != reports.infra_known
    ):
        message = (
            f"was written by a different version of swebench than {reports.place.file} - "
            f"{_SAME_RUN}"
        )
        findings.add(Place(file), message)
    for instance, own in reports.verdicts.items():
        listed = main.verdicts.get(instance)
        outcome = listed.outcome if listed else main.rest if not main.every_report else None
        if own.outcome != outcome and not (own.outcome == "error" and outcome == "unresolved"):
            says = f"`{outcome}`" if outcome else "nothing"
            message = f"says {says}, but its own report says `{own.outcome}` - {_SAME_RUN}"
            findings.add(Place(file, key=instance), message)
    if main.every_report:
        tested = (i for i, v in main.verdicts.items() if v.outcome in ("resolved", "unresolved"))
        missing = [instance for instance in tested if instance not in reports.verdicts]
        place = Place(file, key="completed_ids")
        message = "has no report.json - copy the whole folder logs/run_evaluation"
        clash(findings, place, missing, message)


def _check_predicted(
    main: SourceVerdicts, verdicts: Verdicts, patched: Mapping[str, bool], findings: Findings
) -> None:
    """Whether each verdict can be one on the prediction that there is."""
    by = {outcome: {i for i, v in verdicts.items() if v.outcome == outcome} for outcome in CODES}
    unsent = (by["resolved"] | by["error"]) - patched.keys()
    if main.submitted_known:
        unsent |= (by["unresolved"] | by["empty_patch"]) - patched.keys()
    empty = {i for i in (by["resolved"] | by["error"]) if not patched.get(i, True)}
    clashes = {
        "has a result, but no prediction": unsent,
        "has a prediction, but the report says it has none": by["incomplete"] & patched.keys(),
        "was evaluated, but its patch is empty": empty,
        "has a patch, but the report says it has none": {
            i for i in by["empty_patch"] if patched.get(i)
        },
    }
    for message, instances in clashes.items():
        clash(findings, main.place, instances, f"{message} - {_SAME_RUN}")
