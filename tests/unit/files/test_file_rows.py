"""Rows of every format with their lines, and what cannot be read."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.errors import Problem
from gate.files.rows import DatasetRow, DatasetSource, read_dataset

CASE = {"id": "a", "input": "x"}


def source(content: bytes, name: str = "d.jsonl") -> DatasetSource:
    return DatasetSource(name=name, open=lambda: io.BytesIO(content))


def read(content: bytes | str, name: str = "d.jsonl") -> list[DatasetRow | Problem]:
    return list(
        read_dataset(source(content.encode() if isinstance(content, str) else content, name))
    )


def told(content: bytes | str, name: str = "d.jsonl") -> list[str]:
    return [str(row) for row in read(content, name) if isinstance(row, Problem)]


def lines(content: bytes | str, name: str = "d.jsonl") -> list[tuple[int, object]]:
    return [(row.line, row.data) for row in read(content, name) if isinstance(row, DatasetRow)]


def test_json_lines_with_blank_lines_and_mark() -> None:
    text = '\ufeff\n{"id": "a", "input": "x"}\r\n\n  {"id": "b"}'
    assert lines(text) == [(2, CASE), (4, {"id": "b"})]


def test_json_lines_are_streamed() -> None:
    taken = 0

    class Endless(io.RawIOBase):
        def __iter__(self) -> Iterator[bytes]:  # type: ignore[override]
            return self

        def __next__(self) -> bytes:
            nonlocal taken
            taken += 1
            return b'{"id": "a"}\n'

    found = read_dataset(DatasetSource(name="d.jsonl", open=Endless))  # type: ignore[arg-type,return-value]
    assert [next(found) for _ in range(3)]
    found.close()  # type: ignore[attr-defined]
    assert taken <= 4


def test_a_json_list_keeps_the_line_of_each_case() -> None:
    text = '[\n  {"id": "a",\n   "input": "x"},\n\n  {"id": "b"}, {"id": "c"}\n]\n'
    assert lines(text, "d.json") == [(2, CASE), (5, {"id": "b"}), (5, {"id": "c"})]


def test_the_content_decides_between_list_and_lines() -> None:
    assert lines('{"id": "a", "input": "x"}\n', "d.json") == [(1, CASE)]
    assert lines('\n[{"id": "a", "input": "x"}]', "d.jsonl") == [(2, CASE)]
    assert lines("[]", "d.json") == []


def test_yaml_words_stay_words() -> None:
    text = "- id: a\n  input: x\n- id: b\n  expected_answer: no\n  on: 2026-01-01\n"
    assert lines(text, "d.yaml") == [
        (1, CASE),
        (3, {"id": "b", "expected_answer": "no", "on": "2026-01-01"}),
    ]


def test_csv_cells() -> None:
    text = 'id,input,facts,empty\r\na,"x\ny","[{""value"": 3}]",\r\n\r\nb,"say ""hi""",3,z\r\n'
    assert lines(text, "d.csv") == [
        (2, {"id": "a", "input": "x\ny", "facts": [{"value": 3}]}),
        (5, {"id": "b", "input": 'say "hi"', "facts": "3", "empty": "z"}),
    ]


@pytest.mark.parametrize("name", ["d.jsonl", "d.json", "d.yaml", "d.csv"])
def test_an_empty_file_has_no_rows(name: str) -> None:
    assert read(b"", name) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"id": "a"}\nnot json\n',
            "d.jsonl:2: not JSON: a value is expected; texts stand in ",
        ),
        (
            '{"id": "a"} {"id": "b"}\n',
            "d.jsonl:1: not JSON: something follows the end ",
        ),
        ('{"id": "a", "id": "b"}\n', "d.jsonl:1: the key 'id' appears twice - remove one"),
        ('{"x": {"y": 1, "y": 2}}\n', "d.jsonl:1: the key 'y' appears twice - remove one"),
        ('{"x": NaN}\n', "d.jsonl:1: NaN is not JSON - leave the key out or write null"),
        (
            '{"x": -Infinity}\n',
            "d.jsonl:1: -Infinity is not JSON - leave the key out or write null",
        ),
        (
            '{"x": "\\ud800"}\n',
            "d.jsonl:1: an incomplete character: a \\ud... escape without its second half",
        ),
        ("{" + '"a": [' * 3000, "d.jsonl:1: "),
        ('{"x": ' + "9" * 5000 + "}", "d.jsonl:1: "),
    ],
)
def test_broken_lines_are_named(text: str, message: str) -> None:
    (found,) = told(text)
    assert found.startswith(message)


def test_a_broken_line_does_not_hide_the_next() -> None:
    content = b'{"id": "a", "input": "x"}\n{\n{"id": "caf\xe9"}\n{"id": "n\0"}\n{"id": "b"}\n'
    assert lines(content) == [(1, CASE), (5, {"id": "b"})]
    assert [message.split(":")[1] for message in told(content)] == ["2", "3", "4"]


def test_a_pair_of_escapes_is_one_character() -> None:
    assert lines('{"id": "\\ud83d\\ude00"}') == [(1, {"id": "\U0001f600"})]


@pytest.mark.parametrize("name", ["d.jsonl", "d.json", "d.yaml", "d.csv"])
def test_utf16_is_told_once(name: str) -> None:
    content = '{"id": "a"}\n{"id": "b"}\n'.encode("utf-16")
    how = " (in Excel: save as CSV UTF-8)" if name == "d.csv" else ""
    assert told(content, name) == [f"{name}:1: the file is UTF-16 - save it as UTF-8{how}"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"id": "a"}\n {"id": "b"}]', "d.json:2: a ',' or the ']' is missing"),
        ('[{"id": "a"},\n]', "d.json:2: a ',' with nothing after it"),
        (
            '[{"id": "a"}, nonsense]',
            "d.json:1: not JSON: a value is expected; ",
        ),
        ('[\n{"id": "a"}', "d.json:2: cut off in the middle - the file is incomplete"),
        ('[{"a": 1,\n"a": 2}]', "d.json:1: the key 'a' appears twice"),
        ('[{"a": 1}]\n{}', "d.json:1: unexpected text after the end of the list"),
        ("[\n" + "[" * 100_000, "d.json:2: nested too deeply"),
    ],
)
def test_broken_lists(text: str, message: str) -> None:
    assert told(text, "d.json")[0].startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id: a\n", "d.yml:1: the file must be a list of cases ('- id: ...')"),
        ("- id: a\n  id: b\n", "d.yml:2: [0].id: duplicate key"),
        ("- id: [\n", "d.yml:2: not YAML"),
    ],
)
def test_broken_yaml(text: str, message: str) -> None:
    assert told(text, "d.yml")[0].startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,input\na,b,c\n", "d.csv:2: 3 cells, but the header row has 2 - is a quote missing?"),
        ("id,input,id\na,b,c\n", "d.csv:1: two columns are called 'id'"),
        ("id,,input\na,b,c\n", "d.csv:1: a column of the header row has no name"),
        (
            'id,facts\na,"[1,"\n',
            "d.csv:2: facts: not JSON: a value is expected; ",
        ),
        (
            'id,input\na,"x\n',
            "d.csv:2: not CSV: unexpected end of data - is a quote that opens in this row not",
        ),
        ('id,input\na,x\nb,"x\nc,x\nd,x\n', "d.csv:3: not CSV: unexpected end of data in line 5"),
        (
            'id,input\na,"x\nb,x\nc,"x"\n',
            "d.csv:2: not CSV: ',' expected after '\"' in line 4 - is a quote that opens",
        ),
        ('id,"input\na,x\n', "d.csv:1: not CSV: unexpected end of data in line 2"),
        ('id,input\na,"x"y\n', "d.csv:2: not CSV: ',' expected after '\"'"),
    ],
)
def test_broken_csv(text: str, message: str) -> None:
    assert told(text, "d.csv")[0].startswith(message)


def test_a_missing_file_and_an_unreadable_one(tmp_path: Path) -> None:
    missing = DatasetSource(name="d.jsonl", open=lambda: (tmp_path / "d.jsonl").open("rb"))
    assert [str(row) for row in read_dataset(missing)] == [
        "d.jsonl: there is no such file - check its path"
    ]
    folder = DatasetSource(name="d.jsonl", open=lambda: tmp_path.open("rb"))
    assert next(str(row) for row in read_dataset(folder)).startswith("d.jsonl: cannot be read: ")
