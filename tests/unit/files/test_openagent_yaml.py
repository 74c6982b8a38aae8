"""Datasets as older versions of the OpenAgent benchmark keep them, and folders as datasets."""

import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gate.errors import InvalidInput, Problem
from gate.files.rows import read_dataset
from gate.files.source import DatasetSource, at_commit, on_disk
from gate.records import Suite
from gate.suites.cases.dataset import cases, check
from gate.suites.config.load import defaults
from gate.suites.protection.rules import Rules, RulesBase
from tests.support import released
from tests.support.git_repository import commit_files, git, open_forge

TASK = {"id": "WS-1", "category": "WebSearch", "prompt": "Search the web."}
BOTH = {"tasks_index.json": '{"tasks": [{"id": "WS-1"}]}', "tasks/WS-1.json": json.dumps(TASK)}
HARDCHAT = """\
# as a version before tasks.jsonl had it
defaults:
  temperature: 0
  max_tokens: 12000
tasks:
  - id: T1
    prompt: Collect and group.
  - id: T2
    max_tokens: 900
    prompt: Run a command.
"""


class Host:
    """A Forge with these files in every commit; counts what is asked of it."""

    has_artifacts = False

    def __init__(self, files):
        self.files = {name: text.encode() for name, text in files.items()}
        self.asked = []

    def read(self, path, ref):
        self.asked.append(path)
        return self.files.get(path)

    def listing(self, folder, ref):
        found = (name for name in self.files if name.rpartition("/")[0] == folder)
        return tuple(sorted(name.rpartition("/")[2] for name in found))

    def artifact(self, request):
        return None


def tool_files(*tasks, index=None):
    entries = index if index is not None else [{"id": task["id"]} for task in tasks]
    files = {f"tasks/{task['id']}.json": json.dumps(task) for task in tasks}
    return {"tasks_index.json": json.dumps({"tasks": entries}, indent=1), **files}


def on(folder: Path, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def faults(folder, name="data"):
    with pytest.raises(InvalidInput) as caught:
        check(on_disk(folder, name), {})
    return str(caught.value)


def test_an_index_and_its_files_are_the_cases_of_the_same_lines(tmp_path):
    """Same hashes as in one file: whoever joins the files keeps his baseline."""
    tasks = [TASK, {**TASK, "id": "WS-2"}]
    summary = check(on_disk(on(tmp_path / "old", tool_files(*tasks)), "old"), {})
    (tmp_path / "new.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    joined = check(on_disk(tmp_path / "new.jsonl", "new"), {})
    assert (summary.digests, summary.digest) == (joined.digests, joined.digest)
    found = list(cases(on_disk(tmp_path / "old", "old"), {}))
    assert [case.input for case in found] == ["Search the web."] * 2
    assert str(found[1].place) == "old/tasks/WS-2.json:1"


def test_defaults_hold_where_a_task_says_nothing(tmp_path):
    source = on_disk(on(tmp_path, {"tasks.yaml": HARDCHAT}), "hard")
    first, second = cases(source, {})
    assert first.request == {"temperature": 0, "max_tokens": 12000}
    assert second.request == {"temperature": 0, "max_tokens": 900}
    assert [str(one.place) for one in (first, second)] == ["hard/tasks.yaml:6", "hard/tasks.yaml:8"]


def test_a_folder_is_read_by_the_first_known_name_then_by_the_alternative_roots(tmp_path):
    line = json.dumps({"id": "a", "input": "q"}) + "\n"
    deep = {f"openagenttool/{name}": text for name, text in tool_files(TASK).items()}
    on(tmp_path, deep)
    assert on_disk(tmp_path, "d").name == "d/openagenttool/tasks_index.json"
    on(tmp_path, {"benchmark-tool/tasks.yaml": HARDCHAT})
    assert on_disk(tmp_path, "d").name == "d/benchmark-tool/tasks.yaml"
    on(tmp_path, {"tasks.yml": HARDCHAT, "dataset.jsonl": line})
    assert on_disk(tmp_path, "d").name == "d/dataset.jsonl"
    assert check(on_disk(tmp_path, "d"), {}).cases == 1


def test_a_folder_without_any_of_them_says_what_is_looked_for(tmp_path):
    assert faults(tmp_path) == (
        "data: the folder has none of dataset.jsonl, tasks.jsonl, tasks.yaml, tasks.yml, "
        "tasks_index.json - name the file itself"
    )


@pytest.mark.parametrize("root", ["old/data", "old"])
def test_the_base_branch_has_the_same_cases(tmp_path, root):
    """Through the host's reader as on disk, and a file is asked for once."""
    files = {f"old/data/{name}": text for name, text in tool_files(TASK).items()}
    if root == "old":
        files = {name.replace("data", "benchmark-tool"): text for name, text in files.items()}
    host = Host(files)
    source = at_commit(root, "a" * 40, host)
    on_disk_too = on_disk(on(tmp_path, files) / root, root)
    assert check(source, {}).digests == check(on_disk_too, {}).digests
    list(cases(source, {}))
    assert sum(path.endswith("WS-1.json") for path in host.asked) == 1
    assert source.name.endswith("tasks_index.json@aaaaaaa")
    assert at_commit("elsewhere", "a" * 40, host) is None


def test_a_commit_of_git_is_read_the_same_way(tmp_path):
    git(tmp_path, "init", "-q")
    tool = {f"tool/{name}": text for name, text in tool_files(TASK).items()}
    sha = commit_files(tmp_path, "both", **{"old/tasks.yaml": HARDCHAT, **tool})
    from_git = [at_commit(name, sha, open_forge(tmp_path)) for name in ("old", "tool")]
    assert [list(check(one, {}).digests) for one in from_git] == [["T1", "T2"], ["WS-1"]]
    assert from_git[0].name == f"old/tasks.yaml@{sha[:7]}"


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"id": "../../gate"}, "id: '../../gate' cannot be the name of a file in tasks/"),
        ({"id": "/etc/passwd"}, "id: '/etc/passwd' cannot be the name of a file in tasks/"),
        ({"id": "a\\b"}, "cannot be the name of a file in tasks/"),
        ({"id": "C:x"}, "cannot be the name of a file in tasks/"),
        ({"id": ".."}, "cannot be the name of a file in tasks/"),
        ({"id": "a\nb"}, "cannot be the name of a file in tasks/"),
        ({"id": "x" * 300}, "cannot be the name of a file in tasks/"),
        ({"id": ""}, "an entry is a mapping with an id"),
        ({"name": "WS-2"}, "an entry is a mapping with an id"),
        ("WS-2", "an entry is a mapping with an id"),
        ({"id": True}, "an entry is a mapping with an id"),
        ({"id": "WS-1"}, "id: 'WS-1' is taken by line 3 - ids must be unique"),
        ({"id": "WS-9"}, "there is no tasks/WS-9.json - add it, or remove the entry"),
    ],
)
def test_a_wrong_entry_is_told_with_its_line(tmp_path, entry, wrong):
    files = tool_files(TASK, index=[{"id": "WS-1"}, entry])
    told = faults(on(tmp_path, files))
    assert told.startswith("data/tasks_index.json:6: ")
    assert wrong in told
    assert "\n" not in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "data/tasks/WS-1.json:1: not JSON"),
        ('{\n "id": "WS-1", "prompt": NaN}', "NaN is not JSON"),
        ('{"id": "WS-1", "id": "WS-1"}', "the key 'id' appears twice"),
        ("[1]", "data/tasks/WS-1.json:1: a case must be a mapping, not a list"),
        ('{\n  "id": "WS-2"}', "WS-1.json:2: id: is 'WS-2', the index calls it 'WS-1'"),
        ('{"id": "WS-1"}', "data/tasks/WS-1.json:1: 'input' is missing"),
        ("[" * 100_000, "data/tasks/WS-1.json:1: nested too deeply"),
        ('{"id": "\0"}', "data/tasks/WS-1.json:1: a NUL byte"),
    ],
)
def test_a_wrong_task_is_told_with_its_file(tmp_path, text, told):
    files = {**tool_files(TASK), "tasks/WS-1.json": text}
    assert told in faults(on(tmp_path, files))


def test_a_task_without_an_id_has_that_of_the_index(tmp_path):
    files = tool_files(TASK, index=[{"id": 7}]) | {"tasks/7.json": '{"prompt": "q"}'}
    assert list(check(on_disk(on(tmp_path, files), "d"), {}).digests) == ["7"]


@pytest.mark.parametrize("index", ["[]", "7", "{}", '{"tasks": {"id": 1}}', "nonsense", ""])
def test_an_index_that_is_none(tmp_path, index):
    assert "tasks_index.json:1: " in faults(on(tmp_path, {"tasks_index.json": index}))


def test_an_index_without_a_folder_around_it_is_refused():
    (problem,) = read_dataset(
        DatasetSource(name="tasks_index.json", open=lambda: io.BytesIO(b'{"tasks": []}'))
    )
    assert "its tasks cannot be read from here" in str(problem)


def test_an_index_names_its_lines_though_another_list_is_called_the_same(tmp_path):
    index = '{"old": {"tasks": [\n1]},\n "tasks": [\n{"id": "../x"}]}'
    assert "tasks_index.json:1: id" in faults(on(tmp_path, {"tasks_index.json": index}))


@pytest.mark.parametrize(
    ("yaml", "told"),
    [
        ("defaults: [1]\ntasks:\n  - id: a\n    prompt: q\n", "tasks.yaml:1: defaults: must be"),
        ("defaults: {}\ntasks:\n  id: a\n", "tasks.yaml:2: the file must be a list of cases"),
        ("defaults: {temperature: 0}\n", "tasks.yaml:1: the file must be a list of cases"),
        ("tasks:\n  - just words\n", "tasks.yaml:2: a case must be a mapping"),
        ("tasks: []\n", "data/tasks.yaml: "),
        ("tasks:\n- {id: a, prompt: q}\n- {id: a, prompt: q}\n", "tasks.yaml:3: id: 'a' is taken"),
    ],
)
def test_wrong_yaml_is_told_with_its_line(tmp_path, yaml, told):
    assert told in faults(on(tmp_path, {"tasks.yaml": yaml}))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
@pytest.mark.parametrize("piped", ["tasks/WS-1.json", "cases.jsonl"])
def test_a_pipe_that_nobody_writes_to_keeps_nobody_waiting(tmp_path, piped):
    on(tmp_path, {"tasks_index.json": '{"tasks": [{"id": "WS-1"}]}', "tasks/x": ""})
    os.mkfifo(tmp_path / piped)
    named = tmp_path / piped if piped == "cases.jsonl" else tmp_path
    assert faults(named).endswith("cannot be read: a named pipe, not a regular file")


def test_a_huge_task_is_refused_and_not_read_whole():
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            assert 0 < size < 1 << 25
            return b" " * size

    (problem,) = read_dataset(DatasetSource(name="tasks_index.json", open=Endless))
    assert isinstance(problem, Problem)
    assert "larger than 16 MB" in str(problem)


def test_under_protect_the_bases_tasks_are_read_and_the_branch_has_its_own(tmp_path):
    suite = Suite(name="tool", dataset="old", graders=())
    base = RulesBase(
        sha="c" * 40, name="main", forge=Host({f"old/{k}": v for k, v in BOTH.items()})
    )
    own = replace(defaults(), suites=(suite,))
    on(tmp_path / "old", tool_files({**TASK, "prompt": "Do nothing."}))
    rules = Rules(config=own, own=own, root=tmp_path, base=base)
    (theirs,) = cases(rules.base_source(suite), {})
    (mine,) = cases(rules.head_source(suite), {})
    assert (theirs.input, mine.input) == ("Search the web.", "Do nothing.")
    assert str(mine.place) == "old/tasks/WS-1.json:1"


def test_a_releases_evidence_holds_the_tasks_in_one_file(tmp_path):
    released.project(tmp_path, config=released.CONFIG.replace("s.jsonl", "old"))
    tasks = [{"id": f"c{n}", "input": f"{n} ?", "expected_answer": "yes"} for n in range(6)]
    on(tmp_path / "old", tool_files(*tasks))
    done = released.run(tmp_path, "--baseline=none", env=released.on_a_tag(tmp_path))
    (copy,) = (done.session_dir / "evidence" / "datasets").glob("s*")
    kept = check(on_disk(copy, copy.name), {})
    assert kept.digest == done.report.suites["s"].dataset_digest


def test_the_base_keeps_its_format_under_its_longer_name():
    """YAML and CSV of the base branch are read as what they are."""
    host = Host({"d/c.csv": "id,input\na,q\n", "d/c.yaml": "- {id: b, input: q}\n"})
    sources = [at_commit(name, "b" * 40, host) for name in ("d/c.csv", "d/c.yaml")]
    assert [list(check(one, {}).digests) for one in sources] == [["a"], ["b"]]
