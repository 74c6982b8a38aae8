"""What a judge wrote: one JSON object that fits, or why not; nothing is guessed."""

from dataclasses import replace

import pytest

from gate.agents.judges.parse_reply import MOST_FAULTS, Unfit, parse_reply
from tests.support.growth import cpu_seconds
from tests.support.scripted_judge import QUESTION


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 4}',
        '\n\t{"score": 4.0}\n',
        'Here is my judgement:\n```json\n{"score": 4}\n```\nLet me know.',
        '```\n{"score": 4, "why": "a \\"quoted\\" } and { within"}\n```',
        '<think>Is it {"score": 1}? No.</think>\n{"score": 4}',
        'My judgement is, {"score": 4}.',
    ],
)
def test_one_object_is_found_between_words(text):
    assert parse_reply(text, QUESTION)["score"] == 4


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("I'm sorry, but I can't help with that.", "there is no JSON object"),
        ("4", "there is no JSON object"),
        ('[{"score": 4}]', "it is a list, not an object"),
        ('{"score": 4} {"score": 5}', "there is more than one JSON object"),
        ('{"score": 4}\n```{"score": 4}```', "there is more than one JSON object"),
        ('The set } is odd: {"score": 4}', "there is more than one JSON object"),
        ('{"score": 4', "it is not JSON: Expecting ',' delimiter at character 11"),
        ('{"reply": {"score": 4}, oops}', "it is not JSON: "),
        ('{"score": 4, "score": 5}', "it is not JSON: the key 'score' is there twice"),
        ('{"score": NaN}', "it is not JSON: NaN is no number of JSON"),
        ('{"a":' * 30_000, "it is not JSON: "),
        ("x" * 200_001, "it has 200,001 characters, more than 200,000"),
        ('{"score": 0}', "score: 0 must be at least 1"),
        ('{"score": 5.5}', "score: 5.5 is not a whole number"),
        ('{"score": "4"}', "score: '4' is not a whole number"),
        ('{"score": true}', "score: true is not a whole number"),
        ("{}", "'score' is missing"),
    ],
)
def test_everything_else_is_told_and_never_read(text, why):
    with pytest.raises(Unfit) as caught:
        parse_reply(text, QUESTION)
    assert str(caught.value).startswith(why)


@pytest.mark.parametrize(
    "text",
    [
        " " * 20_000_000,
        "\n" * 20_000_000 + "{",
        "<think>" * 3_000_000,
        "{" + ",".join(f'"{n}": 1' for n in range(17_000)) + ', "16999": 1}',
    ],
)
def test_a_reply_that_is_long_to_read_takes_no_time(text):
    def refused():
        with pytest.raises(Unfit):
            parse_reply(text, QUESTION)

    assert cpu_seconds(refused) < 5  # 0.1


def test_the_canary_must_come_back_and_is_never_told():
    question = replace(QUESTION, canary="5a5a")
    assert parse_reply('{"score": 4, "canary": "5a5a"}', question)["score"] == 4
    closed = {**QUESTION.schema, "properties": {"canary": {"const": "5a5a"}}}
    for one in (question, replace(question, schema=closed)):
        for text in (
            '{"score": 4, "canary": "5a5b"}',
            '{"score": 4}',
            '{"score":4,"canary":["5a5a"]}',
        ):
            with pytest.raises(Unfit, match=r"canary: not the one") as caught:
                parse_reply(text, one)
            assert "5a5a" not in str(caught.value)


def test_half_a_character_becomes_one_that_can_be_written():
    found = parse_reply('{"score": 4, "why": "\\ud83d"}', QUESTION)
    assert found["why"].encode() == b"?"


def test_faults_are_few_and_short():
    names = [f"key-{n}" for n in range(100)]
    with pytest.raises(Unfit) as caught:
        parse_reply("{}", replace(QUESTION, schema={"type": "object", "required": names}))
    assert len(caught.value.faults) == MOST_FAULTS + 1
    assert caught.value.faults[-1] == "92 more"
    long = {"type": "object", "properties": {"a": {"enum": ["x" * 9000]}}}
    with pytest.raises(Unfit) as caught:
        parse_reply('{"a": "y"}', replace(QUESTION, schema=long))
    assert len(str(caught.value)) < 300
