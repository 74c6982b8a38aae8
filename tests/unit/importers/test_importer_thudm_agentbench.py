"""The importer of THUDM AgentBench: environments, statuses, the overall score, contradictions."""

import json
import os
from pathlib import Path

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.plugins import IMPORTERS

OS_OVERALL = {"total": 2, "custom": {"overall": {"total": 2, "pass": 1, "wrong": 1, "acc": 0.5}}}
EIGHT = {  # task -> overall.json's custom, main metric
    "os-std": ({"overall": {"acc": 0.5}}, 0.5),
    "dbbench-std": ({"overall_cat_accuracy": 0.3}, 0.3),
    "kg-std": ({"main": 0.4}, 0.4),
    "cg-std": ({"score": 0.6}, 0.6),
    "ltp-std": ({"main": 0.1}, 0.1),
    "alfworld-std": ({"overall": {"success_rate": 0.7}}, 0.7),
    "webshop-std": ({"reward": 0.55}, 0.55),
    "m2w-std": ({"step_sr": 25.0}, 0.25),
}
WEIGHTS = dict(zip(EIGHT, (10.8, 13.0, 13.9, 12.0, 3.5, 13.0, 30.7, 11.6), strict=True))


def run(index=0, status="completed", result=None, history=(), **more):
    output = {"index": None, "status": status, "result": result, "history": list(history)}
    time = {"timestamp": 1699999999123 + len(str(index)), "str": "2023-11-14 22:13:19"}
    return {"index": index, "error": None, "info": None, "output": output, "time": time, **more}


def broken(index, error="NETWORK_ERROR", info="refused"):
    return {"index": index, "error": error, "info": info, "output": None, "time": {}}


def written(folder, runs=(), errors=(), overall=None):
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("runs.jsonl", runs), ("error.jsonl", errors)):
        if lines:
            (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    if overall is not None:
        (folder / "overall.json").write_text(json.dumps(overall))
    return folder


def importer(**options):
    return IMPORTERS.get_class("thudm-agentbench")(**options)


def trials(folder, **options):
    return list(importer(**options).read(folder).trials())


def faults(folder, kind=InvalidInput, **options):
    with pytest.raises(kind) as caught:
        importer(**options).read(folder)
    return str(caught.value).replace(f"{folder.as_posix()}/", "")


def whole(tmp_path, leave_out=()):
    folder = tmp_path / "out" / "2023-11-14-22-13-19"
    for task, (custom, _) in EIGHT.items():
        if task not in leave_out:
            written(folder / "gpt-4" / task, overall={"total": 10, "custom": custom})
    (folder / "config.yaml").write_text("")
    return folder


def test_all_eight_give_the_overall_score(tmp_path):
    found = importer().read(whole(tmp_path))
    (suite,) = found.suites.values()
    assert (suite.cases, [spec.name for spec in suite.metrics]) == (
        8,
        ["thudm_agentbench.main", "thudm_agentbench.overall"],
    )
    assert {one.of for one in suite.quoted} == {"GPT-4", "human"}
    values = [t.attempt.scores["thudm-agentbench"].values for t in found.trials()]
    codes = [trial.case.id for trial in found.trials()]
    told = dict(zip(codes, (v["thudm_agentbench.main"] for v in values), strict=True))
    assert told == {
        **{"OS": 0.5, "DB": 0.3, "KG": 0.4, "DCG": 0.6},
        **{"LTP": 0.1, "HH": 0.7, "WS": 0.55, "WB": 0.25},
    }
    mean = sum(100 * main / WEIGHTS[task] for task, (_, main) in EIGHT.items()) / 8
    assert sum(v["thudm_agentbench.overall"] for v in values) / 8 == pytest.approx(mean)
    assert found.provenance.agent == "gpt-4"


def test_with_fewer_there_is_no_overall_score(tmp_path):
    found = importer().read(whole(tmp_path, leave_out=("ltp-std", "kg-std")))
    assert found.notes[0] == (
        "agentbench: partial (6/8), no main metric of KG, LTP; the overall score needs all eight"
    )
    found = importer().read(whole(tmp_path / "seven", leave_out=("ltp-std",)))
    (suite,) = found.suites.values()
    assert [spec.name for spec in suite.metrics] == ["thudm_agentbench.main"]
    told = {(one.of, one.value) for one in suite.quoted}
    assert told == {
        ("GPT-4, mean of all 8 environments, of which 7 are here", 0.5),
        ("human, mean of all 8 environments, of which 7 are here", 0.9),
    }
    assert all(
        set(t.attempt.scores["thudm-agentbench"].values) == {"thudm_agentbench.main"}
        for t in found.trials()
    )


@pytest.mark.parametrize(
    "depth", ["out", "out/2023-11-14-22-13-19", "out/2023-11-14-22-13-19/gpt-4"]
)
def test_any_folder_above_the_tasks_will_do(tmp_path, depth):
    whole(tmp_path)
    assert len(trials(tmp_path / depth)) == 8


def test_one_tasks_folder_is_enough_also_as_the_working_directory(tmp_path, monkeypatch):
    folder = written(tmp_path / "m" / "os-dev", [run(result={"result": True})])
    assert importer().read(folder).provenance.agent == "m"
    monkeypatch.chdir(folder)
    assert importer().read(Path()).provenance.agent == "m"


def test_folders_are_recognised_by_the_names_of_their_tasks(tmp_path):
    top = whole(tmp_path)
    cls = IMPORTERS.get_class("thudm-agentbench")
    for path in (top, top / "gpt-4", top / "gpt-4" / "os-std"):
        assert cls.recognises(look(path)), path
    other = written(tmp_path / "x" / "unrelated", overall={})
    assert not cls.recognises(look(other))
    assert not cls.recognises(look(tmp_path / "x"))


@pytest.mark.parametrize(
    ("task", "result", "value", "passed"),
    [
        ("os-dev", {"result": True}, 1.0, True),
        ("os-dev", {"result": False, "reason": "round limit"}, 0.0, False),
        ("os-dev", None, 0.0, False),
        ("alfworld-dev", {"result": 1}, 1.0, True),
        ("alfworld-dev", {"result": 0}, 0.0, False),
        ("ltp-dev", {"progress": 0.25, "finished": False}, 0.25, False),
        ("ltp-dev", {"progress": 1, "finished": True}, 1.0, True),
        ("ltp-dev", None, 0.0, False),
        ("webshop-dev", {"reward": 1.0}, 1.0, True),
        ("webshop-dev", {"reward": 0.5}, 0.5, False),
        ("webshop-dev", None, None, False),
        (
            "card_game",
            {"meta": {"a": {"win_round": 1, "test_times": 1, "damage": 800}}},
            0.85,
            True,
        ),
        ("cg-dev", {"meta": {"a": {"win_round": 0, "test_times": 1, "damage": 400}}}, 0.075, False),
        ("cg-dev", {"meta": {"a": {"win_round": 1, "test_times": 2, "damage": 9000}}}, 0.65, False),
        ("cg-dev", {"meta": {"a": {"win_round": 0, "test_times": 2, "damage": 800}}}, 0.15, False),
        ("OS-Dev", {"result": True}, 1.0, True),
        ("dbbench-dev", {"answer": "1", "type": "SELECT"}, None, None),
        ("dbbench-dev", {"is_correct": True, "type": "SELECT"}, None, True),
        ("kg-dev", {"predict": ["m.1"], "actions": []}, None, None),
        ("kg-dev", None, None, False),
        ("mind2web", {"final_prediction": ["a", "CLICK"], "outputs": []}, None, None),
    ],
)
def test_what_a_sample_is_worth(tmp_path, task, result, value, passed):
    (found,) = trials(written(tmp_path / "m" / task, [run(result=result)]))
    own = found.attempt
    assert own.passed is passed
    scored = own.scores["thudm-agentbench"].values["thudm_agentbench.main"]
    assert scored == (None if value is None else pytest.approx(value))


@pytest.mark.parametrize("spelling", [str, lambda text: text.upper().replace(" ", "_")])
@pytest.mark.parametrize(
    ("status", "outcome", "codes"),
    [
        ("completed", "completed", ("wrong_result",)),
        ("agent context limit", "completed", ("agent_context_limit", "inefficient")),
        ("agent validation failed", "completed", ("agent_validation_failed", "format")),
        ("agent invalid action", "completed", ("agent_invalid_action", "format")),
        ("task limit reached", "completed", ("task_limit_reached", "inefficient")),
        ("unknown", "completed", ("unknown",)),
        ("task error", "infra_error", ("task_error",)),
        ("cancelled", "infra_error", ("cancelled",)),
    ],
)
def test_statuses_in_both_spellings_are_codes(tmp_path, spelling, status, outcome, codes):
    lines = [run(status=spelling(status), result={"result": False})]
    (found,) = trials(written(tmp_path / "m" / "os-dev", lines))
    own = found.attempt
    assert (own.status, own.failures) == (outcome, codes)
    assert own.scores["thudm-agentbench"].values == {"thudm_agentbench.main": 0.0}


@pytest.mark.parametrize(
    ("error", "info", "status"),
    [
        ("START_FAILED", "500", "infra_error"),
        ("INTERACT_FAILED", "", "infra_error"),
        ("NETWORK_ERROR", "x", "infra_error"),
        ("NOT_AVAILABLE", "x", "infra_error"),
        ("AGENT_FAILED", "HTTP 429", "infra_error"),
        ("AGENT_FAILED", "Connection refused", "infra_error"),
        ("AGENT_FAILED", "KeyError: 'choices'", "agent_error"),
    ],
)
def test_a_sample_that_only_broke_off_is_an_error(tmp_path, error, info, status):
    folder = written(tmp_path / "m" / "os-dev", [run(1)], [broken(2, error, info)])
    one, two = trials(folder)
    assert (one.case.id, two.case.id) == ("1", "2")
    assert (two.attempt.status, two.attempt.failures) == (status, (error.lower(),))
    assert two.attempt.passed is (False if status == "agent_error" else None)
    notes = importer().read(folder).notes
    assert "os-dev: 1 of 2 samples have no result, only errors in error.jsonl" in notes


def test_tries_that_broke_off_before_a_result_stand_before_it(tmp_path):
    lines = [broken("a", "AGENT_FAILED", "crash"), broken("a"), broken("b")]
    folder = written(tmp_path / "m" / "os-dev", [run("a", result={"result": True})], lines)
    first, second = trials(folder)
    assert [one.status for one in first.attempts] == ["agent_error", "infra_error", "completed"]
    assert ([one.n for one in first.attempts], first.judged) == ([1, 2, 3], 2)
    assert (first.attempt.passed, len(second.attempts)) == (True, 1)


def test_of_tries_that_all_broke_off_the_agents_own_failure_counts(tmp_path):
    lines = [broken("a"), broken("a", "AGENT_FAILED", "crash"), broken("a")]
    own = trials(written(tmp_path / "m" / "os-dev", errors=lines))[0]
    assert [one.status for one in own.attempts] == ["infra_error", "agent_error"]
    values = own.attempts[-1].scores["thudm-agentbench"].values
    assert (own.judged, values) == (1, {"thudm_agentbench.main": 0.0})
    (many,) = trials(written(tmp_path / "n" / "os-dev", errors=[broken("a")] * 12))
    assert len(many.attempts) == 10, "the last ones are kept"


def test_the_history_gives_answer_and_turns_and_no_steps(tmp_path):
    history = [{"role": "user", "content": "Q"}, {"role": "agent", "content": "Act: finish"}]
    (found,) = trials(written(tmp_path / "m" / "os-dev", [run(history=history)]))
    answer = found.attempt.response
    assert (answer.answer, answer.turns, answer.steps) == ("Act: finish", 1, None)
    for odd in ([None, 7], [{"role": "agent", "content": {"a": 1}}]):
        assert trials(written(tmp_path / "m" / "os-dev", [run(history=odd)]))


def test_an_unfinished_task_has_samples_and_no_main_metric(tmp_path):
    found = importer().read(written(tmp_path / "m" / "os-dev", [run()]))
    assert [*found.suites] == ["os-dev"]
    assert found.created_at == "2023-11-14T22:13:19Z"
    assert "os-dev: no overall.json, so the task is not finished" in found.notes


RUNS = [run(0, result={"result": True}), run(1, "task limit reached", {"result": False})]
VALIDATION = {"completed": 0.5, "TASK_LIMIT_REACHED": 0.5, "average_history_length": 0}


@pytest.mark.parametrize(
    ("overall", "says"),
    [
        ({**OS_OVERALL, "total": 3}, "total: says 3, but runs.jsonl has 2"),
        (
            {**OS_OVERALL, "validation": {**VALIDATION, "completed": 1.0}},
            "completed: says 1, but the runs give 0.5",
        ),
        (
            {**OS_OVERALL, "validation": {**VALIDATION, "max_history_length": 9}},
            "max history length: says 9, but the runs give 0",
        ),
        (
            {"custom": {"overall": {"total": 2, "pass": 2, "acc": 1.0}}},
            "overall.pass: says 2, but the",
        ),
        (
            {"custom": {"overall": {"total": 4, "pass": 1, "acc": 0.5}}},
            "overall.acc: says 0.5, but its own parts give 0.25",
        ),
        ({"custom": {"overall": {"acc": "0.5"}}}, "custom.overall.acc is not from 0 to 1"),
        ({"custom": {"overall": {"acc": 50.0}}}, "custom.overall.acc is not from 0 to 1"),
        ([], "not an object"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_the_runs_do_not_bear_out_is_refused(tmp_path, overall, says):
    folder = written(tmp_path / "m" / "os-dev", RUNS, overall=overall)
    assert says in faults(folder)


def test_an_overall_that_the_runs_bear_out_is_taken(tmp_path):
    overall = {**OS_OVERALL, "validation": VALIDATION}
    found = importer().read(written(tmp_path / "m" / "os-dev", RUNS, overall=overall))
    assert [*found.suites] == ["agentbench", "os-dev"]
    said = [{"role": "user", "content": "Q"}, {"role": "agent", "content": "A"}]
    lines = [RUNS[0], run(1, "task error", history=said)]
    shares = {"completed": 0.5, "task error": 0.5}
    lengths = {"average_history_length": 1, "max_history_length": 2, "min_history_length": 0}
    overall["validation"] = {**shares, **lengths}
    found = importer().read(written(tmp_path / "n" / "os-dev", lines, overall=overall))
    assert found.suites["os-dev"].cases == 2


@pytest.mark.parametrize(
    ("task", "custom", "says"),
    [
        (
            "dbbench-std",
            {"SELECT_accuracy": 0.3, "INSERT_accuracy": 0.3, "UPDATE_accuracy": 0.3}
            | {"overall_cat_accuracy": 0.4},
            "overall_cat_accuracy: says 0.4, but its own parts give 0.3",
        ),
        ("kg-std", {"main": 0.4, "F1": 0.5}, "main: says 0.4, but its own parts give 0.5"),
        ("ltp-std", {"main": 0.4, "GP": 0.5}, "main: says 0.4, but its own parts give 0.5"),
    ],
)
def test_parts_that_contradict_each_other_are_refused(tmp_path, task, custom, says):
    assert says in faults(written(tmp_path / "m" / task, overall={"custom": custom}))


@pytest.mark.parametrize(
    ("task", "results", "custom"),
    [
        ("ltp-std", [{"progress": 0.5}, None], {"main": 0.25}),
        ("webshop-std", [{"reward": 0.5}, None], {"reward": 0.5}),
        (
            "cg-std",
            [
                {"meta": {"a": {"win_round": 1, "test_times": 1, "damage": 1600}}},
                {"meta": {"b": {"win_round": 0, "test_times": 1, "damage": 0}}},
            ],
            {"score": 0.5, "win_rate": 0.5},
        ),
    ],
)
def test_main_metrics_are_made_again_of_the_samples(tmp_path, task, results, custom):
    lines = [run(n, result=result) for n, result in enumerate(results)]
    folder = tmp_path / "m" / task
    assert len(trials(written(folder, lines, overall={"custom": custom}))) == 3
    wrong = {key: value / 2 for key, value in custom.items()}
    assert "but the runs give" in faults(written(folder, lines, overall={"custom": wrong}))


def test_a_card_game_of_before_has_its_win_rate_and_one_without_a_game_nothing(tmp_path):
    before = trials(written(tmp_path / "m" / "cg", overall={"custom": {"win_rate": 0.25}}))
    (found,) = before
    assert found.attempt.scores["thudm-agentbench"].values["thudm_agentbench.main"] == 0.25
    none = written(tmp_path / "n" / "cg", overall={"custom": {"score": -1}})
    assert "has no sample" in faults(none)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([run(1), run(1)], "runs.jsonl:2: sample '1' is also in line 1 - keep one"),
        ([run(1), run("1")], "sample '1' is also in line 1"),
        ([run(None)], "runs.jsonl:1: index is not a number or name"),
        ([run(True)], "index is not a number or name"),
        ([run(status=None)], "output.status is not a string"),
        ([run(history=()) | {"error": "AGENT_FAILED"}], "error is set, as only in error.jsonl"),
        ([run(result=[1])], "output.result is not an object, which the environment OS needs"),
        ([7], "runs.jsonl:1: not an object"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_line_that_is_no_sample_is_refused(tmp_path, lines, says):
    assert says in faults(written(tmp_path / "m" / "os-dev", lines))


@pytest.mark.parametrize("finished", [0, "false", 1.0], ids=str)
def test_a_puzzle_is_solved_or_not(tmp_path, finished):
    lines = [run(result={"progress": 0.5, "finished": finished})]
    told = faults(written(tmp_path / "m" / "ltp-dev", lines))
    assert "output.result.finished is not true or false" in told


def test_a_line_that_is_cut_off_is_told_with_its_place(tmp_path):
    folder = written(tmp_path / "m" / "os-dev", [run()])
    with (folder / "runs.jsonl").open("a") as file:
        file.write('{"index": 1, "out')
    assert "runs.jsonl:2: cut off in the middle" in faults(folder)


def test_several_agents_and_several_tasks_of_an_environment_have_to_be_chosen_from(tmp_path):
    for agent, task in (("a", "os-std"), ("a", "os-dev"), ("b", "os-std")):
        written(tmp_path / agent / task, [run()])
    assert "--option agent=NAME: a, b" in faults(tmp_path, UsageError)
    assert "agent=c: not found; choose one of a, b" in faults(tmp_path, UsageError, agent="c")
    told = faults(tmp_path, UsageError, agent="a")
    assert "several tasks of the environment OS (os-dev, os-std); choose one with" in told
    assert "no task name ends with it; tasks: os-dev, os-std" in faults(
        tmp_path, UsageError, agent="a", split="x"
    )
    assert [*importer(agent="a", split="std").read(tmp_path).suites] == ["os-std"]


def test_of_duplicates_the_newest_counts_and_is_told(tmp_path):
    for day, moment in (("one", 2_000_000_000), ("two", 1_900_000_000)):
        overall = {"custom": {"overall": {"acc": 0.5 if day == "one" else 0.75}}}
        folder = written(tmp_path / day / "m" / "os-std", overall=overall)
        os.utime(folder / "overall.json", (moment, moment))
    late = written(tmp_path / "three" / "m" / "os-std", [run()])
    os.utime(late / "runs.jsonl", (2_100_000_000, 2_100_000_000))  # and not finished
    found = importer().read(tmp_path)
    (trial,) = found.trials()
    assert trial.attempt.scores["thudm-agentbench"].values["thudm_agentbench.main"] == 0.5
    assert "os-std: appears 3 times; the newest counts: " in found.notes[0]
    assert found.notes[0].endswith("one/m/os-std")
    assert len(found.files) == 1


def test_other_tasks_are_left_out_and_links_not_followed(tmp_path):
    written(tmp_path / "m" / "os-std", [run()])
    written(tmp_path / "m" / "avalon-dev", [run()])
    (tmp_path / "m" / "kg-std").symlink_to(tmp_path / "m" / "os-std")
    found = importer().read(tmp_path)
    assert [*found.suites] == ["os-std"]
    assert found.notes[0] == "avalon-dev: not one of the eight environments; left out"
    (tmp_path / "empty").mkdir()
    assert "no AgentBench task; give the" in faults(tmp_path / "empty", UsageError)


def test_a_name_that_is_no_folder_of_ours_gets_one(tmp_path):
    found = importer().read(written(tmp_path / "m" / "os dev (1).json", [run()]))
    (name,) = found.suites
    assert name.strip("-") == "os-dev-1"
