"""Which importer is meant, and with which options."""

import json

import pytest

from gate.errors import UsageError
from gate.files.sniff import look
from gate.run.importing.run import choose_reader


def refused(*arguments):
    with pytest.raises(UsageError) as caught:
        choose_reader(*arguments)
    return str(caught.value)


def session(folder):
    (folder / "meta.json").write_text("{}")
    (folder / "details.jsonl").write_text("")
    return folder


def test_auto_takes_the_one_that_recognises_it(tmp_path):
    assert choose_reader("auto", session(tmp_path), ())[0] == "openagent"


def test_what_nobody_recognises_names_every_format(tmp_path):
    said = refused("auto", tmp_path, ())
    assert "not a known format; choose a format: " in said
    assert "openagent" in said
    assert "not found" in refused("auto", tmp_path / "gone", ())


def test_a_format_that_is_misspelled_is_named(tmp_path):
    assert "unknown import format 'openagnt' - did you mean 'openagent'?" in refused(
        "openagnt", tmp_path, ()
    )


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("otel", {"resourceSpans": []}),
        ("messages", {"messages": [{"role": "user", "content": ""}]}),
        ("inspect", {"version": 2, "status": "success", "eval": {}, "plan": {}}),
    ],
)
def test_a_folder_of_json_is_what_its_first_file_is(tmp_path, name, held):
    (tmp_path / "b.json").write_text(json.dumps(held))
    assert choose_reader("auto", tmp_path, ())[0] == name
    assert f"it looks like {name}: " in refused("junit", tmp_path, ())
    (tmp_path / "a.json").symlink_to(tmp_path / "b.json")
    assert "not a known format" in refused("auto", tmp_path, ()), "links are not followed"


def test_a_folder_of_another_format_is_told_with_the_command(tmp_path):
    said = refused("junit", session(tmp_path), ())
    assert f"it looks like openagent: gate import openagent {tmp_path}" in said


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("variant", "--option variant: write NAME=VALUE"),
        ("varian=lite", "`swebench` has no such option - did you mean 'variant'?"),
        ("variant=huge", "--option variant: "),
    ],
)
def test_options_are_those_of_the_format(tmp_path, option, said):
    assert said in refused("swebench", tmp_path / "gone", [option])


def test_an_option_is_given_once(tmp_path):
    twice = ["variant=lite", "variant=full"]
    assert "--option variant: given twice" in refused("swebench", tmp_path / "gone", twice)
    assert "has none" in refused("openagent", tmp_path / "gone", ["variant=lite"])


# ------------------------------------------------------------------------------------ a first look


def test_the_keys_of_a_file_that_is_too_long_are_those_before_the_cut(tmp_path):
    file = tmp_path / "long.json"
    file.write_text(json.dumps({"version": 3, "more": {"a": [1]}, "rows": ["x" * 400_000]}))
    found = look(file)
    assert found.first is None
    assert found.keys == {"version", "more", "rows"}
    assert found.has("version", "rows")
    assert not found.has("stats")


def test_of_a_long_list_the_first_item_is_seen(tmp_path):
    file = tmp_path / "list.json"
    file.write_text(json.dumps([{"id": n, "text": "x" * 1000} for n in range(1000)]))
    assert look(file).has("id", "text")


def test_of_json_lines_the_first_one_is_seen(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('\ufeff{"id": 1}\n{"id": 2}\n', encoding="utf-8")
    assert look(file).first == {"id": 1}


def test_a_folder_shows_two_levels(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "deep.json").touch()
    (tmp_path / "a" / "x.json").touch()
    assert look(tmp_path).names == {"a", "a/b", "a/x.json"}
