import pytest

from gate.errors import UsageError
from gate.graders.conciseness import METRIC, Conciseness, repetition
from gate.records import Case, Response

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def score(answer, keys, **options):
    case = Case(id="a", input="?", keys=keys)
    return Conciseness(**options).grade(case, Response(answer=answer))


def value(answer, keys, **options):
    return score(answer, keys, **options).values[METRIC]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"max_words": 10}, 1.0),
        ({"max_words": 20}, 1.0),
        ({"max_words": 5}, 0.5),
        ({"max_chars": 5}, 5 / 56),
        ({"max_words": 5, "max_chars": 1_000}, 0.5),
        ({"max_words": 5, "expected_answer": "alpha"}, 0.5),
        ({"expected_answer": "alpha beta"}, 0.4),
        ({"expected_answer": ["alpha", "alpha beta gamma"]}, 0.6),
        ({"expected_answer": 12}, 0.2),
    ],
)
def test_the_value_is_the_allowed_by_the_actual_length(keys, expected):
    assert value(" ".join(WORDS), keys, least_words=1) == pytest.approx(expected, abs=1e-6)


def test_a_short_answer_is_never_too_long_for_a_shorter_one():
    assert value(" ".join(WORDS), {"expected_answer": "alpha"}) == 1.0


@pytest.mark.parametrize(
    "keys", [{}, {"expected_answer": None}, {"expected_answer": []}, {"max_words": None}]
)
def test_with_nothing_to_compare_with_there_is_no_value(keys):
    assert score("any answer " * 100, keys, pass_at=0.5).values == {METRIC: None}
    assert score("any answer " * 100, keys, pass_at=0.5).passed is None


def test_an_empty_answer_is_not_concise():
    found = score(" ", {"max_words": 5}, pass_at=0.1)
    assert (found.values[METRIC], found.failures) == (0.0, ("empty",))


def test_repeated_phrases_count_against_it():
    once = " ".join(WORDS)
    assert repetition(once) == 0.0
    assert repetition("too few words") == 0.0
    # 20 words have 17 phrases; 7 of the second half stood in the first
    assert repetition(f"{once}. {once.upper()}") == pytest.approx(7 / 17)
    assert value(f"{once} {once}", {"max_words": 20}) == pytest.approx(10 / 17, abs=1e-6)


def test_numbers_tell_phrases_apart():
    assert repetition("north sold 5 bikes and south sold 7 bikes and west sold 9 bikes") == 0.0


def test_it_says_what_weighs_more():
    once = " ".join(WORDS)
    assert score(once, {"max_words": 5}, pass_at=0.9).failures == ("too_long",)
    assert score(f"{once} {once}", {"max_words": 18}, pass_at=0.9).failures == ("repetitive",)
    assert score(once, {"max_words": 5}, pass_at=0.9).reason == "10 words, 5 allowed"
    twice = score(f"{once} {once}", {"max_words": 20})
    assert twice.reason == "20 words, 20 allowed, 41 % of its phrases repeat"
    assert score(once, {"max_words": 10}, pass_at=0.9).passed is True
    assert score(once, {"max_words": 5}).passed is None


@pytest.mark.parametrize("options", [{"ratio": 0.5}, {"least_words": 0}, {"pass_at": -1}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(UsageError, match="conciseness: "):
        Conciseness(**options)
