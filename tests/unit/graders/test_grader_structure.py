import pytest

from gate.errors import UsageError
from gate.graders.structure import METRIC, Structure
from gate.records import Case, Response

CASE = Case(id="a", input="?", keys={})
SAID = "Sales grew in the north."


def broken(answer, finish_reason=None, **options):
    """The checks that do not hold."""
    response = Response(answer=answer, finish_reason=finish_reason)
    score = Structure(pass_at=1, **options).grade(CASE, response)
    return {code.removeprefix("structure:") for code in score.failures}


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        ("fence", "```\nx\n```", "```\nx"),
        ("fence", "~~~~\n~~~\n~~~~", "~~~~\nx\n~~~"),
        ("table", "| a | b |\n|--|--|\n| 1 | 2 |", "| a | b |\n|--|--|\n| 1 |"),
        ("table", "a | b\n--|--\n`1\\|2` | 3 \\| 4", "a | b\n--|--|--\n1 | 2"),
        ("list", "- a\n- b", "- a\n* b"),
        ("list", "1. a\n2. b\n3. c", "1. a\n3. b"),
        ("list", "1. a\n1. b\n1. c", "1. a\n2. b\n2. c"),
        ("list", "4) a\n5) b", "1) a\n2. b"),
        ("list", "1. a\n   - x\n   - y\n2. b", "1. a\n   - x\n   + y\n2. b"),
        ("list", "1. a\n\nText.\n\n2. b\n3. c", "1. a\n\n3. b"),
        ("heading", "# A\n\nText.\n\n## B\n\nText.", "# A\n\nText.\n\n### B\n\nText."),
        ("heading", "## A\n\nText.\n\n# B\n\nText.", "#\n\nText."),
        ("emphasis", "It is **bold** and `code`.", "It is **bold and so on."),
        ("emphasis", "2**3 is `8`.", "It is `code."),
        ("emphasis", "```\n**\n```", "## A **b\n\nText."),
        ("end", SAID, "Sales grew in the north and the"),
        ("end", "They said: “it grew in May.”[1]", "These are the regions that grew:"),
        ("end", "Sales grew in the north. [kb-001], [kb-7]", "Sales grew in the north [kb-001]"),
        ("end", "42", "Text.\n\n## What else"),
        ("end", f"{SAID}\n\n- north\n- south", "Text, then words, then a comma,"),
        ("repeat", f"{SAID} It did not in the south.", f"{SAID} Yes. {SAID.upper()}"),
        ("repeat", "No. No. No.", f"- {SAID}\n- {SAID}"),
        ("long_paragraph", "word " * 149 + "end.", "word " * 150 + "end."),
    ],
)
def test_each_check_holds_and_breaks(check, good, bad):
    assert broken(good, checks=(check,)) == set()
    assert broken(bad, checks=(check,)) == {check}
    assert check in broken(bad)


def test_the_value_is_the_share_of_the_checks_that_apply():
    grade = Structure().grade
    assert grade(CASE, Response(answer="42")).values == {METRIC: 1.0}
    # of long_paragraph, end and list the last breaks
    three = Response(answer=f"- a\n* b\n\n{SAID}")
    assert grade(CASE, three).values == {METRIC: pytest.approx(2 / 3, abs=1e-6)}
    assert grade(CASE, three).reason == "does not hold: list"
    assert grade(CASE, three).passed is None


def test_nothing_to_check_has_no_value_and_an_empty_answer_is_the_worst():
    assert Structure(checks=("table",)).grade(CASE, Response(answer=SAID)).values == {METRIC: None}
    empty = Structure(pass_at=0.5).grade(CASE, Response(answer=" \n"))
    assert (empty.values, empty.failures) == ({METRIC: 0.0}, ("structure:empty",))


def test_an_answer_that_the_model_cut_off_is_not_ended():
    assert "end" in broken(SAID, finish_reason="length")
    assert "end" in broken("- a\n- b", finish_reason="max_tokens")
    assert "end" not in broken(SAID, finish_reason="stop")


def test_json_is_whole():
    assert broken('{"text": "Sales grew in the north and the"}') == set()


def test_it_passes_from_a_value_on_whatever_is_broken():
    score = Structure(pass_at=0.6).grade(CASE, Response(answer=f"- a\n* b\n\n{SAID}"))
    assert (score.passed, score.failures) == (True, ())


@pytest.mark.parametrize("options", [{"checks": ()}, {"paragraph_words": 0}, {"pass_at": 2}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(UsageError, match="structure: "):
        Structure(**options)
