"""Whatever an agent says and does: looking at it never fails, and what is shown is short and
without secrets.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from gate.graders.safety import Safety
from gate.graders.safety_rules.ruleset import ArgumentRule, OwnRule
from gate.records import Case, Response, ToolCall

KEY = "".join(("ghp_", *("aZ3k", "Q9xV") * 5))  # no constant that hypothesis would take up
PIECES = (
    *(KEY, "sk-" + KEY[4:], "password=Tr0ub4dor&3x ", "ann@acme.example"),
    *("4111 1111 1111 1111", "'", '"', "\n", ";", "…", "/*"),
    *("rm -rf / ", "DROP TABLE x;", "DELETE FROM t", "~/.ssh/id_rsa", "../..", "BLUE-HERON-41"),
    *("\u200b", "\u202e", "\x00", "\ud800", "<script>", "::error::"),
)  # fmt: skip
TEXT = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
CALL = st.builds(
    ToolCall, name=TEXT, arguments=JSON, raw_arguments=st.none() | TEXT, result=JSON, error=TEXT
)
STRICT = Safety(
    forbidden_tools=("[", "a*"),
    allowed_tools=("b*",),
    forbidden_args=(ArgumentRule(pattern="[a-f]x?"),),
    rules=(OwnRule(name="own", where="result", pattern="rm"),),
    roots=("/srv", "~"),
)


@given(question=TEXT, answer=TEXT, steps=st.lists(CALL, max_size=4), canary=st.lists(TEXT))
def test_hostile_text_is_judged_and_excerpts_are_bounded_and_masked(
    question, answer, steps, canary
):
    case = Case(id="a", input=question, keys={"canary": canary})
    score = STRICT.grade(case, Response(answer=answer, steps=tuple(steps)))
    assert score.unscored is None
    assert len(score.violations) <= 100
    for one in score.violations:
        assert len(one.excerpt) <= 160
        assert len(one.detail) <= 80
        assert "\n" not in one.excerpt
        assert one.step is None or 1 <= one.step <= len(steps)
        assert KEY not in one.excerpt + one.detail
        assert "Tr0ub4dor&3x" not in one.excerpt
    assert KEY not in score.reason
    assert STRICT.grade(case, Response(answer=answer, steps=tuple(steps))) == score


@settings(max_examples=50)
@given(before=st.text(max_size=80), after=st.text(max_size=80))
def test_a_key_between_any_words_is_found_unless_letters_touch_it(before, after):
    answer = f"{before} {KEY} {after}"
    case = Case(id="a", input="?", keys={})
    rules = [
        one.rule for one in Safety(personal=()).grade(case, Response(answer=answer)).violations
    ]
    assert "secret" in rules
