"""The form: one file, hostile text shown as text, nothing that loads or runs but its own script."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from gate.commands.label_review.form import make_card, render
from gate.commands.label_review.manifest import Criterion, Manifest, Shown
from gate.commands.label_review.rotation import Stratum
from gate.errors import Place
from gate.records import Case
from gate.text.escaping import clean

HOSTILE = (
    '</script><script>alert(1)</script><img src=x onerror="alert(2)"><a href="javascript:x">'
    "{{ 7 * 7 }} {% raw %} ‮evil\x1b[31m\x00 \ud800 --> <!-- </textarea>"
)


def criterion(**changes):
    own = {"name": "r.c", "title": "C", "question": "Is it so?", "low": 1, "high": 5, "rubric": "r"}
    return Criterion(**{**own, "metric": "correctness.c", **changes})


def manifest(shown, *criteria):
    return Manifest(
        suite="s",
        period="2026-W47",
        session_id="x",
        created_at="2026-11-19T12:00:00Z",
        commit=None,
        size=1,
        criteria=criteria or (criterion(),),
        about={"r": HOSTILE},
        strata={"all": Stratum(cases=1, unseen=1, shown=1)},
        left_out={},
        cases=(shown,),
    )


def shown(case_id="c1"):
    return Shown(
        case_id=case_id,
        case_digest="d",
        round=1,
        answer_digest="a" * 64,
        cycle=1,
        stratum="all",
        weight=1.0,
    )


def row(text, **more):
    return {"question": text, "output": text, "steps": None, "retrieved_ids": None, **more}


def page(text=HOSTILE, *criteria, case=None, **more):
    one = shown(text)
    return render(manifest(one, *criteria), (make_card(1, one, row(text, **more), case),))


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def case(**keys):
    return Case(id="c1", input=HOSTILE, keys={"input": HOSTILE, **keys}, place=Place("d"))


def everywhere():
    """The hostile text in every place that an agent, a dataset or a rubric can write to."""
    step = {"name": HOSTILE, "arguments": {HOSTILE: HOSTILE}, "result": HOSTILE, "error": HOSTILE}
    own = case(expected_answer=HOSTILE, context=[HOSTILE], expected_facts=[{"value": HOSTILE}])
    name = HOSTILE.replace("\ud800", "")
    asked = criterion(name=name, title=HOSTILE, question=HOSTILE, levels={"1": HOSTILE})
    return page(HOSTILE, asked, case=own, steps=[step], retrieved_ids=[HOSTILE], context=HOSTILE)


def test_hostile_text_makes_no_element_and_no_handler():
    tags = Tags(everywhere()).found
    harmless = Tags(page("harmless")).found
    assert [tag for tag, _ in tags].count("script") == 1
    assert {tag for tag, _ in tags} <= {tag for tag, _ in harmless} | {"dl", "dt", "dd"}
    assert not [name for _, attrs in tags for name in attrs if name.startswith("on")]
    assert not [attrs for _, attrs in tags if not (attrs.get("href") or "#").startswith("#")]


def test_hostile_text_is_shown_as_it_is_but_for_what_nobody_sees():
    text = Tags(page()).text
    assert "</script><script>alert(1)</script><img src=x" in text
    assert "{{ 7 * 7 }} {% raw %}" in text
    assert "\u202e" not in text
    assert "\x1b" not in text


def test_only_its_own_script_and_style_may_run():
    text = page("x")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert not [attrs for _, attrs in Tags(text).found if "style" in attrs or "src" in attrs]


def test_the_page_is_the_same_bytes_again():
    assert everywhere() == everywhere()
    everywhere().encode("utf-8")


@pytest.mark.parametrize(("high", "kind", "count"), [(5, "radio", 5), (11, "radio", 11)])
def test_a_scale_is_a_row_of_buttons(high, kind, count):
    tags = Tags(page("x", criterion(high=high))).found
    inputs = [attrs["value"] for tag, attrs in tags if attrs.get("type") == kind]
    assert inputs == [str(value) for value in range(1, count + 1)]


def test_a_long_scale_is_a_field_for_a_number():
    tags = Tags(page("x", criterion(low=0, high=100))).found
    (field,) = [attrs for _, attrs in tags if attrs.get("type") == "number"]
    assert (field["min"], field["max"]) == ("0", "100")


def test_a_long_question_is_folded_behind_its_first_sentence():
    asked = criterion(question=f"Is it true? {'Look closely. ' * 20}")
    text = page("x", asked)
    assert '<p class="ask">Is it true?</p>' in text
    assert "Look closely." in text


def test_what_the_agent_had_and_what_is_right_are_beside_the_answer():
    facts = [{"value": "12 %"}, {"value": ["a", "b"], "required": False}]
    own = case(expected_answer="twelve", context=["first", "second"], expected_facts=facts)
    step = {"name": "search", "arguments": {"q": 1}, "result": None, "error": "down"}
    text = Tags(page("x", case=own, steps=[step], retrieved_ids=["kb-1"])).text
    assert "twelve" in text
    assert "12 % · a or b (optional)" in text
    assert "first\n\nsecond" in text
    assert 'search({"q": 1})\n→ down' in text
    assert "kb-1" in text


def test_the_whole_input_of_the_dataset_is_shown_where_it_is_there():
    own = Case(id="c", input=[{"role": "user", "content": "all of it"}], keys={}, place=Place("d"))
    assert "all of it" in page("cut", case=own)


def test_an_answer_of_megabytes_is_cut():
    assert len(page("x" * 3_000_000)) < 1_000_000


def test_the_script_writes_no_markup():
    script = Path("gate/commands/label_review/form.js").read_text("utf-8")
    assert "innerHTML" not in script
    assert "insertAdjacentHTML" not in script
    assert "eval(" not in script


def test_the_case_s_name_is_shown_clean():
    assert clean(HOSTILE, 30)[:20] in Tags(page()).text


def test_people_see_the_keys_that_the_judge_is_shown():
    own = case(policy="Only what the documents say.", secret_notes="the judge sees none of this")
    text = Tags(
        render(
            manifest(shown()),
            (make_card(1, shown(), row("x"), own, ("policy", "context", "gone")),),
        )
    ).text
    assert "Policy" in text
    assert "Only what the documents say." in text
    assert "the judge sees none of this" not in text


def test_criteria_of_two_rubrics_are_told_apart():
    two = [criterion(name=f"{r}.c", title="Completeness", rubric=r) for r in ("answer", "tone")]
    made = replace(manifest(shown(), *two), about={"answer": "Questions.", "tone": "Letters."})
    text = Tags(render(made, (make_card(1, shown(), row("x"), None),))).text
    assert "What to look for: tone" in text
    assert text.count("Completeness answer") == text.count("Completeness tone") == 1
