import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.text.phrases import fold_text, has_phrase


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("  Two\n\twords ", "two words"),
        ("ＦＵＬＬ width", "full width"),
        ("STRASSE straße", "strasse strasse"),
        ("“quoted” – it’s", '"quoted" - it\'s'),
        ("**bold** and `code`", "bold and code"),
        ("zero\u200bwidth, soft\u00adhyphen", "zerowidth, softhyphen"),
        ("", ""),
    ],
)
def test_folded(text, result):
    assert fold_text(text) == result


@pytest.mark.parametrize(
    ("phrase", "text", "result"),
    [
        ("12", "in 2012", False),
        ("12", "12 of them", True),
        ("12", "it is 12.", True),
        ("12", "it is 12.5", False),
        ("12", "it is 12,000", False),
        ("5 years", "0.5 years", False),
        ("5 years", "see 4.5 years", False),
        ("4 years", "14 years", False),
        ("no", "not known", False),
        ("no", "no, never", True),
        ("no", "not yet, no", True),  # the first find is not the last word
        ("c++", "we use c++ here", True),
        ("(a)", "f(a)", True),
        ("東京", "私は東京都に住む", True),
        ("", "anything", False),
        ("longer", "long", False),
    ],
)
def test_mentioned(phrase, text, result):
    assert has_phrase(phrase, text) is result


@given(st.text(max_size=20), st.text(max_size=20))
def test_only_what_is_there_is_mentioned(phrase, text):
    phrase, text = fold_text(phrase), fold_text(text)
    if has_phrase(phrase, text):
        assert phrase in text
    assert has_phrase(phrase, phrase) is bool(phrase)
