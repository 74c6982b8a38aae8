"""Where gate.yml is looked for, and what is said where there is none."""

from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.run.home import check_has_config, find_home, sessions_folder, tell_unused_datasets
from gate.suites.config.load import defaults, select


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, two below one that has gate.yml."""
    folder = tmp_path / "repo" / "a" / "b"
    folder.mkdir(parents=True)
    (tmp_path / "repo" / "gate.yml").write_text("version: 1\n")
    monkeypatch.chdir(folder)
    return folder


def test_above_it_is_found_up_to_the_root_of_the_repository(deep: Path) -> None:
    assert find_home(None).file is None, "outside of a repository nothing is above"
    (deep.parents[1] / ".git").mkdir()
    told: list[str] = []
    found = find_home(None, told.append)
    assert (found.file, found.root) == ("../../gate.yml", Path("../.."))
    assert sessions_folder(found, defaults()) == "../../results"
    assert told == ["../../gate.yml is used; its paths are relative to its folder"]
    (deep.parent / ".git").mkdir()
    assert find_home(None).file is None, "another repository ends the search"


def test_the_nearest_one_wins_and_a_named_one_is_taken(deep: Path) -> None:
    (deep.parents[1] / ".git").mkdir()
    (deep.parent / "gate.yml").write_text("version: 1\n")
    assert find_home(None).file == "../gate.yml"
    (deep / "gate.yml").write_text("version: 1\n")
    here = find_home(None)
    assert (here.file, here.root, sessions_folder(here, defaults())) == (None, Path(), None)
    assert find_home("x/other.yml").root == Path("x")


@pytest.mark.parametrize(("wanted", "env"), [(True, {}), (False, {"OPENAGENT_PROVIDER_KEY": "k"})])
def test_the_bundled_suites_run_only_where_somebody_asks(wanted: bool, env: dict[str, str]) -> None:
    check_has_config(defaults(), env, bundled_wanted=wanted)
    with pytest.raises(UsageError, match="create one with `gate init`"):
        check_has_config(defaults(), {"OPENAGENT_PROVIDER_KEY": ""}, bundled_wanted=False)


def test_a_file_of_a_bundled_name_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    suites = select(defaults(), ["tool"]).suites
    assert tell_unused_datasets(suites) == []
    (tmp_path / "dataset.jsonl").write_text("")
    (line,) = tell_unused_datasets(suites)
    assert line.startswith(
        "dataset.jsonl is in this folder but not used: the cases of tool are those"
    )
