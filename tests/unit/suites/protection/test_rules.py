"""Whose rules judge: a real repository with a base branch and a branch that moves its goalposts."""

import json

import pytest

from gate.errors import InvalidInput, UsageError
from gate.records import Config, GateRule, PluginSpec, Policy, ReportOptions, Suite
from gate.run.prepare import Selection, prepare
from gate.suites.protection.rules import disk, judging_rules, load_own_config, protect_rules
from gate.user_code.processes import PROCESSES
from tests.support.own_grader import GRADER
from tests.support.protected_repository import (
    TODAY,
    Repository,
    committed_repository,
    config,
    dataset,
    plan_of,
)

FACTS = PluginSpec(name="facts")


def suite(**keys):
    return Suite(**{"name": "s", "dataset": "d.jsonl", "graders": (FACTS,), **keys})


def settings(**keys):
    return Config(**{"agent": PluginSpec(name="sample"), "suites": (suite(),), **keys})


@pytest.fixture
def repository(tmp_path):
    return committed_repository(tmp_path)


def test_the_bases_rules_judge_and_what_the_branch_loosens_is_listed(repository):
    looser = config(gates="agent.success_rate: {min: 0.1}", more="policy: {error: pass}")
    repository.write(gate_yml=looser.replace("[echo]", "[cat]"))
    rules = repository.rules()
    assert rules.config.gates[0].min == 0.9
    assert rules.config.policy.error == "fail"
    assert rules.config.agent.options["command"] == ["cat"], "the agent is the branch's own"
    assert rules.base_agent.options["command"] == ["echo"], "what a fresh control may ask"
    assert rules.loosened == (
        "`agent.success_rate` min 0.90 -> 0.10 in `gate.yml:5`",
        "`policy.error` fail -> pass",
    )


def test_a_removed_case_still_runs_and_an_edited_one_as_the_base_has_it(repository):
    repository.write(cases_jsonl=dataset(b="easy", c="3"))
    plan = plan_of(repository.rules())
    cases = {case.id: case.keys["expected_answer"] for case in plan.cases()}
    assert cases == {"a": "1", "b": "2", "c": "3"}
    assert plan.new_cases == frozenset()
    assert plan.loosened == (
        "removes 1 case of `s`: `a`",
        "edits 1 case of `s`: `b` in `cases.jsonl:1`",
    )


@pytest.mark.parametrize("status", ["proposed", "rejected"])
def test_a_case_that_is_no_longer_approved_counts_as_removed(repository, status):
    rows = dataset(b="2", c="3") + json.dumps(
        {"id": "a", "input": "q a", "expected_answer": "1", "status": status}
    )
    repository.write(cases_jsonl=rows)
    plan = plan_of(repository.rules())
    assert {case.id for case in plan.cases()} == {"a", "b", "c"}
    assert plan.loosened == ("removes 1 case of `s`: `a`",)


def test_cases_and_categories_of_the_branch_push_none_of_the_bases_out_of_a_sample(repository):
    many = {f"n{number}": "1" for number in range(200)}
    shown = dataset(a="1", b="2", c="3", **many)
    repository.write(cases_jsonl=shown.replace('"id": "a",', '"id": "a", "category": "other",'))
    rules = repository.rules()
    (plan,) = prepare(rules.config.suites, rules, Selection(sample=3))
    assert {case.id for case in plan.cases()} >= {"a", "b", "c"}
    assert plan.not_selected == 0


def test_a_whole_dataset_that_was_deleted_still_runs(repository):
    repository.write(cases_jsonl=None)
    assert {case.id for case in plan_of(repository.rules()).cases()} == {"a", "b", "c"}


def test_a_new_case_runs_and_does_not_gate(repository):
    before = plan_of(repository.rules()).dataset_digest
    repository.write(cases_jsonl=dataset(a="1", b="2", c="3", d="4"))
    plan = plan_of(repository.rules())
    assert [case.id for case in plan.cases()] == ["a", "b", "c", "d"]
    assert plan.new_cases == {"d"}
    assert plan.loosened == ()
    assert plan.dataset_digest != before


def test_a_new_suite_runs_and_does_not_gate(repository):
    second = "  - {name: t, dataset: more.jsonl, graders: [exact_match]}\ngates:"
    repository.write(gate_yml=config().replace("gates:", second), more_jsonl=dataset(x="1", y="2"))
    rules = repository.rules()
    assert rules.new_suites == {"t"}
    plans = prepare(rules.config.suites, rules, Selection())
    assert [(plan.name, sorted(plan.new_cases)) for plan in plans] == [
        ("s", []),
        ("t", ["x", "y"]),
    ]


def test_a_suite_that_was_removed_still_judges(repository):
    other = config().replace("name: s", "name: t")
    repository.write(gate_yml=other)
    rules = repository.rules()
    assert [suite.name for suite in rules.config.suites] == ["s", "t"]
    assert rules.loosened == ("removes the suite `s`",)


def test_a_base_without_gate_yml_leaves_the_own_rules_with_a_note(tmp_path):
    repository = Repository(tmp_path)
    repository.commit(readme_md="")
    repository.write(gate_yml=config(), cases_jsonl=dataset(a="1"))
    rules = repository.rules()
    assert (rules.base, rules.base_agent) == (None, None)
    assert rules.config == rules.own
    assert rules.notes == ("judged by its own rules: main has no gate.yml that can be read",)


def test_a_broken_base_leaves_the_own_rules_and_says_where_it_is_broken(repository):
    repository.commit(gate_yml=config(graders="[exact_mach]"))
    repository.write(gate_yml=config())
    rules = repository.rules()
    assert rules.config == rules.own
    (note,) = rules.notes
    assert note.startswith("judged by its own rules: gate.yml of main is not valid: gate.yml:4:")
    assert "did you mean 'exact_match'" in note


def test_a_grader_file_that_the_base_needs_and_the_branch_deleted_is_an_error(repository):
    """Else deleting the grader would be the way to be judged by one's own rules."""
    mine = '["./mine.py:Mine"]'
    repository.commit(gate_yml=config(graders=mine), mine_py=GRADER)
    repository.write(gate_yml=config(), mine_py=None)
    with pytest.raises(InvalidInput, match=r"mine\.py"):
        repository.rules()


def test_an_edited_grader_file_is_told_and_its_metric_cannot_be_compared(repository):
    mine = '["./mine.py:Mine"]'
    repository.commit(gate_yml=config(graders=mine), mine_py=GRADER)
    before = plan_of(repository.rules()).grader_digests["correctness.mine"]
    assert repository.rules().loosened == ()
    PROCESSES.end()  # the next command
    repository.write(mine_py=GRADER + "# looser\n")
    rules = repository.rules()
    assert rules.loosened == ("changes the grader file `mine.py`: its metrics are not compared",)
    plan = plan_of(rules)
    assert plan.grader_digests["correctness.mine"] != before
    why = "this change edits its grader file `mine.py`"
    columns = ("correctness.mine", "success", "first_success", "score")
    assert plan.edited == dict.fromkeys(columns, why)


def test_a_grader_named_by_its_module_is_compared_too(repository):
    repository.commit(gate_yml=config(graders='["mine:Mine"]'), mine_py=GRADER)
    assert repository.rules().edited_graders == frozenset()
    PROCESSES.end()  # the next command
    repository.write(mine_py=GRADER + "# looser\n")
    assert repository.rules().edited_graders == {"mine.py"}


def test_a_module_with_a_grader_that_the_branch_deleted_is_an_error(repository):
    repository.commit(gate_yml=config(graders='["lost:Mine"]'), lost_py=GRADER)
    repository.write(lost_py=None, gate_yml=config())
    with pytest.raises(InvalidInput, match="lost"):
        repository.rules()


def test_an_agent_that_the_branch_took_away_does_not_unseat_the_bases_rules(repository):
    theirs = config(more="").replace(
        "{type: command, command: [echo]}", "{type: http, url: 'http://x', headers: {k: '${GONE}'}}"
    )
    repository.commit(gate_yml=theirs)
    repository.write(gate_yml=config(gates="agent.success_rate: {min: 0.1}"))
    rules = repository.rules()
    assert rules.notes == ()
    assert rules.config.gates[0].min == 0.9


def test_a_base_that_switched_protection_off_leaves_the_own_rules(repository):
    repository.commit(gate_yml=config(more="protect: false"))
    repository.write(gate_yml=config(gates="agent.success_rate: {min: 0.2}"))
    rules = repository.rules()
    assert (rules.base, rules.base_agent.options) == (None, {"command": ["echo"]})
    assert rules.config.gates[0].min == 0.2
    assert rules.loosened == ("`agent.success_rate` min 0.90 -> 0.20 in `gate.yml:5`",)
    assert rules.has_base


def test_with_protection_off_the_own_cases_run_and_what_they_lack_is_told(repository):
    repository.commit(gate_yml=config(more="protect: false"))
    repository.write(cases_jsonl=dataset(b="easy", c="3"))
    plan = plan_of(repository.rules())
    cases = {case.id: case.keys["expected_answer"] for case in plan.cases()}
    assert cases == {"b": "easy", "c": "3"}
    assert plan.loosened == (
        "removes 1 case of `s`: `a`",
        "edits 1 case of `s`: `b` in `cases.jsonl:1`",
    )
    assert plan.edited == {}


def test_with_protection_off_a_grader_may_go(repository):
    mine = '["./mine.py:Mine"]'
    repository.commit(gate_yml=config(graders=mine, more="protect: false"), mine_py=GRADER)
    repository.write(gate_yml=config(more="protect: false"), mine_py=None)
    rules = repository.rules()
    assert rules.config == rules.own


def test_the_branch_alone_cannot_switch_protection_off(repository):
    repository.write(gate_yml=config(gates="", more="protect: false"))
    rules = repository.rules()
    assert rules.config.gates[0].min == 0.9
    assert "sets `protect: false`" in rules.loosened


def test_without_a_base_the_reason_is_told_whatever_the_branch_says_of_protect(repository):
    def alone(text):
        repository.write(gate_yml=text)
        own = load_own_config(None, repository.folder, {}, TODAY)
        given = {"root": repository.folder, "base": None, "env": {}}
        return judging_rules(own, why_no_base="no git", **given).notes

    told = ("judged by its own rules: no git",)
    assert alone(config()) == told
    assert alone(config(more="protect: false")) == told


@pytest.mark.parametrize("more", ["", "protect: false"])
def test_a_file_that_the_base_lacks_judges_and_that_is_told(repository, more):
    easier = config(gates="agent.success_rate: {min: 0.1}", more=more)
    (repository.folder / "other.yml").write_text(easier)
    rules = repository.rules("other.yml")
    assert rules.config.gates[0].min == 0.1
    assert rules.notes == (
        "judged by its own rules: main has no other.yml that can be read, and its gate.yml was not"
        " used",
    )


@pytest.mark.parametrize("theirs", [None, config(graders="[exact_mach]"), "protect: false"])
def test_the_built_in_rules_judge_only_where_that_is_told(repository, theirs):
    if theirs == "protect: false":
        theirs = config(more=theirs)
    repository.commit(gate_yml=theirs)
    repository.write(**({"gate_yml": None} if theirs else {}))
    (note,) = repository.rules().notes
    assert note.startswith("judged by the built-in rules: ")


def test_without_gate_yml_the_bundled_suites_are_judged_by_the_defaults(tmp_path):
    own = load_own_config(None, tmp_path, {}, TODAY)
    rules = judging_rules(own, root=tmp_path, base=None, env={}, why_no_base="no git")
    assert own.file is None
    assert rules.notes == ("judged by the built-in rules: no git",)
    source = rules.head_source(own.suites[0])
    assert source.name.startswith("bundled ")
    assert rules.base_source(own.suites[0]) is None


def test_a_folder_is_no_file_to_read(tmp_path):
    (tmp_path / "gate.yml").mkdir()
    with pytest.raises(UsageError, match=r"gate\.yml: a folder, not a regular file"):
        disk(tmp_path)("gate.yml")
    assert disk(tmp_path)("nowhere") is None


def test_deleting_gate_yml_is_no_way_to_be_judged_by_none_of_its_rules(repository):
    repository.write(gate_yml=None)
    with pytest.raises(UsageError, match=r"gate\.yml: main has it, and its rules apply"):
        repository.rules()
    repository.commit(gate_yml=config(more="protect: false"))
    repository.write(gate_yml=None)
    assert repository.rules().own.file is None


def test_a_branch_without_gate_yml_beside_a_base_without_one_is_judged_by_the_defaults(tmp_path):
    repository = Repository(tmp_path)
    repository.commit(readme_md="")
    rules = repository.rules()
    assert rules.config == rules.own
    assert rules.notes == ("judged by the built-in rules: main has no gate.yml that can be read",)


def test_a_grader_that_was_edited_until_the_bases_rules_do_not_fit_is_an_error(repository):
    """Another name for its metric makes the base's gate unknown: the base's rules judge still."""
    mine = '["./mine.py:Mine"]'
    gated = config(graders=mine, gates="correctness.mine: {min: 0.5}")
    repository.commit(gate_yml=gated, mine_py=GRADER)
    renamed = GRADER.replace('"correctness.mine"', '"correctness.other"')
    repository.write(gate_yml=config(graders=mine), mine_py=renamed)
    with pytest.raises(InvalidInput, match="unknown metric"):
        repository.rules()


def test_a_quarantine_that_ended_does_not_unseat_the_bases_rules(repository):
    ended = "quarantine: [{case: a, until: 2026-11-01, owner: ann}]"
    repository.commit(gate_yml=config(more=ended))
    repository.write(gate_yml=config(gates="agent.success_rate: {min: 0.1}"))
    rules = repository.rules()
    assert rules.notes == ()
    assert rules.config.gates[0].min == 0.9


@pytest.mark.parametrize("section", ["judge", "control_agent"])
def test_a_variable_that_a_fork_has_not_does_not_unseat_the_bases_rules(repository, section):
    asked = "{type: http, url: 'http://x', headers: {k: '${GONE}'}}"
    if section == "judge":
        asked = "{type: openai, base_url: '${GONE}', model: m}"
    repository.commit(gate_yml=config(more=f"{section}: {asked}"))
    repository.write(gate_yml=config(gates="agent.success_rate: {min: 0.1}"))
    with pytest.raises(InvalidInput, match="GONE is not set"):
        repository.rules()


def test_a_file_that_judges_is_the_bases_and_without_a_base_the_own(repository):
    repository.commit(labels_jsonl="theirs")
    repository.git("checkout", "-q", "-b", "work")
    repository.write(labels_jsonl="mine", more_jsonl="new")
    rules = repository.rules()
    theirs = rules.judging_file("labels.jsonl")
    assert theirs.name.startswith("labels.jsonl@")
    assert theirs.open().read() == b"theirs"
    assert rules.judging_file("more.jsonl") is None
    assert rules.judging_file(str(repository.folder / "labels.jsonl")) is None
    alone = judging_rules(rules.own, root=repository.folder, base=None, env={})
    with alone.judging_file("labels.jsonl").open() as file:
        assert file.read() == b"mine"
    assert alone.judging_file("none.jsonl") is None


def test_everything_but_the_agent_and_its_retriever_comes_from_the_base():
    new = suite(name="new")
    head = settings(
        agent=PluginSpec(name="openai"),
        retriever=PluginSpec(name="recorded"),
        control_agent=PluginSpec(name="http"),
        gates=(GateRule(metric="m.x", min=0.1),),
        policy=Policy(error="pass"),
        suites=(suite(rounds=1), new),
        report=ReportOptions(html=False),
    )
    kept = PluginSpec(name="command")
    strict = (GateRule(metric="m.x", min=0.9),)
    theirs = PluginSpec(name="python")
    base = settings(gates=strict, suites=(suite(rounds=5),), control_agent=kept, retriever=theirs)
    judged = protect_rules(head, base, (new,))
    assert (judged.agent.name, judged.control_agent) == ("openai", kept)
    assert judged.retriever == PluginSpec(name="recorded")
    assert (judged.gates, judged.policy, judged.report) == (base.gates, base.policy, base.report)
    assert [(s.name, s.rounds) for s in judged.suites] == [("s", 5), ("new", 3)]
