"""What an old name stands for, and which metrics of stored results have one."""

import pytest

from gate.analysis.metric_names import (
    CONTRACT,
    RENAMED,
    current_name,
    current_names,
    name_judged_by,
    renamed_among,
    renamed_beside,
)
from gate.graders.judge import Judge
from gate.graders.rubrics.built_in import BUILT_IN
from gate.graders.rubrics.rubric import Criterion, Rubric
from gate.records import MetricSpec

OLD, NEW = "correctness.completeness", "correctness.reference_coverage"


def described(name: str, about: str, asks: str = "judge") -> MetricSpec:
    return MetricSpec(name=name, column=name, description=about, asks=asks)


WRITTEN_BEFORE = described(OLD, "a judge model's score (answer: completeness): Does it answer all?")
OWN = described(OLD, "a judge model's score (mine: completeness): Is every rule named?")


@pytest.mark.parametrize(("old", "renamed"), RENAMED.items())
def test_each_new_name_is_what_the_rubric_measures_now(old: str, renamed) -> None:
    rubric = BUILT_IN[renamed.rubric]
    criterion = rubric.criterion_named(renamed.criterion)
    assert rubric.metric_of(criterion) == renamed.name
    assert rubric.asked_as(criterion) == renamed.criterion
    assert renamed.name in CONTRACT
    assert old not in CONTRACT
    assert old.partition(".")[0] == renamed.name.partition(".")[0]


def test_no_name_leads_to_another_old_name() -> None:
    assert not {renamed.name for renamed in RENAMED.values()} & RENAMED.keys()


@pytest.mark.parametrize(
    ("written", "measured", "names"),
    [
        (OLD, (), (NEW,)),
        (OLD, (NEW,), (NEW,)),
        (OLD, (OLD,), (OLD,)),
        (OLD, (OLD, NEW), (OLD, NEW)),
        (NEW, (OLD,), (NEW,)),
        ("agent.success_rate", (), ("agent.success_rate",)),
        ("correctness.completenes", (NEW,), ("correctness.completenes",)),
    ],
)
def test_an_old_name_stands_for_the_new_one_unless_somebody_measures_it(
    written: str, measured: tuple[str, ...], names: tuple[str, ...]
) -> None:
    assert current_names(written, measured) == names
    assert current_name(written, measured) == names[0]


@pytest.mark.parametrize(
    ("spec", "renamed"),
    [
        (WRITTEN_BEFORE, {OLD: NEW}),
        (OWN, {}),
        (described(OLD, WRITTEN_BEFORE.description, asks=""), {}),
        (described("correctness.contains", WRITTEN_BEFORE.description), {}),
    ],
)
def test_only_what_the_built_in_rubric_scored_is_renamed(spec: MetricSpec, renamed: dict) -> None:
    assert renamed_among({spec.name: spec}) == renamed


def test_what_a_rubric_of_the_users_own_measures_is_never_renamed() -> None:
    own = Rubric(name="mine", about="?", criteria={"completeness": Criterion(about="All there?")})
    (spec,) = Judge(rubric=own).metrics()
    assert spec.name == OLD
    assert renamed_among({spec.name: spec}) == {}
    assert renamed_beside({spec.name: spec}) == {}


def test_rows_beside_new_names_may_have_old_ones() -> None:
    spec = described(NEW, "")
    assert renamed_beside({NEW: spec}) == {OLD: NEW}
    assert renamed_beside({NEW: spec, OLD: OWN}) == {}


@pytest.mark.parametrize(
    ("rubric", "metric", "name"),
    [
        ("answer", OLD, NEW),
        (OLD, OLD, NEW),  # rated by its name, without a rubric
        ("mine", OLD, OLD),
        ("quality", OLD, OLD),
        ("quality", "response_quality.completeness", "response_quality.question_coverage"),
    ],
)
def test_a_label_follows_its_rubric(rubric: str, metric: str, name: str) -> None:
    assert name_judged_by(rubric, metric) == name
