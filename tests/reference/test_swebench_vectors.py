"""Every file of SWE-bench and mini-SWE-agent among the real data, imported: what the harness and
the agent wrote themselves.
"""

import json
import shutil

import pytest

from gate.errors import UsageError
from gate.plugins import IMPORTERS

RUN = "acme__agent-x.nightly-001.json"
EXPECTED = {
    "example__repo-1": (True, ()),
    "example__repo-2": (False, ("fail_to_pass_failed",)),
    "example__repo-3": (False, ("pass_to_pass_failed",)),
    "example__repo-4": (True, ()),
    "example__repo-5": (False, ("evaluation_error",)),
    "example__repo-6": (False, ("empty_patch",)),
    "example__repo-7": (False, ("empty_patch",)),
    "example__repo-8": (None, ("no_test_output", "infra:browser_launch_failed")),
    "example__repo-9": (False, ("no_test_output", "ambiguous:no_tests_collected")),
    "example__repo-10": (False, ("no_test_output",)),
    "example__repo-11": (False, ("no_prediction",)),
}


@pytest.fixture
def data(gate_real_data):
    return gate_real_data / "swebench"


def trials(name, path, **options):
    found = IMPORTERS.get_class(name)(**options).read(path)
    return {one.case.id: one.attempt for one in found.trials()}


def rate(found):
    values = [next(iter(one.scores.values())).values for one in found.values()]
    return sum(one["swebench.resolved_rate"] for one in values) / len(values)


@pytest.fixture
def run(data, tmp_path):
    """The run's folder, as the harness lays it out: the reports of its instances stand in one file
    among the data.
    """
    shutil.copy(data / RUN, tmp_path)
    shutil.copy(data / "preds.json", tmp_path)
    logs = tmp_path / "logs" / "run_evaluation" / "nightly-001" / "acme__agent-x"
    for instance, report in json.loads((data / "per_instance_reports.json").read_text()).items():
        (logs / instance).mkdir(parents=True)
        (logs / instance / "report.json").write_text(json.dumps(report))
    (logs / "example__repo-5").mkdir()
    (logs / "example__repo-5" / "run_instance.log").write_text("Patch Apply Failed")
    return tmp_path


def test_a_whole_run_comes_to_what_the_harness_says(run):
    found = trials("swebench", run)
    assert {i: (one.passed, one.failures) for i, one in found.items()} == EXPECTED
    assert rate(found) == 2 / 11


@pytest.mark.parametrize("name", [RUN, "legacy_v4_run_report.json"])
def test_both_generations_of_the_run_report_have_the_same_rate(data, name):
    assert rate(trials("swebench", data / name)) == 2 / 11


def test_reports_and_predictions_alone_come_to_the_same(run):
    (run / RUN).unlink()
    found = trials("swebench", run)
    assert {i: one.failures for i, one in found.items()} == {
        i: codes for i, (_, codes) in EXPECTED.items() if i != "example__repo-11"
    }


def test_a_leaderboard_list_with_the_dataset_beside_it(data, tmp_path):
    ids = tmp_path / "ids.txt"
    ids.write_text("\n".join(EXPECTED))
    path = data / "leaderboard_format_a.results.json"
    assert rate(trials("swebench", path, instances=str(ids))) == 2 / 11
    with pytest.raises(UsageError, match="--option instances=FILE"):
        trials("swebench", path)


@pytest.mark.parametrize("name", ["preds.json", "preds.jsonl", "run.json"])
def test_what_has_no_verdict_is_refused(data, name):
    with pytest.raises(UsageError, match=r"predictions, 2 of them empty|has no SWE-bench results"):
        trials("swebench", data / name)


def test_run_json_is_read_beside_the_run(data, run):
    shutil.copy(data / "run.json", run / "logs" / "run_evaluation" / "nightly-001")
    found = IMPORTERS.get_class("swebench")().read(run)
    assert found.suites["swebench"].dataset == "11 of the 500 instances of SWE-bench Verified"


# name -> steps, model calls, cost in USD, failure codes, steps with an error
ENDED = {
    "toolcall-submitted": (4, 4, 0.05, (), 1),
    "textbased-submitted": (2, 2, 0.05, (), 0),
    "responses-api-submitted": (2, 2, 2.0, (), 0),
    "toolcall-step-limit": (3, 3, 0.03, ("limits_exceeded",), 0),
}


def test_every_trajectory_of_the_agent(gate_real_data):
    paths = sorted((gate_real_data / "mini-swe-agent").glob("*.traj.json"))
    names = [path.name.removesuffix(".traj.json") for path in paths]
    assert {*ENDED} <= {*names}
    for name, path in zip(names, paths, strict=True):
        (one,) = trials("mini-swe-agent", path).values()
        answer = one.response
        told = json.loads(path.read_text())["info"]
        assert answer.turns == told["model_stats"]["api_calls"]
        assert answer.usage.cost_usd == told["model_stats"]["instance_cost"]
        assert one.passed is None
        assert (answer.finish_reason == "Submitted") == (one.failures == ())
        if name in ENDED:
            errors = sum(step.error is not None for step in answer.steps)
            cost = round(answer.usage.cost_usd, 9)
            assert (len(answer.steps), answer.turns, cost, one.failures, errors) == ENDED[name]
            assert answer.answer == (told["submission"] or "")
