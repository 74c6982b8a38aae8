"""The examples of docs/import.md, a format each, as they stand."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.import_page import EXAMPLES, FORMATS, PAGE, commands, expanded
from tests.support.in_process import gate


def test_every_format_has_its_section_with_an_example_and_its_row_in_the_table():
    assert [name for name in FORMATS if not commands(name)] == []
    assert [name for name in FORMATS if f"| `{name}` |" not in PAGE] == []


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file but the list of sessions, which knows when each was written."""
    found = sorted(one for one in folder.rglob("*") if one.name != "index.html")
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in found if one.is_file()}


@pytest.mark.parametrize("name", FORMATS)
def test_the_commands_of_a_format_run_and_give_the_same_bytes_twice(name, tmp_path):
    made = []
    for place in (tmp_path / "first", tmp_path / "second"):
        shutil.copytree(EXAMPLES, place)  # with the files' times
        before = files_of(place)
        for words in commands(name):
            found = gate(place, *expanded(words, place))
            assert found.returncode == 0, (words, found.stdout, found.stderr)
        after = files_of(place)
        assert {file: after.get(file) for file in before} == before, "the source stays as it is"
        new = {file: text for file, text in after.items() if file not in before}
        # The list of sessions holds the times of their files.
        made.append({file: new[file] for file in new if not str(file).endswith("index.html")})
    assert made[0] == made[1]
    assert made[0], "the commands write something"


@pytest.mark.parametrize("name", FORMATS)
def test_an_imported_session_is_taken_by_the_other_commands(name, tmp_path):
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    for words in commands(name):
        gate(tmp_path, *expanded(words, tmp_path))
    sessions = sorted(tmp_path.glob("*/session-*"))
    assert sessions, "no example yields a session"
    first = sessions[0].relative_to(tmp_path).as_posix()
    assert gate(tmp_path, "report", first).returncode == 0
    same = gate(tmp_path, "compare", first, first, "--format", "json")
    assert json.loads(same.stdout)["outcome"] in ("pass", "not_comparable", "inconclusive")
    saved = gate(tmp_path, "baseline", "save", first)
    assert saved.returncode == 0, saved.stderr
    history = gate(tmp_path, "history", sessions[0].parent.name)
    assert history.returncode == 0, history.stderr
