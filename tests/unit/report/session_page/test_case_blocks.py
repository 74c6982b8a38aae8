from itertools import chain
from random import Random

import pytest

from gate.records import CaseChanges
from gate.records.baseline import StoredAnswer
from gate.report.formats.html import _changes, _rank_all
from gate.report.session_page.case_blocks import CaseBlocks, CasePacker, cut_texts
from gate.report.wording.case_totals import read_totals
from gate.text.hidden import show_hidden
from tests.support.report_page import unpack, unpack_cases
from tests.support.reports import change, passing, regression, row


def pack(report, rows, before=(), **limits) -> CaseBlocks:
    books, changes = read_totals(rows), _changes(report)
    return CasePacker(report, books, changes, before=lambda suite: before, **limits).pack(
        rows, _rank_all(books, changes)
    )


def read(blocks: CaseBlocks):
    """The index, and case id -> its rounds as a browser puts them together."""
    index, details = unpack(blocks.index), [*map(unpack_cases, blocks.details)]
    found = {
        case: list(chain.from_iterable(details[b][p]["rounds"] for b, p in places))
        for case, places in zip(index["id"], index["places"], strict=True)
    }
    return index, found


def different(number: int) -> str:
    return "".join(Random(number).choices("abcdefghijklmnop ", k=1_000))


def test_nothing_is_left_out_of_two_thousand_cases_of_three_rounds():
    rows = [
        {**row(f"c{case:05}", output=different(3 * case + number)), "round": number}
        for case in range(2_000)
        for number in (1, 2, 3)
    ]
    blocks = pack(passing(), rows)
    index, found = read(blocks)
    assert len(blocks.details) > 10
    assert (blocks.left_out, blocks.cut) == (0, 0)
    assert {(r["case_id"], r["round"]): r["output"] for r in rows} == {
        (case, r["round"]): r["output"] for case, rounds in found.items() for r in rounds
    }
    assert index["passed"] == index["judged"] == [3] * 2_000


def test_rounds_that_come_apart_are_one_case():
    rows = [{**row(case), "round": number} for number in (1, 2) for case in ("a", "b")]
    index, found = read(pack(passing(), rows))
    assert index["id"] == ["a", "b"]
    assert [r["round"] for r in found["a"]] == [1, 2]


def test_the_index_has_counts_means_and_what_changed():
    report = regression(
        cases=CaseChanges(
            newly_failing=(change(1, case_id="bad", baseline_passed=3, baseline_rounds=3),)
        )
    )
    rows = [
        {**row("bad", passed=False, latency_ms=100.0), "failed_by": ["facts"], "round": 1},
        {**row("bad", passed=True, latency_ms=300.0), "failed_by": [], "round": 2},
        row("good"),
    ]
    index, _ = read(pack(report, rows))
    at, other = index["id"].index("bad"), index["id"].index("good")
    assert [index["passed"][at], index["judged"][at]] == [1, 2]
    assert [index["was_passed"][at], index["was_rounds"][at]] == [3, 3]
    assert index["latency"][at] == 200.0
    assert index["kinds"][index["kind"][at]] == "newly failing"
    assert [index["graders"][one] for one in index["failed_by"][at]] == ["facts"]
    assert index["rank"][at] < index["rank"][other]
    assert index["was_rounds"][other] is None


def test_the_command_is_the_one_of_the_run_without_its_case():
    report = regression(reproduce="gate run --config 'my gate.yml' --suite a --case 'x y'")
    index, _ = read(pack(report, [row("a")]))
    assert index["command"] == "gate run --config 'my gate.yml'"
    assert read(pack(regression(reproduce="it's no"), [row("a")]))[0]["command"] == ""


def test_a_page_that_would_be_too_large_keeps_what_fails_and_says_what_it_left_out():
    rows = [
        row(f"c{case:04}", output=different(case), passed=case % 10 != 0) for case in range(2_000)
    ]
    blocks = pack(passing(), rows, most=100_000, most_of_failing=10**9)
    index, found = read(blocks)
    assert len(index["id"]) == 2_000
    without = [case for case, rounds in found.items() if not rounds]
    assert blocks.left_out == len(without) > 1_000
    assert all(found[f"c{case:04}"] for case in range(0, 2_000, 10))


def test_hidden_characters_have_their_signs_but_controls_which_json_escapes():
    text = "\ud800 \u202e \x7f ␛ </script> \u2028"
    _, found = read(pack(passing(), [row("a\u200b", output=text + "\x00 \x1b[31m \\x1b")]))
    assert found["a⟨ZWSP⟩"][0]["output"] == show_hidden(text) + "\x00 \x1b[31m \\x1b"


@pytest.mark.parametrize("key", ["output", "question"])
def test_a_text_of_five_megabytes_is_cut_and_counted(key):
    blocks = pack(passing(), [row("a", **{key: "x" * 5_000_000}), row("b")])
    assert blocks.cut == 1
    assert sum(map(len, blocks.details)) < 10_000
    assert [len(rounds) for rounds in read(blocks)[1].values()] == [1, 1]


def test_cut_texts_cuts_keys_values_and_lists():
    cut = cut_texts({"output": "a" * 30_000, "b" * 9_000: {"c": "c" * 9_000, "d": [1] * 500}}, 500)
    assert [*map(len, cut)] == [6, 2_000]
    assert len(cut["output"]) == 500
    assert [len(value) for value in [*cut.values()][1].values()] == [500, 100]


def test_what_the_base_branch_answered_stands_beside():
    stored = [
        StoredAnswer(case_id="a", case_digest="x", passed=True, answer="before"),
        StoredAnswer(case_id="b", case_digest="x", passed=False, answer=None, error="HTTP 500"),
    ]
    blocks = pack(passing(), [row("a"), row("b"), row("c")], stored)
    ((a, b, c),) = map(unpack_cases, blocks.details)
    assert a["was"] == {"passed": True, "text": "before"}
    assert b["was"] == {"passed": False, "text": "HTTP 500"}
    assert c["was"] is None


def test_a_changed_case_whose_answer_is_not_stored_says_so_beside_others_that_are():
    cases = CaseChanges(newly_failing=(change(1, case_id="c"),))
    report = regression(cases=cases)
    stored = [StoredAnswer(case_id="a", case_digest="x", passed=True, answer="before")]
    for known, told in ((stored, {"passed": None, "text": "no stored answer"}), ([], None)):
        ((*_, c),) = map(unpack_cases, pack(report, [row("a"), row("c")], known).details)
        assert c["was"] == told
