"""Tables of other tools: what is a row, and what is told of one that is none."""

import json

import pytest

from gate.errors import Place, Problem, UsageError
from gate.files.tables import columns_of, table_rows


@pytest.fixture
def read(tmp_path):
    def rows(content, name="t.csv"):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        found = list(table_rows(file))
        return [
            (one.place.line, one.message if isinstance(one, Problem) else dict(one.cells))
            for one in found
        ]

    return rows


def test_csv_has_the_line_each_row_begins_at_and_no_empty_cells(read):
    assert read('id,said\na,"one\ntwo"\nb,\n') == [
        (2, {"id": "a", "said": "one\ntwo"}),
        (4, {"id": "b"}),
    ]


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_the_separator_is_that_of_the_header(read, sign):
    assert read(f'id{sign}a{sign}b\r\n1{sign}"x,y;z"{sign}2\r\n') == [
        (2, {"id": "1", "a": "x,y;z", "b": "2"})
    ]


def test_a_mark_in_front_is_no_part_of_a_name(read):
    assert read(b"\xef\xbb\xbfid,b\n1,2\n") == [(2, {"id": "1", "b": "2"})]


def test_a_cell_of_a_megabyte_is_read(read):
    ((_, row),) = read(f"id,said\n1,{'x' * 1_000_000}\n")
    assert len(row["said"]) == 1_000_000


def test_another_number_of_cells_is_told_with_its_line_and_the_rest_is_read(read):
    found = read("id,b\n1\n2,3,4\n5,6\n")
    assert [line for line, _ in found] == [2, 3, 4]
    assert found[0][1] == "1 cells, but the header row has 2 - is a quote missing?"
    assert found[2][1] == {"id": "5", "b": "6"}


@pytest.mark.parametrize(
    ("content", "line", "told"),
    [
        (b"id,b\n1,\xe9\n", 2, "is not UTF-8"),
        (b"id,b\n1,2\n3,\x00\n", 3, "a NUL byte"),
        (b'id,b\n1,"a"b\n', 2, "not CSV"),
        (b'id,b\n1,"a\n', 2, "not CSV"),
        (b"id,id\n1,2\n", 1, "two columns are called 'id'"),
        (",".join(map(str, range(10_001))), 1, "more than 10,000 columns"),
        (b"id,\n1,2\n", 1, "a column of the header row has no name"),
        (b"just text\n", 1, "not a table: neither CSV with a header row nor JSON"),
        (b"", None, "empty"),
        (b" \n ", None, "empty"),
        (b"PAR1\x00\x01", None, "Parquet; export CSV or JSON Lines"),
        (b"\x1f\x8b\x08\x00", None, "compressed with gzip; unpack it first"),
        ("id,b\n1,2\n".encode("utf-16"), 1, "UTF-16"),
        (b'[{"a": 1}', 1, "cut off in the middle"),
        (b'[{"a": 1}, 7]', 1, "not a JSON object"),
        (b'{"a": 1}\n{"a": \n', 2, "not JSON"),
        (b'{"a": 1}\n{"a": 2', 2, "cut off in the middle"),
        (b'{"a": NaN}\n', 1, "NaN is not JSON"),
        (b'{"a": 1, "a": 2}\n', 1, "the key 'a' appears twice"),
        (b'{"data": [{"a": 1}, \n', None, "cut off"),
        (b'{"a": ' + b"[" * 200_000, 1, "nested too deeply"),
    ],
)
def test_what_is_no_table_is_told_with_its_line(read, content, line, told):
    (where, message), *_ = [one for one in read(content) if isinstance(one[1], str)]
    assert told in message
    assert line in (None, where)


@pytest.mark.parametrize(
    "content",
    [
        '{"id": "a"}\n\n{"id": "b"}\n',
        '[{"id": "a"},\n{"id": "b"}]',
        '{"data": [{"id": "a"}, {"id": "b"}], "meta": {}}',
        '{\n "events": [\n{"id": "a"},\n{"id": "b"}],\n "cursor": null}',
    ],
)
def test_json_is_a_row_a_line_a_list_or_a_list_in_an_answer(read, content):
    assert [row for _, row in read(content)] == [{"id": "a"}, {"id": "b"}]


def test_a_row_may_have_a_column_with_such_a_name(read):
    line = {"id": "a", "data": [{"x": 1}], "events": "none"}
    assert read(json.dumps(line)) == [(1, line)]
    assert read('{"data": "text", "b": 1}') == [(1, {"data": "text", "b": 1})]


def test_what_is_deeper_than_a_session_can_bear_is_told(read):
    deep = "[" * 300 + "]" * 300
    assert read(f'{{"a": {deep}}}') == [(1, "nested more than 200 deep - leave the row out")]


def test_no_link_and_no_folder_is_read(tmp_path):
    (tmp_path / "real.csv").write_text("a,b\n1,2\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    for path in (tmp_path / "link.csv", tmp_path, tmp_path / "gone.csv"):
        with pytest.raises(UsageError):
            list(table_rows(path))


def test_rows_come_one_by_one(tmp_path):
    """A file whose end is broken gives what stands before."""
    file = tmp_path / "t.csv"
    file.write_bytes(b"id,b\n" + b"1,2\n" * 10_000 + b"3,\xff\n")
    first = next(iter(table_rows(file)))
    assert first.place == Place(file.as_posix(), 2)


@pytest.mark.parametrize("head", [b"", b'"' * 5, b"\x00\xff" * 10, b"a," * 200_000, b'{"a": 1}'])
def test_names_of_whatever_it_is_are_read_without_an_error(head):
    assert isinstance(columns_of(head), tuple)
