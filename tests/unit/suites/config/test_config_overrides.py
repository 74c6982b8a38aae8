"""An option beats gate.yml; a release is strict where gate.yml says nothing."""

import re
from typing import Any

import pytest

from gate.errors import UsageError
from gate.records import Config, PluginSpec, Policy, Suite
from gate.suites.config.overrides import for_release, override, settings, with_key

CONFIG = Config(
    agent=PluginSpec(name="openai", options={"model": "m", "timeout_s": 9}),
    suites=(
        Suite(name="a", dataset="a.jsonl", graders=(), rounds=5),
        Suite(name="b", dataset="b.jsonl", graders=()),
    ),
)


def test_nothing_given_changes_nothing() -> None:
    assert override(CONFIG) == CONFIG


def test_every_option_has_its_place() -> None:
    found = override(
        CONFIG,
        base_url="http://x",
        timeout=3.5,
        concurrency=4,
        rounds=7,
        max_attempts=1,
        budget_usd=2.5,
        baseline="none",
        out="elsewhere",
    )
    assert found.agent.options == {
        "model": "m",
        "base_url": "http://x",
        "timeout_s": 3.5,
        "concurrency": 4,
    }
    assert [(suite.rounds, suite.max_attempts) for suite in found.suites] == [(7, 1), (7, 1)]
    assert found.budget.usd == 2.5
    assert found.baseline.source == "none"
    assert found.report.dir == "elsewhere"
    assert override(CONFIG, model="n").agent.options["model"] == "n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "http://x"}, "--base-url: agents of type 'sample' have no option 'base_url'"),
        ({"model": "x"}, "--model: agents of type 'sample' have no option 'model'"),
        ({"timeout": "soon"}, "--timeout: 'soon' is not a number"),
    ],
)
def test_an_option_that_the_agent_does_not_have(options: dict[str, Any], message: str) -> None:
    sample = Config(agent=PluginSpec(name="sample"), suites=())
    with pytest.raises(UsageError, match=message):
        override(sample, **options)


@pytest.mark.parametrize(
    ("url", "given", "moved"),
    [
        ("http://a:1/ask?k={{id}}", "https://b", "https://b/ask?k={{id}}"),
        ("http://user:pw@a/ask/{{case.x}}", "http://b:2/", "http://b:2/ask/{{case.x}}"),
        ("http://a:1/ask?k=1", "http://b:2/v2/ask", "http://b:2/v2/ask"),
        ("http://a:1/ask", "http://b:2?k=1", "http://b:2?k=1"),
        ("http://a:1", "http://b:2", "http://b:2"),
        ("http://[a/ask", "http://b:2", "http://b:2"),
    ],
)
def test_the_address_of_an_http_agent_is_its_url(url: str, given: str, moved: str) -> None:
    agent = PluginSpec(name="http", options={"url": url, "method": "GET"})
    found = override(Config(agent=agent, suites=()), base_url=given).agent
    assert found.options == {"url": moved, "method": "GET"}
    with pytest.raises(UsageError, match=r"^--base-url: not an address"):
        override(Config(agent=agent, suites=()), base_url="b")


def test_single_keys_by_their_dotted_names() -> None:
    found = settings(CONFIG, {"policy.error": "warn", "baseline.branch": "trunk", "sample": "all"})
    assert (found.policy.error, found.baseline.branch) == ("warn", "trunk")
    assert for_release(found).policy.error == "warn"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("policy.error", "ignore", "policy.error: 'ignore' is not one of pass, warn, fail"),
        ("policy.eror", "warn", "policy.eror: unknown key - did you mean 'error'?"),
        ("baseline.keep_rounds", "9", "baseline.keep_rounds: '9' is not a whole number"),
    ],
)
def test_a_single_key_that_does_not_fit(key: str, value: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        settings(CONFIG, {key: value})


def test_a_release_is_strict_where_gate_yml_says_nothing() -> None:
    config = Config(
        agent=PluginSpec(name="sample"),
        suites=(),
        policy=Policy(inconclusive="warn", no_baseline="pass"),
        policy_set=("no_baseline",),
    )
    assert for_release(config).policy == Policy(
        inconclusive="fail",
        no_baseline="pass",
        not_comparable="fail",
        error="fail",
        missing_metric="fail",
    )


@pytest.mark.parametrize(
    ("agent", "named"),
    [
        (PluginSpec(name="openai", options={"base_url": "http://h"}), "OPENAGENT_PROVIDER_KEY"),
        (PluginSpec(name="openagent", options={"api_key_env": "MY_KEY"}), "MY_KEY"),
        (PluginSpec(name="sample"), None),
    ],
    ids=["none named", "its own", "knows no keys"],
)
def test_a_key_of_the_command_line_is_read_by_an_agent_that_knows_keys(
    agent: PluginSpec, named: str | None
) -> None:
    found = with_key(Config(agent=agent, suites=()))
    assert found.agent.options.get("api_key_env") == named
