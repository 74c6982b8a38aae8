"""The quick way to ordinary numbers finds what the whole grammar finds, in texts made of everything
that can stand around a figure.
"""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gate.text.numbers import scanning

_AROUND = (
    "the was in version Version v ver. er of at Rs USD EUR US$ % k K M bn million thousand May June"
    " march am pm a p x ( ) . , ; : ! ? - # items days per cent pct bps basis points percent and"
    " dollars tall / ' \" is as"
)
_FIGURES = (
    "5 12 123 1234 1,234 1,234,567 1.5 3.25 2024 1999 2,5 12,34,567 1.234.567 1.234,56 $5 $1,200"
    " £3.50 €20 -$7 ($8) 5% 50 10^6 10 +5 [3] 1. 2) 1e6 007 3rd 1980s 24/7 kb-001 Q3 30s 10/12/2024"
    " 12:30 2024-01-02 0.5 .5 v1.2.3 1234567890123456789"
)
PIECES = (*_AROUND.split(), *_FIGURES.split())
GAPS = st.sampled_from([" "] * 8 + ["", "\n", "  ", "\u00a0", "-", ", "])
TEXTS = st.lists(st.tuples(st.sampled_from(PIECES), GAPS), max_size=12).map(
    lambda parts: "".join(piece + gap for piece, gap in parts)
)


@settings(max_examples=600)
@given(TEXTS)
@example("the version 300 was")
@example("on the 5 May it was 1,234 million")
@example("sold for Rs 500 each")
@example("it was 12 months, 300 k and 45 am")
@example("the €20\nam ")
def test_the_quick_way_says_what_the_grammar_says(text):
    quick = list(scanning._scan(text, "en", quick=True))
    assert quick == list(scanning._scan(text, "en", quick=False))
    assert all(text[one.start : one.end] == one.text for one in quick)


def test_it_is_taken_at_all():
    text = "it made 1,234 sales and then 300 more."
    assert [one.value for one in scanning.numbers(text)] == [1234.0, 300.0]
    assert scanning.ordinary(text, 0, text.index("1")) is not None
