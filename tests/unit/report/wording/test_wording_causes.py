"""What newly failing cases have in common, in words."""

from gate.records import CausePart, FailureCause
from gate.report.wording import causes, headline
from gate.text.spans import markdown, plain
from tests.support.reports import comparison, many_failing, regression


def part(kind="argument", what="search.top_k", was="5", now="1", **counts):
    counts = {"cases": 32, "of": 32, "elsewhere": 71, "of_elsewhere": 71, **counts}
    return CausePart(kind=kind, what=what, was=was, now=now, **counts)


def cause(*parts, cases=32, shared=0):
    ids = tuple(f"c{n}" for n in range(cases))
    return FailureCause(suite="analytics", parts=parts or (part(),), cases=ids, shared=shared)


def title_of(found):
    return causes.title(many_failing(), 2, found)


def test_a_cause_names_its_share_and_three_cases():
    (line,) = causes.lines(many_failing(causes=(cause(),)))
    assert plain(line) == (
        "Cause 1 (32 of 40 cases): search.top_k 5 → 1, such as c0, c1, c2; also in "
        "71 of 71 cases that still pass"
    )


def test_a_further_cause_says_how_many_cases_are_known():
    gone = part("tool_gone", "run_sql", "", "", cases=23, elsewhere=0)
    assert title_of(cause(gone, cases=23, shared=23)) == "Cause 2 (23 of them)"
    assert title_of(cause(gone, cases=23, shared=4)) == (
        "Cause 2 (23 of 40 cases, 4 of them named above)"
    )
    assert causes.title(many_failing(1), 1, cause(gone, cases=1)) == ("Cause 1 (1 case)")
    assert plain(causes.elsewhere(cause(gone))) == "in none of 71 cases that still pass"
    assert causes.elsewhere(cause(part(of_elsewhere=0))) == ()


def test_each_kind_has_its_words():
    told = {
        "search.top_k 5 → 1": part(),
        "search.top_k 5 → absent": part(now=""),
        'search.mode "all" → "one"': part(what="search.mode", was='"all"', now='"one"'),
        "search.query has another value": part(what="search.query", was="", now=""),
        "run_sql is no longer called": part("tool_gone", "run_sql", "", ""),
        "run_sql is newly called": part("tool_new", "run_sql", "", ""),
        "another number than the expected one": part("answer", "other_number", "", ""),
        "a kind of later": part("answer", "a kind of later", "", ""),
        "missing tool use": part("mode", "missing_tool_use", "", ""),
        "a mode of later": part("mode", "a mode of later", "", ""),
        "category mixed": part("category", "mixed", "", ""),
    }
    for words, one in told.items():
        assert plain(causes.describe(one)) == words


def test_what_else_the_same_cases_have_comes_with_its_number():
    gone, also = (part("tool_gone", tool, "", "", cases=n) for tool, n in (("a", 23), ("b", 21)))
    assert plain(causes.what(cause(gone, also))) == ("a is no longer called, nor is b (21 cases)")


def test_a_hostile_name_stays_inside_its_code_span():
    bad = part(what="x`|<img src=x onerror=1>\n## y.z", was='"`</details>"', now='"|"')
    shown = markdown(causes.describe(bad))
    assert "\n" not in shown
    assert shown.count("``") >= 2  # a longer fence around a backtick


def test_each_case_knows_the_numbers_of_its_causes():
    report = regression(causes=(cause(cases=2), cause(cases=1, shared=1)))
    assert causes.numbers_of(report) == {
        ("analytics", "c0"): (1, 2),
        ("analytics", "c1"): (1,),
    }
    assert causes.lines(regression()) == ()


def test_the_headline_names_a_cause_of_most_cases_only():
    def headline_of(*found):
        worse = comparison("agent.success_rate", status="regression", level="block")
        return headline.headline(many_failing(causes=found, comparisons=(worse,)))

    many = many_failing().cases.newly_failing
    all_of_them = cause(cases=len(many))
    assert headline_of(all_of_them).endswith(" cases newly fail in analytics; search.top_k 5 → 1")
    assert headline_of(cause(cases=len(many) // 2)).endswith(" cases newly fail in analytics")
    category = cause(part("category", "mixed", "", ""), cases=len(many))
    assert headline_of(category).endswith(" cases newly fail in analytics")
