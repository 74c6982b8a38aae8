"""Rows that several reports read: passes are shared, what is read is the same."""

from collections import Counter

from gate.store.row_cache import SharedRows, share_rows

ROWS = [{"suite": suite, "case_id": case} for suite in "ab" for case in "xyz"]


class Source:
    """Counts its passes."""

    def __init__(self):
        self.passes = 0

    def __call__(self):
        self.passes += 1
        return iter(ROWS)


def by_suite(rows):
    return dict(Counter(row["suite"] for row in rows))


def test_what_is_made_of_all_rows_is_made_once():
    source = Source()
    rows = SharedRows(source)
    assert rows.once(by_suite) is rows.once(by_suite)
    assert rows.once(by_suite) == {"a": 3, "b": 3}
    assert source.passes == 1


def test_some_are_read_without_the_others_where_that_is_possible():
    source = Source()
    wanted = [ROWS[0], ROWS[2]]
    assert list(SharedRows(source).rows_of_cases("a", frozenset("xz"))) == wanted
    assert source.passes == 1
    asked = []
    some = SharedRows(source, lambda suite, ids: asked.append((suite, ids)) or iter(wanted))
    assert list(some.rows_of_cases("a", frozenset("xz"))) == wanted
    assert (asked, source.passes) == ([("a", frozenset("xz"))], 1)


def test_one_suite_alone_has_its_rows_and_its_part_of_what_was_made():
    source = Source()
    rows = SharedRows(source)
    rows.once(by_suite)
    one = rows.only("b")
    assert list(one()) == ROWS[3:]
    passes = source.passes
    assert one.once(by_suite) == {"b": 3}
    assert source.passes == passes
    assert SharedRows(source).only("b").once(by_suite) == {"b": 3}
    assert rows.only("none").once(by_suite) == {}


def test_plain_rows_are_taken_too():
    rows = share_rows(lambda: iter(ROWS))
    assert list(rows()) == ROWS
    assert share_rows(rows) is rows
