"""What stands in several files must agree: actions, workflows, pins, the lock, the documents."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from gate import plugins
from gate.commands.init import render_files
from gate.registry import Registry

ROOT = Path(__file__).parent.parent
DECISIONS = ROOT / "docs" / "decisions"
README = ROOT / "README.md"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OUR_ACTION = re.compile(r"^(\./|\$/|[\w.-]+/agent-gate(?=[/@]))(?P<native>/?native)?(@.*)?$")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def load(path: Path) -> dict[str, object]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


ACTION, NATIVE = load(ROOT / "action.yml"), load(ROOT / "native" / "action.yml")


def texts(*patterns: str) -> Iterator[tuple[str, str]]:
    """(name, text) of the files of the project that match."""
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def yaml_texts() -> Iterator[tuple[str, str]]:
    yield from texts(".github/**/*.yml", "examples/**/*.yml")
    yield from ((name, text) for name, text in render_files().items() if name.endswith(".yml"))
    for name, text in texts("*.md", "docs/**/*.md", "examples/**/*.md"):
        for language, block in FENCE.findall(text):
            if language in ("yaml", "yml"):
                yield name, block


def steps(node: object) -> Iterator[dict[str, object]]:
    """Every mapping with `uses`, however deep."""
    if isinstance(node, dict):
        if isinstance(node.get("uses"), str):
            yield node
        for value in node.values():
            yield from steps(value)
    elif isinstance(node, list):
        for value in node:
            yield from steps(value)


def our_steps() -> list[tuple[str, dict[str, object]]]:
    return [
        (name, step)
        for name, text in yaml_texts()
        for document in yaml.safe_load_all(text)
        for step in steps(document)
        if OUR_ACTION.match(step["uses"])
    ]


# ---------------------------------------------------------------------------------------- actions


def test_both_actions_have_the_same_inputs() -> None:
    def comparable(action: dict[str, object]) -> dict[str, object]:
        return {
            name: {key: value for key, value in spec.items() if key != "description"}
            for name, spec in action["inputs"].items()
        }

    assert list(ACTION["inputs"]) == list(NATIVE["inputs"])
    assert comparable(ACTION) == comparable(NATIVE)


def test_both_actions_have_the_same_outputs() -> None:
    assert list(ACTION["outputs"]) == list(NATIVE["outputs"])
    for name, output in NATIVE["outputs"].items():
        assert output["value"] == f"${{{{ steps.gate.outputs.{name} }}}}"
        assert output["description"] == ACTION["outputs"][name]["description"]


def test_an_input_that_gate_yml_could_set_has_no_default_of_its_own() -> None:
    # A default would beat gate.yml: an action cannot tell a default from what the user wrote.
    with_default = {name for name, spec in ACTION["inputs"].items() if "default" in spec}
    only_of_the_action = {"comment", "comment-id", "check-run", "annotations", "summary"}
    only_of_the_action |= {"upload-artifact"}
    assert with_default == only_of_the_action | {"github-token", "fail", "verbose"}


def test_no_input_reaches_the_text_of_a_script() -> None:
    scripts = [step["run"] for step in NATIVE["runs"]["steps"]]
    assert scripts
    assert not [script for script in scripts if "${{" in script]


def test_the_native_action_names_inputs_as_the_runner_does_for_a_container() -> None:
    inputs = {"base-url": "http://a b", "fail": "true", "judge-key": ""}
    code = (
        "import json, runpy, sys; run = runpy.run_path(sys.argv[1]); "
        "print(json.dumps(run['as_inputs'](sys.argv[2])))"
    )
    command = [sys.executable, "-c", code, str(ROOT / "native" / "run.py"), json.dumps(inputs)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    expected = {"INPUT_BASE-URL": "http://a b", "INPUT_FAIL": "true", "INPUT_JUDGE-KEY": ""}
    assert json.loads(run.stdout) == expected


def test_the_native_action_leaves_out_the_inputs_of_an_action_around_it(tmp_path: Path) -> None:
    """Of a runner that puts them into the environment of a composite action's steps."""
    shown = tmp_path / "shown.py"
    shown.write_text(f"#!{sys.executable}\nimport os; print(*sorted(os.environ), sep='\\n')\n")
    shown.chmod(0o755)
    code = (
        "import os, pathlib, runpy, sys; run = runpy.run_path(sys.argv[1]); "
        "run['act'](pathlib.Path(sys.argv[2]), dict(os.environ), sys.argv[3])"
    )
    given = [str(ROOT / "native" / "run.py"), str(shown), json.dumps({"suite": "s"})]
    env = {**os.environ, "INPUT_OUTER": "1", "INPUT_SUITE": "theirs"}
    run = subprocess.run(
        [sys.executable, "-c", code, *given], capture_output=True, text=True, check=True, env=env
    )
    assert [name for name in run.stdout.split() if name.startswith("INPUT_")] == ["INPUT_SUITE"]


def test_every_with_key_is_an_input() -> None:
    found = our_steps()
    assert len(found) >= 3, "the own workflows use the action"
    for name, step in found:
        native = bool(OUR_ACTION.match(step["uses"])["native"])
        known = set(NATIVE["inputs"]) if native else {*ACTION["inputs"], "args", "entrypoint"}
        unknown = set(step.get("with", {})) - known
        assert not unknown, f"{name}: `{step['uses']}` has no input {sorted(unknown)}"


# --------------------------------------------------------------------------------------- workflows


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_ask_for_little_and_end(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {}, "no permission for a job that does not name it"
    assert "concurrency" in workflow
    for name, job in workflow["jobs"].items():
        assert job["permissions"], f"{name} names its permissions"
        assert job["timeout-minutes"] <= 30, name
        for step in steps(job):
            if step["uses"].startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False, name


def test_actions_of_others_are_pinned_and_their_source_is_recorded() -> None:
    record = "".join(text for _, text in texts("docs/decisions/*.md"))
    uses = re.compile(r"uses: *([\w.-]+/[\w./-]+)@(\S+)(?: +# (v[\d.]+))?")
    found = 0
    for name, text in yaml_texts():
        for action, pin, version in uses.findall(text):
            if re.search(r"/agent-gate(/native)?$", action):
                continue
            found += 1
            assert re.fullmatch(r"[0-9a-f]{40}", pin), f"{name}: {action}@{pin} is not a commit"
            row = rf"`{action}` \| {re.escape(version)} \| `{pin}`"
            assert version, f"{name}: {action} says its version behind the commit"
            assert re.search(row, record), f"{name}: no decision page says where {action} is from"
    assert found >= 5


# ------------------------------------------------------------------------------- image, lock, make


def test_the_base_image_is_pinned_and_its_source_is_recorded() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    images = re.findall(r"^FROM python:(\d+\.\d+)-slim@(sha256:[0-9a-f]{64})$", dockerfile, re.M)
    assert len(images) == dockerfile.count("FROM ") == 1
    python, digest = images[0]
    assert digest in "".join(text for _, text in texts("docs/decisions/*.md"))
    assert set(re.findall(r"lib/python(\d+\.\d+)/", dockerfile)) == {python}
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert f"CPython {python}," in lock


def test_the_lock_holds_every_dependency_with_hashes_and_no_host() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = dict(re.findall(r"^([\w.-]+)==(\S+) \\$", lock, re.M))
    for dependency in project["dependencies"]:
        name, least = re.fullmatch(r"([\w.-]+)>=([\d.]+)", dependency).groups()
        locked = pins[name.lower()].split(".")
        assert [int(n) for n in locked] >= [int(n) for n in least.split(".")], dependency
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", lock)) >= 2 * len(pins)
    assert "://" not in lock
    assert not re.search(r"^ *--(?!hash=)", lock, re.M)


def test_the_promised_commands_exist_and_ci_runs_the_tests_as_the_readme_says() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test", "check", "bench"):
        assert re.search(rf"^{target}:", makefile, re.M), target
    assert re.search(r"^make test$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.M)


# --------------------------------------------------------------------------------------- documents


def test_the_readme_names_the_two_commands() -> None:
    if not README.exists():
        pytest.skip("README.md is not written yet")
    text = README.read_text(encoding="utf-8")
    assert re.search(r"^make demo\b", text, re.M)
    assert re.search(r"^make test\b", text, re.M)


PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "requirements.md"),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_begins_with_whom_it_is_for(page: Path) -> None:
    title, first = page.read_text(encoding="utf-8").split("\n\n", 2)[:2]
    assert title.startswith("# ")
    assert first.startswith("For "), f"{page.name}: say first for whom the page is"


def test_the_glossary_has_each_term_once_in_order_with_one_sentence_at_least() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!term|:--)([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)
    terms = [term for term, _ in rows]
    assert len(terms) >= 50
    assert terms == sorted(set(terms))
    assert [term for term, meaning in rows if not meaning.endswith(".")] == []


def contributing_blocks() -> list[str]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return [block for language, block in FENCE.findall(text) if language == "python"]


@pytest.mark.parametrize("block", contributing_blocks(), ids=lambda block: block.split("\n")[0])
def test_the_recipes_of_contributing_run(block: str, tmp_path: Path) -> None:
    # A process each: a recipe registers its plug-in.
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", block]
    run = subprocess.run(
        command, capture_output=True, text=True, env=env, cwd=tmp_path, check=False
    )
    assert run.returncode == 0, run.stderr


def test_the_types_of_the_recipes_fit(tmp_path: Path) -> None:
    """What stands before the empty comment is the plug-in; the rest is a test without types."""
    for number, block in enumerate(contributing_blocks()):
        plugin = block.partition("\n#\n")[0]
        (tmp_path / f"recipe_{number}.py").write_text(f"{plugin}\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", *map(str, sorted(tmp_path.iterdir()))]
    checked = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert checked.returncode == 0, checked.stdout


def test_there_is_a_recipe_for_each_kind_of_plugin() -> None:
    blocks = "\n".join(contributing_blocks())
    kinds = [name for name, value in vars(plugins).items() if isinstance(value, Registry)]
    assert len(kinds) >= 6
    assert not [kind for kind in kinds if f"@{kind}.register(" not in blocks]


def test_the_page_on_tests_names_all_there_is_and_nothing_else() -> None:
    tests = ROOT / "tests"
    text = (tests / "README.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| ([^|]+) \|.*\n(?!\|--)", text, re.MULTILINE)  # but for headers
    named = [name for cell in cells for name in cell.split(", ") if re.fullmatch(r"[\w./]+", name)]
    there = [
        path.name + "/" * path.is_dir()
        for path in tests.iterdir()
        if not path.name.startswith(("_", ".")) and path.name != "README.md"
    ]
    shared = [path.stem for path in (tests / "support").glob("[!_]*.py")]
    assert sorted(named) == sorted(there + shared)


def test_the_marketplace_takes_the_action() -> None:
    """It wants a name, a description of at most 125 characters, and an icon and a colour of its
    lists, at the root; a name that is no user's, organisation's or category's is its to check.
    """
    assert 0 < len(ACTION["name"].strip()) <= 50
    assert not set(ACTION["name"]) & set("'\"<>@")
    assert 0 < len(ACTION["description"].strip()) <= 125
    colors = {"white", "black", "yellow", "blue", "green", "orange", "red", "purple", "gray-dark"}
    assert ACTION["branding"].keys() == {"icon", "color"}
    assert ACTION["branding"]["color"] in colors
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", ACTION["branding"]["icon"])
    assert all(ACTION["inputs"][name].get("description") for name in ACTION["inputs"])


def test_sessions_are_not_committed_by_accident() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "results/" in ignored


def test_the_licence_is_the_one_that_is_named() -> None:
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Version 2.0, January 2004" in licence
    assert "END OF TERMS AND CONDITIONS" in licence


def test_the_changelog_keeps_to_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.index("## [Unreleased]") == text.index("## [")
    kinds = set(re.findall(r"^### (.+)$", text, re.M))
    assert kinds
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_each_page_is_in_the_menu_of_the_site_once() -> None:
    def pages(node: object) -> Iterator[str]:
        if isinstance(node, str):
            yield node
        else:
            for part in node.values() if isinstance(node, dict) else node:
                yield from pages(part)

    menu = list(pages(load(ROOT / "mkdocs.yml")["nav"]))
    assert sorted(menu) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))


def build_site(folder: Path, page: str) -> subprocess.CompletedProcess[str]:
    """`make docs` with the site's own hook, of a page and one decision."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: `make docs` installs it")
    (folder / "docs" / "decisions").mkdir(parents=True)
    for name in ("docs/site.py", "docs/site.css", "docs/decisions/0001-python-versions.md"):
        shutil.copy(ROOT / name, folder / name)
    menu = [{"Agent Gate": "README.md"}, {"Explanation": [{"Decisions": []}]}]
    settings = {**load(ROOT / "mkdocs.yml"), "nav": menu}
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    (folder / "docs" / "README.md").write_text(page, encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (command,) = re.findall(r"\$\(BIN\)/(mkdocs .*)", makefile)
    return subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=folder,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_site_is_built_and_each_decision_says_for_whom_it_is(tmp_path: Path) -> None:
    done = build_site(tmp_path, "# A\n\n[b](#a) [c](decisions/0001-python-versions.md)\n")
    assert done.returncode == 0, done.stderr
    (page,) = (tmp_path / "build/site/decisions").glob("*/index.html")
    assert "<p>For people who change Agent Gate.</p>" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("link", ["#nowhere", "decisions/0001-python-versions.md#no", "no-page.md"])
def test_a_link_that_leads_nowhere_ends_make_docs(link: str, tmp_path: Path) -> None:
    done = build_site(tmp_path, f"# A\n\n[there]({link})\n")
    assert done.returncode != 0
    assert link.rpartition("#")[2] in done.stderr


PICTURE = re.compile(r"!\[([^\]]+)\]\(((?:docs/)?images/[\w-]+\.png)\)")


def test_each_picture_is_there_and_each_that_is_there_is_shown() -> None:
    pages = [README, *(ROOT / "docs").glob("*.md")]
    shown = {
        (page.parent / path).resolve()
        for page in pages
        for alt, path in PICTURE.findall(page.read_text(encoding="utf-8"))
        if len(alt) > 20  # it says what is seen
    }
    there = set((ROOT / "docs" / "images").glob("*.png"))
    assert shown == there
    made = (ROOT / "docs" / "images" / "make.py").read_text(encoding="utf-8")
    for path in there:
        assert f'"{path.stem}"' in made
        picture = path.read_bytes()
        assert picture.startswith(b"\x89PNG\r\n\x1a\n")
        assert len(picture) < 200_000, path.name
