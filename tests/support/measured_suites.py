"""Suites as they are measured, on their way to a report."""

from dataclasses import replace

from gate.analysis.tally import Tally
from gate.records import BaselineInfo, Config, PluginSpec, Provenance, Suite
from gate.store.baseline.find import Compared
from gate.store.session import SuiteMeta
from gate.verdict.suite_data import Setting, SuiteData
from tests.support.verdict_tables import RECALL, SUCCESS, build, passing

SETTING = Setting(
    session_id="20261120-120000-0123abcd",
    created_at="2026-11-20T12:00:00Z",
    duration_s=1.5,
    mode="laptop",
    provenance=Provenance(commit="c" * 40),
    notes=("a note",),
    loosened=("a rule",),
    comment_id="mine",
)
CONFIG = Config(agent=PluginSpec(name="sample"), suites=(Suite(name="s", dataset="d", graders=()),))


def success_table(failed=0, cases=20, name="s", **columns):
    success = passing(cases, 3, failed)
    return build({"success": success, **columns}, suite=name, specs=(SUCCESS, RECALL))


def measured_suite(current=None, baseline=None, name="s", **changes):
    current = current or success_table(name=name)
    meta = SuiteMeta(dataset="d", dataset_digest="dd", rounds=3, cases=20, specs=current.specs)
    info = BaselineInfo(source="file" if baseline else "none", detail=f"of {name}")
    made = SuiteData(
        name=name,
        meta=meta,
        current=current,
        tally=Tally(trials=60, calls=60, usd=0.6, priced=60),
        compared=Compared(table=baseline, info=info),
    )
    return replace(made, **changes)


def failed_trials(suite, ids):
    for case in sorted(ids):
        for number, codes in ((1, ["b"]), (2, ["a"]), (3, ["a", "c"])):
            yield {
                "suite": suite,
                "case_id": case,
                "round": number,
                "status": "completed",
                "passed": False,
                "scores": {},
                "question": "?",
                "output": "so",
                "failures": codes,
                "error": "",
                "reasons": {"facts": f"round {number}", "regex": "no match"},
            }
