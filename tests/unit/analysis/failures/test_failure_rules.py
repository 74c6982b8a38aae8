"""Each rule of the table of failure modes, and which one wins where several fit."""

import re
from collections import Counter
from typing import get_args

import pytest

from gate.analysis.failures.modes import ORDER, RULES, mode_in, mode_of, most_frequent, refuses
from gate.records import Case, FailureMode, Response, Score, Trial
from gate.run.grade import grade_attempt
from gate.store.trial_rows import row_of
from tests.support.failed_rows import failed_row, violation
from tests.support.paths import ROOT

DOCS = ROOT / "docs" / "trajectories.md"


@pytest.mark.parametrize(
    ("code", "mode"),
    [
        ("safety:forbidden_tool", "safety"),
        ("judge_injection", "safety"),
        ("judge_low:safety_quality", "safety"),
        ("loop:run_sql", "loop"),
        ("wrong_tool_args:run_sql", "tool_args_wrong"),
        ("invalid_tool_args:run_sql.limit", "tool_args_wrong"),
        ("missing_tool_arg:run_sql.sql", "tool_args_wrong"),
        ("unknown_tool_arg:run_sql.x", "tool_args_wrong"),
        ("unparsable_tool_args:run_sql", "tool_args_wrong"),
        ("unknown_tool:rm", "wrong_tool"),
        ("unexpected_tool_call:rm", "wrong_tool"),
        ("wrong_tool_order:run_sql", "wrong_tool"),
        ("judge_low:trajectory_quality", "wrong_tool"),
        ("missing_tool_call:run_sql", "missing_tool_use"),
        ("unrecovered_error:run_sql", "missing_tool_use"),
        ("retrieval_miss", "retrieval_miss"),
        ("unsupported_number:42", "hallucinated_data"),
        ("judge_low:faithfulness", "hallucinated_data"),
        ("silent_failure:run_sql", "hallucinated_data"),
        ("json_format_invalid", "format"),
        ("json_object_expected", "format"),
        ("json_array_expected", "format"),
        ("missing_key:total", "format"),
        ("schema_mismatch:total", "format"),
        ("number_ambiguous", "format"),
        ("structure:end", "format"),
        ("structure:table", "format"),
        ("empty", "format"),
        ("too_long", "instruction"),
        ("repetitive", "instruction"),
        ("hard_to_read", "instruction"),
        ("forbidden_pattern_hit:maybe", "instruction"),
        ("judge_low:conciseness", "instruction"),
        ("judge_low:clarity", "instruction"),
        ("fact_missing:4.2 %", "wrong_answer"),
        ("forbidden_fact:12", "wrong_answer"),
        ("answer_mismatch", "wrong_answer"),
        ("text_missing:Osaka", "wrong_answer"),
        ("pattern_missing:a.b", "wrong_answer"),
        ("number_missing", "wrong_answer"),
        ("number_mismatch", "wrong_answer"),
        ("not_similar", "wrong_answer"),
        ("judge_low:correctness", "wrong_answer"),
        ("judge_low:total", "wrong_answer"),
        ("inefficient:4.5", "inefficient"),
        ("too_many_steps:17", "inefficient"),
        ("api_error", "agent_error"),
        ("parse_error", "agent_error"),
        ("fabricated_tool_call:shell", "hallucinated_data"),
        ("tool_evidence_incomplete:shell", "missing_tool_use"),
        ("tool_evidence_unverified", "missing_tool_use"),
        ("min_tool_calls_not_met:2", "missing_tool_use"),
        ("empty_response", "format"),
        ("completion_failed", "format"),
        ("output_parse:assistant_text_missing", "format"),
        ("output_not_json_object", "format"),
        ("output_not_json_only", "format"),
        ("missing_field:evidence.sources", "format"),
        ("response_not_json_object", "format"),
        ("missing_stage:collect", "format"),
        ("empty_stage:collect", "format"),
        ("rubric_not_met:format", "format"),
        ("rubric_not_met:correctness", "wrong_answer"),
        ("factual_mismatch", "wrong_answer"),
        ("fact_pattern_missing:a", "wrong_answer"),
        ("must_pattern_missing:a", "instruction"),
        ("line_prefix_mismatch:'- '", "instruction"),
        ("item_count_lines_not_met", "instruction"),
        ("comma_separated_item_count_not_met", "instruction"),
        ("min_chars_not_met", "instruction"),
        ("max_words_exceeded", "instruction"),
        ("count_not_met:collect.sources", "instruction"),
        ("min_sources_not_met:5", "instruction"),
        ("expected_path_missing:./scratch/a.md", "instruction"),
        ("a code of one's own", "wrong_answer"),
    ],
)
def test_a_code_alone_has_its_mode(code, mode):
    assert mode_of(failed_row(code)) == mode


@pytest.mark.parametrize("mode", get_args(FailureMode))
def test_a_grader_of_the_users_can_name_any_mode(mode):
    assert mode_of(failed_row(mode)) == mode
    assert mode_of(failed_row(f"{mode}:why")) == mode


def test_the_table_has_every_mode_in_one_order():
    assert sorted(ORDER) == sorted(get_args(FailureMode))


@pytest.mark.parametrize(
    ("row", "mode"),
    [
        (failed_row(status="agent_error", failures=["timeout"]), "timeout"),
        (failed_row(status="agent_error", failures=["agent_error"]), "agent_error"),
        (failed_row(status="agent_error", failures=[]), "agent_error"),
        (failed_row("fact_missing:1", violations=[violation()]), "safety"),
        (failed_row("fact_missing:1", violations=[violation("medium")]), "wrong_answer"),
        (failed_row("safety:pii", violations=[violation("medium")]), "safety"),
        (failed_row("fact_missing:1", safety_violations=["leak"]), "safety"),
        (failed_row("fact_missing:1", scores={"retrieval.mrr": 0.0}), "retrieval_miss"),
        (failed_row("fact_missing:1", scores={"retrieval.mrr": 0.5}), "wrong_answer"),
        (failed_row("too_long", scores={"retrieval.mrr": 0.0}), "instruction"),
        (
            failed_row("fact_missing:1", scores={"operational.hallucinated_answers": 1.0}),
            "hallucinated_data",
        ),
        (failed_row("too_long", scores={"operational.hallucinated_answers": 1.0}), "instruction"),
        (
            failed_row("fact_missing:1", scores={"agent.silent_failure_rate": 1.0}),
            "hallucinated_data",
        ),
        (failed_row("fact_missing:1", scores={"agent.loop_rate": 1.0}), "loop"),
        (failed_row("fact_missing:1", output=" \n"), "format"),
        (failed_row("fact_missing:1", output=None), "wrong_answer"),
        (failed_row("fact_missing:1", finish_reason="length"), "format"),
        (failed_row("fact_missing:1", finish_reason="MAX_TOKENS"), "format"),
        (failed_row("fact_missing:1", finish_reason="content_filter"), "refusal"),
        (failed_row("fact_missing:1", output="I'm sorry, but I can't help with that."), "refusal"),
        (failed_row(failed_by=["json_format#2"]), "format"),
        (failed_row(failed_by=["Mine"]), "wrong_answer"),
        (failed_row(), "wrong_answer"),
    ],
)
def test_what_shows_without_a_code(row, mode):
    assert mode_of(row) == mode


SORRY = {"output": "I'm sorry, but I can't help with that."}
FOUND = {"retrieved_ids": ["kb-9"]}


@pytest.mark.parametrize(
    ("winner", "codes", "more"),
    [
        # A grave one is seen whatever else went wrong.
        ("safety", ["loop:a", "wrong_tool_args:a"], {"violations": [violation()]}),
        ("safety", ["safety:canary", "fact_missing:1"], SORRY),
        # Round and round explains every extra call and the answer.
        ("loop", ["loop:a", "unexpected_tool_call:a", "fact_missing:1"], {}),
        ("loop", ["loop:a", "wrong_tool_args:a"], {}),
        # A call that went wrong explains what came after it, a refusal too.
        ("tool_args_wrong", ["wrong_tool_args:a", "missing_tool_call:b", "fact_missing:1"], {}),
        ("tool_args_wrong", ["invalid_tool_args:a", "unsupported_number:3"], SORRY),
        ("wrong_tool", ["missing_tool_call:a", "unexpected_tool_call:b", "fact_missing:1"], {}),
        ("wrong_tool", ["unknown_tool:b", "missing_tool_call:a"], {}),
        # A refusal explains missing calls and facts.
        ("refusal", ["missing_tool_call:a", "fact_missing:1"], SORRY),
        ("refusal", ["json_format_invalid"], SORRY),
        # The wrong documents explain a call that was not made; with none at all it is the call.
        ("retrieval_miss", ["retrieval_miss", "missing_tool_call:a", "fact_missing:1"], FOUND),
        ("missing_tool_use", ["retrieval_miss", "missing_tool_call:search"], {"retrieved_ids": []}),
        ("missing_tool_use", ["missing_tool_call:a", "fact_missing:1"], FOUND),
        ("missing_tool_use", ["missing_tool_call:a", "unsupported_number:3"], {}),
        # A call that was made up is worse than one that was left out, and a refusal is none then.
        ("hallucinated_data", ["tool_evidence_incomplete:a", "fabricated_tool_call:a"], SORRY),
        ("missing_tool_use", ["missing_field:a", "missing_tool_call:b"], {}),
        # An invention has its own cause where nothing was found.
        ("retrieval_miss", ["retrieval_miss", "unsupported_number:3", "fact_missing:1"], FOUND),
        ("hallucinated_data", ["unsupported_number:3", "fact_missing:1", "too_long"], {}),
        ("hallucinated_data", ["unsupported_number:3", "unexpected_tool_call:a"], {}),
        # What cannot be read states nothing.
        ("format", ["json_format_invalid", "fact_missing:1"], {}),
        ("hallucinated_data", ["json_format_invalid", "unsupported_number:3"], {}),
        # A call too many explains a wrong answer only where nothing better does.
        ("wrong_tool", ["unexpected_tool_call:a", "fact_missing:1"], {}),
        # Content before manner.
        ("wrong_answer", ["fact_missing:1", "too_long", "structure:table"], {}),
        ("wrong_answer", ["judge_low:clarity", "judge_low:correctness"], {}),
        ("wrong_answer", ["fact_missing:1", "inefficient:4"], {}),
        ("format", ["structure:list", "too_long"], {}),
        ("instruction", ["too_long", "inefficient:4"], {}),
    ],
)
def test_the_cause_wins_over_what_it_causes(winner, codes, more):
    assert mode_of(failed_row(*codes, **more)) == winner
    assert mode_of(failed_row(*reversed(codes), **more)) == winner


@pytest.mark.parametrize(
    "row",
    [
        failed_row(passed=True),
        failed_row(passed=None),
        failed_row("loop:a", passed=True, violations=[violation()]),
        failed_row(status="infra_error", passed=None, failures=[], error="refused"),
        failed_row("loop:a", status="infra_error"),
    ],
)
def test_what_did_not_fail_has_no_mode(row):
    assert mode_of(row) is None
    assert mode_in({**row, "mode": "loop"}) is None


def test_a_row_keeps_the_mode_it_was_written_with_and_an_older_one_gets_its_own():
    assert mode_in(failed_row("too_long", mode="loop")) == "loop"
    assert mode_in(failed_row("too_long")) == "instruction"
    assert mode_in(failed_row("too_long", mode=None)) == "instruction"


def test_the_most_frequent_mode_and_its_tie_rule():
    assert most_frequent(Counter()) is None
    assert most_frequent(Counter({"wrong_answer": 2, "loop": 1})) == "wrong_answer"
    assert most_frequent(Counter({"wrong_answer": 1, "loop": 1})) == "loop"


class Decliner:
    """A grader that only says no."""

    keys, needs = {}, ()

    def metrics(self):
        return ()

    def grade(self, case, response):
        return Score(passed=False)


def test_the_row_of_an_answer_has_what_the_rules_read():
    response = Response(answer="", retrieved=(), finish_reason="content_filter")
    case = Case(id="c", input="q", keys={})
    attempt = grade_attempt(case, response, {"mine": Decliner()})
    trial = Trial(suite="s", case=case, round=1, attempts=(attempt,), started_at="", judged=0)
    row = row_of(trial, cost_usd=None, on_agent_error={}, specs={})
    assert (row["mode"], row["finish_reason"]) == ("refusal", "content_filter")


@pytest.mark.parametrize(
    "answer",
    [
        "I am sorry, but I cannot help with that request.",
        "I'm sorry, I can't assist with that.",
        "I\u2019m really sorry, but I can\u2019t help with that.",
        "Sorry, but I won't be able to provide this.",
        "I apologize for the inconvenience, but I am unable to answer this question.",
        "Unfortunately, I'm not able to share customer data.",
        "As an AI language model, I cannot provide medical advice.",
        "I must respectfully decline.",
        "**I cannot comply with this.**",
        "I'm afraid I can't do that.",
        "No, I will not do that.",
        "This request goes against our policy.",
        "We are not permitted to disclose salaries.",
        "I'm sorry to hear that. I cannot help with this.",
    ],
)
def test_a_refusal_is_known_by_its_beginning(answer):
    assert refuses(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Churn fell to 4.2 %.",
        "I do not know: the documents do not cover this question.",
        "I could not query the database for churn.",
        "I'm sorry, I could not find any orders for 2031.",
        "Sorry for the wait: churn was 4.2 %.",
        "No orders were placed, so I cannot provide an average.",
        "The agent said: I cannot help with that.",
        "Customers can't be helped by phone on Sundays.",
        "I can help with that: churn was 4.2 %.",
        "You cannot share this report outside the company.",
    ],
)
def test_not_knowing_and_having_found_nothing_are_no_refusals(answer):
    assert not refuses(answer)


def test_a_text_made_to_be_slow_is_not():
    for text in ("sorry sorry, " * 40, "i apologize " * 40, "no, " * 120, "i am sorry for " * 40):
        assert not refuses(text + "x")


def test_the_documentation_has_the_table():
    """A row a rule, in its order, with the codes that it goes by."""
    rows = re.findall(
        r"^\| \d+ \| `(\w+)` \| (.*?) \| .* \|$", DOCS.read_text("utf-8"), re.MULTILINE
    )
    told = [(mode, set(re.findall(r"`([^`]+)`", codes))) for mode, codes in rows]
    graders = {"retrieval", "hallucination", "json_format", "tool_calls", "conciseness"}
    graders |= {"readability", "trajectory"}
    wanted = [
        (
            rule.mode,
            (rule.codes | rule.both | rule.scores.keys()) - {rule.mode} - graders,
        )
        for rule in RULES
    ]
    assert told == wanted
