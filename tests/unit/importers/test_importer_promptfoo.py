"""The importer of promptfoo's results: what rows become, and what is refused."""

import json
from functools import partial

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.plugins import IMPORTERS
from tests.support.importing import read_results, told_of
from tests.support.paths import DATA

read = partial(read_results, "promptfoo")

EXAMPLES = DATA / "imports" / "promptfoo"
PART = {
    "pass": True,
    "score": 1,
    "reason": "Assertion passed",
    "assertion": {"type": "contains", "value": "x"},
}
ROW = {
    "testIdx": 0,
    "promptIdx": 0,
    "provider": {"id": "openai:chat:gpt-5", "label": ""},
    "prompt": {"raw": "Say x to Al.", "label": "Say x to {{name}}."},
    "vars": {"name": "Al"},
    "testCase": {"vars": {"name": "Al"}, "assert": [PART["assertion"]]},
    "response": {"output": "x", "tokenUsage": {"prompt": 3, "completion": 1, "total": 4}},
    "success": True,
    "score": 1,
    "failureReason": 0,
    "gradingResult": {"pass": True, "score": 1, "reason": "", "componentResults": [PART]},
    "namedScores": {},
    "latencyMs": 20,
    "cost": 0,
}
FAILED = {
    "success": False,
    "score": 0,
    "failureReason": 1,
    "error": "Expected output to contain x",
    "gradingResult": {
        "pass": False,
        "score": 0,
        "reason": "Expected output to contain x",
        "componentResults": [{**PART, "pass": False, "score": 0}],
    },
}
STACK = "\n".join(f"    at async step{n} (file:///p/evaluator.js:1:{n})" for n in range(9))


def broken(error, **more):
    """A row without an answer."""
    own = {
        "success": False,
        "score": 0,
        "failureReason": 2,
        "gradingResult": None,
        "response": None,
    }
    return {**own, "error": error, **more}


def grading(*parts, passed=False):
    return {"pass": passed, "score": 0.5, "reason": "", "componentResults": [*parts]}


def written(folder, *rows, name="out.json", **more):
    """Results with these rows; each adds to ROW, numbered."""
    whole = [{**ROW, "testIdx": n, **one} for n, one in enumerate(rows)]
    path = folder / name
    if name.endswith("l"):
        path.write_text("\n".join(map(json.dumps, whole)) + "\n")
        return path
    summary = {"version": 3, "timestamp": "2026-05-12T14:30:52.000Z", **more.pop("summary", {})}
    data = {"evalId": "e", "results": {**summary, "results": whole}, **more}
    path.write_text(json.dumps(data))
    return path


def attempt(folder, **row):
    (found,) = read(written(folder, row)).trials()
    return found.attempt


def faults(path, kind=InvalidInput, **options):
    return told_of(read, path, kind, **options)


def test_an_answer_that_passed(tmp_path):
    found = attempt(tmp_path, namedScores={"Tone": 0.25})
    assert (found.status, found.passed, found.failures) == ("completed", True, ())
    assert (found.response.answer, found.response.model, found.latency_ms) == ("x", "gpt-5", 20)
    assert found.response.usage.total_tokens == 4
    assert found.response.usage.cost_usd is None, "0 is what it writes for an unknown price"
    values = {name: value for one in found.scores.values() for name, value in one.values.items()}
    assert values == {"promptfoo.score": 1, "promptfoo.contains": 1, "promptfoo.tone": 0.25}


def test_an_answer_that_failed_names_the_assertions_that_did(tmp_path):
    fails = {**PART, "pass": False, "score": 0, "assertion": {"type": "not-contains", "weight": 3}}
    found = attempt(tmp_path, **{**FAILED, "gradingResult": grading(PART, fails)})
    assert (found.passed, found.failures) == (False, ("not_contains",))
    assert found.scores["promptfoo.not_contains"].passed is False
    none = attempt(tmp_path, **{**FAILED, "gradingResult": grading(PART)})
    assert none.failures == ("below_threshold",)


def test_scores_of_one_name_are_their_mean_by_weight(tmp_path):
    def named(score, weight):
        return {**PART, "score": score, "assertion": {"type": "x", "metric": "M", "weight": weight}}

    found = attempt(tmp_path, gradingResult=grading(named(1, 3), named(0, 1), passed=True))
    assert found.scores["promptfoo.m"].values == {"promptfoo.m": 0.75}


def test_a_set_is_counted_once_and_fails_by_what_failed_in_it(tmp_path):
    inner = [{**PART, "pass": False, "score": 0}, {**PART, "assertion": {"type": "regex"}}]
    whole = {
        "pass": False,
        "score": 0.5,
        "reason": "Aggregate score 0.50 < 0.9 threshold",
        "componentResults": inner,
        "metadata": {"assertionSet": {"type": "assert-set", "metric": "both"}},
    }
    found = attempt(tmp_path, **{**FAILED, "gradingResult": grading(whole, *inner)})
    assert found.failures == ("contains",)
    assert found.scores["promptfoo.both"].values == {"promptfoo.both": 0.5}
    assert found.scores["promptfoo.regex"].values == {"promptfoo.regex": 1}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        ("API error: 500 Internal Server Error", "agent_error", "provider_error"),
        ("Error: Rate limit exceeded: HTTP 429 Too Many Requests", "infra_error", None),
        (
            "API call error: fetch failed (connect ECONNREFUSED 1.2.3.4:5)",
            "infra_error",
            None,
        ),
        ("Error: Queue disposed", "infra_error", None),
        ("Error: Evaluation timed out after 1500ms", "agent_error", "timeout"),
        ("Error: Command failed: agent --rate-limit 429", "agent_error", "provider_error"),
        ('Error: Failed to transform response: quota {"status":503,"x":1}', "infra_error", None),
        ('Error: Failed to transform response: quota {"status":500,"x":1}', "agent_error", None),
        (f"Error: odd\n    at RateLimitRegistry.execute (x)\n{STACK}", "agent_error", None),
    ],
)
def test_an_answer_that_never_came(tmp_path, error, status, code):
    found = attempt(tmp_path, **broken(error))
    assert found.status == status
    assert found.passed is (None if status == "infra_error" else False)
    if code:
        assert found.failures == (code,)


def test_an_answer_that_never_came_scores_0_under_the_names_of_its_test(tmp_path):
    found = attempt(tmp_path, **broken("API error: 500"))
    assert found.scores["promptfoo"].values == {"promptfoo.contains": 0, "promptfoo.score": 0}


def test_the_status_beside_an_error_says_whose_it_was(tmp_path):
    beside = {"error": "API error: no words", "metadata": {"http": {"status": 503}}}
    assert attempt(tmp_path, **broken("no words", response=beside)).status == "infra_error"


def test_an_empty_answer_is_the_agents(tmp_path):
    silent = {"failureReason": 0, "error": "No output", "gradingResult": None, "response": {}}
    found = attempt(tmp_path, success=False, score=0, **silent)
    assert (found.status, found.failures) == ("agent_error", ("no_output",))


def test_an_assertion_that_broke_off_leaves_the_answer_unscored(tmp_path):
    thrown = f"Error: no price\n    at runAssertion (file:///p/evaluator.js:1:2)\n{STACK}"
    judge = {**PART, "pass": False, "score": 0, "metadata": {"graderError": True}}
    own = {**judge, "metadata": {}, "reason": "Python code execution failed: oh\n  at x"}
    own["assertion"] = {"type": "python"}
    for row in (
        broken(thrown),
        broken("Error: the judge", response=ROW["response"]),
        {**FAILED, "gradingResult": grading(PART, judge)},
        {**FAILED, "gradingResult": grading(PART, own)},
    ):
        found = attempt(tmp_path, **row)
        assert (found.status, found.passed, found.failures) == ("completed", None, ())
        assert any(score.unscored for score in found.scores.values())
        notes = read(written(tmp_path, row, FAILED)).notes
        assert any("1 of 2 results have an assertion that ended" in note for note in notes)
    fails = {**PART, "pass": False, "score": 0, "assertion": {"type": "regex"}}
    found = attempt(tmp_path, **{**FAILED, "gradingResult": grading(fails, own)})
    assert (found.passed, found.failures) == (False, ("regex",)), "another assertion failed"
    assert not any("broke off" in note for note in read(written(tmp_path, FAILED)).notes)
    judged = broken(thrown, gradingResult=grading(PART))
    assert attempt(tmp_path, **judged).status == "agent_error", "its assertions did judge"


def test_an_agent_cannot_write_itself_an_assertion_that_broke_off(tmp_path):
    forged = f"Error: Failed\n    at runAssertion (x)\nend\n{STACK}\n    at last (y)"
    assert attempt(tmp_path, **broken(forged)).status == "agent_error"
    answered = {"error": "x\n    at runAssertion (y)"}
    found = attempt(tmp_path, **broken(answered["error"], response=answered))
    assert found.status == "agent_error"


def test_the_time_of_a_cached_answer_is_unknown(tmp_path):
    path = written(tmp_path, {"response": {**ROW["response"], "cached": True}})
    (trial,) = read(path).trials()
    assert trial.attempt.latency_ms is None
    assert "1 of 1 answers came from promptfoo's cache" in read(path).notes[1]


def test_an_output_of_tool_calls_is_steps(tmp_path):
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    found = attempt(tmp_path, response={"output": [call]})
    assert [(one.name, one.arguments) for one in found.response.steps] == [("f", {"a": 1})]
    assert json.loads(found.response.answer) == [call]


def test_repeats_are_rounds_and_a_test_that_is_there_twice_is_two_cases(tmp_path):
    other = {"testCase": {"vars": {"name": "Bo"}}}
    rows = [{}, {}, {}, {}, other, other]
    found = read(written(tmp_path, *rows, runtimeOptions={"repeat": 2}))
    suite = found.suites["promptfoo"]
    assert (suite.rounds, suite.cases) == (2, 3)
    ids = [(one.case.id.partition(" ")[0], one.round) for one in found.trials()]
    assert ids == [("Al", 1), ("Al", 2), ("Al", 1), ("Al", 2), ("Bo", 1), ("Bo", 2)]
    untold = read(written(tmp_path, {}, {}, {}, name="out.jsonl"))
    assert (untold.suites["promptfoo"].rounds, untold.suites["promptfoo"].cases) == (3, 1)


def test_a_case_is_named_by_its_description_else_by_what_is_asked(tmp_path):
    def test(description, name, **more):
        return {"testCase": {"description": description, "vars": {"name": name}, **more}}

    rows = [test("one", "a"), test("two", "b"), test("two", "c"), test("Row #4", "d")]
    rows.append({"testCase": {"vars": {"name": "e"}, "metadata": {"id": "x-1"}}})
    ids = [one.case.id for one in read(written(tmp_path, *rows)).trials()]
    assert [ids[0], ids[4]] == ["one", "x-1"]
    assert [one.partition(" ")[0] for one in ids[1:4]] == ["two", "two", "d"]
    assert len({*ids}) == 5


def test_a_new_prompt_is_the_same_case_and_a_new_assertion_is_not(tmp_path):
    def digest(**row):
        (trial,) = read(written(tmp_path, row)).trials()
        return trial.case.digest

    assert digest() == digest(prompt={"raw": "Please say x, Al.", "label": "other"})
    assert digest() != digest(testCase={**ROW["testCase"], "assert": [{"type": "is-json"}]})


def test_each_prompt_and_provider_is_a_suite(tmp_path):
    prompts = [
        {"raw": "Say x to {{name}}.", "label": "Say x to {{name}}.", "provider": "a"},
        {"raw": "Short: {{name}}", "label": "short", "provider": "a"},
        {"raw": "Say x to {{name}}.", "label": "Say x to {{name}}.", "provider": "b/../c"},
    ]
    rows = [{"promptIdx": n, "provider": {"id": one["provider"]}} for n, one in enumerate(prompts)]
    path = written(tmp_path, *rows, summary={"prompts": prompts}, config={"description": "D"})
    assert [*read(path).suites] == ["a.prompt-1", "a.short", "b-..-c.prompt-1"]
    assert [*read(path, suite="s").suites] == ["s.a.prompt-1", "s.a.short", "s.b-..-c.prompt-1"]
    alone = written(tmp_path, {}, config={"description": "D / 1"})
    assert [*read(alone).suites] == ["D-1"]
    assert [*read(alone, suite="mine").suites] == ["mine"]


def test_results_of_version_2_are_read(tmp_path):
    def old(**more):
        kept = ("provider", "prompt", "vars", "response", "success", "score", "gradingResult")
        return {key: one for key, one in {**ROW, **more}.items() if key in (*kept, "error")}

    rows = [old(), old(**FAILED), old(**broken("API error: 500"))]
    prompt = {"raw": "Say x to {{name}}.", "display": "d", "provider": "openai:chat:gpt-5"}
    table = {"head": {"prompts": [prompt], "vars": ["name"]}, "body": []}
    stats = {"successes": 1, "failures": 2}
    inner = {"version": 2, "timestamp": "2024-05-12T14:30:52Z", "results": rows}
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"results": {**inner, "table": table, "stats": stats}}))
    found = read(path)
    assert found.created_at == "2024-05-12T14:30:52Z"
    told = [(one.attempt.status, one.attempt.passed) for one in found.trials()]
    assert told == [("completed", True), ("completed", False), ("agent_error", False)]


def test_a_summary_that_lacks_rows_is_told_and_one_that_has_more_is_refused(tmp_path):
    def stats(passed, failed):
        return {"stats": {"successes": passed, "failures": failed, "errors": 0}}

    resumed = read(written(tmp_path, {}, {}, FAILED, summary=stats(1, 0)))
    assert "counts 1 results, but the file has 3" in resumed.notes[1]
    cut = faults(written(tmp_path, {}, {}, summary=stats(3, 1)))
    assert cut.startswith("out.json: results.stats: says 3 passed, 1 failed, 0 in error, but the")
    assert "but the rows are 1 passed, 1 failed" in faults(
        written(tmp_path, {}, FAILED, summary=stats(2, 0))
    )


def test_the_summary_of_a_prompt_is_held_against_its_own_rows(tmp_path):
    def summary(*passed_and_failed):
        metrics = [{"testPassCount": p, "testFailCount": f} for p, f in passed_and_failed]
        return {"prompts": [{"raw": "p", "metrics": one} for one in metrics]}

    rows = [{}, {}, {**FAILED, "promptIdx": 1}]
    assert len(read(written(tmp_path, *rows, summary=summary((2, 0), (0, 1)))).notes) == 1
    assert len(read(written(tmp_path, *rows, summary=summary((1, 0), (0, 0)))).notes) == 1
    assert "results.prompts[1].metrics: says 1 passed, 0 failed" in faults(
        written(tmp_path, *rows, summary=summary((2, 0), (1, 0)))
    )
    unnumbered = [{"promptIdx": None, "testIdx": None}]
    assert read(written(tmp_path, *unnumbered, summary=summary((3, 1)))), "whose rows, nobody knows"


def test_scores_outside_0_to_1_have_no_bounds(tmp_path):
    found = read(written(tmp_path, {"namedScores": {"Length": 12, "Tone": 1}}))
    specs = {spec.name: spec for spec in found.suites["promptfoo"].metrics}
    assert (specs["promptfoo.length"].family, specs["promptfoo.length"].high) == ("mean", None)
    assert specs["promptfoo.tone"].family == "rate"


def test_another_judge_is_another_grader(tmp_path):
    judged = {**PART, "assertion": {"type": "llm-rubric", "provider": "openai:gpt-5"}}
    found = read(written(tmp_path, {"gradingResult": grading(judged, PART, passed=True)}))
    graders = found.suites["promptfoo"].graders
    assert graders["promptfoo.llm_rubric"] == "promptfoo by openai:gpt-5" == graders["success"]
    assert graders["promptfoo.contains"] == "promptfoo"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"success": "yes"}, "out.json: results[0].success: 'yes' is not a boolean"),
        ({"score": "high"}, "out.json: results[0].score: 'high' is not"),
        ({"success": True, "failureReason": 2}, "success is true, but failureReason is 2"),
        ({"gradingResult": grading(PART)}, "success is true, but gradingresult.pass is false"),
        ({"failureReason": 3}, "results[0].failureReason: 3 is not one of"),
        ({"namedScores": {"a": "b"}}, "results[0].namedScores.a"),
        ({"testIdx": -1}, "results[0].testIdx"),
    ],
)
def test_rows_that_cannot_be_are_refused(tmp_path, row, told):
    assert told in faults(written(tmp_path, row))


def test_what_is_no_results_is_refused(tmp_path):
    path = tmp_path / "out.json"
    for text, told in (
        ('{"results": {"results": [{"succ', "out.json:1: cut off in the middle"),
        ('{"results": {"results": []}}', "out.json: has no results"),
        ('{"results": 7}', "out.json: not a promptfoo result file: it has"),
        ('{"results": {"results": 7}}', "out.json: results.results: must be a list"),
        ("[1, 2]", "out.json: not a promptfoo result file: it has"),
    ):
        path.write_text(text)
        assert told in faults(path)
    twice = written(tmp_path, {"testIdx": 1}, {"testIdx": 1})
    assert "results[1]: has the same testIdx and promptIdx as results[0]" in faults(twice)
    mixed = written(tmp_path, {"testIdx": 1}, {"testIdx": 1, "promptIdx": None})
    assert "results[1]: has no testIdx or promptIdx, but other results have both" in faults(mixed)
    twice = written(tmp_path, {"testIdx": 1}, {"testIdx": 1})
    link = tmp_path / "link.json"
    link.symlink_to(twice)
    assert "a symbolic link, which is not followed" in faults(link, UsageError)


def test_hostile_texts_are_bounded(tmp_path):
    nasty = "\x1b[31m" + "A\n|`<b>" * 5000
    part = {**PART, "assertion": {"type": nasty, "metric": nasty}}
    row = {
        "provider": nasty,
        "testCase": {"description": nasty, "vars": {nasty: nasty}, "metadata": {"category": nasty}},
        "gradingResult": grading(part, passed=True),
        "namedScores": {nasty: 1},
    }
    found = read(written(tmp_path, row, config={"description": nasty}))
    (trial,) = found.trials()
    (name,) = found.suites
    assert len(name) <= 100
    assert name.isascii()
    assert len(trial.case.id) < 200
    assert "\x1b" not in trial.case.id + found.provenance.agent
    assert all(len(spec.name) < 120 for spec in found.suites[name].metrics)


@pytest.mark.parametrize("file", ["monday.json", "promptfooconfig.yaml"])
def test_the_examples_are_recognised(file):
    others = [
        name for name in IMPORTERS if IMPORTERS.get_class(name).recognises(look(EXAMPLES / file))
    ]
    assert others == ["promptfoo"]


def test_a_csv_of_promptfoo_is_told_apart_from_broken_json(tmp_path):
    (tmp_path / "r.csv").write_text("q,[shop]\n")
    with pytest.raises(UsageError, match=r"promptfoo eval -o results\.json"):
        IMPORTERS.get_class("promptfoo")().read(tmp_path / "r.csv")


@pytest.mark.parametrize(
    ("told", "total"),
    [
        ({"total": 9}, 9),
        ({"total": 9, "prompt": 0, "completion": 0}, 9),
        ({"total": 9, "cached": 9}, None),  # out of its cache: nobody was asked
        ({"total": 0}, None),
    ],
)
def test_a_total_alone_counts_as_tokens(tmp_path, told, total):
    found = attempt(tmp_path, response={"output": "x", "tokenUsage": told})
    assert found.response.usage.total_tokens == total
    assert found.response.usage.input_tokens is None
