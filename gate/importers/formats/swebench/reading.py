"""A path of SWE-bench results as an import: everything found, checked against one another, and
counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import InvalidInput, Place, UsageError
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
from gate.records import Json, Provenance, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.escaping import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """What was read."""

    verdicts: Verdicts
    decided: variants.DecidedVariant
    measures: Measures
    sent: Predictions
    run: AgentRun | None

    @property
    def suite(self) -> str:
        name = self.decided.variant.name
        return TOOL if name == variants.CUSTOM.name else f"{TOOL}-{name}"

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


def import_run(
    path: Path,
    *,
    variant: str | None = None,
    declared: float | None = None,
    instances: str = "",
    trajectories: str = "",
) -> Imported:
    """One run; `declared` in percent. Raises InvalidInput with all problems, UsageError."""
    findings = Findings()
    results = find_files(path, findings)
    sent = read_predictions(tuple(results.predictions), findings)
    identity = identity_of(path, results, sent, findings)
    main = _main(results, findings)
    known = main.verdicts.items() if main else ()
    errors = frozenset(instance for instance, one in known if one.outcome == "error")
    reports = read_reports(results.reports, results.unreported, errors, findings)
    first = main or reports
    if first is None:
        findings.refuse()
        raise UsageError(_nothing(path, sent))
    named = variants.read_ids(Path(instances)) if instances else None
    verdicts = merge_verdicts(main, reports, sent, named, findings)
    run = _run(trajectories, verdicts, first, findings)
    source = _Source(
        verdicts=verdicts,
        decided=variants.decide_variant(
            verdicts,
            main,
            _knows_rest(main, sent, named),
            variant,
            (identity.dataset, identity.split),
            findings,
        ),
        measures=_measures(verdicts, main, reports, sent),
        sent=sent,
        run=run,
    )
    variants.check_declared(verdicts, declared, results.metadata, first.place.file, findings)
    findings.refuse()
    options = {"variant": variant, "declared": declared}
    return Imported(
        files=(
            *results.files,
            *([Path(instances)] if instances else ()),
            *(run.files if run else ()),
        ),
        created_at=identity.created_at or (run.started if run else None),
        provenance=Provenance(
            # where only the name of a report tells the model, the trajectories know better
            agent=identity.model or (run.model if run else "") or identity.file,
            tool_version=_version(main, reports),
            event="import",
        ),
        suites={source.suite: _suite(source)},
        trials=source.trials,
        options={key: value for key, value in options.items() if value is not None},
        notes=tuple(_notes(source, main, named)),
    )


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


def _knows_rest(
    main: SourceVerdicts | None, sent: Predictions, named: frozenset[str] | None
) -> bool:
    """Whether somebody names all instances; lists of what was resolved do not, predictions do."""
    lists = main is not None and main.rest == "unresolved"
    return named is not None or (lists and sent.patched is not None)


def _main(results: ResultFiles, findings: Findings) -> SourceVerdicts | None:
    if len(results.mains) > 1:
        (one, _), (other, _), *_ = results.mains
        message = f"is a report, and so is {other.name} - give one of the two files, or remove one"
        findings.add(Place(one.as_posix()), message)
    for path, data in results.mains[:1]:
        name = path.as_posix()
        report = as_object(data)
        if is_run_report(data):
            return read_run_report(report, name, findings)
        read = read_lists if is_lists(data) else read_details
        return read(report, name, findings)
    return None


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


def _measures(
    verdicts: Verdicts,
    main: SourceVerdicts | None,
    reports: SourceVerdicts | None,
    sent: Predictions,
) -> Measures:
    known = variants.repositories(verdicts)
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
        cases=len(source.verdicts),
        dataset=_dataset(source.decided, len(source.verdicts)),
        dataset_digest=hashlib.sha256(ids.encode()).hexdigest(),
        metrics=tuple(source.measures.specs()),
        graders=source.measures.graders(),
        quoted=source.decided.variant.quoted,
    )


def _dataset(decided: variants.DecidedVariant, n: int) -> str:
    variant = decided.variant
    if decided.part_of:
        return f"{n} of the {decided.part_of}"
    purpose = f": {variant.purpose}" if variant.purpose else ""
    return f"{variant.title}, {n} instances{purpose}"


def _notes(
    source: _Source, main: SourceVerdicts | None, named: frozenset[str] | None
) -> Iterator[str]:
    decided, n = source.decided, len(source.verdicts)
    why = f" ({decided.why})" if decided.why else ""
    yield f"{_dataset(decided, n)}{why}; judged by the SWE-bench harness"
    if decided.part_of:
        yield "only a part of the dataset was run: its rate cannot be compared with published ones"
    elif decided.wanted is None and named is None and (main is None or main.total is None):
        yield (
            f"the files do not say how many instances were run, so the rate is over the {n} "
            "that they name; say which dataset it was with --option variant=NAME"
        )
    if not source.measures.repositories:
        yield (
            "no rates per repository: no repository is known, or there are more than "
            f"{MOST_REPOSITORIES}"
        )
    if source.run is not None:
        lacking = n - len(source.run.trajectories)
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
        names = f"{one_line(model, 80)}, but the predictions are by {one_line(written, 80)}"
        findings.add(Place(path.as_posix()), f"the logs are of {names} - import one run at a time")
    reports = [one for one, data in results.mains if is_run_report(data)]
    for one in reports:
        expected = f"{model}.{run}" if run else f"{written}."
        whole = one.stem == expected if run else one.stem.startswith(expected)
        if "." in one.stem and (run or written) and not whole:
            message = f"its file name must begin with {one_line(expected.strip('.'), 120)}"
            findings.add(Place(one.as_posix()), f"{message} - {_SAME_RUN}, or rename the file")
    run_file = _read_run_file(results, findings)
    stem = reports[0].stem if reports else path.absolute().name.removesuffix(".json")
    return Identity(
        model=sent.model or model.replace("__", "/"),
        file=one_line(stem, 200),
        dataset=one_line(as_string(run_file.get("dataset")), 200),
        split=one_line(as_string(run_file.get("split")), 200),
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
        try:
            data = json_of(file, _MOST)
        except InvalidInput as error:
            findings.take(*error.problems)
            continue
        if isinstance(data, dict) and "dataset" in data:
            run_files.append(data)
            if len(run_files) > 1:
                findings.add(Place(file.as_posix()), f"is a second run.json - {_SAME_RUN}")
    return run_files[0] if run_files else {}


# ------------------------------------------------------------------------------------------ merging


def merge_verdicts(
    main: SourceVerdicts | None,
    reports: SourceVerdicts | None,
    sent: Predictions,
    named: frozenset[str] | None,
    findings: Findings,
) -> dict[str, InstanceVerdict]:
    """Verdicts by instance: of the run, of single reports, and of the `named` instances."""
    verdicts = dict(main.verdicts) if main else {}
    if reports:
        _agreeing(main, reports, findings)
        for instance, one in reports.verdicts.items():
            verdicts[instance] = _with_reasons(verdicts.get(instance), one)
    if sent.patched is not None:
        _check_predicted(main, verdicts, sent.patched, findings)
        for instance, patched in sent.patched.items():
            if instance not in verdicts and _is_chosen(instance, main, named):
                verdicts[instance] = _unlisted_verdict(main, patched)
    for instance in named or ():
        outcome: Outcome = main.rest if main and sent.patched is None else "incomplete"
        verdicts.setdefault(instance, InstanceVerdict(outcome=outcome, codes=CODES[outcome]))
    first = main or reports
    if named is not None and first:
        strange = verdicts.keys() - named
        message = f"is not in the list of instances - {_SAME_RUN}"
        clash(findings, first.place, strange, message)
    return dict(sorted(verdicts.items()))


def _is_chosen(instance: str, main: SourceVerdicts | None, named: frozenset[str] | None) -> bool:
    """A run report has every instance that was to be done: predictions of others do not count."""
    if named is not None:
        return instance in named
    return main is None or not main.every_report


def _unlisted_verdict(main: SourceVerdicts | None, patched: bool) -> InstanceVerdict:
    """The verdict on an instance in no list: not resolved, or not tested without lists."""
    outcome: Outcome = "error" if main is None else "unresolved"
    outcome = outcome if patched else "empty_patch"
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


def _agreeing(main: SourceVerdicts | None, reports: SourceVerdicts, findings: Findings) -> None:
    if main is None:
        return
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
    main: SourceVerdicts | None, verdicts: Verdicts, patched: Mapping[str, bool], findings: Findings
) -> None:
    """Whether each verdict can be one on the prediction that there is."""
    by = {outcome: {i for i, v in verdicts.items() if v.outcome == outcome} for outcome in CODES}
    unsent = (by["resolved"] | by["error"]) - patched.keys()
    if main is None or main.submitted_known:
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
    place = main.place if main else Place("report.json")
    for message, instances in clashes.items():
        clash(findings, place, instances, f"{message} - {_SAME_RUN}")
