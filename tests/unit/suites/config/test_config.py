"""gate.yml as a whole: what it becomes, what is told about a bad one."""

import json
import textwrap
from datetime import date
from pathlib import Path

import pytest

from gate.errors import InvalidInput, Place, UsageError
from gate.plugins import AGENTS, build
from gate.records import Config, PluginSpec, Tolerance
from gate.suites.config.lint import ConfigFindings
from gate.suites.config.load import (
    Read,
    defaults,
    examine,
    grader_digest,
    load,
    load_bundled_suites,
    select,
)

TODAY = date(2026, 11, 21)
SUITE = "suites: [{name: a, dataset: a.jsonl, graders: [facts]}]\n"
OWN_GRADER = """
from dataclasses import dataclass
from typing import ClassVar

from gate.records import MetricSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Polite:
    word: str = "please"
    keys: ClassVar = {"tone": {"type": "string"}}
    needs: ClassVar = ()

    def __post_init__(self):
        if not self.word:
            raise ValueError("word is empty")

    def metrics(self):
        return (MetricSpec(name="style.politeness", column="style.politeness"),)

    def grade(self, case, response):
        raise NotImplementedError


class Other:
    pass
"""


def reader(text: str | None) -> Read:
    """A folder with this gate.yml, or with none."""
    content = None if text is None else textwrap.dedent(text).encode()
    return lambda path: content if path == "gate.yml" else None


def config(
    text: str, root: Path = Path(), env: dict[str, str] | None = None, today: date = TODAY
) -> Config:
    return load(reader(text), "gate.yml", env=env or {}, root=root, today=today)


def told(text: str, root: Path = Path(), env: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        config(text, root, env)
    return [str(problem) for problem in caught.value.problems]


def examined(text: str) -> ConfigFindings:
    return examine(reader(text), "gate.yml", env={}, root=Path(), today=TODAY).findings


@pytest.mark.parametrize(
    ("written", "stop", "max_rounds"),
    [
        ("{}", "early", None),
        ("{stop: early, max_rounds: 6}", "early", 6),
        ("{stop: off}", "off", None),
        ("{stop: 'off'}", "off", None),
        ("{stop: false}", "off", None),
    ],
)
def test_when_a_run_may_end(written: str, stop: str | None, max_rounds: int | None) -> None:
    rules = config(f"agent: {{type: sample}}\nregression: {written}").regression
    assert (rules.stop, rules.max_rounds) == (stop, max_rounds)
    assert rules.place == Place("gate.yml", 2, "regression")


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("stop: sometimes", "stop: 'sometimes' is not one of early, off, both"),
        ("stop: true", "stop: true is not one of early, off, both"),
        ("max_rounds: 0", "max_rounds: 0 must be at least 1"),
        ("max_rounds: 1000000000000", "max_rounds: 1000000000000 must be at most 10000"),
        ("control: frsh", "control: 'frsh' is not one of stored, fresh - did you mean 'fresh'?"),
    ],
)
def test_a_mistake_about_when_a_run_may_end_is_told_with_its_line(
    written: str, problem: str
) -> None:
    text = f"agent: {{type: sample}}\nregression:\n  {written}"
    assert told(text) == [f"gate.yml:3: regression.{problem}"]


def test_extend_is_a_policy_of_inconclusive_alone() -> None:
    found = config("agent: {type: sample}\npolicy: {inconclusive: extend}")
    assert found.policy.inconclusive == "extend"
    assert "'extend'" in told("agent: {type: sample}\npolicy: {error: extend}")[0]


def test_every_part_becomes_its_record() -> None:
    found = config(
        """
        version: 1
        agent: {type: openai, base_url: "http://x", model: m, api_key_env: MY_KEY, timeout_s: 9}
        pricing: {m: {input: 0.27, cached_input: 0.07, output: 1}}
        suites:
          - name: analytics
            dataset: datasets/a.jsonl
            graders: [{retrieval: {k: [1, 5]}}, facts]
            rounds: 5
            retry: any_failure
            version: 3
            mode: strict
            sample: {pull_request: 10, release: all}
            gates: {retrieval.mrr: {min: 0.5}}
        gates:
          retrieval.recall@5: {min: 0.82, target: 0.90, level: warn, rule: proven}
        regression:
          alpha: 0.05
          tolerance: 5%
          max_removed: 20%
          stop: off
          control: fresh
          metrics: {operational.p95_latency_ms: {tolerance: "10 %", level: warn}}
        policy: {no_baseline: fail}
        protect: false
        control_agent: {type: sample}
        baseline: {source: repo, keep_rounds: 9}
        budget: {usd: 5, calls: 200}
        quarantine: [{case: billing-017, owner: "@payments", until: 2026-12-31}]
        report: {dir: out, html: false}
        """
    )
    (suite,) = found.suites
    assert found.agent == PluginSpec(
        name="openai",
        options={"base_url": "http://x", "model": "m", "api_key_env": "MY_KEY", "timeout_s": 9},
        place=Place("gate.yml", 3, "agent"),
    )
    assert suite.graders[0] == PluginSpec(
        name="retrieval",
        options={"k": [1, 5]},
        place=Place("gate.yml", 8, "suites[0].graders[0]"),
    )
    assert (suite.rounds, suite.max_attempts, suite.retry, suite.version) == (
        5,
        2,
        "any_failure",
        "3",
    )
    assert suite.sample == {"pull_request": 10, "release": "all"}
    assert (suite.gates[0].metric, suite.gates[0].min) == ("retrieval.mrr", 0.5)
    (gate,) = found.gates
    assert (gate.min, gate.target, gate.level, gate.rule) == (0.82, 0.9, "warn", "proven")
    assert gate.place == Place("gate.yml", 16, "gates.retrieval.recall@5")
    assert found.regression.alpha == 0.05
    assert found.regression.tolerance == Tolerance(value=0.05, relative=True)
    assert found.regression.max_removed == 0.2
    assert (found.regression.stop, found.regression.control) == ("off", "fresh")
    assert found.control_agent == PluginSpec(
        name="sample", place=Place("gate.yml", 26, "control_agent")
    )
    latency = found.regression.metrics["operational.p95_latency_ms"]
    assert (latency.tolerance, latency.level) == (Tolerance(value=0.1, relative=True), "warn")
    assert (found.policy.no_baseline, found.policy.error) == ("fail", "fail")
    assert found.policy_set == ("no_baseline",)
    assert not found.protect
    assert (found.baseline.source, found.baseline.keep_rounds) == ("repo", 9)
    assert (found.budget.usd, found.budget.calls, found.budget.minutes) == (5.0, 200, None)
    assert found.pricing["m"].cached_input == 0.07
    assert (found.quarantine[0].case, found.quarantine[0].until) == ("billing-017", "2026-12-31")
    assert (found.report.dir, found.report.html, found.report.junit) == ("out", False, True)
    assert (found.file, found.warnings) == ("gate.yml", ())


def test_the_spelling_of_seed_one() -> None:
    found = config(
        SUITE
        + "QUALITY_GATES: {correctness.fact_accuracy: {min: 0.9, target: 0.95}}\n"
        + "regression_threshold: 0.03\n"
    )
    assert [(gate.metric, gate.min) for gate in found.gates] == [("correctness.fact_accuracy", 0.9)]
    assert found.regression.tolerance == Tolerance(value=0.03)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SUITE + "gates: {}\nQUALITY_GATES: {}\n", "QUALITY_GATES: sets the same as gates"),
        (
            SUITE + "regression: {tolerance: 1%}\nregression_threshold: 0.1\n",
            "regression_threshold: sets the same as regression.tolerance",
        ),
    ],
)
def test_two_spellings_at_once(text: str, message: str) -> None:
    assert message in told(text)[0]


def test_everything_wrong_is_told_at_once_with_its_line() -> None:
    found = told(
        """\
        version: 2
        agent:
          type: opanai
        suites:
          - name: analytics
            dataset: d.jsonl
            gradres: [facts]
            graders: [fatcs, {retrieval: {k: [1, five]}}]
        gates:
          retrieval.recal@5: {min: 0.82}
          correctness.fact_accuracy: {min: 1.5}
        budgt: {usd: 3}
        """
    )
    expected = [
        "gate.yml:1: version: ",
        "gate.yml:3: agent.type: 'opanai' is not one of ",
        "gate.yml:7: suites[0].gradres: unknown key - did you mean 'graders'?",
        "gate.yml:8: suites[0].graders[0]: unknown grader 'fatcs' - did you mean 'facts'?",
        "gate.yml:8: suites[0].graders[1].retrieval.k[1]: 'five' is not ",
        "gate.yml:10: gates.retrieval.recal@5: unknown metric - did you mean 'retrieval.recall@5'?",
        "gate.yml:12: budgt: unknown key - did you mean 'budget'?",
    ]
    assert len(found) == len(expected)
    assert all(line.startswith(start) for line, start in zip(found, expected, strict=True))


def test_a_misspelt_limit_is_told_once() -> None:
    suite = "suites: [{name: a, dataset: d.jsonl, graders: [facts], gates: {METRIC: {max_: 1}}}]\n"
    text = f"{suite}gates: {{METRIC: {{minimum: 0.8}}}}\n".replace("METRIC", "agent.success_rate")
    assert told(text) == [
        "gate.yml:1: suites[0].gates.agent.success_rate.max_: unknown key - did you mean 'max'?",
        "gate.yml:2: gates.agent.success_rate.minimum: unknown key - did you mean 'min'?",
    ]
    kept = "gates: {agent.success_rate: {min: 1.5, levle: warn}}\n"
    assert len(told(kept)) == 2


def test_a_file_whose_suites_are_misspelt_says_nothing_of_the_bundled_ones() -> None:
    text = "suite: [{name: a, dataset: d.jsonl, graders: [facts]}]\n"
    found = examined(text)
    assert [problem.place.key for problem in found.problems] == ["suite"]
    assert found.warnings == []
    assert any("rubrics are skipped" in warning for warning in examined("version: 1\n").warnings)


def test_a_missing_file_names_the_next_step() -> None:
    with pytest.raises(UsageError, match=r"gate\.yml: file not found - create one with"):
        load(reader(None), "gate.yml", env={}, root=Path(), today=TODAY)


@pytest.mark.parametrize("text", ["- a\n", "text\n", "3\n"])
def test_a_file_that_is_no_mapping(text: str) -> None:
    assert told(text) == ["gate.yml:1: the file must be a mapping of keys"]


def test_without_suites_and_agent_the_defaults_stand_in() -> None:
    found = config("policy: {error: warn}\n")
    assert found.agent == defaults().agent
    assert found.suites == defaults().suites


def test_the_defaults_are_the_documented_ones() -> None:
    found = defaults()
    assert (found.agent.name, dict(found.agent.options)) == (
        "openagent",
        {
            "base_url": "http://127.0.0.1:14000",
            "model": "deepseek/deepseek-v4-flash",
            "api_key_env": "OPENAGENT_PROVIDER_KEY",
        },
    )
    assert build(AGENTS, found.agent, Path()).timeout_s == 240.0
    assert found.file is None
    assert all(Path(suite.dataset).is_file() for suite in found.suites)


def test_suites_are_selected_by_name() -> None:
    found = config(
        "suites:\n"
        "  - {name: a, dataset: a.jsonl, graders: [facts]}\n"
        "  - {name: b, dataset: b.jsonl, graders: [facts]}\n"
    )
    assert [suite.name for suite in select(found, ["b"]).suites] == ["b"]
    assert [suite.name for suite in select(found, ["b", "a", "b"]).suites] == ["b", "a"]
    assert select(found, ["all"]) == select(found, []) == found
    with pytest.raises(UsageError, match="--suite aa: no such suite"):
        select(found, ["aa"])


def test_a_bundled_suite_is_found_beside_those_of_the_file() -> None:
    bundled = load_bundled_suites()
    assert bundled
    found = select(config(SUITE), ["a", bundled[0].name])
    assert found.suites[1] == bundled[0]


def test_the_digest_covers_the_rules_and_nothing_else() -> None:
    plain = config(SUITE).digest
    assert plain == config("# a comment\n\n" + SUITE).digest
    assert plain == config("agent: {type: openagent, model: other}\n" + SUITE).digest
    assert plain != config(SUITE + "gates: {correctness.fact_accuracy: {min: 0.5}}\n").digest
    assert plain != config(SUITE + "protect: false\n").digest


def test_the_digest_does_not_know_what_variables_hold() -> None:
    text = SUITE + "judge: {type: openai, model: j, base_url: '${URL}'}\n"
    assert (
        config(text, env={"URL": "http://a"}).digest == config(text, env={"URL": "http://b"}).digest
    )


def test_a_control_agent_is_a_rule_as_it_is_written_and_an_agent_in_every_other_way() -> None:
    text = (
        SUITE + "regression: {control: fresh}\ncontrol_agent: {type: openai, model: m, base_url: "
    )
    found = config(text + "'${URL}'}\n", env={"URL": "http://a"})
    assert found.regression.control == "fresh"
    assert found.control_agent == PluginSpec(
        name="openai",
        options={"model": "m", "base_url": "http://a"},
        place=Place("gate.yml", 3, "control_agent"),
    )
    assert found.warnings == ()
    assert found.digest == config(text + "'${URL}'}\n", env={"URL": "http://b"}).digest
    assert found.digest != config(text + "'http://a'}\n").digest
    (wrong,) = told(text + "'http://a', modle: x}\n")
    assert wrong.startswith("gate.yml:3: control_agent.modle: unknown key")
    (wrong,) = told(SUITE + "control_agent: {type: openai, model: m}\n")
    assert wrong.startswith("gate.yml:2: control_agent")


def test_two_suites_of_one_name() -> None:
    found = told(
        "suites:\n"
        "  - {name: a, dataset: a.jsonl, graders: [facts]}\n"
        "  - {name: A, dataset: b.jsonl, graders: [facts]}\n"
        "  - {name: all, dataset: b.jsonl, graders: [facts]}\n"
    )
    assert found == [
        "gate.yml:3: suites[1]: two suites are called 'A' - rename one",
        "gate.yml:4: suites[2]: 'all' means every suite - choose another name",
    ]


def test_one_grader_a_metric() -> None:
    (found,) = told("suites: [{name: a, dataset: a.jsonl, graders: [facts, facts]}]\n")
    assert found.startswith("gate.yml:1: suites[0].graders[1]: 'facts' measures correctness.")


def own_grader(spelling: str, folder: Path, code: str = OWN_GRADER) -> str:
    (folder / "own.py").write_text(code, encoding="utf-8")
    return f"suites: [{{name: a, dataset: a.jsonl, graders: [{spelling}]}}]\n"


def test_a_users_own_grader(tmp_path: Path) -> None:
    text = own_grader('{"./own.py:Polite": {word: thanks}}', tmp_path)
    found = config(text + "gates: {style.politeness: {min: 0.5}}\n", tmp_path)
    assert found.suites[0].graders[0].name == "./own.py:Polite"


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ('"./own.py:Polte"', "has no 'Polte'"),
        ('"./none.py:Polite"', "not found"),
        ('"./own.py:Other"', "'./own.py:Other' is not a grader"),
        ('{"./own.py:Polite": {wrod: x}}', "./own.py:Polite.wrod: unknown key - did you mean"),
        ('{"./own.py:Polite": {word: 3}}', "./own.py:Polite.word: 3 is not a string"),
        ('{"./own.py:Polite": {word: ""}}', "word is empty"),
    ],
)
def test_a_users_own_grader_that_does_not_fit(spelling: str, message: str, tmp_path: Path) -> None:
    (found,) = told(own_grader(spelling, tmp_path), tmp_path)
    assert found.startswith("gate.yml:1: suites[0].graders[0]: ")
    assert message in found


def test_the_digest_of_a_grader_follows_its_options_and_file(tmp_path: Path) -> None:
    own_grader("x", tmp_path)
    spec = PluginSpec(name="./own.py:Polite", options={"word": "a"})
    before = grader_digest(spec, tmp_path)
    assert before == grader_digest(
        PluginSpec(name=spec.name, options={"word": "a"}, place=Place("x", 3)), tmp_path
    )
    assert before != grader_digest(PluginSpec(name=spec.name, options={"word": "b"}), tmp_path)
    (tmp_path / "own.py").write_text(OWN_GRADER + "# changed\n", encoding="utf-8")
    assert before != grader_digest(spec, tmp_path)
    assert grader_digest(PluginSpec(name="facts"), tmp_path) == grader_digest(
        PluginSpec(name="facts"), tmp_path / "elsewhere"
    )


def test_a_module_is_part_of_its_graders_digest(tmp_path: Path) -> None:
    (tmp_path / "checks").mkdir()
    spec = PluginSpec(name="checks.style:Polite")
    before = grader_digest(spec, tmp_path)
    (tmp_path / "checks" / "style.py").write_text(OWN_GRADER, encoding="utf-8")
    assert before != grader_digest(spec, tmp_path)


def test_what_a_variable_holds_is_in_no_digest_warning_or_repr() -> None:
    text = "agent: {type: openai, base_url: 'http://${HOST}'}\n" + SUITE
    found = config(text, env={"HOST": "sesame"})
    assert found.agent.options["base_url"] == "http://sesame"
    assert "sesame" not in json.dumps([found.digest, found.warnings])
    assert "sesame" not in repr(found)


SEARCH = "retriever: {type: http, url: 'https://${HOST}/q', timeout_s: '${T:-9}'}\n"


def test_a_retriever_stands_beside_the_agent_or_alone() -> None:
    env = {"HOST": "search.example"}
    beside = config(f"agent: {{type: sample}}\n{SEARCH}", env=env)
    assert beside.agent.name == "sample"
    assert beside.retriever is not None
    assert beside.retriever.options == {"url": "https://search.example/q", "timeout_s": 9}
    alone = config(SEARCH + SUITE.replace("facts", "retrieval"), env=env)
    assert (alone.agent.name, alone.warnings) == ("none", ())


def test_a_retriever_is_no_rule() -> None:
    one, other = (
        config(f"agent: {{type: sample}}\nretriever: {{type: recorded, file: {name}}}")
        for name in ("a", "b")
    )
    assert one.digest == other.digest


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("{type: recorded}", "gate.yml:1: retriever: 'file' is missing"),
        ("{type: openai}", "is not one of http, python, recorded"),
        ("{type: http, url: u, model: m}", "gate.yml:1: retriever.model: unknown key"),
        ("{type: http, url: u, headers: {X-Api-Key: abc}}", "an API key must not be in the file"),
        ("{type: python, callable: 3}", "gate.yml:1: retriever.callable: 3 is not"),
    ],
)
def test_a_wrong_retriever_is_told_with_its_line(written: str, problem: str) -> None:
    (message,) = told(f"retriever: {written}\n{SUITE.replace('facts', 'retrieval')}")
    assert problem in message


def test_an_agent_that_asks_nobody_needs_a_retriever() -> None:
    (message,) = told("agent: {type: none}\n" + SUITE)
    assert message.startswith("gate.yml:1: agent: type none calls no agent - configure a retriever")


def test_a_judge_with_a_mistake_is_no_judge_that_is_missing() -> None:
    text = """
        judge: {type: openai, base_url: "http://x", model: m, votes: 0}
        suites: [{name: a, dataset: a.jsonl, graders: [judge]}]
        """
    assert told(text) == ["gate.yml:2: judge.votes: 0 must be at least 1"]
