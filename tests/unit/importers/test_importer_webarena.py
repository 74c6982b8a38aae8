"""The importer of WebArena: recorded answers, result folders, episodes, tasks; what is refused."""

import json
import shutil
from pathlib import Path

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.importers.webarena import WebArenaResults
from tests.support.paths import DATA

EXAMPLES = DATA / "imports" / "webarena"
TASKS = EXAMPLES / "tasks.json"
SITES = {"shopping": "http://shop.example:7770", "map": "http://map.example:3000"}
SUCCESS, NOT_EVALUABLE = "webarena.success_rate", "webarena.not_evaluable_rate"
EPISODE = "2026-05-12_14-30-52_AgentX_on_webarena.{}_17"


def importer(**options):
    return WebArenaResults(**{"tasks": str(TASKS), "sites": SITES, **options})


def lines(path, *records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def judged(imported):
    """Task -> passed, value of the rate, failure codes."""
    return {
        one.case.id: (
            one.attempt.passed,
            one.attempt.scores["webarena"].values[SUCCESS],
            one.attempt.failures,
        )
        for one in imported.trials()
    }


def faults(path, kind=InvalidInput, **options):
    with pytest.raises(kind) as caught:
        importer(**options).read(path)
    return str(caught.value)


# ---------------------------------------------------------------------------------------- answers


def test_recorded_answers_are_judged_by_the_benchmarks_rules():
    imported = importer().read(EXAMPLES / "answers.jsonl")
    assert judged(imported) == {
        "0": (True, 1.0, ()),
        "1": (True, 1.0, ()),
        "2": (False, 0.0, ("page_mismatch:0",)),
        "3": (False, 0.0, ("not_evaluable",)),
        "4": (True, 1.0, ()),
        "5": (False, 0.0, ("missing",)),
    }
    lacking = [one.attempt.scores["webarena"].values[NOT_EVALUABLE] for one in imported.trials()]
    assert lacking == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    suite = imported.suites["webarena"]
    assert suite.graders["success"] == "webarena: by what was recorded"
    assert (suite.cases, suite.rounds, imported.created_at) == (6, 1, "2026-05-12T14:30:52Z")
    assert [one.value for one in suite.quoted] == [0.144, 0.782]
    names = [spec.name for spec in suite.metrics]
    assert names == [SUCCESS, NOT_EVALUABLE, f"{SUCCESS}[map]", f"{SUCCESS}[shopping]"]
    told = " ".join(imported.notes)
    assert "3 of 6" in told
    assert "0.6000 (3 of 5)" in told
    assert "1 without a judge" in told


def test_a_trial_has_what_the_record_and_the_task_tell():
    first = next(importer().read(EXAMPLES / "answers.jsonl").trials())
    assert (first.case.category, first.case.tags) == ("shopping", ("string_match",))
    assert first.case.input == "How many reviews does the blue kettle have?"
    assert first.started_at == "2026-05-12T14:30:52Z"
    assert first.attempt.latency_ms == 41200
    assert [step.name for step in first.attempt.response.steps] == ["goto"]
    assert first.attempt.response.state == {"final_url": "http://shop.example:7770/blue-kettle"}
    values = first.attempt.scores["webarena"].values
    assert (values[f"{SUCCESS}[shopping]"], values[f"{SUCCESS}[map]"]) == (1.0, None)


def test_a_task_on_two_sites_counts_for_both(tmp_path):
    record = {"task_id": 5, "answer": "", "final_html": "<b>Harbor Shop</b>"}
    (only,) = importer(missing="skip").read(lines(tmp_path / "a.jsonl", record)).trials()
    assert only.case.category == "map+shopping"
    assert only.attempt.passed is True
    values = only.attempt.scores["webarena"].values
    assert values[f"{SUCCESS}[map]"] == values[f"{SUCCESS}[shopping]"] == 1.0


def test_errors_are_the_agents_or_nobodys_and_count_in_the_benchmarks_rate(tmp_path):
    errors = ["KeyError: 'page'", "HTTP Error 503: Service Unavailable"]
    records = [{"task_id": n, "answer": None, "error": one} for n, one in enumerate(errors)]
    trials = list(importer(missing="skip").read(lines(tmp_path / "a.jsonl", *records)).trials())
    assert [one.attempt.status for one in trials] == ["agent_error", "infra_error"]
    assert [one.attempt.scores["webarena"].values[SUCCESS] for one in trials] == [0.0, 0.0]


def test_what_a_record_says_of_itself_is_taken_where_its_answer_bears_it_out(tmp_path):
    records = [
        {"task_id": 0, "answer": "4", "success": True},
        {"task_id": 3, "answer": "90 min", "success": True},  # by a judge of its own
        {"task_id": 4, "answer": "No.", "success": False},
    ]
    imported = importer(missing="skip").read(lines(tmp_path / "a.jsonl", *records))
    assert [passed for passed, _, _ in judged(imported).values()] == [True, True, False]
    lines(tmp_path / "a.jsonl", records[0] | {"answer": "14"})
    assert (
        "a.jsonl:1: task 0: the source says passed, but the recorded answer and pages say"
        in faults(tmp_path / "a.jsonl")
    )


def test_rounds_are_kept_apart(tmp_path):
    records = [{"task_id": 0, "answer": said, "round": n} for n, said in ((1, "4"), (2, "5"))]
    imported = importer(missing="skip").read(lines(tmp_path / "a.jsonl", *records))
    assert imported.suites["webarena"].rounds == 2
    assert [(one.round, one.attempt.passed) for one in imported.trials()] == [(1, True), (2, False)]


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ([], "must be an object with task_id and answer"),
        ({"answer": "4"}, "task_id: 'None' is not a whole number"),
        ({"task_id": True, "answer": "4"}, "task_id: 'True'"),
        ({"task_id": "../1", "answer": "4"}, "task_id: '../1'"),
        ({"task_id": 0}, "neither an answer nor an error"),
        ({"task_id": 0, "answer": 4}, "answer: "),
        ({"task_id": 0, "answer": "4", "success": 1}, "success: "),
        ({"task_id": 0, "answer": "", "success": True, "error": "x"}, "keep one"),
        ({"task_id": 0, "answer": "4", "round": 0}, "round: must be"),
        ({"task_id": 0, "answer": "4", "locator_results": {"0": 1}}, "locator_results.0: "),
        ({"task_id": 0, "answer": "4", "steps": "3"}, "steps"),
        ({"task_id": 0, "answer": "4", "started_at": "soon"}, "started_at: not a date"),
        ({"task_id": 99, "answer": "4"}, "task 99 is not in"),
    ],
)
def test_a_record_that_is_none_is_refused_with_its_line(tmp_path, record, fault):
    path = lines(tmp_path / "a.jsonl", {"task_id": 1, "answer": "x"}, record)
    told = faults(path)
    assert f"{path.as_posix()}:2: " in told
    assert fault in told


def test_all_that_is_wrong_is_told_at_once(tmp_path):
    record = {"task_id": 0, "answer": "4"}
    path = lines(tmp_path / "a.jsonl", record, record, {"task_id": 1})
    path.write_text(path.read_text("utf-8") + '{"task_id": 2, "ans', encoding="utf-8")
    told = faults(path)
    assert "a.jsonl:2: task 0 has round 1 twice - keep one" in told
    assert "a.jsonl:3: has neither" in told
    assert "a.jsonl:4: cut off in the middle" in told


def test_without_tasks_or_addresses_it_says_which_option_helps(tmp_path):
    path = EXAMPLES / "answers.jsonl"
    assert "--option tasks=FILE" in faults(path, tasks="")
    assert "--option 'sites={" in faults(path, sites={})
    assert "sites: shop is not one of" in faults(path, UsageError, sites={"shop": "http://s"})
    empty = lines(tmp_path / "a.jsonl")
    assert "has no result" in faults(empty)


# ------------------------------------------------------------------------------------------ tasks


def test_tasks_alone_are_cases_with_the_sites_addresses():
    imported = WebArenaResults(sites=SITES).read(TASKS)
    cases = list(imported.cases())
    assert (imported.suites, len(cases)) == ({}, 6)
    assert cases[1].keys["eval"]["reference_url"] == "http://shop.example:7770/basket"
    assert cases[5].category == "map+shopping"


def test_a_task_with_an_evaluation_that_nobody_can_do_is_refused(tmp_path):
    task = json.loads(TASKS.read_text("utf-8"))[0]
    old = {**task, "task_id": 9, "eval": {**task["eval"], "reference_answers": ["4"]}}
    odd = {**task, "task_id": 10, "intent": " ", "sites": []}
    (tmp_path / "t.json").write_text(json.dumps([task, old, odd, task]))
    told = faults(tmp_path / "t.json", tasks="")
    assert "[1]: eval.reference_answers: no object with" in told
    assert "[2]: intent: not a text" in told
    assert "[2]: sites: not a list of names" in told
    assert "[3]: task_id: 0 appears twice" in told


@pytest.mark.parametrize("indent", [None, 2])
def test_tasks_come_as_a_list_or_as_one_or_many_objects(tmp_path, indent):
    one = json.loads(TASKS.read_text("utf-8"))[0]
    (tmp_path / "t.json").write_text(json.dumps(one, indent=indent))
    assert len(list(WebArenaResults().read(tmp_path / "t.json").cases())) == 1


# ---------------------------------------------------------------------------------- result folders


@pytest.fixture
def run(tmp_path):
    return Path(shutil.copytree(EXAMPLES / "run", tmp_path / "run"))


def log_of(run):
    return next((run / "log_files").iterdir())


def edited(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_result_folder_is_taken_as_its_log_has_it(run):
    imported = WebArenaResults().read(run)
    assert judged(imported) == {
        "0": (True, 1.0, ()),
        "1": (False, 0.0, ("early_stop",)),
        "2": (False, 0.0, ("missing",)),
        "3": (False, 0.0, ("agent_error",)),
        "4": (False, 0.0, ("missing",)),
    }
    assert imported.provenance.agent == "openai agent-x-1"
    assert imported.created_at == "2026-05-12T14:30:52Z"
    assert "0.5000 (1 of 2)" in " ".join(imported.notes)
    assert run / "config.json" in imported.files


def test_a_render_gives_the_steps_the_answer_and_the_last_address(run):
    first = next(WebArenaResults().read(run).trials())
    assert first.case.input == "How many reviews does the blue kettle have?"
    assert first.case.category == "shopping"
    response = first.attempt.response
    assert response.answer == "4"
    assert response.state == {"final_url": "http://shop.example:7770/blue-kettle"}
    assert [step.name for step in response.steps] == ["click"]
    assert first.attempt.latency_ms == 41_200.0


def test_a_rate_limit_is_nobodys_fault_and_still_a_failed_task(run):
    edited(log_of(run), "TimeoutError('Timeout 30000ms exceeded.')", "RateLimitError('slow down')")
    trial = list(WebArenaResults().read(run).trials())[2]
    assert (trial.case.id, trial.attempt.status) == ("3", "infra_error")
    assert trial.attempt.scores["webarena"].values[SUCCESS] == 0.0
    assert "results without a verdict (1) and tasks without" in WebArenaResults().read(run).notes[0]


def test_a_render_whose_log_breaks_off_has_no_result(run):
    log = log_of(run)
    log.write_text(log.read_text("utf-8").partition("2026-05-12 14:32:40,000")[0])
    trial = list(WebArenaResults().read(run).trials())[2]
    assert (trial.attempt.status, trial.attempt.failures) == ("infra_error", ("no_result",))


def test_the_last_try_of_a_task_counts(run):
    log = log_of(run)
    again = (
        "2026-05-12 15:00:00,000 - INFO - [Config file]: config_files/1.json\n"
        "2026-05-12 15:00:30,000 - INFO - [Result] (PASS) /tmp/x1/1.json\n"
    )
    (run / "log_files" / "log_20260512150000_1.log").write_text(again)
    (run / "merged_log.txt").write_text("")  # only read where there are no others
    assert log.name < "log_20260512150000_1.log"
    assert judged(WebArenaResults().read(run))["1"] == (True, 1.0, ())


def test_what_the_log_says_is_checked_with_the_tasks(run):
    importer().read(run)
    edited(log_of(run), "(FAIL) config_files/1.json", "(PASS) config_files/1.json")
    edited(log_of(run), "Average score: 0.5", "Average score: 1.0")
    told = faults(run)
    assert "render_1.html: task 1: the source says passed" in told


def test_what_ended_without_an_answer_is_not_checked_by_one(run):
    edited(run / "render_0.html", "<pre>stop [4]</pre>", "<pre>scroll [down]</pre>")
    assert judged(importer().read(run))["0"] == (True, 1.0, ())


def test_tasks_that_are_not_named_are_not_missed(run, tmp_path):
    """Of those that the run was asked for: the others are no part of what is measured."""
    listed = [one for one in json.loads(TASKS.read_text("utf-8")) if one["task_id"] != 2]
    (tmp_path / "some.json").write_text(json.dumps(listed))
    assert [*judged(importer(tasks=str(tmp_path / "some.json")).read(run))] == ["0", "1", "3", "4"]


def test_figures_that_contradict_each_other_are_refused(run):
    edited(log_of(run), "Average score: 0.5", "Average score: 0.75")
    (run / "json_dump.json").write_text(
        json.dumps({"example_0": {"success": False}, "example_1": {"success": False}, "x": 1})
    )
    told = faults(run, tasks="")
    assert "says 0.75, but 1 of the 2 results before it passed" in told
    assert "task 0 passed, but json_dump.json says that it failed" in told
    assert "json_dump.json: x: must be named example_<id>" in told
    edited(log_of(run), "(FAIL) config_files/1.json", "(FAIL) config_files/5.json")
    assert "has the result of task 5 within task 1 - the log" in faults(run, tasks="")


def test_a_crash_in_the_log_is_one_whatever_the_dump_says(run):
    dump = {"example_0": {"success": True}, "example_3": {"success": False}}
    (run / "json_dump.json").write_text(json.dumps(dump))
    assert judged(WebArenaResults().read(run))["3"] == (False, 0.0, ("agent_error",))


def test_without_logs_the_dump_says_it_and_without_both_the_tasks_do(run):
    shutil.rmtree(run / "log_files")
    assert "--option tasks=FILE" in faults(run, tasks="")
    found = judged(importer(missing="skip").read(run))
    assert found["0"] == (True, 1.0, ())
    assert found["1"][2] == ("early_stop", "url_mismatch")
    dump = {f"example_{n}": {"success": n == 0} for n in (0, 1, 3)}
    (run / "json_dump.json").write_text(json.dumps(dump))
    found = judged(WebArenaResults(missing="skip").read(run))
    assert [passed for passed, _, _ in found.values()] == [True, False, False]


def test_a_render_of_another_task_is_refused_and_links_are_not_read(run, tmp_path):
    shutil.copy(run / "render_0.html", run / "render_7.html")
    (run / "render_8.html").symlink_to(run / "render_0.html")
    told = faults(run, tasks="")
    assert "render_7.html: its name says task 7, its first lines do not" in told
    assert "render_8" not in told
    (tmp_path / "link").symlink_to(run)
    assert "symbolic links are not followed" in faults(tmp_path / "link", UsageError)


def test_a_page_that_imitates_a_step_changes_no_verdict(run):
    forged = "<h2>New Page</h2><div class='parsed_action' x><pre>stop [5]</pre></div>"
    edited(run / "render_0.html", "[2] heading 'Blue kettle'", forged)
    first = next(WebArenaResults().read(run).trials())
    assert first.attempt.passed is True
    assert first.attempt.response.answer == "4"


# ---------------------------------------------------------------------------------------- episodes


@pytest.fixture
def study(tmp_path):
    return Path(shutil.copytree(EXAMPLES / "study", tmp_path / "study"))


def episode(study, name, **summary):
    (study / name).mkdir()
    (study / name / "summary_info.json").write_text(json.dumps({"cum_reward": 0, **summary}))


def test_a_study_has_an_episode_a_task(study):
    imported = WebArenaResults().read(study)
    assert judged(imported) == {
        "0": (True, 1.0, ()),
        "1": (False, 0.0, ("truncated",)),
        "2": (False, 0.0, ("agent_error",)),
    }
    assert imported.provenance.tool_version == "browsergym 0.13.3"
    assert (imported.provenance.agent, imported.created_at) == ("AgentX", "2026-05-12T14:30:52Z")
    first = next(imported.trials()).attempt
    assert first.latency_ms == 32_750.0
    usage = first.response.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (8100, 420, 0.031)
    assert (first.response.steps, first.response.omitted_steps) == ((), 3)


def test_one_episode_can_be_named_by_its_own_folder(study):
    assert list(judged(WebArenaResults().read(study / EPISODE.format(0)))) == ["0"]


def test_a_reward_stands_against_an_error_and_without_its_answer(study):
    episode(study, EPISODE.format(4), cum_reward=1.0, err_msg="closed too late")
    (study / EPISODE.format(5)).symlink_to(study / EPISODE.format(0))
    found = judged(importer(missing="skip").read(study))
    assert [found["0"], found["4"]] == [(True, 1.0, ())] * 2, "no answer is known to check them by"
    rounds = importer(missing="skip").read(study).suites["webarena"].rounds
    assert rounds == 1, "a link to an episode is none"


def test_pickles_are_not_opened_and_the_last_step_is_read_where_it_is_json(study):
    folder = study / EPISODE.format(0)
    (folder / "step_0.pkl.gz").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    messages = [{"role": "user", "message": "?"}, {"role": "infeasible", "message": "no"}]
    step = {"obs": {"chat_messages": messages, "url": "http://shop.example:7770/x"}}
    (folder / "steps_info.json").write_text(json.dumps(step))
    response = next(WebArenaResults().read(study).trials()).attempt.response
    assert response.answer == "N/A"
    assert response.state == {"final_url": "http://shop.example:7770/x"}


def test_seeds_of_a_task_are_rounds_and_what_was_tried_again_is_left_out(study):
    episode(study, "2026-05-12_15-00-00_AgentX_on_webarena.0_18", terminated=True)
    episode(study, "_2026-05-12_14-00-00_AgentX_on_webarena.0_17")
    imported = WebArenaResults().read(study)
    rounds = [(one.case.id, one.round, one.attempt.passed) for one in imported.trials()]
    assert rounds == [("0", 1, True), ("1", 1, False), ("2", 1, False), ("0", 2, False)]


def test_a_verified_task_is_known_by_its_own_number(tmp_path):
    for name in ("12.47.2_0", "12.48.2_0", "13.49_7"):
        episode(tmp_path, f"A_on_webarena_verified.{name}", cum_reward=1.0)
    imported = WebArenaResults().read(tmp_path)
    assert imported.suites["webarena_verified"].quoted == (), "values of another benchmark"
    assert [one.case.id for one in imported.trials()] == ["47", "48", "49"]


def test_an_episode_without_a_summary_has_no_result(study):
    (study / EPISODE.format(1) / "summary_info.json").unlink()
    trial = list(WebArenaResults().read(study).trials())[1]
    assert (trial.attempt.status, trial.attempt.failures) == ("infra_error", ("no_result",))


@pytest.mark.parametrize(
    ("summary", "fault"),
    [
        ([], "must be an object"),
        ({}, "cum_reward: not a number"),
        ({"cum_reward": True}, "cum_reward: not a number"),
        ({"cum_reward": 2.0}, "cum_reward: 2 is not from 0 to 1"),
        ({"cum_reward": 0, "err_msg": 3}, "err_msg: not a string"),
        ('{"cum_reward": 1.0, "err', "cut off in the middle"),
    ],
)
def test_a_summary_that_says_nothing_is_refused(study, summary, fault):
    path = study / EPISODE.format(1) / "summary_info.json"
    path.write_text(summary if isinstance(summary, str) else json.dumps(summary))
    told = faults(study, tasks="")
    assert "webarena.1_17/summary_info.json" in told
    assert fault in told


def test_of_several_agents_one_has_to_be_named_and_benchmarks_are_not_mixed(study):
    episode(study, "2026-05-12_15-00-00_Other_on_webarena.3_1", terminated=True)
    assert "2 agents (AgentX, Other); give --option agent=NAME" in faults(study, UsageError)
    assert list(judged(WebArenaResults(agent="Other").read(study))) == ["3"]
    assert "0 agents" in faults(study, UsageError, agent="Nobody")
    episode(study, "2026-05-12_15-00-00_AgentX_on_webarenalite.3_1")
    assert "2 benchmarks" in faults(study, UsageError, agent="AgentX")


def test_a_folder_of_neither_kind_says_what_it_looked_for(tmp_path):
    (tmp_path / "webarena").mkdir()
    assert "an episode of BrowserGym; give" in faults(tmp_path, UsageError)


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("answers.jsonl", True),
        ("tasks.json", True),
        ("run", True),
        ("study", True),
        (f"study/{EPISODE.format(0)}", True),
        ("run/config.json", False),
        (".", False),
    ],
)
def test_it_recognises_its_own(path, is_one):
    assert WebArenaResults.recognises(look((EXAMPLES / path).resolve())) is is_one


def test_results_of_another_benchmark_are_not_taken_for_answers(tmp_path):
    lines(tmp_path / "r.jsonl", {"task_id": 1, "answer": "x", "reward": 1.0})
    assert not WebArenaResults.recognises(look(tmp_path / "r.jsonl"))


def test_a_folder_with_results_of_two_tools_is_refused(run):
    episode(run, EPISODE.format(0))
    assert "results of two tools" in faults(run, UsageError)


def test_an_option_that_is_missing_is_told_once_and_not_for_each_task(tmp_path):
    answers = lines(tmp_path / "a.jsonl", *({"task_id": n, "answer": "x"} for n in range(60)))
    with pytest.raises(InvalidInput) as caught:
        WebArenaResults().read(answers)
    assert len(caught.value.problems) == 1
    assert "--option tasks=FILE" in str(caught.value)
