"""What people said of answers, as a sentence a metric."""

from dataclasses import replace

from gate.records import Measure, Ratings
from gate.report.wording import people
from gate.text.spans import markdown, plain
from tests.support.reports import passing, suite

METRIC = "correctness.factual_correctness"
ONE = Ratings(
    metric=METRIC,
    labels=48,
    answers=24,
    reviewers=2,
    mean=4.02,
    ci95=(3.85, 4.19),
    agreement=Measure(value=0.71, low=0.5, high=0.9),
)


def told(*ratings):
    return [plain(line) for line in people.lines(passing(suites={"s": suite("s", people=ratings)}))]


def test_a_sentence_has_the_mean_the_labels_and_how_far_the_raters_agree():
    assert told(ONE) == [
        f"People rated {METRIC} 4.02 (3.85 to 4.19): 48 labels on 24 answers by 2 reviewers; they "
        "agree by alpha 0.71 (0.50 to 0.90)"
    ]


def test_one_reviewer_agrees_with_nobody_and_few_labels_have_no_interval():
    alone = replace(ONE, reviewers=1, labels=1, answers=1, ci95=None, agreement=Measure(reason="x"))
    assert told(alone) == [f"People rated {METRIC} 4.02: 1 label on 1 answer by 1 reviewer"]
    two = replace(alone, reviewers=2)
    assert told(two)[0].endswith("by 2 reviewers; how far they agree is unknown (x)")


def test_suites_are_told_apart_and_a_hostile_metric_stays_text():
    both = passing(suites={"a": suite("a", people=(ONE,)), "b": suite("b")})
    (line,) = people.lines(both)
    assert plain(line).startswith("a: People rated")
    hostile = replace(ONE, metric="x`<img src=x>`\n## y")
    (line,) = people.lines(passing(suites={"a": suite("a", people=(hostile,))}))
    assert "\n" not in markdown(line)
    assert "## y" not in markdown(line).split("``")[0]
