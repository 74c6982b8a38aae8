"""WebArena's rules where no published vector looks: quirks that are kept, and what is refused."""

import pytest

from gate.graders.webarena_rules.evaluation import clean_text, evaluate, includes
from gate.graders.webarena_rules.recorded import Recorded, read_recorded
from gate.graders.webarena_rules.task import checks_of, faults_of, open_sites, with_sites
from gate.graders.webarena_rules.tokens import stands_alone
from gate.graders.webarena_rules.urls import post_url


def strings(**references):
    return {"eval_types": ["string_match"], "reference_answers": references}


def page(*targets, types=("program_html",), **more):
    return {"eval_types": [*types], "program_html": [*targets], **more}


def target(url="last", locator="", **wanted):
    return {"url": url, "locator": locator, "required_contents": wanted}


def found(written, **run):
    return evaluate(checks_of(written), Recorded(**run))


def score(written, **run):
    return found(written, **run).score


@pytest.mark.parametrize(
    ("text", "plain"),
    [(" 'A' ", "a"), ('"A"', "a"), ("'A\"", "'a\""), ("''A''", "'a'"), ("'", ""), ("", "")],
)
def test_one_pair_of_equal_quotes_is_taken_off(text, plain):
    assert clean_text(text) == plain


def test_an_answer_is_cleaned_twice_and_a_page_once():
    assert score(strings(exact_match="2022"), answer="\"'2022'\"") == 1.0
    assert score(page(target(exact_match="2022")), final_html="\"'2022'\"") == 0.0


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("5", True),
        ("5.", True),
        ('it is "5".', True),
        ("5. the rest", False),  # no end of a sentence for the model, so the dot is the 5's
        ("5. 6 are left", True),
        ("($5.) left", True),
        ("$5", True),
        ("5%", True),
        ("a,5", False),
        ("5,a", True),
        ("5,6", False),
        ("1:5", False),
        ("5:", True),
        ("x-5", False),
        ("x--5", True),
        ("5...", True),
        ("5/6", False),
        ("15", False),
        ("5's", True),
        ("5'6", True),
        ("", False),
    ],
)
def test_a_sign_is_a_word_of_its_own(text, alone):
    assert stands_alone("5", text) is alone


def test_signs_that_are_always_cut_off_are_words_wherever_they_are():
    assert stands_alone("%", "5%")
    assert not stands_alone('"', 'a "b" c')
    assert stands_alone("-", "a - b")
    assert not stands_alone("-", "a-b")


def test_only_a_single_reference_of_one_sign_has_to_be_a_word():
    assert includes("0", "10")
    assert not includes("0", "10", alone=True)
    assert score(strings(must_include=["0", "1"]), answer="10") == 1.0
    assert score(strings(must_include=["0"]), answer="10") == 0.0


def test_a_task_that_cannot_be_done_starts_anew_with_the_judge():
    impossible = strings(must_include=["bus"], fuzzy_match="N/A") | {"string_note": "No bus."}
    assert score(impossible, answer="'n/a' bus") is None
    (asked,) = found(impossible, answer="There is none.").open
    assert (asked.kind, asked.reference) == ("reason", "No bus.")
    otherwise = found(strings(exact_match="2", fuzzy_match="N/A"), answer="N/A")
    assert (otherwise.wrong, [one.kind for one in otherwise.open]) == ({}, ["reason"])
    assert score(strings(fuzzy_match="N/A"), answer=" N/A ") == 1.0


def test_what_is_wrong_already_decides_before_the_judge_and_what_is_not_recorded():
    written = strings(must_include=["x"], fuzzy_match=["y"]) | {"reference_url": "http://a/b"}
    written["eval_types"] = ["string_match", "url_match"]
    assert found(written, answer="z").score == 0.0
    assert found(written, answer="x").score is None
    assert found(written, answer="x").lacking == ["final_url (url_match)"]


def test_a_target_is_judged_by_its_own_result_or_by_its_page():
    two = page(target(must_include=["a"]), target("http://s/x/", must_include=["b |OR| c"]))
    assert found(two, final_html="a").lacking == ["pages (program_html, target 1, 'http://s/x/')"]
    assert score(two, final_html="a", pages={"http://s/x": "C"}) == 1.0
    assert score(two, located={0: "a", 1: "b"}) == 1.0
    assert score(page(target(must_include=["0"])), final_html="10") == 1.0, "no words of pages"
    assert score(two, final_html="-", pages={"http://s/x": "C"}) == 0.0


def test_after_a_target_elsewhere_the_last_page_is_that_one():
    moved = page(target("http://s/x", must_include=["a"]), target("last", must_include=["b"]))
    assert score(moved, final_html="b", pages={"http://s/x": "a"}) == 0.0
    assert score(moved, final_html="", pages={"http://s/x": "a b"}) == 1.0
    both = page(
        target("http://s/x", must_include=["a"]),
        types=("program_html", "url_match"),
        reference_url="http://s/y",
    )
    assert found(both, final_url="http://s/y", pages={"http://s/x": "a"}).lacking


def test_a_post_is_found_by_the_last_address():
    post = page(target("func:reddit_get_post_url('__last_url__')", must_include=["hi"]))
    pages = {"http://r/f/cats/12/": "Hi"}
    assert score(post, final_url="http://r/f/cats/12/a-cat#c", pages=pages) == 1.0
    assert score(post, pages=pages) is None
    assert post_url("http://r/f/cats/12") == "http://r/f/cats/12/"
    for address in ("http://r/u/me/1", "http://r/f/cats", "http://["):
        assert post_url(address) == address


def test_locators_and_helpers_need_what_they_gave():
    for locator in ("document.title", "[...document.images].length", "func:helper('x')"):
        lacking = found(page(target("last", locator, exact_match="1")), final_html="1").lacking
        assert [one.partition(" ")[0] for one in lacking] == ["locator_results"]


def test_html_is_unescaped_even_where_a_number_has_no_end():
    assert score(page(target(exact_match="<b>")), final_html="&lt;b&gt;") == 1.0
    endless = "&#" + "9" * 5_000 + ";"
    assert score(page(target(must_include=["9;"])), final_html=endless) == 1.0


def test_an_address_that_is_none_is_not_the_right_one():
    written = {"eval_types": ["url_match"], "reference_url": "http://a/b"}
    assert score(written, final_url="http://[") == 0.0
    with pytest.raises(ValueError, match="IPv6"):
        score({**written, "reference_url": "http://["}, final_url="http://a/b")


def test_sites_take_the_place_of_their_names_and_open_ones_are_told():
    written = {"eval_types": ["url_match"], "reference_url": "__SHOPPING__/a |OR| __MAP__/b"}
    with pytest.raises(ValueError, match="__SHOPPING__ for an address - set `sites`"):
        score(written, final_url="http://s:1/a")
    assert score(written, final_url="__MAP__/b") == 1.0
    placed = with_sites(written, {"shopping": "http://s:1/", "map": "http://m"})
    assert placed["reference_url"] == "http://s:1/a |OR| http://m/b"
    assert open_sites("__SHOPPING_ADMIN__/x") == ("shopping_admin",)


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (None, "no object"),
        ({}, "eval_types: no list"),
        ({"eval_types": []}, "eval_types: no list"),
        ({"eval_types": ["fuzzy"]}, "'fuzzy' is none of"),
        ({"eval_types": [["string_match"]]}, "is none of"),
        ({"eval_types": ["string_match"], "reference_answers": ["a"]}, "no object with"),
        (strings(), "no object with"),
        (strings(exact_match=1), "exact_match: no text"),
        (strings(must_include=[]), "must_include: no list"),
        (strings(must_include="N/A"), "must_include: no list"),
        (strings(fuzzy_match="n/a"), "fuzzy_match: no list"),
        (strings(nearly="a"), "'nearly' is an unknown comparison"),
        ({"eval_types": ["url_match"], "reference_url": ""}, "any page would pass"),
        ({"eval_types": ["url_match"], "reference_url": "http://a |OR| /"}, "any page would pass"),
        (
            {"eval_types": ["url_match"], "reference_url": "http://a", "url_note": "EXACT"},
            "'EXACT' is an unknown rule",
        ),
        (page(), "no list of targets"),
        (page(1), r"program_html\[0\]: no object"),
        (page(target("", exact_match="a")), "url: must be an address"),
        (page(target("last", "window.x", exact_match="a")), "'window.x' is of an unknown kind"),
        (page(target()), "neither exact_match nor must_include"),
        (page(target(exact_match=["a"])), "exact_match: no text"),
        (page({"url": "last", "locator": "", "required_contents": []}), "required_contents"),
    ],
)
def test_a_task_that_upstream_fails_on_or_that_anything_passes_is_refused(written, fault):
    with pytest.raises(ValueError, match=fault):
        checks_of(written)
    assert len(list(faults_of(written))) == 1


def test_state_of_the_wrong_type_was_not_recorded():
    state = {
        "final_url": 3,
        "final_html": ["x"],
        "locator_results": {"0": "a", "1": None, "x": "b", "²": "c"},
        "pages": [1],
    }
    assert read_recorded("a", state) == Recorded(answer="a", located={0: "a"})
