"""The importer of SWE-bench results: what counts, what is checked, and what is refused."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.importers.formats.swebench.variants import LANGUAGES
from gate.plugins import IMPORTERS
from tests.support.importing import read_results
from tests.support.paths import DATA

read = partial(read_results, "swebench")

EXAMPLES = DATA / "imports"
RUN = EXAMPLES / "swebench" / "run"
REPORT = "acme__agent-x.nightly-001.json"
LOGS = Path("logs/run_evaluation/nightly-001/acme__agent-x")
NONE = {"success": [], "failure": []}


def trials(path, **options):
    return {one.case.id: one for one in read(path, **options).trials()}


def faults(path, kind=InvalidInput, **options):
    with pytest.raises(kind) as caught:
        read(path, **options)
    return str(caught.value)


def written(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def ids(n, name="django__django"):
    return [f"{name}-{i}" for i in range(1, n + 1)]


def run_report(total=None, **lists):
    """A run report whose numbers are right, before anything is changed."""
    found = {"resolved": [], "unresolved": [], "error": [], "empty_patch": [], "incomplete": []}
    found |= lists
    completed = sorted([*found["resolved"], *found["unresolved"]])
    found = {
        "completed": completed,
        "submitted": sorted([*completed, *found["error"], *found["empty_patch"]]),
        **found,
    }
    counts = {f"{key}_instances": len(v) for key, v in found.items() if key != "incomplete"}
    every = sum(len(found[k]) for k in ("completed", "error", "empty_patch", "incomplete"))
    whole = {f"{key}_ids": value for key, value in found.items()}
    return {"total_instances": total or every, **counts, **whole, "schema_version": 2}


def of_tests(resolved, mended=NONE, kept=NONE, **more):
    return {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": True,
        "resolved": resolved,
        "infra_failure": False,
        "tests_status": {"FAIL_TO_PASS": mended, "PASS_TO_PASS": kept},
        **more,
    }


@pytest.fixture
def run(tmp_path):
    """The example's folder, to be changed."""
    shutil.copytree(RUN, tmp_path / "run")
    return tmp_path / "run"


def changed(path, **keys):
    data = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in (data | keys).items() if v != "gone"}))


# ------------------------------------------------------------------------------------------- counts


def test_every_instance_is_a_trial_and_counts_in_the_rate():
    found = read(RUN)
    suite = found.suites["swebench"]
    assert (suite.cases, suite.rounds, len(list(found.trials()))) == (8, 1, 8)
    rates = [one.attempt.scores["swebench"].values for one in found.trials()]
    assert sum(one["swebench.resolved_rate"] for one in rates) == 2
    assert [one["swebench.submitted_resolved_rate"] for one in rates].count(None) == 1
    assert sum(one["swebench.infra_rate"] for one in rates) == 1
    infra = suite.metrics[2]
    assert (infra.name, infra.direction, infra.high) == ("swebench.infra_rate", "lower", None)
    assert [spec.name for spec in suite.metrics][3:] == [
        "swebench.resolved_rate[django/django]",
        "swebench.resolved_rate[psf/requests]",
        "swebench.resolved_rate[sympy/sympy]",
    ]


def test_each_way_to_fail_has_its_code():
    assert {i: (t.attempt.status, t.attempt.failures) for i, t in trials(RUN).items()} == {
        "django__django-11001": ("completed", ()),
        "django__django-11002": ("completed", ("fail_to_pass_failed",)),
        "django__django-11003": ("completed", ("pass_to_pass_failed",)),
        "psf__requests-3001": ("infra_error", ("no_test_output", "infra:network_unreachable")),
        "psf__requests-3002": ("completed", ("empty_patch",)),
        "sympy__sympy-20001": ("completed", ()),
        "sympy__sympy-20002": ("completed", ("evaluation_error",)),
        "sympy__sympy-20003": ("agent_error", ("no_prediction",)),
    }


def test_a_run_says_whose_it_is_and_when():
    found = read(RUN)
    assert found.created_at == "2026-11-01T02:00:00Z"
    assert found.provenance.agent == "acme/agent-x"
    assert found.provenance.tool_version == "swebench 5.0.0 or later"
    first = next(found.trials())
    assert first.case.category == "django/django"
    assert first.attempt.response.answer.startswith("diff --git a/sums.py")
    assert "2 of 2 PASS_TO_PASS" in first.attempt.scores["swebench"].reason


def test_an_old_report_does_not_tell_broken_environments(tmp_path):
    path = written(tmp_path / "m.r.json", run_report(resolved=ids(1), unresolved=ids(3)[1:]))
    found = read(path)
    names = [spec.name for spec in found.suites["swebench"].metrics]
    assert names[:2] == ["swebench.resolved_rate", "swebench.submitted_resolved_rate"]
    assert "swebench.infra_rate" not in names
    assert found.provenance.tool_version == "swebench before 5.0.0"
    assert [one.attempt.failures for one in found.trials()] == [
        (),
        ("unresolved",),
        ("unresolved",),
    ]
    assert [one.attempt.response for one in found.trials()] == [None] * 3, "nobody kept the patches"


def test_a_broken_environment_without_a_report_is_told_apart_too(tmp_path):
    """In error_ids; and an error whose report is there, and cannot be read, was completed."""
    report = run_report(error=ids(2), completed=ids(1)) | {
        "infra_failure_ids": ids(1),
        "failure_reasons": {ids(1)[0]: "out of memory"},
    }
    found = trials(written(tmp_path / "m.r.json", report | {"total_instances": 2}))
    assert [(one.attempt.status, one.attempt.failures) for one in found.values()] == [
        ("infra_error", ("evaluation_error", "infra:out_of_memory")),
        ("completed", ("evaluation_error",)),
    ]


def test_an_ambiguous_fault_stays_the_agents(tmp_path):
    report = run_report(unresolved=ids(2)) | {
        "infra_failure_ids": [],
        "ambiguous_failure_ids": ids(1),
        "failure_reasons": {ids(1)[0]: "tests_timed_out"},
    }
    one = trials(written(tmp_path / "m.r.json", report))["django__django-1"].attempt
    assert (one.status, one.passed) == ("completed", False)
    assert one.failures == ("unresolved", "ambiguous:tests_timed_out")
    own = {"infra_failure_reason": "missing_module", "tests_status": None}
    untested = of_tests(False, patch_successfully_applied=False, **own)
    written(tmp_path / "alone" / "a__b-1" / "report.json", {"a__b-1": untested})
    one = trials(tmp_path / "alone")["a__b-1"].attempt
    assert (one.status, one.failures) == (
        "completed",
        ("no_test_output", "ambiguous:missing_module"),
    )


def test_reports_alone_give_the_verdicts_and_a_folder_without_one_is_an_error(run):
    (run / REPORT).unlink()
    (run / "preds.json").unlink()
    found = trials(run)
    assert len(found) == 6
    assert found["sympy__sympy-20002"].attempt.failures == ("evaluation_error",)
    assert found["psf__requests-3001"].attempt.status == "infra_error"
    assert "the files do not say how many instances were run" in read(run).notes[1]


def test_the_run_has_the_last_word_on_the_environment(run):
    ambiguous = {"infra_failure_ids": [], "ambiguous_failure_ids": ["psf__requests-3001"]}
    counts = {"infra_failure_instances": 0, "ambiguous_failure_instances": 1}
    changed(run / REPORT, **ambiguous, **counts)
    one = trials(run)["psf__requests-3001"].attempt
    assert one.status == "completed"
    assert one.failures == ("no_test_output", "ambiguous:network_unreachable")


def test_a_part_of_the_folder_will_do(run):
    assert len(trials(run / LOGS)) == 6
    one = run / LOGS / "django__django-11002"
    assert trials(one / "report.json")["django__django-11002"].attempt.passed is False


def test_predictions_of_instances_that_were_not_to_be_done_do_not_count(run):
    sent = json.loads((run / "preds.json").read_text())
    more = sent["django__django-11001"] | {"instance_id": "django__django-9"}
    changed(run / "preds.json", **{"django__django-9": more})
    assert len(trials(run)) == 8


def test_a_hundred_repositories_have_no_rate_each(tmp_path):
    many = [f"owner__repo{n}-1" for n in range(100)]
    found = read(written(tmp_path / "m.r.json", run_report(unresolved=many)))
    names = [spec.name for spec in found.suites["swebench"].metrics]
    assert names == ["swebench.resolved_rate", "swebench.submitted_resolved_rate"]
    assert "no rates per repository" in found.notes[-1]


# ----------------------------------------------------------------------------------- contradictions


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"total_instances": 9}, "total_instances: says 9, but the lists have 8"),
        ({"total_instances": 7}, "total_instances: says 7, but the lists have 8"),
        ({"total_instances": 8.5}, "total_instances: must be 1 or more"),
        ({"total_instances": "gone"}, "total_instances: must be 1 or more"),
        ({"resolved_instances": 3}, "resolved_instances: says 3, but resolved_ids has 2"),
        ({"resolved_instances": True}, "resolved_instances: says True"),
        ({"resolved_ids": "gone"}, "resolved_ids: is missing"),
        ({"resolved_ids": ["a", "a"]}, "resolved_ids: has a twice - remove one"),
        ({"resolved_ids": [["a"]]}, "resolved_ids: must be a list of instance ids"),
        ({"resolved_ids": ["a\x1b[1m"]}, "resolved_ids: must be a list of instance ids"),
        ({"error_ids": {"a": 1}}, "error_ids: must be a list of instance ids"),
        (
            {"error_ids": ["django__django-11001"]},
            "resolved_ids: django__django-11001: is also in error_ids",
        ),
        ({"completed_ids": ["x__y-1"]}, "completed_ids: x__y-1: is completed, but in no list"),
        (
            {"completed_ids": []},
            "completed_ids: django__django-11001 and 4 more: is resolved or unresolved",
        ),
        (
            {"submitted_ids": []},
            "submitted_ids: django__django-11001 and 6 more: is in a list of outcomes",
        ),
        (
            {"infra_failure_ids": ["django__django-11001"]},
            "infra_failure_ids: django__django-11001: is neither in unresolved_ids nor in",
        ),
        ({"schema_version": 3}, "schema_version: version 3 is not supported, only 2 is - update"),
        (
            {"incomplete_ids": ["sympy__sympy-20003", "sympy__sympy-20002"], "error_ids": []},
            "incomplete_ids: sympy__sympy-20002: is also in submitted_ids",
        ),
        (
            {"ambiguous_failure_ids": ["psf__requests-3001"]},
            "infra_failure_ids: psf__requests-3001: is also in ambiguous_failure_ids",
        ),
    ],
)
def test_a_run_report_that_contradicts_itself_is_refused(run, keys, told):
    (run / "preds.json").unlink()
    changed(run / REPORT, **keys)
    assert f"{REPORT}: {told}" in faults(run / REPORT)


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (of_tests(True, {"success": ["a"], "failure": ["b"]}), "resolved is true, but 1 of 2 FAIL"),
        (of_tests(True, kept={"success": [], "failure": ["b"]}), "resolved is true, but 0 of 0"),
        (of_tests(False, {"success": ["a"], "failure": []}), "resolved is false, but 1 of 1 FAIL"),
        (of_tests(False), "resolved is false, but 0 of 0"),
        (
            of_tests(True, patch_successfully_applied=False),
            "resolved is true, but there is no test output",
        ),
        (of_tests(True, patch_is_None=True), "resolved is true, but there is no patch"),
        (of_tests("yes"), "django__django-1.resolved: "),
        (of_tests(True, tests_status={"FAIL_TO_PASS": NONE}), "django__django-1.tests_status: "),
        (of_tests(True, {"success": [1], "failure": []}), "tests_status.FAIL_TO_PASS.success.0: "),
        ([], "django__django-1: "),
    ],
)
def test_a_report_is_held_to_its_tests(tmp_path, report, told):
    path = tmp_path / "django__django-1" / "report.json"
    written(path, {"django__django-1": report})
    assert told in faults(tmp_path)


def test_no_tests_of_a_kind_and_a_skipped_one_are_as_the_harness_counts_them(tmp_path):
    mended = of_tests(True, {"success": ["a"], "failure": []})
    for n, one in enumerate((mended, of_tests(True), of_tests(True, tests_status=None)), 1):
        written(tmp_path / f"a__b-{n}" / "report.json", {f"a__b-{n}": one})
    assert [one.attempt.passed for one in trials(tmp_path).values()] == [True] * 3


def test_a_report_in_the_folder_of_another_instance_is_refused(run):
    path = run / LOGS / "django__django-11001" / "report.json"
    path.write_text(path.read_text().replace("django__django-11001", "django__django-5"))
    assert (
        "is in the folder of django__django-11001 - move it to the folder of its instance"
        in faults(run)
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty - copy it again"),
        ('{"django__django-11001": {"resolved": tr', "report.json:1: not JSON"),
        ('{"django__django-11001": {"resolved": true', "report.json:1: cut off in the middle"),
        ('{"a": NaN}', "report.json:1: NaN is not JSON"),
        ("[" * 100_000, "report.json:1: nested too deeply"),
        ("[1]", "report.json: must be a JSON object with a report for each instance"),
    ],
)
def test_a_report_that_cannot_be_read_is_refused_unless_the_harness_said_so(run, text, told):
    (run / LOGS / "django__django-11001" / "report.json").write_text(text)
    assert told in faults(run)
    report = run_report(
        resolved=["sympy__sympy-20001"],
        unresolved=["django__django-11002", "django__django-11003", "psf__requests-3001"],
        error=["sympy__sympy-20002", "django__django-11001"],
        empty_patch=["psf__requests-3002"],
        incomplete=["sympy__sympy-20003"],
    )
    five = {"infra_failure_ids": [], "ambiguous_failure_ids": []}
    written(run / REPORT, report | five)
    one = trials(run)["django__django-11001"].attempt
    assert one.failures == ("evaluation_error",)


def test_run_report_and_reports_must_agree(run):
    report = json.loads((run / REPORT).read_text())
    swapped = {"resolved_ids": report["unresolved_ids"], "unresolved_ids": report["resolved_ids"]}
    counts = {"resolved_instances": 3, "unresolved_instances": 2}
    changed(run / REPORT, **swapped, **counts, infra_failure_ids=[], infra_failure_instances=0)
    told = faults(run)
    assert f"{REPORT}: django__django-11001: says `unresolved`, but its own report" in told
    assert len(told.splitlines()) == 5


def test_a_report_that_was_not_copied_is_missed(run):
    shutil.rmtree(run / LOGS / "django__django-11002")
    assert "completed_ids: django__django-11002: has no report.json" in faults(run)


def test_versions_do_not_mix(run):
    report = run / LOGS / "django__django-11002" / "report.json"
    data = json.loads(report.read_text())
    del data["django__django-11002"]["infra_failure"]
    report.write_text(json.dumps(data))
    assert "written by swebench 5.0.0 or later" in faults(run)
    shutil.copy(RUN / LOGS / "django__django-11002" / "report.json", report)
    old = dict.fromkeys(
        ("infra_failure_ids", "infra_failure_instances", "ambiguous_failure_ids"), "gone"
    )
    changed(run / REPORT, **old, ambiguous_failure_instances="gone", failure_reasons="gone")
    assert "was written by a different version of swebench" in faults(run)


def test_one_instance_has_one_report_and_a_run_one_run_json(run):
    report = run / LOGS / "django__django-11001" / "report.json"
    shutil.copy(report, run / "all.json")
    assert "django__django-11001 has two reports - remove one" in faults(run)
    (run / "all.json").unlink()
    shutil.copy(run / LOGS.parent / "run.json", run / "run.json")
    assert "is a second run.json - use files of the same run" in faults(run)


def test_folders_with_names_of_their_own_say_nothing_of_model_and_run(tmp_path):
    written(tmp_path / "reports" / "mine" / "a__b-1" / "report.json", {"a__b-1": of_tests(True)})
    five = {"infra_failure_ids": [], "ambiguous_failure_ids": []}
    report = written(tmp_path / "report.json", run_report(resolved=["a__b-1"]) | five)
    assert trials(tmp_path)["a__b-1"].attempt.passed is True
    report.rename(tmp_path / "model.run.json")
    assert trials(tmp_path)["a__b-1"].attempt.passed is True


def test_runs_and_models_do_not_mix(run):
    shutil.copytree(run / LOGS, run / LOGS.parent / "acme__agent-y")
    assert "two runs or models: " in faults(run)
    assert len(faults(run).splitlines()) == 1, "not one of each instance that both have"
    shutil.rmtree(run / LOGS.parent / "acme__agent-y")
    (run / REPORT).rename(run / "acme__agent-y.nightly-001.json")
    assert "its file name must begin with acme__agent-x.nightly-001" in faults(run)
    shutil.copy(RUN / REPORT, run / REPORT)
    assert "a report, and so is acme__agent-y.nightly-001.json" in faults(run)


def test_predictions_are_of_the_same_run(run):
    sent = json.loads((RUN / "preds.json").read_text())
    of_another = {key: one | {"model_name_or_path": "b"} for key, one in sent.items()}
    written(run / "preds.json", of_another)
    assert "the logs are of acme__agent-x, but the predictions are by b" in faults(run)
    first = "django__django-11001"
    written(run / "preds.json", sent | {first: of_another[first]})
    assert "has predictions of two models: acme/agent-x and b" in faults(run)
    written(run / "preds.json", sent | {first: sent[first] | {"model_patch": ""}})
    assert f"{first}: was evaluated, but its patch is empty" in faults(run)
    full = sent["psf__requests-3002"] | {"model_patch": "diff"}
    written(run / "preds.json", sent | {"psf__requests-3002": full})
    assert "psf__requests-3002: has a patch, but the report says it has none" in faults(run)
    written(run / "preds.json", {key: one for key, one in sent.items() if key != first})
    assert f"{first}: has a result, but no prediction" in faults(run)
    late = sent[first] | {"instance_id": "sympy__sympy-20003"}
    written(run / "preds.json", sent | {"sympy__sympy-20003": late})
    assert "sympy__sympy-20003: has a prediction, but the report says it has none" in faults(run)


def test_a_prediction_that_is_none_is_refused(run):
    sent = json.loads((RUN / "preds.json").read_text())
    first, other = "django__django-11001", sent["django__django-11002"]
    for wrong, told in (
        ({first: other}, "must be an object with an `instance_id`"),
        ({first: sent[first] | {"model_patch": 7}}, "`model_patch` must be a string or null"),
    ):
        written(run / "preds.json", sent | wrong)
        assert f"preds.json: {first}: {told}" in faults(run)


def test_a_prediction_without_a_report_was_never_evaluated(run):
    (run / REPORT).unlink()
    shutil.rmtree(run / LOGS / "sympy__sympy-20002")
    assert trials(run)["sympy__sympy-20002"].attempt.failures == ("evaluation_error",)


def test_one_instance_has_one_prediction(run):
    sent = list(json.loads((RUN / "preds.json").read_text()).values())
    lines = "".join(json.dumps(one) + "\n" for one in sent)
    written(run / "preds.jsonl", lines)
    assert len(trials(run)) == 8, "the same in two forms"
    written(run / "preds.jsonl", lines.replace("sums.py", "other.py"))
    assert "preds.jsonl:1: django__django-11001 has two predictions - remove one" in faults(run)
    written(run / "preds.jsonl", lines + json.dumps(sent[0]) + "\n")
    assert "preds.jsonl:8: django__django-11001 has two predictions - remove one" in faults(run)
    written(run / "preds.jsonl", lines + '{"instance_id": 7}\n{"model_patch"')
    told = faults(run)
    assert "preds.jsonl:8: must be an object with an `instance_id`" in told
    assert "preds.jsonl:9: cut off in the middle" in told


def test_predictions_alone_say_nothing_of_what_was_resolved(run):
    told = faults(run / "preds.json", UsageError)
    assert "7 predictions, 1 of them empty, but no report on what they resolved" in told
    assert "import the report" in told


# ----------------------------------------------------------------------------------------- variants


@pytest.mark.parametrize(
    ("instances", "suite"),
    [
        (ids(500), "swebench-verified"),
        (ids(2294), "swebench-full"),
        (ids(300), "swebench-lite"),
        (ids(300, "acme__own"), "swebench"),
        (ids(500, "acme__own"), "swebench"),
        (ids(499), "swebench"),
        (ids(300, "redis__redis"), "swebench"),
    ],
)
def test_number_and_repositories_tell_the_variant(tmp_path, instances, suite):
    path = written(tmp_path / "m.r.json", run_report(unresolved=instances))
    found = read(path).suites
    assert [*found] == [suite]
    quoted = [one.of for one in found[suite].quoted]
    assert quoted == (["mini-SWE-agent", "human"] if suite == "swebench-verified" else [])


def test_three_hundred_of_other_languages_are_multilingual(tmp_path):
    names = sorted(one.replace("/", "__") for one in LANGUAGES)
    instances = [f"{names[n % len(names)]}-{n}" for n in range(300)]
    found = read(written(tmp_path / "m.r.json", run_report(resolved=instances)))
    assert [*found.suites] == ["swebench-multilingual"]


def test_a_variant_says_what_it_is_good_for(tmp_path):
    path = written(tmp_path / "m.r.json", run_report(resolved=ids(300)))
    suite = read(path).suites["swebench-lite"]
    assert suite.dataset.startswith("SWE-bench Lite, 300 instances: ")
    assert "faster loop" in suite.dataset


@pytest.mark.parametrize(
    ("dataset", "suite"),
    [
        ("SWE-bench/SWE-bench_Multimodal", "swebench-multimodal"),
        ("princeton-nlp/SWE-Bench_Multimodal", "swebench-multimodal"),
        ("other/SWE-bench_Multimodal", "swebench"),
        (None, "swebench"),
    ],
)
def test_run_json_names_the_dataset(tmp_path, dataset, suite):
    written(tmp_path / "m.r.json", run_report(resolved=ids(500, "eslint__eslint")))
    written(tmp_path / "logs/run_evaluation/r/run.json", {"dataset": dataset, "split": "test"})
    assert [*read(tmp_path).suites] == [suite]


@pytest.mark.parametrize(
    ("n", "suite", "told"),
    [
        (23, "swebench-lite", "SWE-bench Lite, 23 instances: "),
        (20, "swebench", "20 of the 23 instances of SWE-bench Lite"),
    ],
)
def test_a_split_has_its_own_number(tmp_path, n, suite, told):
    written(tmp_path / "m.r.json", run_report(resolved=ids(n)))
    written(tmp_path / "logs/run_evaluation/r/run.json", {"dataset": "lite", "split": "dev"})
    assert read(tmp_path).suites[suite].dataset.startswith(told)


def test_without_a_split_any_number_that_the_variant_has_will_do(tmp_path):
    path = written(tmp_path / "m.r.json", run_report(resolved=ids(23)))
    assert [*read(path, variant="lite").suites] == ["swebench-lite"]


def test_more_than_the_dataset_has_is_no_part_of_it(tmp_path):
    written(tmp_path / "m.r.json", run_report(resolved=ids(501)))
    written(tmp_path / "logs/run_evaluation/r/run.json", {"dataset": "verified", "split": "test"})
    assert "SWE-bench Verified has 500 instances (run.json names" in faults(tmp_path)


def test_a_report_that_names_fewer_than_it_counts_needs_the_ids(tmp_path):
    """Before `incomplete_ids` were written."""
    report = run_report(total=4, resolved=ids(1), unresolved=ids(3)[1:])
    del report["incomplete_ids"]
    path = written(tmp_path / "m.r.json", report)
    assert "total_instances: counts 4 instances, but names 3 - add --option instances" in faults(
        path
    )
    every = written(tmp_path / "ids.txt", "\n".join(ids(4)))
    found = trials(path, instances=str(every), declared=25.0)
    assert found["django__django-4"].attempt.failures == ("no_prediction",)


def test_a_part_of_a_dataset_is_a_suite_of_its_own_and_told_so(tmp_path):
    written(tmp_path / "m.r.json", run_report(resolved=ids(20)))
    written(tmp_path / "logs/run_evaluation/r/run.json", {"dataset": "verified", "split": "test"})
    found = read(tmp_path)
    assert found.suites["swebench"].dataset == "20 of the 500 instances of SWE-bench Verified"
    assert found.suites["swebench"].quoted == ()
    assert "cannot be compared with published ones" in found.notes[1]


@pytest.mark.parametrize(
    ("n", "name", "variant", "told"),
    [
        (
            20,
            "django__django",
            "verified",
            "500 instances (set by --option variant), but these results have 20 - choose",
        ),
        (501, "django__django", "verified", "SWE-bench Verified has 500 instances"),
        (300, "acme__own", "lite", "acme__own-1 and 299 more are not in SWE-bench Lite"),
        (300, "django__django", "multilingual", "are not in SWE-bench Multilingual"),
    ],
)
def test_a_variant_that_it_is_not_is_refused(tmp_path, n, name, variant, told):
    path = written(tmp_path / "m.r.json", run_report(resolved=ids(n, name)))
    assert told in faults(path, variant=variant)
    assert [*read(path, variant="custom").suites] == ["swebench"]


def test_reports_of_fewer_than_the_dataset_has_are_not_the_whole(run):
    (run / REPORT).unlink()
    changed(run / LOGS.parent / "run.json", dataset="SWE-bench/SWE-bench_Verified")
    assert "has 500 instances (run.json names SWE-bench/SWE-bench_Verified), but only 7" in faults(
        run
    )
    assert "--option instances=FILE" in faults(run)
    assert len(trials(run, variant="custom")) == 7
    every = written(run.parent / "ids.txt", "\n".join(trials(run, variant="custom")))
    found = read(run, instances=str(every)).suites["swebench"]
    assert found.dataset == "7 of the 500 instances of SWE-bench Verified"
    assert "run.json names SWE-bench Verified, but --option variant names SWE-bench Lite" in faults(
        run, variant="lite"
    )


# -------------------------------------------------------------------------------------- leaderboard


def test_a_list_of_what_was_resolved_needs_the_ids_of_the_others(tmp_path):
    lists = {"no_generation": ids(2)[1:], "no_logs": [], "resolved": ids(1)}
    written(tmp_path / "results" / "results.json", lists)
    assert "names 2 instances, but not the unresolved ones" in faults(tmp_path)
    assert "--option instances=FILE" in faults(tmp_path, variant="verified")
    every = written(tmp_path / "ids.txt", "\n".join(ids(4)))
    found = trials(tmp_path, instances=str(every))
    assert [one.attempt.failures for one in found.values()] == [
        (),
        ("empty_patch",),
        ("unresolved",),
        ("unresolved",),
    ]
    metrics = read(tmp_path, instances=str(every)).suites["swebench"].metrics
    assert "swebench.submitted_resolved_rate" not in [spec.name for spec in metrics], "unknown"
    few = written(tmp_path / "few.txt", ids(1)[0])
    assert "django-2: is not in the list of instances" in faults(tmp_path, instances=str(few))
    (tmp_path / "logs" / "django__django-4").mkdir(parents=True)
    (tmp_path / "logs" / "django__django-4" / "run_instance.log").write_text("failed")
    assert trials(tmp_path, instances=str(every))["django__django-4"].attempt.passed is False


def test_predictions_in_the_folder_name_the_others(tmp_path):
    written(tmp_path / "results" / "results.json", {"no_generation": [], "resolved": ids(1)})
    rows = [{"instance_id": i, "model_name_or_path": "m", "model_patch": "d"} for i in ids(3)]
    written(tmp_path / "all_preds.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert [one.attempt.passed for one in trials(tmp_path).values()] == [True, False, False]
    every = written(tmp_path / "ids.jsonl", "".join(f'{{"instance_id": "{i}"}}\n' for i in ids(4)))
    assert trials(tmp_path, instances=str(every))["django__django-4"].attempt.failures == (
        "no_prediction",
    )
    lists = {"no_generation": ["django__django-9"], "resolved": ids(1)}
    written(tmp_path / "results" / "results.json", lists)
    assert trials(tmp_path)["django__django-9"].attempt.failures == ("empty_patch",)


def test_the_lists_of_2024_keep_their_reasons(tmp_path):
    lists = {
        "generated": ids(6),
        "with_logs": ids(5),
        "no_generation": ["django__django-7"],
        "no_apply": ids(3)[1:],
        "install_fail": ids(3)[2:],
        "test_timeout": ids(4)[3:],
        "applied": ids(5)[3:],
        "resolved": ids(1),
    }
    found = trials(written(tmp_path / "r.json", lists))
    assert [one.attempt.failures for one in found.values()] == [
        (),
        ("no_apply",),
        ("install_fail",),
        ("test_timeout",),
        ("unresolved",),
        ("unresolved",),
        ("empty_patch",),
    ]
    both = written(tmp_path / "r.json", lists | {"no_apply": ids(1)})
    assert "no_apply: django__django-1: is also in resolved - use the original file" in faults(both)


def details(resolved, n=500):
    return {
        one: {"cost": 0.5, "api_calls": 12, "resolved": i < resolved}
        for i, one in enumerate(ids(n))
    }


def test_a_leaderboard_file_gives_cost_and_model_calls(tmp_path):
    path = written(tmp_path / "per_instance_details.json", details(348))
    one = trials(path, declared=69.6)["django__django-1"].attempt
    assert (one.response.usage.cost_usd, one.response.turns) == (0.5, 12)
    suite = read(path).suites["swebench-verified"]
    assert "swebench.submitted_resolved_rate" not in [spec.name for spec in suite.metrics]
    written(tmp_path / "logs" / "django__django-1" / "report.json", {ids(1)[0]: of_tests(True)})
    one = trials(tmp_path)["django__django-1"].attempt
    assert (one.response.usage.cost_usd, one.response.turns) == (0.5, 12)
    assert "tests pass" in one.scores["swebench"].reason


def test_verdicts_that_belie_the_published_score_are_refused(tmp_path):
    path = written(tmp_path / "per_instance_details.json", details(0))
    assert "says 69.6 %, but " in faults(path, declared=69.6)
    assert "0 of 500 resolved, 0.00 %" in faults(path, declared=69.6)
    written(tmp_path / "metadata.yaml", "info:\n  resolved: 69.6\n")
    assert "metadata.yaml: resolved: says 69.6 %" in faults(tmp_path)
    written(path, details(348))
    assert read(tmp_path)
    written(tmp_path / "metadata.yaml", "info:\n  resolved: most\n")
    assert "metadata.yaml: resolved: 'most' is not a percentage" in faults(tmp_path)
    written(tmp_path / "metadata.yaml", "resolved: 696\n")
    assert "metadata.yaml: resolved: '696' is not a percentage" in faults(tmp_path)
    written(tmp_path / "metadata.yaml", "a: [")
    assert "metadata.yaml" in faults(tmp_path)


@pytest.mark.parametrize(
    ("resolved", "n", "declared", "fits"),
    [
        (79, 300, 26.33, True),
        (79, 300, 26.3, True),
        (79, 300, 26.34, False),
        (80, 300, 26.33, False),
        (350, 500, 70, True),
        (351, 500, 70, False),
        (348, 500, 0.696, False),
    ],
)
def test_a_score_is_held_to_the_digits_that_it_has(tmp_path, resolved, n, declared, fits):
    path = written(tmp_path / "d.json", details(resolved, n))
    if fits:
        assert read(path, declared=float(declared))
    else:
        assert "of another run" in faults(path, declared=float(declared))


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("i.json", '["a", "a"]', "[1]: a appears twice"),
        ("i.json", "[3]", "[0]: not an instance"),
        ("i.jsonl", '{"id": 3}\n{', "i.jsonl:1: not an instance"),
        ("i.txt", "\n \n", "has no instance id"),
    ],
)
def test_ids_that_are_none_are_refused(tmp_path, name, data, told):
    path = written(tmp_path / "m.r.json", run_report(resolved=ids(1)))
    assert told in faults(path, instances=str(written(tmp_path / name, data)))


# -------------------------------------------------------------------------- trajectories and others


def test_trajectories_give_steps_and_cost(run):
    found = trials(run, trajectories=str(EXAMPLES / "mini-swe-agent" / "run"))
    one = found["django__django-11001"].attempt
    assert [step.name for step in one.response.steps] == ["bash"] * 3
    assert (one.response.usage.cost_usd, one.passed) == (0.06, True)
    note = read(run, trajectories=str(EXAMPLES / "mini-swe-agent" / "run")).notes[-1]
    assert note.startswith("5 of 8 instances have no trajectory")
    limited = found["psf__requests-3002"].attempt
    assert limited.failures == ("empty_patch", "limits_exceeded")
    plain = trials(run)
    assert {i: t.case.digest for i, t in found.items()} == {
        i: t.case.digest for i, t in plain.items()
    }, "a run with and one without trajectories are compared case by case"


def test_a_patch_that_resolves_passes_however_its_agent_ended(tmp_path):
    instances = ["django__django-11001", "django__django-11002", "psf__requests-3002"]
    path = written(tmp_path / "m.r.json", run_report(resolved=instances))
    found = trials(path, trajectories=str(EXAMPLES / "mini-swe-agent" / "run"))
    assert [(one.attempt.passed, one.attempt.failures) for one in found.values()] == [
        (True, ())
    ] * 3


def test_trajectories_of_other_instances_are_refused(tmp_path):
    path = written(tmp_path / "m.r.json", run_report(resolved=ids(1)))
    told = faults(path, trajectories=str(EXAMPLES / "mini-swe-agent" / "run"))
    assert "django__django-11001 and 2 more: has a trajectory, but no result" in told


def test_links_are_not_followed_and_not_passed_over(run):
    (run / REPORT).replace(run.parent / "elsewhere.json")
    (run / REPORT).symlink_to(run.parent / "elsewhere.json")
    assert f"{REPORT}: symbolic links are not followed" in faults(run)
    (run / REPORT).unlink()
    own = run / LOGS / "django__django-11001" / "report.json"
    own.unlink()
    own.symlink_to(run.parent / "elsewhere.json")
    assert "report.json: symbolic links are not followed" in faults(run)


@pytest.mark.parametrize("text", ["", "{", "null", "7", '"a"', "[]", "{}", '{"a": 1}', "[[]]"])
def test_other_files_are_no_results(tmp_path, text):
    assert str(written(tmp_path / "x.json", text)) in faults(tmp_path / "x.json", UsageError)


def test_a_folder_has_many_other_files(run):
    written(run / "package.json", '{"name": "x"}')
    written(run / "notes.jsonl", '{"resolved": []}\n')
    written(run / "deep" / "down" / "x.json", "{")
    assert len(trials(run)) == 8
    written(run / "package.json", '{"name": ')
    assert "package.json:1: cut off" in faults(run)


def test_what_it_looks_like(tmp_path):
    ours = IMPORTERS.get_class("swebench").recognises
    for name in ("run", "run/" + REPORT, "leaderboard", "lists/results.json", "run/preds.json"):
        assert ours(look(EXAMPLES / "swebench" / name)), name
    assert ours(look(written(tmp_path / "big.json", details(0, 5_000)))), "longer than the head"
    written(tmp_path / "board" / "results" / "results.json", {"resolved": []})
    written(tmp_path / "board" / "metadata.yaml", "info: {}")
    assert ours(look(tmp_path / "board"))
    for other in ("mini-swe-agent/run", "swebench/leaderboard/metadata.yaml"):
        assert not ours(look(EXAMPLES / other)), other
    assert not ours(look(written(tmp_path / "junk.json", '{"a": 1}')))
