"""A tag where the agent is worse than at the tag before is not released: the container exits 1, and
whatever `needs` its job is not run. The evidence of either end is verified.
"""

from pathlib import Path

import pytest

from tests.support.container import Container, Hub, Runner, checkout, judge


@pytest.fixture(scope="module")
def tagged(hub: Hub, project: str) -> str:
    """The commit of v1.1.0; v1.0.0, released before it, has the project's baseline."""
    hub.refer("tags/v1.0.0", project)
    hub.call("POST", "/releases", {"tag_name": "v1.0.0", "target_commitish": "main"})
    commit = hub.put("prompt.txt", b"Be brief.", "main")
    hub.refer("tags/v1.1.0", commit)
    return commit


ABOUT = {"repository": {"id": 1, "full_name": "octocat/demo", "default_branch": "main"}}
PUSH = {"ref": "refs/tags/v1.1.0", "before": "0" * 40, **ABOUT}
PUBLISHED = {"tag_name": "v1.1.0", "draft": False, "prerelease": False}
RELEASE = {
    "action": "published",
    "release": {**PUBLISHED, "published_at": "2099-01-01T00:00:00Z"},
    **ABOUT,
}
# The emulator lists no tags, so that the push of one is told what to compare with.
EVENTS = {"push": (PUSH, "baselines"), "release": (RELEASE, "auto")}


def release(runner: Runner, hub: Hub, event: str, commit: str, workspace: Path) -> Container:
    payload, baseline = EVENTS[event]
    env = {"GITHUB_EVENT_NAME": event, **on_the_tag(commit)}
    return judge(runner, hub, payload, workspace, env=env, baseline=baseline)


def on_the_tag(commit: str) -> dict[str, str]:
    return {
        "GITHUB_REF": "refs/tags/v1.1.0",
        "GITHUB_REF_NAME": "v1.1.0",
        "GITHUB_REF_TYPE": "tag",
        "GITHUB_SHA": commit,
    }


def verified(runner: Runner, ended: Container, commit: str, tmp_path: Path) -> Container:
    """`gate verify` in a container of its own, as the workflow's next step."""
    again = Runner(tools=runner.tools, state=tmp_path / "verify")
    place = ("--workspace", str(ended.state / "workspace"), "--network", "none")
    env = (word for item in on_the_tag(commit).items() for word in ("--env", "=".join(item)))
    folder = f"{ended.outputs()['session-dir']}/evidence"
    return again.run("verify", folder, options=(*place, *env))


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize(("agent", "code", "outcome"), [({}, 0, "pass"), ({"top_k": 1}, 1, "fail")])
def test_a_tag_is_released_only_when_the_agent_is_no_worse_than_before(
    runner: Runner,
    hub: Hub,
    tagged: str,
    tmp_path: Path,
    event: str,
    agent: dict[str, object],
    code: int,
    outcome: str,
) -> None:
    ended = release(runner, hub, event, tagged, checkout(tmp_path / "copy", **agent))
    assert ended.code == code, ended.said()
    outputs = ended.outputs()
    assert outputs["outcome"] == outcome
    assert event == "push" or "v1.0.0" in ended.file("step_summary")
    checked = verified(runner, ended, tagged, tmp_path)
    assert checked.code == 0, checked.said()
    assert f"v1.1.0 at {tagged}: {outcome}, exit code {code}" in checked.stdout
    other = verified(runner, ended, "d" * 40, tmp_path)
    assert other.code == 1
    assert tagged in other.stdout
