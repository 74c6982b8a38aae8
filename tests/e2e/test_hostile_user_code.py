"""Whatever code of users does, in any role: the command ends soon, with a stated outcome, and with
0 only for a verdict that was judged and told. `hostile_modules` is the list.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer
from tests.support.github_server import GitHub, serving
from tests.support.hostile_modules import BATCHES, LOADING, WHOLE, Whole
from tests.support.hostile_runs import (
    ROLES,
    Ended,
    Project,
    ended,
    project_of_batch,
    project_of_module,
    slug,
    wrong_with,
    wrong_with_refusal,
    wrong_with_rows,
)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="what is left behind is found in /proc"
)

AT_ONCE = 4
REFUSALS = [(name, command) for name, one in LOADING.items() for command in one.commands]
SHARED = [(name, one.command) for name, one in BATCHES.items()]
ACTS = [(key, act) for key in SHARED for act in BATCHES[key[0]].acts]
ALONE = [(name, one.command) for name, one in WHOLE.items()]
HONEST = Whole(role="agent", code="def answer(case):\n    return 'yes'\n", codes=(0,), cases=8)
Key = tuple[str, str]  # name, command


@pytest.fixture(scope="module")
def ends(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[Key, Future[Ended]]]:
    """The processes of the chosen tests, all begun: a test waits for its own."""
    chosen = {
        item.callspec.params["key"]
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    }
    folder = tmp_path_factory.mktemp("hostile")
    with ChatServer(lambda question, nth: question) as server, ThreadPoolExecutor(AT_ONCE) as pool:
        session = None
        if any(command == "compare" for _, command in chosen):
            session = _honest(folder / "honest", server.url)
        begun = {
            key: pool.submit(_ended, key, folder / f"{n}", server.url, session)
            for n, key in enumerate(sorted(chosen, key=_longest_first))
        }
        yield begun
        for one in begun.values():
            one.cancel()


def _longest_first(key: Key) -> tuple[bool, Key]:
    return (key[0] not in BATCHES, key)


def _project(key: Key, folder: Path, url: str) -> Project:
    name, _ = key
    if name in BATCHES:
        return project_of_batch(folder, BATCHES[name], url)
    return project_of_module(folder, LOADING[name] if name in LOADING else WHOLE[name], url)


def _ended(key: Key, folder: Path, url: str, session: Path | None) -> Ended:
    project, command = _project(key, folder, url), key[1]
    if command != "action":
        return ended(command, project, session=session)
    with serving(GitHub()) as github:
        return ended(command, project, github=github)


def _honest(folder: Path, url: str) -> Path:
    """A session with nothing hostile in it."""
    done = ended("run", project_of_module(folder, HONEST, url))
    assert done.code == 0, done.told()
    assert done.session is not None
    return done.session


def test_there_are_enough_of_them():
    names = [*LOADING, *WHOLE, *(act for _, act in ACTS)]
    assert len(LOADING.keys() & WHOLE.keys() & BATCHES.keys()) == 0
    assert len(names) >= 60


@pytest.mark.parametrize("key", REFUSALS, ids=": ".join)
def test_what_does_not_load_is_refused_with_its_place(ends, key):
    end, one = ends[key].result(), LOADING[key[0]]
    assert not wrong_with_refusal(end, ROLES[one.role][0], one.line), end.told()


@pytest.mark.parametrize("key", SHARED, ids=": ".join)
def test_honest_calls_beside_hostile_ones_are_judged(ends, key):
    end, batch = ends[key].result(), BATCHES[key[0]]
    assert not wrong_with(end), end.told()
    honest = {name: ("answered",) for name in end.cases if name.startswith("honest-")}
    assert len(honest) > 1
    assert not wrong_with_rows(end, batch.role, honest), end.told()


@pytest.mark.parametrize(("key", "act"), ACTS, ids=str)
def test_a_hostile_call_ends_as_its_own_trial(ends, key, act):
    end, batch = ends[key].result(), BATCHES[key[0]]
    assert not wrong_with_rows(end, batch.role, {slug(act): batch.acts[act].ends}), end.told()


@pytest.mark.parametrize("key", ALONE, ids=": ".join)
def test_what_touches_its_whole_process_does_not_touch_the_verdict(ends, key):
    end, one = ends[key].result(), WHOLE[key[0]]
    assert end.code in one.codes, end.told()
    if end.code != -signal.SIGKILL:
        assert not wrong_with(end), end.told()
    if one.ends:
        wanted = dict.fromkeys(end.cases, one.ends)
        assert not wrong_with_rows(end, one.role, wanted), end.told()
