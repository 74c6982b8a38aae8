"""The action's inputs become the arguments that the command line's own parser takes."""

from __future__ import annotations

import pytest
import yaml

from gate.commands.options.all import parse
from gate.errors import UsageError
from gate.github.inputs import (
    CHOICES,
    FLAGS,
    INPUTS,
    RUN_OPTIONS,
    SETTINGS,
    flag,
    read_inputs,
    without_wrong,
)
from tests.support.paths import ROOT

KEY = "sk-very-secret"


def env(**inputs: str) -> dict[str, str]:
    return {f"INPUT_{name.replace('_', '-').upper()}": value for name, value in inputs.items()}


def test_nothing_given_leaves_everything_to_the_config() -> None:
    plan = read_inputs(env(config="", suite="", comment="", fail=""))
    assert plan.argv == ("run",)
    assert plan.settings == {}
    assert (plan.comment, plan.comment_id) == ("always", "gate")
    assert (plan.annotations, plan.summary, plan.fail) == (True, True, True)
    assert (plan.check_run, plan.upload, plan.shard) == (False, False, False)
    assert read_inputs(env(upload_artifact="true")).upload


def test_inputs_are_options_of_run() -> None:
    given = env(
        config="a/gate.yml",
        suite="one, two\nthree,\n",
        base_url="http://127.0.0.1:1",
        model="--odd",
        provider_key=KEY,
        rounds="5",
        max_attempts="1",
        timeout="9.5",
        concurrency="4",
        sample="10",
        shard="2/8",
        stage="2",
        resume="look",
        baseline="repo",
        budget_usd="1.5",
        results_dir="out",
        verbose="true",
    )
    plan = read_inputs(given)
    options = parse(plan.argv)
    assert options.suite == ["one", "two", "three"]
    assert (options.model, options.provider_key, options.rounds) == ("--odd", KEY, 5)
    assert (options.max_attempts, options.timeout, options.concurrency) == (1, 9.5, 4)
    assert (options.sample, options.shard, options.baseline) == (10, (2, 8), "repo")
    assert (options.budget_usd, options.out, options.verbose) == (1.5, "out", True)
    assert (options.config, options.base_url) == ("a/gate.yml", "http://127.0.0.1:1")
    assert (options.stage, options.resume) == (2, "look")
    assert plan.shard
    assert KEY not in repr(plan)


def test_settings_stand_for_keys_of_the_config() -> None:
    given = env(
        baseline_path="b",
        baseline_artifact="a",
        baseline_branch="dev",
        baseline_workflow="w.yml",
        on_error="warn",
        on_no_baseline="fail",
        sample="all",
    )
    plan = read_inputs(given)
    assert plan.argv == ("run",)
    assert plan.settings == {
        "baseline.path": "b",
        "baseline.artifact": "a",
        "baseline.branch": "dev",
        "baseline.workflow": "w.yml",
        "policy.error": "warn",
        "policy.no_baseline": "fail",
        "sample": "all",
    }


def test_a_working_directory_is_where_files_of_the_repository_are() -> None:
    given = env(working_directory="agents/web", replay="r.jsonl", results_dir="out", resume="s")
    options = parse(read_inputs(given).argv)
    assert (options.config, options.replay) == ("agents/web/gate.yml", "agents/web/r.jsonl")
    assert (options.out, options.resume) == ("out", "s")
    for baseline, read in (("repo", "repo"), ("b.json", "web/b.json")):
        given = env(working_directory="web", config="g.yml", baseline=baseline)
        options = parse(read_inputs(given).argv)
        assert (options.config, options.baseline) == ("web/g.yml", read)


@pytest.mark.parametrize("folder", ["..", "a/../..", "/github", "C:/x", "a\\..\\.."])
def test_a_working_directory_stays_in_the_workspace(folder: str) -> None:
    with pytest.raises(UsageError, match=r"working-directory: .* is not a folder of the workspace"):
        read_inputs(env(working_directory=folder))


def test_a_merge_names_its_sessions() -> None:
    given = env(merge="a/session-1\n-b", config="g.yml", baseline="none", rounds="9")
    options = parse(read_inputs(given).argv)
    assert (options.command, options.sessions) == ("merge", ["a/session-1", "-b"])
    assert (options.config, options.baseline, options.out) == ("g.yml", "none", "results")
    assert parse(read_inputs(env(merge="a", results_dir="o")).argv).out == "o"


def test_the_judges_key_travels_in_the_environment() -> None:
    plan = read_inputs({**env(judge_key=KEY), "PATH": "x"})
    assert plan.env["JUDGE_API_KEY"] == KEY
    assert plan.env["PATH"] == "x"
    assert KEY not in repr(plan)


def test_every_wrong_input_is_told_at_once() -> None:
    given = env(comment="sometimes", on_error="ignore", on_inconclusive="extent", fail="flase")
    with pytest.raises(UsageError) as caught:
        read_inputs(given)
    assert str(caught.value).splitlines() == [
        "comment: 'sometimes' is not one of always, on-change, on-failure, on-error, never",
        "on-inconclusive: 'extent' is not one of fail, warn, pass, extend",
        "on-error: 'ignore' is not one of fail, warn, pass",
        "fail: 'flase' is not true or false - did you mean 'false'?",
    ]


def test_an_import_names_its_format_path_and_options() -> None:
    lines = "variant=lite\n trajectories=a, b \n"
    given = {"import": "swebench", "import_path": "-logs", "import_options": lines}
    options = parse(read_inputs(env(**given, suite="a", results_dir="o")).argv)
    assert (options.command, options.source, options.path) == ("import", "swebench", "-logs")
    assert options.option == ["variant=lite", "trajectories=a, b"]
    assert (options.baseline, options.suite, options.out) == ("auto", ["a"], "o")
    assert parse(read_inputs(env(**given, baseline="none")).argv).baseline == "none"
    for half in ({"import": "swebench"}, {"import_path": "logs"}):
        with pytest.raises(UsageError, match="import-path: `import` is the format"):
            read_inputs(env(**half))


@pytest.mark.parametrize(
    ("text", "wanted"), [("TRUE", True), ("no", False), ("", True), (" false ", False), ("1", None)]
)
def test_flags(text: str, wanted: bool | None) -> None:
    assert flag(env(fail=text), "fail") is wanted


def test_every_input_of_the_action_is_read(repository_action: dict[str, object]) -> None:
    read = {*RUN_OPTIONS, *SETTINGS, *CHOICES, *FLAGS}
    own = {"suite", "sample", "merge", "judge-key", "comment-id", "results-dir", "github-token"}
    own |= {"import", "import-path", "import-options", "working-directory", "comment-title"}
    own |= {"check-name"}
    assert read | own == set(repository_action)


@pytest.fixture
def repository_action(request: pytest.FixtureRequest) -> dict[str, object]:
    """The `inputs` block of action.yml."""
    text = (request.config.rootpath / "action.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["inputs"]


def test_wrong_inputs_can_be_left_out_to_tell_of_them() -> None:
    given = env(comment="nver", comment_id="a b", verbose="ja", check_run="true", on_error="warn")
    with pytest.raises(UsageError) as told:
        read_inputs(given)
    assert len(str(told.value).splitlines()) == 3
    plan = read_inputs(without_wrong(given))
    assert (plan.comment, plan.comment_id, plan.check_run) == ("always", "gate", True)
    assert plan.settings == {"policy.error": "warn"}


def test_the_inputs_are_those_of_action_yml() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(action["inputs"]) == INPUTS


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("basline", "basline: the action has no such input - did you mean 'baseline'?"),
        ("base_url", "base_url: the action has no such input - did you mean 'base-url'?"),
        ("zzz", "zzz: the action has no such input; its action.yml lists them all"),
    ],
)
def test_an_input_that_the_action_has_not_is_refused_though_it_is_empty(
    name: str, told: str
) -> None:
    given = {**env(suite="s"), f"INPUT_{name.upper()}": ""}
    with pytest.raises(UsageError) as refused:
        read_inputs(given)
    assert str(refused.value).startswith(told)
    assert read_inputs(without_wrong(given)).argv == ("run", "--suite=s")


def test_what_the_runner_makes_of_args_and_entrypoint_is_no_unknown_input() -> None:
    assert read_inputs(env(args="action", entrypoint="/bin/gate")).argv == ("run",)
