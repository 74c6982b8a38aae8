"""What several end-to-end tests share: the container's image, a runner and a GitHub; a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.chromium import Chromium, program
from tests.support.container import (
    SET_UP_FAILED,
    Hub,
    Runner,
    container_build,
    dataset_files,
    rules,
    serving,
)
from tests.support.paths import ROOT


@pytest.fixture(scope="session")
def image(gate_tools: Path) -> str:
    """What the build said."""
    built = container_build(gate_tools, "--no-run")
    if built.returncode in SET_UP_FAILED:
        pytest.skip(f"GATE_TOOLS: this machine cannot build images: {built.stderr[-300:]}")
    assert built.returncode == 0, built.stderr
    return built.stderr


@pytest.fixture
def runner(image: str, gate_tools: Path, tmp_path: Path) -> Runner:
    return Runner(tools=gate_tools, state=tmp_path / "state")


@pytest.fixture(scope="module")
def hub(gate_tools: Path, image: str) -> Iterator[Hub]:
    """A GitHub for the tests of one file, which checks every request of the gate."""
    with serving(gate_tools) as found:
        yield found


@pytest.fixture(scope="module")
def project(hub: Hub) -> str:
    """The commit of main that has the project's own rules, dataset and baseline."""
    for path in ("baselines/analytics.json", *dataset_files()):
        hub.put(path, (ROOT / path).read_bytes(), "main")
    return hub.put("gate.yml", yaml.safe_dump(rules()).encode(), "main")


@pytest.fixture(scope="module")
def pull_request(hub: Hub, project: str) -> dict[str, object]:
    """The payload of an open pull request whose base is `project`."""
    return hub.pull("feature", project)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    found = program()
    if found is None:
        pytest.skip("chromium: not on this machine, and GATE_CHROMIUM names none")
    with Chromium(found, tmp_path_factory.mktemp("browser")) as started:
        yield started
