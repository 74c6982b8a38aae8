import json
from datetime import date

import pytest

from gate.errors import InvalidInput, UsageError
from gate.run.prepare import Selection, prepare
from gate.run.suite_metrics import metrics_of
from gate.suites.protection.rules import judging_rules, load_own_config

TODAY = date(2026, 11, 20)


@pytest.fixture
def project(tmp_path):
    """Two suites of 12 and 4 cases in a folder without a repository."""
    for name, number in (("a", 12), ("b", 4)):
        rows = [
            {"id": f"{name}{n}", "input": "q", "expected_answer": "x", "category": "ab"[n % 2]}
            for n in range(number)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "gate.yml").write_text(
        "version: 1\nagent: {type: sample}\nsuites:\n"
        "  - {name: a, dataset: a.jsonl, rounds: 2,\n"
        "     graders: [exact_match, {contains: {text: x}}],\n"
        "     sample: {pull_request: 6, schedule: all}}\n"
        "  - {name: b, dataset: b.jsonl, graders: [exact_match]}\n"
    )
    return tmp_path


def plans(folder, **selection):
    own = load_own_config(None, folder, {}, TODAY)
    rules = judging_rules(own, root=folder, base=None, env={})
    return {p.suite.name: p for p in prepare(own.suites, rules, Selection(**selection))}


def test_everything_runs_by_default(project):
    a = plans(project)["a"]
    assert len(a.chosen) == len(a.all_ids) == 12
    assert a.not_selected == 0
    assert [case.id for case in a.cases()] == [f"a{n}" for n in range(12)]
    assert [case.id for case in a.task_source().cases(None)] == [case.id for case in a.cases()]
    meta = a.meta()
    assert (meta.cases, meta.rounds, meta.not_selected) == (12, 2, 0)
    assert "correctness.contains" in meta.specs


def test_a_sample_is_nested_and_the_rest_is_not_selected(project):
    small, large = (plans(project, sample=n)["a"] for n in (3, 6))
    assert small.chosen < large.chosen
    assert (len(small.chosen), small.not_selected) == (3, 9)
    assert small.dataset_digest == large.dataset_digest
    assert plans(project, sample=3)["b"].not_selected == 1


def test_the_event_chooses_the_suites_own_sample(project):
    assert len(plans(project, event="pull_request")["a"].chosen) == 6
    assert len(plans(project, event="pull_request")["b"].chosen) == 4
    assert len(plans(project, event="schedule")["a"].chosen) == 12
    assert len(plans(project, event="push")["a"].chosen) == 12
    assert len(plans(project, event="pull_request", sample=2)["a"].chosen) == 2


def test_shards_part_the_cases(project):
    parts = [plans(project, shard=(n, 3))["a"].chosen for n in (1, 2, 3)]
    assert frozenset().union(*parts) == plans(project)["a"].all_ids
    assert sum(map(len, parts)) == 12


def test_named_cases_run_alone(project):
    chosen = plans(project, case_ids=frozenset({"a3", "b1"}))
    assert [sorted(plan.chosen) for plan in chosen.values()] == [["a3"], ["b1"]]
    with pytest.raises(UsageError, match="--case a99: no such case"):
        plans(project, case_ids=frozenset({"a3", "a99"}))


def test_the_problems_of_all_datasets_are_told_at_once(project):
    (project / "a.jsonl").write_text('{"id": "a"}\n')
    (project / "b.jsonl").write_text("{broken\n")
    with pytest.raises(InvalidInput) as caught:
        plans(project)
    assert {problem.place.file for problem in caught.value.problems} == {"a.jsonl", "b.jsonl"}


def test_success_hangs_on_the_graders_that_decide_and_a_metric_on_its_own(project):
    before = plans(project)["a"].grader_digests
    config = project / "gate.yml"
    config.write_text(config.read_text().replace("{text: x}", "{text: y}"))
    after = plans(project)["a"].grader_digests
    changed = {column for column in before if before[column] != after[column]}
    assert changed == {"correctness.contains", "success", "first_success", "score"}


def test_a_grader_without_an_opinion_leaves_success_comparable(project):
    before = plans(project)["a"].grader_digests
    text = (project / "gate.yml").read_text()
    (project / "gate.yml").write_text(text.replace("[exact_match,", "[exact_match, structure,", 1))
    after = plans(project)["a"].grader_digests
    assert before.pop("score") != after["score"]
    assert before.items() < after.items()
    assert "response_quality.structure" in after


def test_metrics_of_suites(project):
    config = load_own_config(None, project, {}, TODAY)
    suites = config.suites
    assert "correctness.contains" in metrics_of(suites, config, project)
    assert "correctness.contains" not in metrics_of(suites[1:], config, project)
    assert metrics_of([], config, project) == frozenset()


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:3],
        lambda lines: [],
        lambda lines: [lines[0].replace('"x"', '"y"'), *lines[1:]],
        lambda lines: [*lines, lines[5]],
        lambda lines: ["{", *lines[1:]],
    ],
    ids=["cut", "emptied", "another answer", "twice", "broken"],
)
def test_a_dataset_that_changes_while_the_run_goes_on_ends_it(project, change):
    a = plans(project)["a"]
    assert len(list(a.cases())) == 12
    file = project / "a.jsonl"
    file.write_text("".join(change(file.read_text().splitlines(keepends=True))))
    with pytest.raises(UsageError, match=r"a\.jsonl"):
        list(a.cases())


def test_a_dataset_may_get_more_cases_while_the_run_goes_on(project):
    """They are none of this run, and a file that is being written is no fault."""
    a = plans(project)["a"]
    with (project / "a.jsonl").open("a") as file:
        file.write('{"id": "new", "input": "q", "expected_answer": "x"}\n')
    assert len(list(a.cases())) == 12


def test_of_a_dataset_only_the_lines_of_the_wanted_cases_are_read(project):
    """What stands in the others cannot even be a fault of this batch."""
    a = plans(project)["a"]
    file = project / "a.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join("{\n" if '"a3"' in line else line for line in lines))
    assert [case.id for case in a.cases(frozenset({"a1", "a7"}))] == ["a1", "a7"]
    with pytest.raises(InvalidInput, match=r"a\.jsonl:4"):
        list(a.cases(frozenset({"a3", "a7"})))
