"""gate.yml with names that metrics had before: read, told once with its lines, never guessed."""

from datetime import date
from pathlib import Path

import pytest

from gate.errors import InvalidInput
from gate.records import Config
from gate.suites.config.load import load

TODAY = date(2026, 11, 23)
HEAD = """version: 1
agent: {type: python, callable: "./agent.py:answer"}
judge: {type: python, callable: "./judge.py:judge"}
suites:
  - {name: advice, dataset: advice.jsonl, graders: [{judge: {rubric: answer}}]%s}
"""
OWN = """  - name: own
    dataset: own.jsonl
    graders:
      - judge:
          rubric: {name: mine, about: Rules, criteria: {completeness: {about: Is each there}}}
"""


@pytest.fixture
def read(tmp_path: Path):
    (tmp_path / "agent.py").write_text("def answer(case):\n    return ''\n")
    (tmp_path / "judge.py").write_text("def judge(case):\n    return {}\n")

    def read_text(text: str) -> Config:
        return load(lambda _: text.encode(), "gate.yml", env={}, root=tmp_path, today=TODAY)

    return read_text


def names(config: Config) -> dict[str, list[str]]:
    """Where -> metrics with a rule there."""
    return {
        "gates": [gate.metric for gate in config.gates],
        "suite": [gate.metric for gate in config.suites[0].gates if not gate.by_default],
        "regression": list(config.regression.metrics),
    }


@pytest.mark.parametrize(
    ("text", "where", "line"),
    [
        (HEAD % "" + "gates: {correctness.correctness: {min: 4}}\n", "gates", 6),
        (HEAD % "" + "QUALITY_GATES: {correctness.correctness: {min: 4}}\n", "gates", 6),
        (HEAD % ", gates: {correctness.correctness: {min: 4}}", "suite", 5),
        (
            HEAD % "" + "regression:\n  metrics: {correctness.correctness: {tolerance: 0.5}}\n",
            "regression",
            7,
        ),
    ],
)
def test_each_place_of_a_name_reads_the_old_one(read, text: str, where: str, line: int) -> None:
    config = read(text)
    assert names(config)[where] == ["correctness.factual_correctness"]
    (warning,) = [one for one in config.warnings if "is called" in one]
    assert warning.startswith(f"gate.yml:{line}: ")
    assert warning.endswith(
        "`correctness.correctness` is called `correctness.factual_correctness` now - write the new"
        " name"
    )


def test_a_name_is_told_once_with_all_its_lines(read) -> None:
    config = read(
        HEAD % ""
        + "gates:\n  correctness.completeness: {min: 4}\n"
        + "regression:\n  metrics:\n    correctness.completeness: {level: warn}\n"
    )
    (warning,) = [one for one in config.warnings if "is called" in one]
    assert warning.startswith("gate.yml:7: ")
    assert "now (also in line 10) - write the new name" in warning


def test_the_new_name_is_read_without_a_word_and_is_the_same_rule(read) -> None:
    old = read(HEAD % "" + "gates: {correctness.completeness: {min: 4}}\n")
    new = read(HEAD % "" + "gates: {correctness.reference_coverage: {min: 4}}\n")
    assert not [one for one in new.warnings if "is called" in one]
    assert new.digest == old.digest


def test_both_names_of_one_metric_are_an_error(read) -> None:
    text = "gates:\n  correctness.completeness: {min: 4}\n"
    with pytest.raises(InvalidInput) as error:
        read(HEAD % "" + text + "  correctness.reference_coverage: {min: 3}\n")
    assert str(error.value).startswith("gate.yml:7: ")
    assert "which stands here too - remove one of the two" in str(error.value)


def test_a_metric_of_ones_own_keeps_the_name(read) -> None:
    alone = HEAD.partition("  - {")[0] + OWN + "gates: {correctness.completeness: {min: 4}}\n"
    config = read(alone)
    assert names(config)["gates"] == ["correctness.completeness"]
    assert not [one for one in config.warnings if "is called" in one]


def test_a_rule_for_all_suites_holds_for_the_own_metric_and_the_renamed_one(read) -> None:
    config = read(HEAD % "" + OWN + "gates: {correctness.completeness: {min: 4}}\n")
    assert names(config)["gates"] == ["correctness.completeness", "correctness.reference_coverage"]
    assert [gate.min for gate in config.gates] == [4, 4]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("correctness.factual_corectness", "correctness.factual_correctness"),
        ("agent.correctness", "correctness.factual_correctness"),
        ("correctness.question_coverage", "response_quality.question_coverage"),
        ("response_quality.coherense", "response_quality.coherence"),
    ],
)
def test_what_is_neither_name_still_gets_a_suggestion(read, written: str, meant: str) -> None:
    with pytest.raises(InvalidInput, match=f"unknown metric - did you mean '{meant}'"):
        read(HEAD % "" + f"gates: {{{written}: {{min: 4}}}}\n")


def test_an_old_word_for_a_criterion_is_read_and_told(read) -> None:
    graders = "graders: [{judge: {rubric: quality, least: {structure: 3}}}]"
    config = read((HEAD % "").replace("graders: [{judge: {rubric: answer}}]", graders))
    assert (
        "gate.yml:5: suites[0].graders[0]: `least.structure` is called `least.coherence` now - "
        "write the new name"
    ) in config.warnings
