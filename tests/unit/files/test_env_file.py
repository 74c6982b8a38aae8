"""Files of variables, as people and other tools write them."""

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.env_file import read_env_file


def read(tmp_path, text):
    path = tmp_path / ".env"
    path.write_text(text, encoding="utf-8")
    return read_env_file(path)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=1", "1"),
        ("A=", ""),
        ("  A = spaced  ", "spaced"),
        ("export A=1", "1"),
        ("A=two words", "two words"),
        ("A=value # a note", "value"),
        ("A=sk-a1b2==", "sk-a1b2=="),
        ("A=http://h/x?y=1&z=2#part", "http://h/x?y=1&z=2#part"),
        ('A="with # and spaces "', "with # and spaces "),
        ("A='$NOT_REPLACED'  # a note", "$NOT_REPLACED"),
        ("A=1\nA=2", "2"),
    ],
)
def test_one_variable(tmp_path, line, value):
    assert read(tmp_path, line) == {"A": value}


def test_comments_and_blank_lines_are_nothing(tmp_path):
    assert read(tmp_path, "\ufeff# mine\r\n\r\nA=1\r\n  # B=2\n") == {"A": "1"}


def test_every_wrong_line_is_told_and_none_is_shown(tmp_path):
    with pytest.raises(InvalidInput) as error:
        read(tmp_path, 'A=1\nsk-secret\nB="sk-open\n1C=x\n')
    told = str(error.value)
    assert [line.split(":")[1] for line in told.splitlines()] == ["2", "3", "4"]
    assert "sk-" not in told


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(UsageError):
        read_env_file(tmp_path)
