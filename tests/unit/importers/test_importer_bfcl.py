"""The importer of the function calling leaderboard: what counts, and files that disagree."""

import json

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.graders.tool_calls import ToolCalls
from gate.importers.bfcl import Bfcl
from gate.importers.formats.bfcl.calls import read_calls
from gate.importers.formats.bfcl.leaderboard import ORDER, group_of
from gate.records import Response, ToolCall

FUNCTION = {
    "name": "shop.order",
    "description": "Orders.",
    "parameters": {
        "type": "dict",
        "required": ["item"],
        "properties": {"item": {"type": "string"}, "count": {"type": "integer"}},
    },
}
PEAR = [{"shop.order": '{"item": "pear"}'}]
FIG = [{"shop_order": {"item": "fig"}}]


def lines(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return path


def failure(own, kind="type_error:simple", **more):
    category = own.rpartition("_")[0]
    row = {"id": own, "model_name": "m", "test_category": category, "valid": False}
    return {**row, "error": ["Wrong."], "error_type": kind, **more}


def header(correct, total, **more):
    return {"accuracy": correct / total, "correct_count": correct, "total_count": total, **more}


def score(folder, *rows, category="simple_python"):
    return lines(folder / "score" / "m" / "x" / f"BFCL_v4_{category}_score.json", *rows)


def results(folder, *given, category="simple_python", **more):
    rows = [{"id": f"{category}_{n}", "result": one, **more} for n, one in enumerate(given)]
    return lines(folder / "result" / "m" / "x" / f"BFCL_v4_{category}_result.json", *rows)


def questions(folder, *expected, category="simple_python"):
    asked = [
        {
            "id": f"{category}_{n}",
            "question": [[{"role": "user", "content": "Order."}]],
            "function": [FUNCTION],
        }
        for n in range(len(expected))
    ]
    truths = [
        {"id": f"{category}_{n}", "ground_truth": [{"shop.order": {"item": [item]}}]}
        for n, item in enumerate(expected)
    ]
    name = f"BFCL_v4_{category}.json"
    lines(folder / "questions" / "possible_answer" / name, *truths)
    return lines(folder / "questions" / name, *asked)


def passed(path, **options):
    found = Bfcl(**options).read(path).trials()
    return {one.case.id: one.attempt.passed for one in found}


def faults(path, kind=InvalidInput, **options):
    with pytest.raises(kind) as caught:
        Bfcl(**options).read(path)
    return str(caught.value)


def metric(found, name):
    columns = [one.attempt.scores["bfcl"].values.get(name) for one in found.trials()]
    measured = [one for one in columns if one is not None]
    return sum(measured) / len(measured)


def test_results_and_scores_of_a_folder_are_one_run(tmp_path):
    results(tmp_path, PEAR, "No.", input_token_count=7, output_token_count=2, latency=1.5)
    score(tmp_path, header(1, 2), failure("simple_python_1", "ast_decoder:decoder_failed"))
    found = Bfcl().read(tmp_path)
    right, wrong = found.trials()
    assert (right.attempt.passed, right.case.category, right.case.tags) == (
        True,
        "simple_python",
        ("non_live",),
    )
    assert right.attempt.response.steps == (
        ToolCall(name="shop.order", arguments={"item": "pear"}),
    )
    assert (right.attempt.latency_ms, right.attempt.response.usage.total_tokens) == (1500.0, 9)
    assert wrong.attempt.failures == ("ast_decoder:decoder_failed", "format")
    assert wrong.attempt.response.answer == "No."
    assert found.provenance.agent == "m"
    assert found.notes[0].startswith("simple_python: only 2 of its 400 questions were run")
    assert metric(found, "bfcl.accuracy") == metric(found, "bfcl.accuracy[simple_python]") == 0.5


def test_a_latency_that_is_no_amount_is_unknown(tmp_path):
    for given in (10**400, -1, "1", [[1], [None]], []):
        (trial,) = Bfcl().read(results(tmp_path, PEAR, latency=given)).trials()
        assert trial.attempt.latency_ms is None


def test_turns_are_summed_and_their_calls_told_by_turn(tmp_path):
    said = [[[{"cd": '{"folder": "a"}'}], "Done."], [[{"ls": "{}"}], "There."]]
    counts = {"input_token_count": [[3, 4], [5]], "latency": [[0.5, 0.25], [1]]}
    path = results(tmp_path, said, category="multi_turn_base", **counts)
    (trial,) = Bfcl().read(path).trials()
    response = trial.attempt.response
    assert [(one.name, one.turn) for one in response.steps] == [("cd", 0), ("ls", 2)]
    assert (response.answer, response.turns, response.usage.input_tokens) == ("There.", 4, 12)
    assert trial.attempt.latency_ms == 1750.0
    assert trial.attempt.passed is None


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f(a=1, b=[-2.5, {'k': None}]), g.h(c=True)]", [("f", "a b"), ("g.h", "c")]),
        ("```\nf(a=(1, 2))\n```", [("f", "a")]),
        ("[f(a=open('/etc/passwd').read())]", None),
        ("[f(**{'a': 1})]", None),
        ("I cannot.", None),
        ("[]", []),
        ("[f(a=" + "(" * 9_000 + "1", None),
        ("[f(a=" + "-" * 15_000 + "1)]", None),
        ("[f(a='" + "x" * 30_000 + "')]", None),
        ([{"f": "{broken"}], [("f", "")]),
        ([{"f": {}, "g": {}}], None),
        (7, None),
    ],
)
def test_calls_are_read_and_never_run(text, calls):
    made = read_calls(text, many_turns=False).calls
    named = None if made is None else [(c.name, " ".join(c.arguments or ())) for c in made]
    assert named == calls


def test_an_answer_that_never_came_is_nobodys_and_counts_as_the_leaderboard_counts_it(tmp_path):
    results(
        tmp_path,
        "Error during inference: Error code: 429 - rate limit",
        "Error during inference: list index out of range",
        category="irrelevance",
    )
    score(tmp_path, header(2, 2), category="irrelevance")
    found = Bfcl().read(tmp_path)
    nobody, agent = found.trials()
    assert (nobody.attempt.status, nobody.attempt.passed) == ("infra_error", None)
    assert (agent.attempt.status, agent.attempt.passed) == ("agent_error", False)
    assert metric(found, "bfcl.accuracy") == 1.0


def test_the_overall_score_weighs_groups_of_any_size(tmp_path):
    """Every category but relevance: one answer is wrong. The live group is a mean over its answers,
    the others are means over their categories. Format sensitivity is beside the accuracy.
    """
    for n, category in enumerate(ORDER[:-2]):
        results(tmp_path, *["x"] * (n + 2), category=category)
        wrong = failure(f"{category}_0", "e")
        score(tmp_path, header(n + 1, n + 2), wrong, category=category)
    results(tmp_path, "x", category=ORDER[-1])
    score(tmp_path, header(1, 1), category=ORDER[-1])
    found = Bfcl().read(tmp_path)
    right = {name: (n + 1) / (n + 2) for n, name in enumerate(ORDER)}
    simple = sum(right[f"simple_{one}"] for one in ("python", "java", "javascript")) / 3
    non_live = (simple + sum(map(right.get, ("multiple", "parallel", "parallel_multiple")))) / 4
    turns = sum(value for name, value in right.items() if name.startswith("multi_turn")) / 4
    web = (right["web_search_base"] + right["web_search_no_snippet"]) / 2
    memory = sum(value for name, value in right.items() if name.startswith("memory")) / 3
    irrelevance = (right["irrelevance"] + right["live_irrelevance"]) / 2
    agentic = (web + memory) / 2
    asked = [n + 2 for n, name in enumerate(ORDER) if group_of(name) == "live"]
    live = 1 - len(asked) / sum(asked)
    overall = 0.1 * non_live + 0.1 * live + 0.1 * irrelevance + 0.3 * turns + 0.4 * agentic
    every = [n + 2 for n in range(len(ORDER[:-2]))]
    assert metric(found, "bfcl.accuracy") == pytest.approx(1 - len(every) / sum(every))
    assert metric(found, "bfcl.group_accuracy[live]") == pytest.approx(live)
    assert metric(found, "bfcl.group_accuracy[agentic]") == pytest.approx(agentic)
    assert metric(found, "bfcl.overall") == pytest.approx(overall)
    high = {one.name: one.high for one in found.suites["bfcl"].metrics}
    assert (high["bfcl.overall"], high["bfcl.accuracy"]) == (None, 1.0), "one answer can be more"


def test_there_is_no_overall_score_without_all_groups(tmp_path):
    results(tmp_path, PEAR)
    score(tmp_path, header(1, 1))
    names = {one.name for one in Bfcl().read(tmp_path).suites["bfcl"].metrics}
    assert names == {"bfcl.accuracy", "bfcl.accuracy[simple_python]"}
    for category in ("irrelevance", "live_irrelevance"):
        results(tmp_path, "No.", category=category)
        score(tmp_path, header(1, 1), category=category)
    more = {one.name for one in Bfcl().read(tmp_path).suites["bfcl"].metrics} - names
    assert "bfcl.group_accuracy[irrelevance]" in more
    assert "bfcl.overall" not in more


def test_answers_that_only_the_score_file_counts_are_in_the_denominator(tmp_path):
    path = score(tmp_path, header(3, 4), failure("live_simple_2-1-0"), category="live_simple")
    found = Bfcl().read(path)
    assert metric(found, "bfcl.accuracy") == 0.75
    assert "the score file does not name 3 answers that passed;" in " ".join(found.notes)
    first = found.suites["bfcl"].graders["bfcl.accuracy"]
    failed = map(failure, ("live_simple_2-1-0", "live_simple_0-0-0"))
    score(tmp_path, header(2, 4), *failed, category="live_simple")
    second = Bfcl().read(path).suites["bfcl"].graders["bfcl.accuracy"]
    assert first != second, "two of them are not compared"


def test_ids_of_passed_answers_come_from_the_questions_or_from_a_whole_category(tmp_path):
    questions(tmp_path, "a", "b")
    path = score(tmp_path, header(1, 2), failure("simple_python_0"))
    known = {"simple_python_0": False, "simple_python_1": True}
    assert passed(path, questions=str(tmp_path / "questions")) == known
    other = score(tmp_path / "other", header(1, 2), failure("simple_python_7"))
    told = passed(other, questions=str(tmp_path / "questions"))
    assert told == {"simple_python_7": False, "simple_python: passed, not named 1": True}
    path = results(tmp_path, PEAR, FIG, PEAR)
    asked = faults(path, questions=str(tmp_path / "questions"))
    assert f"{path}:3: 'simple_python_2' is not among the questions" in asked
    whole = score(
        tmp_path, header(49, 50), failure("simple_javascript_7"), category="simple_javascript"
    )
    found = passed(whole)
    assert len(found) == 50
    assert [own for own, right in found.items() if not right] == ["simple_javascript_7"]


def test_without_a_score_file_our_own_comparison_decides(tmp_path):
    questions(tmp_path, "pear", "fig", "plum")
    path = results(tmp_path, PEAR, FIG, PEAR)
    given = {"questions": str(tmp_path / "questions")}
    assert list(passed(path, **given).values()) == [True, True, False]
    *_, wrong = Bfcl(**given).read(path).trials()
    assert wrong.attempt.failures == ("wrong_tool_args:shop.order",)
    assert set(passed(path).values()) == {None}
    assert "without a score file nothing passed or failed" in " ".join(Bfcl().read(path).notes)


def test_whether_any_call_is_made_decides_of_relevance(tmp_path):
    path = results(tmp_path, PEAR, "No.", [], category="irrelevance")
    assert list(passed(path).values()) == [False, True, True]
    path = results(tmp_path, PEAR, "No.", [], category="live_relevance")
    assert list(passed(path).values()) == [True, False, False]


def test_a_question_has_one_answer(tmp_path):
    path = questions(tmp_path, "pear")
    answers = path.parent / "possible_answer" / path.name
    answers.write_text(answers.read_text() * 2)
    assert f"{answers}:2: 'simple_python_0' has two answers" in faults(path, answers=str(answers))


def test_where_both_judge_they_must_not_contradict_each_other(tmp_path):
    questions(tmp_path, "pear", "fig")
    path = results(tmp_path, PEAR, PEAR)
    given = {"questions": str(tmp_path / "questions"), "score": str(score(tmp_path, header(2, 2)))}
    told = faults(path, **given)
    assert f"{path}:2: 'simple_python_1' passed in the score file" in told
    failed = [failure("simple_python_0"), failure("simple_python_1")]
    score(tmp_path, header(0, 2), *failed)
    found = Bfcl(**given).read(path)
    assert "BFCL failed 1 answer that Agent Gate finds right" in " ".join(found.notes)
    assert set(passed(path, **given).values()) == {False}, "its word stands"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([header(1, 2)], "1: correct_count: says 1, but 0 of 2 failed"),
        ([header(1, 2, accuracy=0.9), failure("simple_python_0")], "says 0.9, but 1 of 2"),
        ([header(1, 2, accuracy=True)], "accuracy: says True"),
        ([{"accuracy": 1, "correct_count": 10**400, "total_count": 1}], "has no valid `accuracy`"),
        ([{"accuracy": 1}], "has no valid `accuracy`, `correct_count` and `total_count`"),
        ([header(0, 2), *[failure("simple_python_0")] * 2], ":3: 'simple_python_0' appears twice"),
        (
            [header(0, 1), failure("multiple_0")],
            "is of the category 'multiple', not of simple_python",
        ),
        ([header(0, 1), {**failure("simple_python_0"), "valid": True}], "`valid` must be false"),
        (
            [header(0, 1), failure(7 * "x" + "_0", test_category="simple_python")],
            "has no result for",
        ),
        ([header(0, 2), failure("simple_python_0"), '{"id": "simple'], ":3: not JSON"),
        (
            [header(0, 2), failure("simple_python_0"), failure("simple_python_1", model_name="n")],
            "answers of several models: m, n - import one",
        ),
        ([header(2, 3), failure("simple_python_0")], "has 2 results, but the score file counts 3"),
        (
            [header(1, 2), failure("simple_python_1", model_result_raw="other")],
            "'simple_python_1': the score file has a different result for it",
        ),
    ],
)
def test_a_score_that_contradicts_itself_or_the_results_is_refused(tmp_path, rows, says):
    results(tmp_path, PEAR, FIG)
    score(tmp_path, *rows)
    assert says in faults(tmp_path)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": "simple_python_0", "result": []}, ":2: 'simple_python_0' appears twice"),
        ({"id": "simple_python_9"}, "'simple_python_9' has no `result`"),
        ([], "must be an object with `id` and `result`"),
    ],
)
def test_results_that_cannot_be_right_are_refused(tmp_path, row, says):
    path = lines(results(tmp_path, PEAR), {"id": "simple_python_0", "result": []}, row)
    assert says in faults(path)


def test_one_version_and_one_model_at_a_time(tmp_path):
    results(tmp_path, PEAR)
    old = tmp_path / "result" / "m" / "x" / "BFCL_v3_multiple_result.json"
    lines(old, {"id": "multiple_0", "result": []})
    assert "files of v3 and of v4" in faults(tmp_path, UsageError)
    old.unlink()
    lines(tmp_path / "result" / "n" / "x" / old.name, {"id": "multiple_0", "result": []})
    assert "results of 2 models (m, n)" in faults(tmp_path, UsageError)
    assert passed(tmp_path, model="n") == {"multiple_0": None}
    assert "'k' not found in" in faults(tmp_path, UsageError, model="k")


def test_questions_with_answers_are_a_dataset(tmp_path):
    path = questions(tmp_path, "pear")
    answers = str(path.parent / "possible_answer" / path.name)
    found = Bfcl(answers=answers).read(path)
    assert (dict(found.suites), list(found.trials())) == ({}, [])
    (case,) = found.cases()
    assert (case.input, case.category) == ("Order.", "simple_python")
    grader = ToolCalls(mode="unordered", strings="loose", numbers="typed")
    steps = (ToolCall(name="shop.order", arguments={"item": "Pear"}),)
    assert list(grader.case_faults(case.keys)) == []
    assert grader.grade(case, Response(answer="", steps=steps)).passed is True
    assert "the questions have no expected answers; add" in faults(path, UsageError)


@pytest.mark.parametrize("category", ["simple_java", "multi_turn_base", "live_relevance"])
def test_questions_that_only_the_benchmark_can_judge_are_no_dataset(tmp_path, category):
    path = questions(tmp_path, "pear", category=category)
    answers = str(path.parent / "possible_answer" / path.name)
    assert "only categories that compare Python calls" in faults(path, UsageError, answers=answers)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"function": "x"}, "needs `function`"),
        ({"function": [{"no": "name"}]}, "not in the format of BFCL"),
        ({"function": [{"name": "other"}]}, "one of the functions"),
    ],
)
def test_questions_of_another_form_are_refused_with_their_line(tmp_path, change, says):
    path = questions(tmp_path, "pear")
    lines(path, {**json.loads(path.read_text()), **change})
    told = faults(path, answers=str(path.parent / "possible_answer" / path.name))
    assert f"{path}:1: " in told
    assert says in told


def test_it_is_recognised_by_names_and_first_lines(tmp_path):
    path = results(tmp_path, PEAR)
    assert Bfcl.recognises(look(tmp_path))
    assert Bfcl.recognises(look(path))
    assert Bfcl.recognises(look(path.parent.parent))
    assert not Bfcl.recognises(look(lines(tmp_path / "BFCL_v4_x.json", {"a": 1})))
    assert "the file name has no category" in faults(path.rename(tmp_path / "r.json"), UsageError)
