"""Failures that look alike: what is one cluster, and that no order changes it."""

import random

import pytest

from gate.analysis.failures.clusters import CASES, MOST, TOP, Failures, mask_code, mask_details
from gate.records import ModeCount
from tests.support.failed_rows import failed_row, violation
from tests.support.growth import calls


def counted(*rows):
    found = Failures()
    for row in rows:
        found.add(row)
    return found


def broken(case, error, code="agent_error"):
    return failed_row(code, case_id=case, status="agent_error", error=error, output=None)


def labels(found):
    return [(one.mode, one.label, one.n_cases, one.trials) for one in found.clusters()]


def test_nothing_failed():
    found = counted(failed_row(passed=True), failed_row(passed=None))
    assert (found.modes(), found.clusters()) == ((), ())


def test_trials_and_different_cases_are_counted_by_mode():
    found = counted(
        failed_row("too_long", case_id="a"),
        failed_row("too_long", case_id="a"),
        failed_row("fact_missing:1", case_id="a"),
        failed_row("fact_missing:2", case_id="b"),
    )
    assert found.modes() == (
        ModeCount(mode="wrong_answer", trials=2, cases=2),
        ModeCount(mode="instruction", trials=2, cases=1),
    )


def test_ties_go_to_more_cases_then_more_trials_then_the_order_of_the_table():
    rows = [failed_row("too_long", case_id=c) for c in "ab"]
    rows += [failed_row("fact_missing:1", case_id="a") for _ in range(5)]
    rows += [failed_row("loop:x", case_id="a"), failed_row("refusal", case_id="b")]
    modes = [one.mode for one in counted(*rows).modes()]
    assert modes == ["instruction", "wrong_answer", "loop", "refusal"]


def test_the_cluster_of_most_cases_is_first_however_often_one_case_fails():
    rows = [failed_row("too_long", case_id=case) for case in "ab"]
    rows += [failed_row("repetitive", case_id="a") for _ in range(5)]
    assert [label for _, label, _, _ in labels(counted(*rows))] == ["too_long", "repetitive"]


def test_details_of_the_case_are_no_part_of_a_cluster_but_names_are():
    found = counted(
        failed_row("fact_missing:4.2 %", case_id="a"),
        failed_row("fact_missing:Osaka", "fact_missing:7", case_id="b"),
        failed_row("wrong_tool_args:run_sql", "fact_missing:1", case_id="c"),
        failed_row("wrong_tool_args:search", case_id="d"),
        failed_row("wrong_tool_args:search", "too_long", case_id="e"),
    )
    assert labels(found) == [
        ("tool_args_wrong", "wrong_tool_args:search", 2, 2),
        ("wrong_answer", "fact_missing", 2, 2),
        ("tool_args_wrong", "wrong_tool_args:run_sql", 1, 1),
    ]


def test_a_mode_without_a_code_says_what_it_shows():
    found = counted(
        failed_row("fact_missing:1", output="I cannot help with that."),
        failed_row("fact_missing:1", scores={"retrieval.mrr": 0.0}),
        failed_row("fact_missing:1", violations=[violation()]),
        failed_row(failed_by=["Mine"]),
        failed_row(),
    )
    assert {(one.mode, one.label) for one in found.clusters()} == {
        ("refusal", "declines to answer"),
        ("retrieval_miss", "nothing relevant retrieved"),
        ("safety", "safety:secret"),
        ("wrong_answer", "Mine"),
        ("wrong_answer", "no code"),
    }


def test_what_an_error_says_is_no_cluster_of_another_mode():
    found = counted(
        broken("a", "500 Oops", code="wrong_tool_args:run_sql"),
        failed_row("safety:canary", case_id="b", status="agent_error", error="500 Oops"),
    )
    assert {(mode, label) for mode, label, _, _ in labels(found)} == {
        ("agent_error", "* Oops"),
        ("safety", "safety:canary"),
    }


def test_errors_that_differ_in_numbers_ids_and_quotes_are_one():
    found = counted(
        broken("a", "http://127.0.0.1:8000/ask answered 500 Oops: row 17 of 'orders'"),
        broken("b", "http://127.0.0.1:8017/ask answered 500 Oops: row 3 of 'customers'"),
        broken("c", "http://127.0.0.1:8017/ask answered 404 Not Found"),
        broken("d", "no answer within 3 s", "timeout"),
    )
    assert labels(found) == [
        ("agent_error", "http://*/ask answered 500 Oops: row * of *", 2, 2),
        ("timeout", "no answer within * s", 1, 1),
        ("agent_error", "http://*/ask answered 404 Not Found", 1, 1),
    ]


def test_errors_that_differ_in_a_word_are_one_and_others_are_not():
    found = counted(
        broken("a", "ValueError: column churn is unknown"),
        broken("b", "ValueError: column price is unknown"),
        broken("c", "ValueError: no such file"),
        broken("d", "TypeError: column churn is unknown"),
        broken("e", "ValueError: column churn was dropped"),
    )
    assert labels(found) == [
        ("agent_error", "ValueError: column * is unknown", 2, 2),
        ("agent_error", "TypeError: column churn is unknown", 1, 1),
        ("agent_error", "ValueError: column churn was dropped", 1, 1),
        ("agent_error", "ValueError: no such file", 1, 1),
    ]


def test_the_cases_that_failed_most_often_are_named_first_and_few_of_them():
    rows = [failed_row("too_long", case_id=f"c{n}") for n in range(9)]
    rows += [failed_row("too_long", case_id="c7") for _ in range(2)]
    (cluster,) = counted(*rows).clusters()
    assert cluster.cases == ("c7", "c0", "c1", "c2", "c3")
    assert (cluster.n_cases, cluster.trials, len(cluster.cases)) == (9, 11, CASES)


def test_the_largest_clusters_are_told():
    rows = [failed_row(f"wrong_tool_args:t{c}", case_id=c) for c in "abcdefghijkl"]
    rows.append(failed_row("wrong_tool_args:tl", case_id="z"))
    found = counted(*rows).clusters()
    assert (len(found), found[0].label) == (TOP, "wrong_tool_args:tl")


def test_too_many_clusters_become_coarser_and_lose_no_failure():
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [a + b for a in letters for b in letters]
    rows = [
        broken(f"c{n}", f"Oops in {words[n % 600]} of {words[n // 600]} x y z q r s t u")
        for n in range(2 * MOST)
    ]
    rows.append(failed_row("too_long", case_id="z"))
    found = counted(*rows)
    assert labels(found) == [
        ("agent_error", "Oops in * of ...", 2 * MOST, 2 * MOST),
        ("instruction", "too_long", 1, 1),
    ]


def test_texts_that_have_nothing_in_common_are_one_cluster_that_says_so():
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = [a + b for a in letters for b in letters]
    rows = [broken("c", f"{words[n % 600]}{words[n // 600]}") for n in range(MOST + 1)]
    assert labels(counted(*rows)) == [("agent_error", "many different ones", 1, MOST + 1)]


def test_no_order_of_the_trials_changes_anything():
    drawn = random.Random(7)
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
    rows = [
        broken(f"c{n % 300}", " ".join(drawn.choices(words, k=drawn.randint(1, 6))))
        for n in range(1500)
    ]
    rows += [failed_row(f"own:{drawn.choice(words)}", case_id=f"c{n}") for n in range(100)]
    rows += [
        failed_row(f"{a}{b}{c}{d}") for a in words for b in words for c in words for d in words
    ]
    wanted = counted(*rows)
    for _ in range(3):
        drawn.shuffle(rows)
        again = counted(*rows)
        assert again.modes() == wanted.modes()
        assert again.clusters() == wanted.clusters()


def test_labels_are_one_line_of_bounded_length():
    found = counted(
        failed_row("own:" + "x" * 9_000 + "\n::error::\x1b[31m", case_id="a"),
        broken("b", "boom \x1b[2J\r\n" + "y" * 9_000),
    )
    for one in found.clusters():
        assert len(one.label) <= 200
        assert "\n" not in one.label


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("request 9f86d081-8841-4d3e-9b1a-5c6f7e8d9a0b failed", "request * failed"),
        ("digest 9f86d081884c7d65", "digest *"),
        ("at 0x7f3a", "at *"),
        ("at 2026-01-20T10:15:01.123Z", "at *"),
        ("waited 1,234.5 ms", "waited * ms"),
        ('no "such thing" here', "no * here"),
        ("it answered 503 after 7 tries", "it answered 503 after * tries"),
        ("exit status 3", "exit status 3"),
        ("don't mind: it isn't numbers", "don't mind: it isn't numbers"),
    ],
)
def test_what_is_masked(text, shown):
    assert mask_details(text) == shown


def test_codes_keep_names_and_lose_values():
    assert mask_code("missing_tool_arg:run_sql.limit") == "missing_tool_arg:run_sql.limit"
    assert mask_code("unsupported_number:42") == "unsupported_number"
    assert mask_code("inefficient:4.5") == "inefficient:*"
    assert mask_code("answer_mismatch") == "answer_mismatch"


def test_the_work_grows_with_the_rows():
    rows = [
        broken(f"c{n}", f"http://127.0.0.1:{n}/ask answered 500 Oops: request {n} failed in t{n}")
        if n % 3 == 0
        else failed_row(f"fact_missing:{n}", "missing_tool_call:run_sql", case_id=f"c{n}")
        for n in range(10_000)
    ]
    assert calls(lambda: counted(*rows).clusters()) < 2_000_000  # 90 a row, of a tenth of them
