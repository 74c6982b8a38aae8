"""What the files of a run say of its instances, put together; where two of them disagree, the
import stops.
"""

from __future__ import annotations

from collections.abc import Mapping

from gate.errors import Place
from gate.files.problems import Findings
from gate.importers.formats.swebench.outcomes import (
    CODES,
    InstanceVerdict,
    Outcome,
    SourceVerdicts,
    clash,
)
from gate.importers.formats.swebench.predictions import Predictions


def merge_verdicts(
    main: SourceVerdicts | None,
    reports: SourceVerdicts | None,
    sent: Predictions,
    named: frozenset[str] | None,
    findings: Findings,
) -> dict[str, InstanceVerdict]:
    """Instance -> verdict, by id. `main`: a run report or lists; `reports`: of single instances;
    `named`: the dataset's ids, where somebody names them.
    """
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
        clash(findings, first.place.file, "", strange, "is not among the instances that are named")
    return dict(sorted(verdicts.items()))


def _is_chosen(instance: str, main: SourceVerdicts | None, named: frozenset[str] | None) -> bool:
    """A run report has every instance that was to be done: predictions of others do not count."""
    if named is not None:
        return instance in named
    return main is None or not main.every_report


def _unlisted_verdict(main: SourceVerdicts | None, patched: bool) -> InstanceVerdict:
    """The verdict on an instance with a prediction: nobody resolved it, or without lists nobody
    tested it.
    """
    outcome: Outcome = "error" if main is None else "unresolved"
    outcome = outcome if patched else "empty_patch"
    return InstanceVerdict(outcome=outcome, codes=CODES[outcome])


def _with_reasons(main: InstanceVerdict | None, own: InstanceVerdict) -> InstanceVerdict:
    """The run's verdict with what the tests tell; what it says of the environment comes first."""
    if main is None:
        return own
    tiers = tuple(code for code in main.codes if ":" in code)
    told = own.codes if own.outcome == main.outcome else main.codes
    base = tuple(code for code in told if not (tiers and ":" in code))
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
        message = f"another version of swebench wrote it than {reports.place.file} - of two runs?"
        findings.add(Place(file), message)
    for instance, own in reports.verdicts.items():
        told = main.verdicts.get(instance)
        outcome = told.outcome if told else main.rest if not main.every_report else None
        if own.outcome != outcome and not (own.outcome == "error" and outcome == "unresolved"):
            says = f"`{outcome}`" if outcome else "nothing"
            message = f"it says {says} of it, its own report `{own.outcome}` - one was changed"
            findings.add(Place(file, key=instance), message)
    if main.every_report:
        tested = (i for i, v in main.verdicts.items() if v.outcome in ("resolved", "unresolved"))
        missing = [instance for instance in tested if instance not in reports.verdicts]
        clash(findings, file, "completed_ids", missing, "there is no report.json of it - copy all")


def _check_predicted(
    main: SourceVerdicts | None,
    verdicts: Mapping[str, InstanceVerdict],
    patched: Mapping[str, bool],
    findings: Findings,
) -> None:
    """Whether each verdict can be one on the prediction that there is."""
    file = main.place.file if main else "report.json"
    by = {outcome: {i for i, v in verdicts.items() if v.outcome == outcome} for outcome in CODES}
    unsent = (by["resolved"] | by["error"]) - patched.keys()
    if main is None or main.submitted_known:
        unsent |= (by["unresolved"] | by["empty_patch"]) - patched.keys()
    clash(findings, file, "", unsent, "has a verdict, and no prediction - of two runs?")
    sent = by["incomplete"] & patched.keys()
    clash(findings, file, "", sent, "has a prediction, and is told to have none - of two runs?")
    empty = {i for i in (by["resolved"] | by["error"]) if not patched.get(i, True)}
    clash(findings, file, "", empty, "was evaluated, and its patch is empty - of two runs?")
    full = {i for i in by["empty_patch"] if patched.get(i)}
    clash(findings, file, "", full, "is told to be an empty patch, and is none - of two runs?")
