"""The baseline file: what is read is what was written, and nothing else is read."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gate.errors import UsageError
from gate.store.baseline.file import BaselineFile, newest, newest_run, parse, render
from gate.store.baseline.pool import accept, append, digest, starts_anew
from gate.store.baseline.schema import schema
from tests.support.main_runs import stored_table, told_header

NAN = float("nan")


def pooled(*runs: dict[str, list[float]], keep: int = 15) -> BaselineFile:
    found = None
    for number, values in enumerate(runs, 1):
        found = append(found, stored_table(values), told_header(number), keep_rounds=keep)
    assert found is not None
    return found


def shown(found: BaselineFile, column: str = "success") -> dict[str, list[float | None]]:
    values = found.table.column(column).tolist()
    return {
        case: [None if x != x else x for x in row]
        for case, row in zip(found.table.cases, values, strict=True)
    }


def kept(found: BaselineFile) -> list[tuple[str, int]]:
    return [(r.session_id, r.kept) for r in found.runs if r.kept]


def text_of(found: BaselineFile) -> bytes:
    return render(found).encode()


# --------------------------------------------------------------------------------------- the format


def test_one_case_a_line_sorted_header_first() -> None:
    lines = render(pooled({"b": [1, 0], "a": [NAN, 1]})).splitlines()
    assert lines[:3] == ["{", '"schema_version": 1,', '"suite": "analytics",']
    assert lines[-5:] == [
        '"cases": [',
        '{"id": "a", "digest": "d-a", "category": "easy", '
        '"values": {"half": [null, 0.5], "success": [null, 1]}},',
        '{"id": "b", "digest": "d-b", "category": "easy", '
        '"values": {"half": [0.5, 0], "success": [1, 0]}}',
        "]",
        "}",
    ]


numbers = st.one_of(st.just(NAN), st.sampled_from([0.0, 1.0, -0.0]), st.floats(-1e18, 1e18))


@settings(max_examples=36)
@given(
    st.lists(st.text(), min_size=0, max_size=5, unique=True),
    st.integers(1, 4),
    st.data(),
)
def test_nothing_is_lost_and_the_schema_holds(cases: list[str], rounds: int, data) -> None:
    rows = {c: data.draw(st.lists(numbers, min_size=rounds, max_size=rounds)) for c in cases}
    table = stored_table(rows)
    table = replace(table, columns={"score": table.column("success")})
    made = append(None, table, told_header(1), keep_rounds=9)
    text = text_of(made)
    back = parse(text, "x.json")
    assert text_of(back) == text
    assert back.runs == made.runs
    assert back.table.specs == made.table.specs
    assert np.array_equal(back.table.column("score"), made.table.column("score"), equal_nan=True)
    Draft202012Validator(schema()).validate(json.loads(text))


def test_half_a_surrogate_pair_survives() -> None:
    made = pooled({"a\ud800": [1]})
    assert parse(text_of(made), "x").table.cases == ("a\ud800",)


def test_a_reformatted_file_reads_the_same() -> None:
    made = pooled({"a": [1, 0]}, {"a": [0, 0]})
    pretty = json.dumps(json.loads(render(made)), indent=4).encode()
    assert render(parse(b"\xef\xbb\xbf" + pretty, "x")) == render(made)
    assert newest_run(pretty, "x") == newest_run(text_of(made), "x") == made.runs[-1]


def test_the_newest_run_is_read_without_the_cases() -> None:
    made = pooled({"a": [1]}, {"a": [0]})
    cut = text_of(made).split(b'{"id"')[0]
    newest = newest_run(cut, "x")
    assert newest is not None
    assert newest.session_id == "s2"


def broken(old: str, new: str) -> bytes:
    text = render(pooled({"a": [1, 0], "b": [0, 1]}))
    assert old in text
    return text.replace(old, new, 1).encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "x.json:1: incomplete JSON"),
        (broken("]\n}\n", ""), "x.json:18: incomplete JSON"),
        (broken('"b"', '"b'), r"x.json:\d+: incomplete JSON"),
        (b"<!DOCTYPE html>", "x.json:1: HTML or XML"),
        (broken('{"id": "b"', '<<<<<<< HEAD\n{"id": "b"'), r"x.json:17: has merge conflict marks"),
        (b"[]", "x.json:1: a JSON list, not"),
        (b'"x"', "x.json:1: a JSON str, not"),
        (b'{"outcome": "pass", "suites": {}}', "x.json:1: the summary of a session"),
        (b'{"a": 1}', "x.json:1: not a baseline file"),
        (b'{"schema_version": 1}', "x.json:1: not a baseline file"),
        (broken('"schema_version": 1', '"schema_version": 2'), "schema_version 2 is newer than 1"),
        (broken('"schema_version": 1', '"schema_version": "1"'), "not a baseline file"),
        (broken('"suite"', '"siute"'), "siute: unknown key - did you mean 'suite'"),
        (broken('"kept": 2', '"kept": -1'), "runs.0.kept: -1 must be at least 0"),
        (broken('"kept": 2', '"kept": 99999999'), "must be at most 10000"),
        (broken('"kept": 2', '"kept": 3'), "x.json:16: values.half: 2 values, but the runs kept 3"),
        (broken("[0, 1]", "[0, true]"), "x.json:17: values.success.1: true is not a number"),
        (broken("[0, 1]", "[0]"), "x.json:17: values.success: 1 values"),
        (broken('"id": "b"', '"id": "a"'), "x.json:17: id: 'a' appears twice"),
        (broken('"id": "b"', '"id": 5'), "x.json:17: id: 5 is not a string"),
        (broken('"digest": "d-b", ', ""), "x.json:17: 'digest' is missing"),
        (broken("[0, 1]", "[0, NaN]"), "NaN is not a JSON number"),
        (broken("d-b", "\\"), "x.json:17: incomplete JSON"),
        (b"[" * 100_000, "x.json: not a baseline file"),
        (broken("d-b", "d-\xff").decode().encode("latin-1"), "x.json:17: not UTF-8"),
        (broken("[0, 1]", "[0, 1e999]"), "x.json: values.success: a number is too large"),
        (broken("[0, 1]", f"[0, {10**400}]"), "x.json: values.success: a number is too large"),
        (broken("[0, 1]", "[0, 7]"), "x.json: values.success: a number is not from 0 to 1"),
        (broken('"means": {', f'"means": {{"a": {10**400}, '), "means.a: 10+... must be at most"),
    ],
)
def test_what_is_no_baseline_file_is_refused_with_its_line(text: bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        parse(text, "x.json")
    assert caught.value.exit_code == 2


def test_a_small_text_cannot_claim_much_memory() -> None:
    made = json.loads(render(pooled({"a": [1]})))
    made["runs"][0].update(kept=10_000, rounds=10_000)
    made["cases"] = [
        {"id": str(n), "digest": "", "category": None, "values": {}} for n in range(20_000)
    ]
    made["cases"][0]["values"] = {"x": [1] * 10_000}
    with pytest.raises(UsageError, match="more than 100,000,000 values"):
        parse(json.dumps(made).encode(), "x.json")


def test_a_large_file_is_read_where_an_option_allows_it() -> None:
    text = text_of(pooled({"a": [1]})) + b" " * (1 << 20)
    assert parse(text, "x.json", 2).table.cases == ("a",)
    with pytest.raises(UsageError, match=r"x.json: larger than 1 MB; .*gate compare --max-mb"):
        parse(text, "x.json", 1)


# ----------------------------------------------------------------------------------------- the pool


def test_runs_stand_one_after_the_other() -> None:
    found = pooled({"a": [1, 0], "b": [0, 0]}, {"a": [1], "b": [NAN]})
    assert shown(found) == {"a": [1, 0, 1], "b": [0, 0, None]}
    assert kept(found) == [("s1", 2), ("s2", 1)]
    assert [(r.rounds, r.cases) for r in found.runs] == [(2, 2), (1, 2)]


def test_a_new_case_has_no_past_and_a_removed_one_goes() -> None:
    found = pooled({"a": [1], "b": [1]}, {"b": [0], "c": [1]})
    assert shown(found) == {"b": [1, 0], "c": [None, 1]}
    assert found.table.categories == ("easy", "easy")


def test_a_sample_keeps_what_it_did_not_run() -> None:
    whole = pooled({"a": [1], "b": [1]})
    found = append(whole, stored_table({"b": [0]}), told_header(2), keep_rounds=9, partial=True)
    assert shown(found) == {"a": [1, None], "b": [1, 0]}
    assert found.table.digests == ("d-a", "d-b")


def test_a_changed_case_starts_anew() -> None:
    whole = pooled({"a": [1], "b": [1]})
    changed = stored_table({"a": [0], "b": [0]}, digests="e")
    found = append(whole, changed, told_header(2), keep_rounds=9)
    assert shown(found) == {"a": [None, 0], "b": [None, 0]}
    assert found.table.digests == ("e-a", "e-b")


def test_a_changed_grader_starts_its_column_anew() -> None:
    whole = pooled({"a": [1]})
    changed = stored_table({"a": [0]}, graders={"success": "other", "half": "g2"})
    found = append(whole, changed, told_header(2), keep_rounds=9)
    assert shown(found) == {"a": [None, 0]}
    assert shown(found, "half") == {"a": [0.5, 0]}


def test_old_rounds_go_first_and_means_stay_longer() -> None:
    found = pooled(*[{"a": [n / 64, (n + 32) / 64]} for n in range(25)], keep=5)
    assert shown(found) == {"a": [54 / 64, 23 / 64, 55 / 64, 24 / 64, 56 / 64]}
    assert len(found.runs) == 20
    assert [r.kept for r in found.runs[-4:]] == [0, 1, 2, 2]
    assert kept(found) == [("s23", 1), ("s24", 2), ("s25", 2)]
    assert parse(text_of(found), "x").runs == found.runs


def test_a_run_longer_than_the_pool_keeps_its_newest_rounds() -> None:
    found = pooled({"a": [1, 2, 3, 4]}, keep=3)
    assert shown(found) == {"a": [2, 3, 4]}
    assert (found.runs[0].rounds, found.runs[0].kept) == (4, 3)


def test_the_last_rounds_only() -> None:
    found = pooled({"a": [1, 2, 3]}, {"a": [4, 5]})
    assert shown(newest(found, 3)) == {"a": [3, 4, 5]}
    assert kept(newest(found, 3)) == [("s1", 1), ("s2", 2)]
    assert newest(found, 99) is found
    assert newest(found, 0).table.column("success").shape == (1, 0)
    assert kept(newest(found, 0)) == []


def test_each_case_keeps_its_own_newest_rounds() -> None:
    """Samples that ask some cases again and again do not push out the others' rounds."""
    found = pooled({"a": [1, 1], "b": [0, 1]}, keep=2)
    for number in (2, 3, 4):
        values = {"b": [number / 4]}
        found = append(
            found, stored_table(values), told_header(number), keep_rounds=2, partial=True
        )
    assert shown(found) == {"a": [1, 1, None, None], "b": [None, None, 0.75, 1]}
    assert kept(found) == [("s1", 2), ("s3", 1), ("s4", 1)]
    assert parse(text_of(found), "x").runs == found.runs
    whole = append(found, stored_table({"a": [0, 0], "b": [5, 6]}), told_header(5), keep_rounds=2)
    assert shown(whole) == {"a": [0, 0], "b": [5, 6]}


def test_a_call_that_nobody_answered_is_a_round_all_the_same() -> None:
    lost = {"success": np.array([[NAN]]), "infra_error": np.array([[1.0]])}
    found = append(
        pooled({"a": [1, 1]}),
        stored_table({"a": [NAN]}, columns=lost),
        told_header(2),
        keep_rounds=2,
    )
    assert shown(found) == {"a": [1, None]}


def test_accepting_starts_a_new_pool_with_the_next_run() -> None:
    before = pooled({"a": [1], "b": [1]})
    said = accept(before, who="ana", when="2026-11-20T00:00:00Z", why="new prices", metrics=["m"])
    assert shown(said) == shown(before)
    assert starts_anew(said)
    assert said.accepted[0].old_digest == digest(before)
    said = parse(text_of(said), "x")
    assert starts_anew(said)
    after = append(said, stored_table({"a": [0]}), told_header(2), keep_rounds=9, partial=True)
    assert shown(after) == {"a": [0]}
    assert [r.kept for r in after.runs] == [0, 1]
    assert after.accepted == said.accepted
    assert not starts_anew(after)
    again = append(after, stored_table({"a": [1]}), told_header(3), keep_rounds=9)
    assert shown(again) == {"a": [0, 1]}


def test_the_digest_is_of_the_content() -> None:
    one, other = pooled({"a": [1]}), pooled({"a": [0]})
    assert digest(one) == digest(parse(text_of(one), "x")) != digest(other)
