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
            steps = [step for job in data["jobs"].values() for step in job["steps"]]
            used = {step["uses"].split("@")[0] for step in steps}
            assert used <= {*ACTIONS, "agent-gate/agent-gate"}


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


def test_main_is_measured_in_one_job_and_judged_in_another() -> None:
    own = ROOT / ".github" / "workflows" / "baseline.yml"
    shipped = render_files()[".github/workflows/gate-baseline.yml"]
    for text in (shipped, own.read_text(encoding="utf-8")):
        jobs = yamlfile.parse(text.encode(), "baseline.yml").data["jobs"]
        assert jobs["verdict"]["needs"] == "measure"
        assert jobs["verdict"]["permissions"]["issues"] == "write"
        assert "issues" not in jobs["measure"]["permissions"]
        (judged,) = [
            s["with"]["args"] for s in jobs["verdict"]["steps"] if "args" in s.get("with", {})
        ]
        assert judged == "baseline verdict main-session"


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


OWN = {"agent": "openai", "base_url": "http://127.0.0.1:9", "model": "m"}


def start(folder: Path, read=None, **options: object) -> int:
    return run(Namespace(dir=str(folder), force=False, **options), {}, read)


def test_a_project_for_an_own_agent_is_written_though_the_agent_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start(tmp_path, **OWN, template="tools") == 0
    out = capsys.readouterr().out
    assert "The agent did not answer: http://127.0.0.1:9 refused the connection" in out
    config = yamlfile.parse((tmp_path / "gate.yml").read_bytes(), "gate.yml").data
    assert config["agent"] == {"type": "openai", "base_url": "http://127.0.0.1:9", "model": "m"}
    assert config["suites"][0]["graders"] == ["facts", "tool_calls"]
    first = (tmp_path / "gate.yml").read_text().splitlines()[0]
    named = first.partition("$schema=")[2]
    assert json.loads((tmp_path / named).read_text())["title"] == "gate.yml of Agent Gate"
    with pytest.raises(Exception, match=r"no case is approved \(8 proposed\)"):
        validate.run(Namespace(config=str(tmp_path / "gate.yml"), suite=None), {})


def test_the_user_is_asked_and_may_take_what_is_proposed(tmp_path: Path) -> None:
    answers = iter(["http", "http://127.0.0.1:9/ask", "rag"])
    asked = []

    def read(words: str) -> str:
        asked.append(words)
        return next(answers)

    start(tmp_path / "own", read)
    assert len(asked) == 3
    config = yamlfile.parse((tmp_path / "own" / "gate.yml").read_bytes(), "gate.yml").data
    assert config["agent"] == {"type": "http", "url": "http://127.0.0.1:9/ask"}
    assert "hallucination" in config["suites"][0]["graders"]
    start(tmp_path / "sample", lambda words: "")
    config = yamlfile.parse((tmp_path / "sample" / "gate.yml").read_bytes(), "gate.yml").data
    assert config["agent"] == {"type": "sample"}


def test_langgraph_gets_a_file_that_asks_the_graph(tmp_path: Path) -> None:
    start(tmp_path, template="langgraph")
    adapter = (tmp_path / "gate_agent.py").read_text()
    compile(adapter, "gate_agent.py", "exec")
    config = yamlfile.parse((tmp_path / "gate.yml").read_bytes(), "gate.yml").data
    assert config["agent"] == {"type": "python", "callable": "./gate_agent.py:ask"}


def test_questions_of_a_csv_file_become_the_first_suite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "faq.csv").write_text("question;answer\nHow long?;30 days\nHow much?;9\n")
    start(tmp_path / "new", source=["csv", str(tmp_path / "faq.csv")])
    assert capsys.readouterr().out.splitlines()[-1] == "Next: `gate run`."
    config = str(tmp_path / "new" / "gate.yml")
    assert validate.run(Namespace(config=config, suite=None), {}) == 0


def test_results_are_ignored_once(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log", encoding="utf-8")
    init(tmp_path)
    assert (tmp_path / ".gitignore").read_text() == "*.log\nresults/\n"
    init(tmp_path, force=True)
    assert (tmp_path / ".gitignore").read_text() == "*.log\nresults/\n"


def test_the_workflow_of_pages_is_written_alone_and_is_the_example(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Namespace(dir=str(tmp_path), force=False, pages=True), {}) == 0
    (written,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert written.name == "gate-pages.yml"
    assert written.read_text("utf-8") == (ROOT / "examples" / "pages.yml").read_text("utf-8")
    assert "can be read by everybody" in capsys.readouterr().out
    assert written.relative_to(tmp_path).as_posix() not in render_files()
