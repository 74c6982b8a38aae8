"""`gate init`: files that can be used as they are, and none of the user's overwritten."""

import json
import re
from argparse import Namespace
from pathlib import Path

import pytest

from gate.commands import validate
from gate.commands.init import ACTIONS, FILES, render_files, run
from gate.errors import UsageError
from gate.files import yaml as yamlfile
from tests.support.git_repository import git
from tests.support.paths import ROOT


def init(folder: Path, *, force: bool = False) -> int:
    return run(Namespace(dir=str(folder), force=force), {})


def test_every_file_is_written_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "project"
    assert init(folder) == 0
    out = capsys.readouterr().out
    for path in FILES:
        assert (folder / path).is_file()
        assert f"wrote {(folder / path).as_posix()}" in out


def test_what_it_writes_validates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    init(tmp_path)
    capsys.readouterr()
    config = str(tmp_path / "gate.yml")
    assert validate.run(Namespace(config=config, suite=None), {}) == 0
    assert "warning" not in capsys.readouterr().out


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    (tmp_path / "gate.yml").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"^gate\.yml: already there - use `gate init --force`"):
        init(tmp_path)
    assert (tmp_path / "gate.yml").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "datasets").exists()
    assert init(tmp_path, force=True) == 0
    assert (tmp_path / "gate.yml").read_text(encoding="utf-8") != "mine"


def test_all_files_that_are_there_are_named(tmp_path: Path) -> None:
    init(tmp_path)
    with pytest.raises(UsageError) as caught:
        init(tmp_path)
    assert all(path in str(caught.value) for path in FILES)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "datasets").write_text("a file, not a folder", encoding="utf-8")
    with pytest.raises(UsageError, match="datasets is not a folder"):
        init(tmp_path)


def test_the_workflows_are_yaml_with_every_reference_filled_in() -> None:
    for path, text in render_files().items():
        assert "<" not in re.sub(r"#.*", "", text), path
        if ".github" in path:
            data = yamlfile.parse(text.encode(), path).data
            steps = next(iter(data["jobs"].values()))["steps"]
            used = {step["uses"].split("@")[0] for step in steps}
            assert used <= {reference.split("@")[0] for reference in ACTIONS.values()}


def test_the_workflows_name_each_other() -> None:
    """The baseline's artifact is looked for among the runs of the workflow that makes it."""
    files = render_files()
    name = ".github/workflows/gate-baseline.yml"
    assert name in files
    assert "baseline-workflow: gate-baseline.yml" in files[".github/workflows/gate.yml"]
    assert "name: gate-baseline\n" in files[name]


def test_the_gate_runs_in_a_merge_queue_too() -> None:
    """A queue waits for ever for a required check whose workflow lacks the trigger."""
    own = ROOT / ".github" / "workflows" / "gate.yml"
    for text in (render_files()[".github/workflows/gate.yml"], own.read_text(encoding="utf-8")):
        triggers = yamlfile.parse(text.encode(), "gate.yml").data["on"]
        assert {"pull_request", "merge_group"} <= set(triggers)


def test_leaving_forks_to_their_workflows_does_not_skip_the_merge_queue() -> None:
    """A job that its `if` skips counts as passed."""
    only_own = "if: github.event_name != 'pull_request' || github.event.pull_request.head.repo."
    documented = ROOT / "docs" / "github.md"
    for text in (
        render_files()[".github/workflows/gate.yml"],
        documented.read_text(encoding="utf-8"),
    ):
        assert only_own in text


def test_the_baseline_may_read_what_was_accepted_on_the_merged_pull_request() -> None:
    own = ROOT / ".github" / "workflows" / "baseline.yml"
    shipped = render_files()[".github/workflows/gate-baseline.yml"]
    for text in (shipped, own.read_text(encoding="utf-8")):
        job = yamlfile.parse(text.encode(), "baseline.yml").data["jobs"]["measure"]
        assert job["permissions"]["pull-requests"] == "read"


def test_the_first_dataset_has_enough_cases_to_be_compared() -> None:
    cases = [json.loads(line) for line in render_files()["datasets/first.jsonl"].splitlines()]
    assert len(cases) >= 5


def test_a_repository_has_its_base_branch_written_down(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "-q", "-b", "it's#1")
    init(tmp_path / "new")
    assert "The base branch is it's#1" in capsys.readouterr().out
    written = yamlfile.parse((tmp_path / "new" / "gate.yml").read_bytes(), "gate.yml").data
    assert written["baseline"] == {"branch": "it's#1"}
    workflow = (tmp_path / "new" / ".github/workflows/gate-baseline.yml").read_bytes()
    pushes = yamlfile.parse(workflow, "x").data["on"]["push"]
    assert pushes["branches"] == ["it's#1"]
    assert "  branch:" not in render_files()["gate.yml"]
    assert "branches: [main]" in render_files()[".github/workflows/gate-baseline.yml"]
