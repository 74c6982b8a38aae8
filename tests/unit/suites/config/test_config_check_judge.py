"""Whether a judge is there, is asked, and is not the agent itself under another name."""

from dataclasses import replace
from pathlib import Path

import pytest

from gate.errors import Place
from gate.records import Config, PluginSpec, Suite
from gate.suites.config.check_judge import family, judges, kinship

GRADERS = """
from dataclasses import dataclass
@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    role = "judge"
@dataclass(frozen=True, slots=True, kw_only=True)
class Verifies:
    role = "verifier"
@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    role = None
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "graders.py").write_text(GRADERS)
    return tmp_path


def model(name: str, section: str = "judge", **options: object) -> dict[str, PluginSpec]:
    full = {"base_url": "http://x", **options} if name == "openai" else options
    return {section: PluginSpec(name=name, options=full, place=Place("gate.yml", 4, section))}


def config(*graders: str, **sections: PluginSpec) -> Config:
    specs = tuple(
        PluginSpec(name=f"./graders.py:{name}", place=Place("gate.yml", 9 + n, "suites"))
        for n, name in enumerate(graders)
    )
    plain = {"agent": model("openai", "agent", model="gpt-4o")["agent"], **sections}
    return Config(**plain, suites=(Suite(name="a", dataset="a.jsonl", graders=specs),))


def test_a_grader_without_its_judge_is_an_error_at_its_line(root: Path) -> None:
    (problem,) = judges(config("Plain", "Asks", "Verifies"), root).problems
    assert str(problem) == (
        "gate.yml:10: suites: './graders.py:Asks' needs a judge, and gate.yml has none - add "
        "judge: {type: openai, base_url: ..., model: ..., api_key_env: ...}"
    )
    assert judges(config("Asks", **model("openai")), root).problems == []
    alone = judges(config("Asks", **model("openai", "verifier")), root)
    assert [problem.place.line for problem in alone.problems] == [9]


@pytest.mark.parametrize(
    ("graders", "sections", "idle"),
    [
        (["Plain"], ["judge", "verifier"], ["judge", "verifier"]),
        (["Asks"], ["judge", "verifier"], ["verifier"]),
        (["Verifies"], ["judge", "verifier"], ["judge"]),
        (["Verifies"], ["judge"], []),
        (["Asks", "Verifies"], ["judge", "verifier"], []),
        (["Gone"], [], []),
    ],
)
def test_a_model_that_no_grader_asks_is_a_warning(
    root: Path, graders: list[str], sections: list[str], idle: list[str]
) -> None:
    asked = {k: v for section in sections for k, v in model("openai", section).items()}
    written = config(*graders, **asked)
    warnings = judges(written, root).warnings
    assert warnings == [
        f"gate.yml:4: {section}: no grader uses the judge - add one that does, or remove the judge"
        for section in idle
    ]
    assert judges(written, root, complete=False).warnings == []


@pytest.mark.parametrize(
    ("options", "reaches"),
    [
        ({}, True),
        ({"body": {"messages": "{{input}}"}}, True),
        ({"body": ["{{case.instructions}} {{ question }}"]}, True),
        ({"body": {"a": "{{case.instructions}}", "b": "{{case.material}}"}}, True),
        ({"method": "GET", "url": "http://x?q={{input}}"}, True),
        ({"method": "GET"}, False),
        ({"body": {"q": "{{question}}"}}, False),
        ({"body": {"q": "{{case.instructions}}"}}, False),
    ],
)
def test_an_http_judge_is_sent_instructions_and_material(
    root: Path, options: dict[str, object], reaches: bool
) -> None:
    written = config("Asks", **model("http", **{"url": "http://x", **options}))
    problems = judges(written, root).problems
    assert (problems == []) is reaches
    if not reaches:
        assert problems[0].message == (
            "body does not contain the question - add {{input}}, or {{case.instructions}} and "
            "{{case.material}}"
        )


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("gpt-4o", "gpt"),
        ("openai/gpt-4o-mini-2024-07-18", "gpt"),
        ("azure/o1-preview", "gpt"),
        ("o3", "gpt"),
        ("o4-mini", "gpt"),
        ("chatgpt-4o-latest", "gpt"),
        ("claude-3-5-sonnet-20241022", "claude"),
        ("bedrock/us.anthropic.claude-3-haiku-20240307-v1:0", "claude"),
        ("models/gemini-2.5-pro", "gemini"),
        ("gemma-3-27b-it", "gemini"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama"),
        ("us.meta.llama3-1-8b", "llama"),
        ("mistralai/Mixtral-8x7B", "mistral"),
        ("ministral-8b", "mistral"),
        ("codestral-latest", "mistral"),
        ("Qwen2.5-72B", "qwen"),
        ("qwq-32b", "qwen"),
        ("deepseek/deepseek-v4-flash", "deepseek"),
        ("command-r-plus", "command"),
        ("xai/grok-4", "grok"),
        ("microsoft/phi-4", "phi"),
        ("sample-analytics-1", "sample"),
        ("philosopher-2", "philosopher"),
        ("proto1-x", "proto"),
        ("007", "007"),
    ],
)
def test_the_family_of_a_model(name: str, whose: str) -> None:
    assert family(name) == whose


@pytest.mark.parametrize(
    ("agent", "judge", "said"),
    [
        ("gpt-4o", "gpt-4o", "the judge 'gpt-4o' is the agent's model 'gpt-4o': "),
        (
            "gpt-4o",
            "openai/GPT-4o-2024-08-06",
            "the judge 'openai/GPT-4o-2024-08-06' is the agent's model 'gpt-4o': ",
        ),
        (
            "gpt-4o",
            "o3-mini",
            "the judge 'o3-mini' and the agent's 'gpt-4o' are of the same model family (gpt): ",
        ),
        ("gpt-4o", "claude-sonnet-5", ""),
    ],
)
def test_a_judge_of_the_agents_family_is_a_warning_and_where_forbidden_an_error(
    agent: str, judge: str, said: str
) -> None:
    agents = model("openai", "agent", model=agent)
    for section in ("judge", "verifier"):
        what = said.replace("the judge", f"the {section}")
        found = kinship(config(**agents, **model("openai", section, model=judge)), Path())
        strict = model("openai", section, model=judge, require_different_judge=True)
        strict_found = kinship(config(**agents, **strict), Path())
        assert found.problems == strict_found.warnings == []
        assert len(found.warnings) == len(strict_found.problems) == bool(said)
        if said:
            advice = "models favour their own answers - choose a model of another family"
            assert found.warnings == [f"gate.yml:4: {section}: {what}{advice}"]
            assert str(strict_found.problems[0]) == found.warnings[0]


def test_the_sample_agent_has_a_model_too() -> None:
    agent = {"agent": PluginSpec(name="sample")}
    found = kinship(config(**agent, **model("openai", model="sample-analytics-1")), Path())
    assert "is the agent's model 'sample-analytics-1'" in found.warnings[0]


@pytest.mark.parametrize(
    ("agent", "judge", "kind", "missing"),
    [
        ("", "gpt-4o", "problems", "agent.model"),
        ("gpt-4o", "", "problems", "judge.model"),
        ("", "", "problems", "judge.model"),
    ],
)
def test_a_model_that_nobody_knows_cannot_be_another_one(
    agent: str, judge: str, kind: str, missing: str
) -> None:
    sections = {
        **model("openai", "agent", model=agent),
        **model("openai", model=judge, require_different_judge=True),
    }
    found = kinship(config(**sections), Path())
    assert found.warnings == []
    assert found.problems[0].message.endswith(f"write {missing}")
    relaxed = replace(config(**sections), **model("openai", model=judge))
    assert kinship(relaxed, Path()) == kinship(config(), Path())


def test_a_replay_that_does_not_say_its_model_is_a_warning_only() -> None:
    agent = {"agent": PluginSpec(name="replay", options={"file": "a.jsonl"})}
    strict = model("openai", model="gpt-4o", require_different_judge=True)
    found = kinship(config(**agent, **strict), Path())
    assert (len(found.warnings), found.problems) == (1, [])
