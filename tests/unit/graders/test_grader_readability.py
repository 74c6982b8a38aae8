import pytest

from gate.errors import UsageError
from gate.graders.readability import METRIC, Readability
from gate.records import Case, Response

CASE = Case(id="a", input="?", keys={})
PLAIN = "The shop was open all day. We sold ten red bikes to two men. They paid in cash. "
HARD = (
    "Notwithstanding considerable organizational heterogeneity, interdepartmental communication "
    "necessitates institutionalization of multidimensional accountability infrastructures. "
)


def value(answer, **options):
    return Readability(**options).grade(CASE, Response(answer=answer)).values[METRIC]


def test_the_published_example_has_its_published_ease():
    text = "This sentence, taken as a reading passage unto itself, is being used to prove a point."
    assert value(text, min_words=16) == pytest.approx(0.69, abs=0.005)


def test_hand_made_counts_give_the_formula():
    # 12 words, 2 sentences, 13 syllables
    text = "The cat sat on the mat. It was a very big dog."
    assert value(text, min_words=12) == 1.0  # 109 points of ease
    assert value(text, min_words=12, language="it") == 1.0
    # nl: 206.84 - 0.93 x 6 - 77 x 2 = 47.26
    dutch = "Klanten willen nieuwe prijzen vergelijken morgen."
    syllables_a_word = (2 + 2 + 2 + 2 + 4 + 2) / 6
    assert value(dutch, min_words=6, language="nl") == pytest.approx(
        (206.84 - 0.93 * 6 - 77 * syllables_a_word) / 100, abs=1e-6
    )


def test_long_words_and_sentences_read_worse():
    assert value(PLAIN * 3) > 0.9
    assert value(HARD * 3) == 0.0
    halves = PLAIN * 2 + HARD
    assert value(HARD * 3) < value(halves) < value(PLAIN * 3)


@pytest.mark.parametrize("answer", ["", "It is 42.", "```\n" + PLAIN * 5 + "\n```", "12 " * 100])
def test_too_few_words_have_no_value_and_no_verdict(answer):
    score = Readability(pass_at=0.9).grade(CASE, Response(answer=answer))
    assert (score.values, score.passed) == ({METRIC: None}, None)


def test_code_tables_addresses_and_numbers_change_nothing():
    alone = value(PLAIN * 3)
    table = (
        "\n\n| institutionalization | accountability |\n|---|---|\n| interdepartmental | 1 |\n\n"
    )
    code = "\n```\nnotwithstanding.considerable(organizational)\n```\n"
    extra = "## Notwithstanding considerable heterogeneity\n\n" + PLAIN * 3 + table + code
    assert value(extra) == alone
    assert value(PLAIN * 3 + "See https://a.example/notwithstanding/considerable 12.5 % ") == (
        pytest.approx(alone, abs=0.02)
    )


def test_items_without_an_end_are_sentences():
    items = "\n".join(["- red bikes for two men"] * 8)
    assert value(items) == value(items.replace("men", "men."))


def test_it_passes_from_a_value_on_and_has_no_opinion_without_one():
    assert Readability(pass_at=0.5).grade(CASE, Response(answer=PLAIN * 3)).passed is True
    score = Readability(pass_at=0.5).grade(CASE, Response(answer=HARD * 3))
    assert (score.passed, score.failures) == (False, ("hard_to_read",))
    assert "words a sentence" in score.reason
    assert Readability().grade(CASE, Response(answer=HARD * 3)).passed is None
    assert (Readability().decides, Readability(pass_at=0.5).decides) == (False, True)


@pytest.mark.parametrize("options", [{"min_words": 0}, {"pass_at": 60}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(UsageError, match="readability: "):
        Readability(**options)
