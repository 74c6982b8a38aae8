"""What is wrong with a source is told at once, also where a part of it cannot be read."""

from pathlib import Path

import pytest

from gate.errors import InvalidInput, Place, UsageError
from gate.files.problems import Findings, refuse_file
from gate.files.yaml import yaml_of

HERE = Path("a.json")


def test_what_ends_a_block_is_taken_and_the_rest_goes_on():
    findings = Findings()
    with findings.taking():
        refuse_file(HERE, "is broken", "rows")
    findings.add(Place("b.json", 3), "is odd")
    with pytest.raises(InvalidInput) as raised:
        findings.refuse()
    assert str(raised.value) == "a.json: rows: is broken\nb.json:3: is odd"


def test_another_error_is_taken_only_where_its_place_is_known():
    findings = Findings()
    with pytest.raises(UsageError, match="remote files"), findings.taking():
        raise UsageError("remote files are not fetched")
    assert not findings
    with findings.taking(Place("c.yaml", 7)):
        raise UsageError("remote files are not fetched")
    assert [str(one) for one in findings.problems] == ["c.yaml:7: remote files are not fetched"]


def test_a_file_of_yaml_may_not_be_larger_than_wanted(tmp_path):
    file = tmp_path / "list.yaml"
    file.write_text("- one\n- two\n")
    assert yaml_of(file, 12, "too long").data == ["one", "two"]
    with pytest.raises(InvalidInput, match=r"list\.yaml: too long - split it"):
        yaml_of(file, 11, "too long - split it")
