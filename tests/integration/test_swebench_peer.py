"""Reports that the real swebench package writes, of both rules of evaluation, imported.

Its harness runs here from the logs on: what a container would have printed is written by hand.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from gate.plugins import IMPORTERS
from tests.support.in_process import gate

pytestmark = pytest.mark.peers

HARNESS = """
import json
from pathlib import Path

from swebench.harness.constants import END_TEST_OUTPUT, START_TEST_OUTPUT
from swebench.harness.grading import get_eval_report
from swebench.harness.reporting import make_run_report
from swebench.harness.run_evaluation import write_run_metadata
from swebench.types import TestSpec

RUN, MODEL = "night-7", "acme/agent.v2"
told = json.loads(Path("told.json").read_text())
predictions, dataset = {}, []
for instance, one in told.items():
    dataset.append({"instance_id": instance, "image": ""})
    if one["patch"] != "missing":
        predictions[instance] = {
            "instance_id": instance, "model_name_or_path": MODEL, "model_patch": one["patch"]
        }
    if one["log"] is None:
        continue
    folder = Path("logs/run_evaluation") / RUN / MODEL.replace("/", "__") / instance
    folder.mkdir(parents=True)
    (folder / "run_instance.log").write_text("started")
    output = folder / "test_output.txt"
    lines = "\\n".join(one["log"])
    output.write_text(f"{START_TEST_OUTPUT}\\n{lines}\\n{END_TEST_OUTPUT}\\n" if lines else "")
    if one["log"] == ["no report"]:
        continue
    spec = TestSpec(
        instance_id=instance, image="", eval_script_list=[], repo="", version="",
        FAIL_TO_PASS=one["mended"], PASS_TO_PASS=one["kept"],
        log_parser="parse_log_pytest", eval_type=one["rule"],
    )
    report = get_eval_report(spec, predictions[instance], output, include_tests_status=True)
    (folder / "report.json").write_text(json.dumps(report, indent=4))
write_run_metadata(RUN, "SWE-bench/SWE-bench_Verified", "test", None)
make_run_report(predictions, dataset, RUN)
Path("preds.json").write_text(json.dumps(predictions))
"""


def instance(log, mended=("t::a",), kept=("t::b",), rule="pass_and_fail", patch="diff --git"):
    return {"log": log, "mended": mended, "kept": kept, "rule": rule, "patch": patch}


TOLD = {  # instance -> what its container would have printed
    "django__django-1": instance(["PASSED t::a", "PASSED t::b"]),
    "django__django-2": instance(["PASSED t::a", "FAILED t::b - AssertionError"]),
    "django__django-3": instance(["SKIPPED t::a", "PASSED t::b"]),
    "django__django-4": instance(["XFAIL t::a", "SKIPPED t::b"]),
    "django__django-5": instance(["PASSED t::a"]),
    "django__django-6": instance(["PASSED t::c"], rule="fail_only"),
    "django__django-7": instance(["PASSED t::c"], mended=(), kept=()),
    "sympy__sympy-1": instance(["no report"]),
    "sympy__sympy-2": instance(None, patch=""),
    "sympy__sympy-3": instance(None, patch=None),
    "sympy__sympy-4": instance(None, patch="missing"),
    "sympy__sympy-5": instance(["Could not resolve host: pypi"]),
    "sympy__sympy-6": instance(["collected 0 items"]),
}
EXPECTED = {
    "django__django-1": (True, ()),
    "django__django-2": (False, ("pass_to_pass_failed",)),
    "django__django-3": (False, ("fail_to_pass_failed",)),
    "django__django-4": (True, ()),
    "django__django-5": (False, ("pass_to_pass_failed",)),
    "django__django-6": (True, ()),
    "django__django-7": (True, ()),
    "sympy__sympy-1": (False, ("evaluation_error",)),
    "sympy__sympy-2": (False, ("empty_patch",)),
    "sympy__sympy-3": (False, ("empty_patch",)),
    "sympy__sympy-4": (False, ("no_prediction",)),
    "sympy__sympy-5": (None, ("no_test_output", "infra:network_unreachable")),
    "sympy__sympy-6": (False, ("no_test_output", "ambiguous:no_tests_collected")),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    peers = os.environ.get("GATE_PEERS")
    python = Path(peers or "") / "swebench" / "bin" / "python"
    if not peers or not python.exists():
        pytest.skip("GATE_PEERS names no folder with the environment of swebench")
    folder = tmp_path_factory.mktemp("swebench")
    (folder / "told.json").write_text(json.dumps(TOLD))
    done = subprocess.run(
        [str(python), "-c", HARNESS], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    (folder / "told.json").unlink()
    return folder


def outcomes(path):
    found = IMPORTERS.get_class("swebench")().read(path)
    return {one.case.id: (one.attempt.passed, one.attempt.failures) for one in found.trials()}


def test_the_verdicts_of_the_harness_are_recomputed_and_the_same(run):
    assert outcomes(run) == EXPECTED


def test_its_run_report_alone_has_the_same_verdicts(run):
    report = run / "acme__agent.v2.night-7.json"
    found = outcomes(report)
    assert {i: passed for i, (passed, _) in found.items()} == {
        i: passed for i, (passed, _) in EXPECTED.items()
    }


def test_the_run_is_gated_by_its_rate(run, tmp_path):
    (tmp_path / "gate.yml").write_text(
        "version: 1\ngates:\n  swebench.resolved_rate: {min: 0.9}\n"
        "  swebench.resolved_rate[django/django]: {min: 0.1}\n"
    )
    done = gate(tmp_path, "import", "swebench", str(run), "--out", "out", "--config", "gate.yml")
    assert "swebench.resolved_rate" in done.stdout, done.stderr
    (session,) = (tmp_path / "out").glob("session-*")
    summary = json.loads((session / "summary.json").read_text())
    metrics = summary["suites"]["swebench"]["metrics"]
    assert metrics["swebench.resolved_rate"]["value"] == pytest.approx(4 / 13)
    assert metrics["swebench.resolved_rate[django/django]"]["value"] == pytest.approx(4 / 7)
    assert metrics["swebench.submitted_resolved_rate"]["value"] == pytest.approx(4 / 12)
    assert metrics["swebench.infra_rate"]["value"] == pytest.approx(1 / 13)
    assert done.returncode == 1, done.stdout
