"""`agent.version` and `agent.paths`: keys beside those of the agent's type."""

from datetime import date
from pathlib import Path

import pytest

from gate.errors import InvalidInput
from gate.records import SameAgent
from gate.suites.config.load import ExaminedConfig, examine, load

SUITES = "suites: [{name: baseperf}]\n"
AGENT = "agent: {type: openai, base_url: 'http://h', model: m, MORE}\n"


def read(more, env=None, other=""):
    text = AGENT.replace("MORE", more) + SUITES + other
    arguments = {"env": env or {}, "root": Path(), "today": date(2026, 11, 22)}
    return load(lambda path: text.encode(), "gate.yml", **arguments)


def test_they_are_no_options_of_the_agent():
    found = read("version: '7', paths: [a, 'b/**']")
    assert found.same_agent == SameAgent(version="7", paths=("a", "b/**"))
    assert set(found.agent.options) == {"base_url", "model"}
    assert read("timeout_s: 5").same_agent == SameAgent()


def test_a_version_of_the_environment_stays_a_text():
    assert read("version: '${V}'", {"V": "1.10"}).same_agent.version == "1.10"


def test_they_are_no_rules():
    assert read("version: a, paths: [b]").digest == read("version: c").digest


@pytest.mark.parametrize(
    ("more", "other", "said"),
    [
        ("version: 7", "", "agent.version"),
        ("paths: agent", "", "agent.paths"),
        ("paths: []", "", "agent.paths"),
        ("version: '${UNSET_HERE}'", "", "UNSET_HERE is not set"),
        ("timeout_s: 5", "control_agent: {type: sample, version: a}\n", "unknown key"),
    ],
)
def test_what_does_not_fit_is_told(more, other, said):
    with pytest.raises(InvalidInput) as caught:
        read(more, other=other)
    assert said in str(caught.value)


def test_they_count_where_the_agent_beside_them_is_broken():
    """The base's agent may be of another type by now, with a variable that is not set here."""
    text = AGENT.replace("MORE", "api_key_env: K, paths: [a], options: {x: '${GONE}'}") + SUITES
    found: ExaminedConfig = examine(
        lambda path: text.encode(), "gate.yml", env={}, root=Path(), today=date(2026, 11, 22)
    )
    assert [problem.place.key for problem in found.findings.problems] == ["agent.options.x"]
    assert found.config.same_agent.paths == ("a",)
