"""The script of the release workflow, on real repositories of git."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gate import __version__
from tests.support.git_repository import commit_files, git
from tests.support.paths import ROOT
from tests.support.product_repository import IMAGE, Product

WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
TAG = f"v{__version__}"


@pytest.fixture
def product(tmp_path: Path) -> Product:
    """This product's action.yml and version on main of a remote, tagged as a release."""
    made = Product(tmp_path)
    made.push_tag(TAG)
    return made


def test_the_tag_moves_to_a_commit_that_names_the_image_and_main_stays(product: Product) -> None:
    tagged = product.there(TAG)
    assert product.release("check") == 0
    commit = product.publish()
    assert product.there(TAG) == commit
    assert product.there("v0") == commit
    assert git(product.remote, "rev-parse", f"{commit}^", "main") == f"{tagged}\n{tagged}"
    assert git(product.remote, "diff", "--name-only", tagged, commit) == "action.yml"
    published = yaml.safe_load(git(product.remote, "show", f"{commit}:action.yml"))
    own = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert published["runs"] == {"using": "docker", "image": f"docker://{IMAGE}"}
    assert own["runs"] == {"using": "docker", "image": "Dockerfile"}
    assert {**published, "runs": own["runs"]} == own
    assert git(product.work, "status", "--porcelain") == ""


def test_a_job_that_is_run_again_changes_nothing_and_another_image_is_refused(
    product: Product, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = product.publish()
    assert product.publish() == commit
    other = IMAGE[:-4] + "0000"
    assert product.release("commit", "--push", "--image", other) == 1
    assert "a version that is published never changes" in capsys.readouterr().err
    assert product.there(TAG) == commit


def test_the_packages_name_the_commit_before_it_is_pushed(product: Product) -> None:
    assert product.release("stamp", "--image", IMAGE) == 0
    stamp = json.loads((product.work / "gate/release.json").read_text(encoding="utf-8"))
    (product.work / "gate/release.json").unlink()
    assert stamp == {"version": __version__, "commit": product.publish()}


def test_an_annotated_tag_moves_too(tmp_path: Path) -> None:
    product = Product(tmp_path)
    product.push_tag(TAG, "-a", "-m", "a release")
    commit = product.publish()
    assert product.there(TAG) == commit


def test_the_major_tag_never_goes_back(
    product: Product, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = product.publish()
    newer = "v0.999.0"
    product.push_tag(newer)
    assert product.release("major", "--tag", newer) == 0
    assert product.there("v0") == product.there(newer) != commit
    assert product.release("major") == 0
    assert f"v0 stays at {newer}, which is newer" in capsys.readouterr().out
    assert product.there("v0") == product.there(newer)
    product.push_tag("v1.0.0")
    assert product.release("major", "--tag", "v1.0.0") == 0
    assert product.there("v1") == product.there("v1.0.0")
    assert product.there("v0") == product.there(newer)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("check", "--tag", "v0"), "'v0' is not a full version such as v1.2.3"),
        (("check", "--tag", "v9.9.9"), "the tag is v9.9.9, but __version__ in gate/__init__.py is"),
        (("commit", "--image", "ghcr.io/agent-gate/agent-gate:v1"), "by its digest"),
        (("commit", "--image", f"{IMAGE}\nname: x"), "by its digest"),
        (("major", "--tag", "v0.0.1"), "v0.0.1 is not there"),
    ],
)
def test_what_is_refused(
    product: Product,
    arguments: tuple[str, ...],
    why: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert product.release(*arguments) == 1
    assert why in capsys.readouterr().err


def test_a_commit_that_was_never_merged_is_not_released(
    product: Product, capsys: pytest.CaptureFixture[str]
) -> None:
    commit_files(product.work, "not on main", note="x")
    assert product.release("check") == 1
    assert "is not on main: tag a commit that was merged" in capsys.readouterr().err


def test_only_a_full_version_starts_the_workflow() -> None:
    """GitHub's filter patterns: a dot is a dot, + and [] are as in regular expressions."""
    (pattern,) = WORKFLOW[True]["push"]["tags"]
    starts = re.compile(pattern.replace(".", r"\."))
    started = [tag for tag in ("v0", "v1", "v0.2", "v0.2.0", "v10.11.12") if starts.fullmatch(tag)]
    assert started == ["v0.2.0", "v10.11.12"]
    read_version = runpy.run_path(str(ROOT / ".github/release.py"))["read_version"]
    assert [read_version(tag) for tag in started] == [(0, 2, 0), (10, 11, 12)]


GH = """#!/bin/sh
echo "$@" >> "$CALLS"
if [ "$1 $2" = "release view" ]; then exit "$GH_VIEW"; fi
"""
SAID = {
    "github.token": "t",
    "github.repository": "agent-gate/agent-gate",
    "github.server_url": "https://github.example",
    "github.ref_name": TAG,
    "needs.image.outputs.reference": IMAGE,
    "steps.name.outputs.image": IMAGE.partition("@")[0],
    "steps.build.outputs.digest": IMAGE.partition("@")[2],
}
NOTES = """#!/bin/sh
echo "$(basename "$0") $@" >> "$CALLS"
"""
# What installs, builds and uploads is noted; a script is run.
PYTHON = f"""#!/bin/sh
if [ "$1" != -m ]; then exec "{sys.executable}" "$@"; fi
echo "python $@" >> "$CALLS"
if [ "$2" = build ]; then mkdir -p dist && touch dist/a.whl dist/a.tar.gz; fi
if [ "$2" = venv ]; then
  mkdir -p "$3/bin"
  for name in pip gate; do cp "$(dirname "$0")/docker" "$3/bin/$name"; done
fi
"""


def play(job: str, work: Path, folder: Path, *, gh: str = NOTES, **env: str) -> list[str]:
    """Runs the shell of the job's steps, one after the other, as they are written, with stand-ins
    for the programs that reach other machines; gives the words with which these were called.
    """
    tools = folder / "bin"
    tools.mkdir()
    for name, script in {"gh": gh, "docker": NOTES, "python": PYTHON}.items():
        (tools / name).write_text(script, encoding="utf-8")
        (tools / name).chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "CALLS": str(folder / "calls"),
        "GITHUB_REF_NAME": TAG,
        "GITHUB_REPOSITORY": "Agent-Gate/agent-gate",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "RUNNER_TEMP": str(folder),
        **env,
    }
    for step in WORKFLOW["jobs"][job]["steps"]:
        if "run" not in step:
            continue
        given = {
            name: re.sub(r"\$\{\{ (\S+) \}\}", lambda found: SAID[found[1]], text)
            for name, text in step.get("env", {}).items()
        }
        command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=work, env=env | given, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{step['name']}: {done.stderr}"
    return (folder / "calls").read_text(encoding="utf-8").splitlines()


@pytest.mark.skipif(os.name == "nt", reason="the steps are shell")
@pytest.mark.parametrize("view", ["1", "0"])
def test_the_steps_of_the_release_run_as_they_are_written(
    product: Product, tmp_path: Path, view: str
) -> None:
    """GitHub itself is left out: `gh` is a stand-in that notes its words. `view` 0: the release is
    there, as when the job is run again.
    """
    for name in ("evidence/evidence.json", "dist/a.whl", "dist/a.tar.gz"):
        (product.work / name).parent.mkdir(exist_ok=True)
        (product.work / name).write_text("x", encoding="utf-8")
    calls = play("release", product.work, tmp_path, gh=GH, GH_VIEW=view)
    assert product.there("v0") == product.there(TAG)
    assert IMAGE in git(product.remote, "show", f"{TAG}:action.yml")
    made = [call for call in calls if call.startswith("release create")]
    assert len(made) == int(view)
    if made:
        assert made[0].startswith(f"release create {TAG} --verify-tag")
        assert made[0].endswith("agent-gate-evidence.tar.gz dist/a.tar.gz dist/a.whl")
    page = f"https://github.example/agent-gate/agent-gate/releases/edit/{TAG}"
    assert page in (tmp_path / "summary").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="the steps are shell")
def test_the_steps_of_the_image_try_both_architectures_before_it_gets_its_name(
    product: Product, tmp_path: Path
) -> None:
    calls = play("image", product.work, tmp_path)
    outputs = (tmp_path / "output").read_text(encoding="utf-8").splitlines()
    assert outputs == ["image=ghcr.io/agent-gate/agent-gate", f"version={__version__}"]
    *tried, named = calls
    assert len(tried) == 2
    for call, platform in zip(tried, ("linux/amd64", "linux/arm64"), strict=True):
        assert call.startswith("docker run --rm --pull always ")
        assert f"--platform {platform} --network none --read-only" in call
        assert call.endswith(f" {IMAGE} --self-test")
    name, _, digest = IMAGE.partition("@")
    assert named == f"docker buildx imagetools create --tag {name}:{TAG} {name}@{digest}"


@pytest.mark.skipif(os.name == "nt", reason="the steps are shell")
def test_the_steps_of_the_packages_stamp_build_check_and_try_them(
    product: Product, tmp_path: Path
) -> None:
    calls = play("packages", product.work, tmp_path)
    stamp = json.loads((product.work / "gate/release.json").read_text(encoding="utf-8"))
    assert stamp["version"] == __version__
    assert [" ".join(call.split()[:4]) for call in calls] == [
        "python -m pip install",
        "python -m build",
        "python -m twine check",
        f"python -m venv {tmp_path}/tried",
        "pip install --disable-pip-version-check dist/a.whl",
        "gate --self-test",
    ]
    assert calls[2].endswith("twine check --strict dist/a.tar.gz dist/a.whl")


def test_what_can_be_undone_comes_first() -> None:
    """Image and packages are made and tried before the tag moves; v0 moves after the release is
    there, and the index gets the packages last.
    """
    jobs = WORKFLOW["jobs"]
    assert set(jobs["release"]["needs"]) >= {"tests", "gate", "image", "packages"}
    assert jobs["pypi"]["needs"] == "release"
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}
    said = [step.get("run", "") for step in jobs["release"]["steps"]]
    order = ("release.py commit --push", "gh release create", "release.py major", "Marketplace")
    places = [next(n for n, text in enumerate(said) if word in text) for word in order]
    assert places == sorted(places)
