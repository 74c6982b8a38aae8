"""The importer of tau-bench results: what rows become, and what is refused with its place."""

import json

import pytest

from gate.analysis.metrics.k_rounds import KRounds
from gate.analysis.table import floats
from gate.errors import InvalidInput, UsageError
from gate.importers.formats.tau import metrics
from gate.plugins import IMPORTERS
from tests.support.paths import DATA

EXAMPLE = next((DATA / "imports" / "tau-bench").iterdir())
TASK = {
    "user_id": "u",
    "instruction": "Cancel W10.",
    "actions": [{"name": "cancel_pending_order", "kwargs": {"order_id": "W10"}}],
    "outputs": [],
}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TRAJ = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "One moment.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "{}"},
    {"role": "user", "content": "###STOP###"},
]


def judged(reward, **info):
    return {"reward": reward, "info": info or {"r_actions": reward}, "actions": []}


def deep(levels):
    return [deep(levels - 1)] if levels else []


def row(task=0, trial=0, reward=1.0, *, info=None, **more):
    own = {"task": TASK, "source": "user", "user_cost": 0.5, "reward_info": judged(reward)}
    whole = {**own, **(info or {})}
    return {"task_id": task, "trial": trial, "reward": reward, "info": whole, "traj": TRAJ, **more}


def read(tmp_path, *rows, name="r.json", **options):
    file = tmp_path / name
    file.write_text(json.dumps(rows))
    return IMPORTERS.get_class("tau-bench")(**options).read(file)


def only(tmp_path, *rows, **options):
    (found,) = read(tmp_path, *rows, **options).trials()
    return found


def faults(tmp_path, *rows):
    with pytest.raises(InvalidInput) as caught:
        read(tmp_path, *rows)
    return str(caught.value).replace(f"{tmp_path.as_posix()}/", "")


def test_a_solved_trial_has_its_task_steps_reward_and_the_cost_of_the_user(tmp_path):
    found = only(tmp_path, row(task=7))
    own = found.attempt
    assert (found.case.id, found.case.input, found.round) == ("7", "Cancel W10.", 1)
    assert found.case.keys["reference_trajectory"] == [
        {"name": "cancel_pending_order", "args": {"order_id": "W10"}}
    ]
    assert (own.status, own.passed, own.failures) == ("completed", True, ())
    assert own.scores["tau-bench"].values == {"tau.reward": 1.0, "tau.user_cost": 0.5}
    assert [step.name for step in own.response.steps] == ["look"]
    assert own.response.answer == "One moment.", "what it said last, also before a call"
    assert own.response.usage.cost_usd is None, "the user's cost is not the agent's"


@pytest.mark.parametrize(
    ("info", "codes"),
    [
        ({"reward_info": judged(0.0, r_actions=0.0)}, ("wrong_final_data",)),
        ({"reward_info": judged(0.0, r_actions=False)}, ("wrong_final_data",)),
        (
            {"reward_info": judged(0.0, r_outputs=0.0, outputs={"12": False, "7": True})},
            ("output_missing:12",),
        ),
        ({"reward_info": judged(0.0, r_outputs=1.0, outputs={"7": True})}, ("wrong_final_data",)),
        ({"reward_info": None}, ("not_finished", "inefficient")),
    ],
    ids=lambda value: str(value)[:40],
)
def test_why_a_trial_has_no_reward(tmp_path, info, codes):
    info = {**info, "error": "Error: of a tool, in a trial that ran"}
    own = only(tmp_path, row(reward=0.0, info=info)).attempt
    assert (own.status, own.passed, own.failures) == ("completed", False, codes)


def test_rewards_as_near_to_1_as_the_benchmark_says_are_solved(tmp_path):
    near, below = 1 - 9e-7, 1 - 2e-6
    rows = [row(trial=n, reward=x, info={"reward_info": None}) for n, x in enumerate((near, below))]
    assert [t.attempt.passed for t in read(tmp_path, *rows).trials()] == [True, False]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ("litellm.RateLimitError: RateLimitError: Error code: 429", "infra_error"),
        ("litellm.APIConnectionError: Connection error.", "infra_error"),
        ("Error code: 401 - Incorrect API key provided", "infra_error"),
        ("Expecting value: line 1 column 1 (char 0)", "agent_error"),
        ("litellm.Timeout: timed out", "agent_error"),
    ],
)
def test_a_crash_stays_in_the_benchmarks_rate_and_is_told_apart(tmp_path, error, status):
    crash = {"task_id": 0, "trial": 1, "reward": 0.0, "traj": []}
    crash["info"] = {"error": error, "traceback": "Traceback ..."}
    found = read(tmp_path, row(), crash)
    _, trial = found.trials()
    own = trial.attempt
    assert (own.status, own.failures, own.response) == (status, ("crash",), None)
    assert own.passed is (None if status == "infra_error" else False)
    assert own.scores["tau-bench"].values["tau.reward"] == 0.0
    assert trial.case.input == "Cancel W10.", "another trial tells the task"
    assert found.notes[0].startswith("tau-retail: 1 of 2 trials crashed; tau.reward")


def test_pass_k_is_told_up_to_the_fewest_trials_of_a_task(tmp_path):
    trials = [(0, 0, 1.0), (0, 2, 1.0), (0, 5, 0.0), (1, 0, 1.0), (1, 2, 0.0)]
    found = read(tmp_path, *(row(*one) for one in trials))
    (suite,) = found.suites.values()
    assert (suite.cases, suite.rounds) == (2, 3)
    assert [one.round for one in found.trials()] == [1, 2, 3, 1, 2]
    names = [spec.name for spec in suite.metrics]
    assert names == ["tau.reward", "tau.pass^1", "tau.pass^2", "tau.user_cost"]
    assert "some tasks have fewer trials than others: 1 missing (task 1 trial 5)" in found.notes[0]
    assert suite.metrics[-1].on_agent_error is None, "the user's cost of a crash is unknown"
    assert [one.name for one in metrics(40)][-2] == "tau.pass^32", "a report stays readable"
    values = floats([[1.0, 1.0, 0.0], [1.0, 0.0, float("nan")]], 3)
    assert KRounds(k=2, wanted="all").reduce(values) == pytest.approx((1 / 3 + 0) / 2)


@pytest.mark.parametrize(
    ("name", "agent", "suite"),
    [
        ("gpt-4o-airline.json", "tau-bench", "tau-airline"),
        (
            "tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-llm_0512143052.json",
            "gpt-4o",
            "tau-retail",
        ),
        (
            "react-claude-3-5-sonnet-0.5_range_5-20_user-gpt-4o-llm_0512143052.json",
            "claude-3-5-sonnet",
            "tau-retail",
        ),
    ],
)
def test_the_files_name_says_who_and_what_was_measured(tmp_path, name, agent, suite):
    found = read(tmp_path, row(), name=name)
    assert (found.provenance.agent, [*found.suites]) == (agent, [suite])


def test_options_win_over_the_files_name(tmp_path):
    found = read(tmp_path, row(), name="gpt-4o-airline.json", suite="my shop", agent="mine")
    assert (found.provenance.agent, [*found.suites]) == ("mine", ["my-shop"])


def test_calls_in_the_agents_words_leave_the_steps_unknown(tmp_path):
    name = "react-m-0.0_range_0--1_user-gpt-4o-llm_0512143052.json"
    traj = [{"role": "assistant", "content": 'Thought: ...\nAction:\n{"name": "look"}'}]
    assert only(tmp_path, row(traj=traj), name=name).attempt.response.steps is None
    assert only(tmp_path, row(traj=traj)).attempt.response.steps == ()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (row(task=None), "[0]: task_id is not the number or name of a task"),
        (row(task=True), "[0]: task_id is not the number or name of a task"),
        (row(trial="0"), "[0]: trial is not a whole number of 0 or more"),
        (row(trial=-1), "[0]: trial is not a whole number of 0 or more"),
        (row(reward="1"), "[0]: reward is not from 0 to 1"),
        (row(reward=1.5), "[0]: reward is not from 0 to 1"),
        (row(reward=True), "[0]: reward is not from 0 to 1"),
        ([], "[0]: task_id is not the number or name of a task; trial is not a whole"),
        (
            row(info={"reward_info": judged(0.0)}),
            "[0]: reward is 1, but info.reward_info.reward is 0 - the file was changed",
        ),
        (row(info={"reward_info": judged(1.0, r_actions=False)}), "is 1, but r_actions is 0"),
        (row(info={"reward_info": judged(1.0, r_actions=0.0)}), "reward is 1, but r_actions is 0"),
        (
            row(
                reward=0.0,
                info={"reward_info": judged(0.0, r_outputs=1.0, outputs={"7": False})},
            ),
            "an output is missing",
        ),
        (
            row(info={"reward_info": judged(1.0, r_outputs=1.0, outputs={"7": False})}),
            "an output is missing",
        ),
        (
            {**row(), "info": {"error": "x", "traceback": ""}},
            "[0]: reward is 1, but the trial crashed",
        ),
        (row(info={"task": {**TASK, "outputs": deep(300)}}), "[0]: nested too deeply"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_row_that_cannot_be_right_is_refused(tmp_path, wrong, says):
    assert says in faults(tmp_path, wrong)


def test_all_problems_are_told_at_once(tmp_path):
    other = row(trial=2, info={"task": {**TASK, "instruction": "Buy it."}})
    told = faults(tmp_path, row(), row(), row(reward=2), other).splitlines()
    assert told == [
        "r.json: [1]: task 0 has trial 0 twice - keep one",
        "r.json: [2]: reward is not from 0 to 1 - a row of tau-bench has task_id, trial and reward",
        "r.json: [3]: task 0 is different in an earlier row, so versions are mixed - import each "
        "run's own file",
    ]


def test_ids_that_are_told_apart_by_their_type_alone_clash(tmp_path):
    assert "task 1 has trial 0 twice" in faults(tmp_path, row(task=1), row(task="1"))


def test_a_file_without_rows_and_one_that_is_no_list_are_refused(tmp_path):
    assert "has no row" in faults(tmp_path)
    (tmp_path / "o.json").write_text("{}")
    with pytest.raises(UsageError, match="not a list of rows; give"):
        IMPORTERS.get_class("tau-bench")().read(tmp_path / "o.json")


@pytest.mark.parametrize(
    "traj",
    [
        None,
        7,
        {"role": "assistant"},
        [None, 1, "x"],
        [{"role": "assistant", "tool_calls": [{"function": None}]}],
        [{"role": "tool", "tool_call_id": 7, "content": []}],
        [{"role": "assistant", "content": {"a": 1}}],
    ],
    ids=str,
)
def test_a_conversation_of_any_kind_costs_no_row(tmp_path, traj):
    own = only(tmp_path, row(traj=traj)).attempt
    assert (own.passed, own.response.answer) == (True, "")


def test_trials_are_read_as_often_as_asked_and_in_the_same_order():
    found = IMPORTERS.get_class("tau-bench")().read(EXAMPLE)
    assert list(found.trials()) == list(found.trials())
    assert [(t.case.id, t.round) for t in found.trials()] == [
        *(("0", 1), ("1", 1), ("0", 2), ("1", 2), ("0", 3), ("1", 3))
    ]
    assert found.options == {"strategy": "tool-calling", "temperature": "0.0", "user": "gpt-4o"}
