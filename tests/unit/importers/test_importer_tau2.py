"""The importer of tau2 results: ends, components of the reward, and what contradicts itself."""

import json
import shutil
from pathlib import Path

import pytest

from gate.errors import InvalidInput, UsageError
from gate.plugins import IMPORTERS
from tests.support.paths import DATA

EXAMPLES = DATA / "imports" / "tau2"
RUN = json.loads((EXAMPLES / "results.json").read_text())


def changed(n=0, **changes):
    """The run with other values in one simulation; a dotted key reaches into reward_info."""
    run = json.loads(json.dumps(RUN))
    for key, value in changes.items():
        inside = key.startswith("reward_info__")
        there = run["simulations"][n]["reward_info"] if inside else run["simulations"][n]
        there[key.removeprefix("reward_info__")] = value
    return run


def read(tmp_path, run, **options):
    file = tmp_path / "results.json"
    file.write_text(json.dumps(run))
    return IMPORTERS.get_class("tau2")(**options).read(file)


def trial(tmp_path, n=0, **changes):
    return list(read(tmp_path, changed(n, **changes)).trials())[n]


def faults(tmp_path, run):
    with pytest.raises(InvalidInput) as caught:
        read(tmp_path, run)
    return str(caught.value).replace(f"{tmp_path.as_posix()}/", "")


def test_a_run_has_its_time_agent_version_and_settings(tmp_path):
    found = read(tmp_path, RUN)
    assert found.created_at == "2026-05-12T14:30:52Z"
    assert (found.provenance.agent, found.provenance.tool_version) == (
        "m/1",
        "tau2-bench 0123456789ab",
    )
    settings = {"num_trials": 2, "max_steps": 100, "seed": 300, "user": "gpt-4.1"}
    assert found.options == settings
    (suite,) = found.suites.values()
    assert ([*found.suites], suite.cases, suite.rounds) == (["tau2-seats"], 2, 2)
    assert [*read(tmp_path, RUN, suite="other").suites] == ["other"]


def test_a_simulation_has_components_cost_time_and_the_agents_own_steps(tmp_path):
    found = trial(tmp_path)
    own = found.attempt
    assert (found.case.id, found.round, own.status, own.passed) == ("seat_1", 1, "completed", True)
    assert found.case.input.startswith("You want seat 4A.\n\nYou are Ida.")
    assert found.case.keys["reference_trajectory"] == [
        {"name": "book_seat", "args": {"seat": "4A"}}
    ]
    assert own.scores["tau2-bench"].values == {
        "tau.reward": 1.0,
        "tau.user_cost": 0.0008,
        "tau2.db": 1.0,
        "tau2.communicate": 1.0,
        "tau2.actions": 1.0,
        "tau2.env_assertions": None,
        "tau2.nl_assertions": None,
    }
    answer = own.response
    assert (own.latency_ms, answer.usage.cost_usd, answer.turns) == (8250.0, 0.005, 2)
    assert answer.usage.input_tokens == 850, "the greeting is no call of the model"
    assert [(step.name, step.result) for step in answer.steps] == [("book_seat", '{"seat": "4A"}')]
    assert (answer.answer, answer.trace_faults) == ("Seat 4A is yours, at 12 euros.", ())


def test_calls_of_the_user_are_none_of_the_agent(tmp_path):
    call = {"id": "u1", "name": "reboot_phone", "arguments": {}, "requestor": "user"}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Reboot it.", "usage": None},
        {"role": "user", "content": None, "tool_calls": [call]},
        {"role": "tool", "id": "u1", "content": "ok", "requestor": "user"},
        {"role": "assistant", "tool_calls": [{"id": "t1", "name": "look", "arguments": {"a": 1}}]},
        {
            "role": "tool",
            "tool_messages": [{"role": "tool", "id": "t1", "content": "x", "error": 0}],
        },
    ]
    answer = trial(tmp_path, messages=messages).attempt.response
    assert [(step.name, step.arguments, step.result) for step in answer.steps] == [
        ("look", {"a": 1}, "x")
    ]
    assert answer.trace_faults == ()


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("max_steps", "completed"),
        ("too_many_errors", "completed"),
        ("user_error", "completed"),
        ("context_window_exceeded", "completed"),
        ("timeout", "agent_error"),
        ("agent_error", "agent_error"),
        ("unexpected_error", "agent_error"),
    ],
)
def test_an_early_end_has_failed_and_says_which(tmp_path, reason, status):
    info = {"reward": 0.0, "reward_basis": None}
    own = trial(tmp_path, termination_reason=reason, reward_info=info).attempt
    assert (own.status, own.passed, own.failures[0]) == (status, False, reason)
    assert own.scores["tau2-bench"].values["tau.reward"] == 0.0


def test_infrastructure_errors_are_left_out_first_and_lower_k(tmp_path):
    run = changed(0, termination_reason="infrastructure_error", reward_info=None)
    found = read(tmp_path, run)
    own = next(found.trials()).attempt
    assert (own.status, own.passed) == ("infra_error", None)
    assert own.scores["tau2-bench"].values["tau.reward"] is None
    (suite,) = found.suites.values()
    names = [spec.name for spec in suite.metrics]
    assert ("tau.pass^1" in names, "tau.pass^2" in names) == (True, False)
    assert "1 of 4 simulations ended with infrastructure_error" in found.notes[0]


def test_what_nobody_evaluated_is_unscored(tmp_path):
    run = changed(0, reward_info=None)
    own = next(read(tmp_path, run).trials()).attempt
    assert (own.passed, own.failures) == (None, ())
    assert own.scores["tau2-bench"].unscored == "not evaluated: it has no reward_info"
    early = trial(tmp_path, reward_info=None, termination_reason="max_steps").attempt
    assert (early.passed, early.failures) == (False, ("max_steps", "inefficient"))


def test_a_failed_simulation_names_the_components_of_its_basis(tmp_path):
    found = list(read(tmp_path, RUN).trials())[3]
    assert found.attempt.failures == ("db_failed",), "actions are one way, not in the basis"
    assert found.attempt.scores["tau2-bench"].values["tau2.actions"] == 0.0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"reward_info__reward": 0.0}, "reward: says 0, but the product of DB, COMMUNICATE is 1"),
        (
            {"reward_info__db_check": {"db_match": False, "db_reward": 0.0}},
            "reward_breakdown.DB: says 1, but its checks give 0",
        ),
        (
            {"reward_info__communicate_checks": [{"info": "12", "met": False}]},
            "reward_breakdown.COMMUNICATE: says 1, but its checks give 0",
        ),
        (
            {"reward_info__reward_basis": ["DB", "ACTION"], "reward_info__action_checks": [
                {"action_match": False}
            ]},
            "reward: says 1, but the product of DB, ACTION is 0",
        ),
        ({"reward_info__action_checks": [{"action_match": 0}]}, "action_checks must be a list of"),
        ({"reward_info__communicate_checks": {}}, "communicate_checks must be a list of checks"),
        ({"reward_info__db_check": {"db_match": False, "db_reward": 1.0}}, "db_check needs a db"),
        ({"reward_info__db_check": {"db_match": "true"}}, "db_check needs a db_match"),
        ({"termination_reason": "max_steps"}, "reward: says 1, but max_steps earns none"),
        ({"termination_reason": "done"}, "termination_reason is not one of user_stop, agent_stop"),
        ({"task_id": 7}, "task_id is not a string"),
        ({"id": ""}, "id is not a string"),
        ({"id": "s2"}, "id 's2' appears twice"),
        ({"trial": 1}, "task seat_1 has trial 1 twice"),
        ({"trial": "0"}, "trial is not a number"),
        ({"reward_info": {"reward": "1"}}, "reward_info has no reward"),
        ({"reward_info__reward": 7}, "reward is not from 0 to 1"),
    ],
    ids=str,
)  # fmt: skip
def test_what_contradicts_itself_is_refused(tmp_path, changes, says):
    told = faults(tmp_path, changed(0, **changes))
    assert told.startswith("results.json: simulations[")
    assert says in told


def test_a_reward_is_the_product_of_its_basis_alone(tmp_path):
    other = {"reward_info__action_checks": [{"action_match": False}]}
    breakdown = {"reward_info__reward_breakdown": None}
    own = trial(tmp_path, **other, **breakdown).attempt
    assert (own.passed, own.scores["tau2-bench"].values["tau2.actions"]) == (True, 0.0)
    half = {"reward": 0.5, "reward_basis": ["DB"], "reward_breakdown": {"DB": 0.5}}
    assert trial(tmp_path, reward_info=half).attempt.passed is False
    checks = [{"info": "12", "met": True}, {"info": "7", "met": False}]
    said = {"reward_info__communicate_checks": checks, "reward_info__reward": 0.0, **breakdown}
    assert trial(tmp_path, **said).attempt.failures == ("communicate_failed",)
    match = {"reward_info__db_check": {"db_match": False}, "reward_info__reward": 0.0, **breakdown}
    assert trial(tmp_path, **match).attempt.failures == ("db_failed",)


def test_components_without_a_check_count_as_the_benchmark_counts_them(tmp_path):
    nothing = {"reward_info__communicate_checks": None, "reward_info__reward_breakdown": None}
    values = trial(tmp_path, **nothing).attempt.scores["tau2-bench"].values
    assert (values["tau2.communicate"], values["tau.reward"]) == (None, 1.0)


def test_simulations_without_a_trial_are_counted_in_their_order(tmp_path):
    run = changed()
    for one in run["simulations"]:
        del one["trial"]
    assert [t.round for t in read(tmp_path, run).trials()] == [1, 2, 1, 2]


def test_a_folder_is_the_same_run_as_the_one_file(tmp_path):
    folder = IMPORTERS.get_class("tau2")().read(EXAMPLES / "shop")
    file = IMPORTERS.get_class("tau2")().read(EXAMPLES / "results.json")
    assert len(folder.files) == 5

    def told(found):
        return [(t.case.id, t.case.digest, t.round, t.attempt) for t in found.trials()]

    assert told(folder) == told(file) == told(folder)


def shop(tmp_path):
    return Path(shutil.copytree(EXAMPLES / "shop", tmp_path / "shop"))


def folder_faults(folder):
    with pytest.raises((InvalidInput, UsageError)) as caught:
        IMPORTERS.get_class("tau2")().read(folder)
    return str(caught.value).replace(f"{folder.as_posix()}/", "")


def test_the_index_and_the_files_must_tell_of_the_same_simulations(tmp_path):
    folder = shop(tmp_path)
    file = folder / "simulations" / "s1.json"
    one = json.loads(file.read_text())
    (folder / "simulations" / "s9.json").write_text(json.dumps({**one, "id": "s9", "trial": 7}))
    file.unlink()
    assert folder_faults(folder).splitlines() == [
        "results.json: simulation_index: has 's1', but its file is missing - copy it too",
        "simulations/s9.json: not in the index of results.json - move it elsewhere",
    ]


def test_a_file_that_says_other_than_the_index_or_its_name_is_told(tmp_path):
    folder = shop(tmp_path)
    file = folder / "simulations" / "s1.json"
    one = json.loads(file.read_text())
    file.write_text(json.dumps({**one, "termination_reason": "agent_stop"}))
    (folder / "simulations" / "s2.json").write_text('{"id": "s2", ')
    (folder / "simulations" / "x.json").write_text(json.dumps({**one, "id": "s2", "trial": 1}))
    told = folder_faults(folder)
    assert "s1.json: termination_reason is agent_stop, but user_stop in the index" in told
    assert "s2.json:1: cut off in the middle" in told
    assert "x.json: has the id 's2', but its file name has another - rename the file" in told


def test_results_whose_simulations_lie_beside_them_need_the_folder():
    with pytest.raises(UsageError, match="give the folder "):
        IMPORTERS.get_class("tau2")().read(EXAMPLES / "shop" / "results.json")


def test_links_in_the_folder_are_not_followed(tmp_path):
    folder = shop(tmp_path)
    file = folder / "simulations" / "s1.json"
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")
    assert "has 's1', but its file is missing" in folder_faults(folder)


def test_what_the_user_does_is_no_part_of_the_agents_reference(tmp_path):
    mine = {"name": "look", "arguments": {"a": 1}}
    actions = [mine | {"requestor": "user"}, mine, mine | {"requestor": "assistant"}]
    file = tmp_path / "tasks.json"
    task = {"id": "t", "user_scenario": {}, "evaluation_criteria": {"actions": actions}}
    file.write_text(json.dumps([task]))
    (case,) = IMPORTERS.get_class("tau2")().read(file).cases()
    assert case.keys["reference_trajectory"] == [{"name": "look", "args": {"a": 1}}] * 2


def test_tasks_alone_are_cases(tmp_path):
    found = IMPORTERS.get_class("tau2")(suite="s").read(EXAMPLES / "tasks.json")
    assert (found.suites, list(found.trials())) == ({}, [])
    first, second = found.cases()
    assert (first.id, second.id) == ("seat_1", "seat_2")
    assert first.keys["communicate_info"] == ["12"]
    (tmp_path / "t.json").write_text('[{"id": "a"}, {"id": "a", "ticket": "x"}, {"id": 3}, 7]')
    with pytest.raises(InvalidInput) as caught:
        IMPORTERS.get_class("tau2")().read(tmp_path / "t.json")
    assert len(caught.value.problems) == 3


def test_a_conversation_that_is_none_costs_no_simulation(tmp_path):
    for messages in (None, 7, [None, 3, {}], [{"role": "assistant", "tool_calls": "x"}]):
        own = trial(tmp_path, messages=messages).attempt
        assert own.passed is True


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00", "9999-12-31T23:59:59-12:00", "soon", 7, None]
)
def test_a_time_that_is_none_is_unknown(tmp_path, moment):
    assert read(tmp_path, {**changed(), "timestamp": moment}).created_at is None
