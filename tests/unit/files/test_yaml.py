"""YAML with places: what is read, and what is refused at which line."""

import json
import textwrap
from typing import Any

import pytest
import yaml

from gate.errors import InvalidInput, Place
from gate.files.yaml import (
    FASTEST,
    MAX_ALIASED,
    MAX_DEPTH,
    YamlDocument,
    format_path,
    parse,
    scalar,
)

LOADERS = pytest.mark.parametrize("loader", list(dict.fromkeys((FASTEST, yaml.SafeLoader))))


def document(text: str, loader: Any = FASTEST) -> YamlDocument:
    return parse(textwrap.dedent(text).encode(), "gate.yml", loader=loader)


@LOADERS
def test_every_key_and_item_has_its_line(loader: Any) -> None:
    found = document(
        """
        suites:
          - name: a
            gates:
              retrieval.recall@5: {min: 0.8}
          - name: b
        """,
        loader,
    )
    assert found.data == {
        "suites": [{"name": "a", "gates": {"retrieval.recall@5": {"min": 0.8}}}, {"name": "b"}]
    }
    path = ("suites", 0, "gates", "retrieval.recall@5", "min")
    assert found.place(path) == Place("gate.yml", 5, "suites[0].gates.retrieval.recall@5.min")
    assert found.place(("suites", 1)).line == 6


def test_a_missing_key_has_the_place_of_what_is_around_it() -> None:
    found = document("a:\n  b: 1\n")
    assert found.place(("a", "c", "d")) == Place("gate.yml", 1, "a.c.d")
    assert found.place(()) == Place("gate.yml", 1, "")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("~", None),
        ("", None),
        ("true", True),
        ("FALSE", False),
        ("12", 12),
        ("-1_000", -1000),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e-3", 0.001),
        ("3.", 3.0),
        ("no", "no"),
        ("off", "off"),
        ("2026-12-31", "2026-12-31"),
        ("12:30", "12:30"),
        ("010", "010"),
        ("007.5", "007.5"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("0x1f", "0x1f"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_words_mean_what_yaml_12_says(text: str, value: object) -> None:
    assert scalar(text) == value
    assert type(scalar(text)) is type(value)


@LOADERS
def test_quoted_words_stay_text(loader: Any) -> None:
    assert document("""a: ["1", 'true', ! 3, !!str 4]""", loader).data == {
        "a": ["1", "true", "3", "4"]
    }


def test_keys_are_text_whatever_they_look_like() -> None:
    assert document("{1: a, true: b, on: c, null: d}").data == dict(
        zip(("1", "true", "on", "null"), "abcd", strict=True)
    )


def test_anchors_and_merge_keys() -> None:
    found = document(
        """
        one: &one {a: 1, b: {c: 2}}
        two: *one
        three:
          <<: *one
          a: 3
        four:
          <<: [{x: 1}, *one]
        """
    )
    assert found.data["two"] == {"a": 1, "b": {"c": 2}}
    assert found.data["three"] == {"a": 3, "b": {"c": 2}}
    assert found.data["four"] == {"x": 1, "a": 1, "b": {"c": 2}}
    assert found.place(("two", "b", "c")).line == 3


def test_an_empty_file_is_none() -> None:
    assert document("# nothing\n").data is None


@LOADERS
def test_all_duplicate_keys_are_told(loader: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        document("a: 1\nb:\n  - c: 1\n    c: 2\na: 2\n", loader)
    assert [str(problem) for problem in caught.value.problems] == [
        "gate.yml:4: b[0].c: duplicate key, first used in line 3 - remove one",
        "gate.yml:5: a: duplicate key, first used in line 1 - remove one",
    ]


@LOADERS
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a:\n\t- b\n", 2, "spaces, not tabs"),
        ("a: [1,\n", 2, "not YAML"),
        ("a: 'x\n", 2, "not YAML"),
        ('a: 1\nb: "C:\\Users"\n', 2, "write single quotes, or two backslashes"),
        ('a: "C:\\docs"\n', 1, "write single quotes, or two backslashes"),
        ("a: {{name}}\n", 1, "put text with braces or brackets in quotes"),
        ("---\na\n---\nb\n", 3, "second document"),
        ("a: !!python/object/apply:os.system [ls]\n", 1, "tag"),
        ("a: !!binary aGk=\n", 1, "tag"),
        ("? [a]\n: b\n", 1, "a key must be a word"),
        ("&k a: 1\n", 1, "anchor on a key"),
        ("a: *nowhere\n", 1, "alias"),
        ("a: &a [*a]\n", 1, "alias"),
        ("a: 1\n<<: 3\n", 3, "'<<' needs a mapping"),
        ('a: "\\uD800"\n', 1, "character"),
    ],
)
def test_what_is_refused(text: str, line: int, message: str, loader: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        document(text, loader)
    (problem,) = caught.value.problems
    assert message in problem.message
    assert problem.place.file == "gate.yml"
    assert problem.place.line in (line, line - 1)  # libyaml and PyYAML mark the end differently


def test_control_characters_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"gate\.yml:2: character U\+0007"):
        document("a: 1\nb: \x07\n")


def test_depth_has_a_limit() -> None:
    nested = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert document(nested).data == json.loads(nested)
    with pytest.raises(InvalidInput, match=f"more than {MAX_DEPTH} levels deep"):
        document("[" * 100_000)


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(InvalidInput, match=f"aliases repeat more than {MAX_ALIASED} values"):
        document("\n".join(lines))


def test_dotted() -> None:
    assert format_path(("suites", 0, "gates", "a.b@5")) == "suites[0].gates.a.b@5"
    assert format_path(()) == ""
