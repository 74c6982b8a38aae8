"""What every importer promises, those to come too: found by walking the folder."""

from pathlib import Path

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.plugins import IMPORTERS
from gate.records.codec import schema_of
from gate.run.importing.run import choose_reader
from tests.support.import_page import EXAMPLES, FORMATS, commands

ODD = {
    "empty.json": b"",
    "null.json": b"null",
    "cut.json": b'{"results": [{"a": 1',
    "list.json": b"[]",
    "noise.bin": bytes(range(256)) * 40,
    "deep.json": b"[" * 100_000,
    "bomb.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><testsuite/>',
    "text.csv": b"a,b\n1,2\n",
    "numbers.jsonl": b"1\n2\n",
    "zip.eval": b"PK\x03\x04broken",
}


def imported(name: str) -> list[str]:
    """What the page imports with this format."""
    return [words[2] for words in commands(name) if words[:2] == ["import", name]]


@pytest.mark.parametrize("name", [*IMPORTERS])
def test_what_it_reads_is_said_in_a_few_words(name):
    reads = IMPORTERS.get_class(name).reads
    assert 5 < len(reads) < 120
    assert reads[-1] != "."


@pytest.mark.parametrize("name", FORMATS)
def test_its_examples_are_recognised_as_its_own_and_nobody_elses(name):
    paths = imported(name)
    assert paths
    for path in paths:
        found = look(EXAMPLES / path)
        takers = [one for one in IMPORTERS if IMPORTERS.get_class(one).recognises(found)]
        assert takers == [name], path


@pytest.mark.parametrize("name", FORMATS)
def test_under_another_name_they_are_refused_with_the_right_one(name):
    other = "junit" if name != "junit" else "swebench"
    path = EXAMPLES / imported(name)[0]
    with pytest.raises(UsageError, match=f"it looks like {name}: gate import {name} "):
        choose_reader(other, path, ())


@pytest.mark.parametrize("name", [*IMPORTERS])
def test_what_is_no_file_of_its_kind_is_refused_in_a_sentence(name, tmp_path):
    """Never by a crash, and never taken for an empty run."""
    for file, content in ODD.items():
        (tmp_path / file).write_bytes(content)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "list.json")
    for path in (*sorted(tmp_path.iterdir()), tmp_path / "gone", Path("\0")):
        assert not IMPORTERS.get_class(name).recognises(look(path)), path
        importer = IMPORTERS.get_class(name)
        needed = dict.fromkeys(schema_of(importer).get("required", ()), "gone")
        with pytest.raises((InvalidInput, UsageError)) as caught:
            list(importer(**needed).read(path).trials())
        assert str(caught.value)
