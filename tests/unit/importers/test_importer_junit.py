"""The importer of JUnit XML: what test cases become, what several results of one are, and how
hostile XML is refused.
"""

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.sniff import look
from gate.files.xml import DEEPEST, End, steps
from gate.plugins import IMPORTERS
from tests.support.importing import told_of
from tests.support.paths import DATA

EXAMPLES = DATA / "imports" / "junit"
Importer = IMPORTERS.get_class("junit")
FAILED = '<failure message="no"/>'


def one_case(name="t", inner="", classname="m", **more):
    attributes = "".join(f' {key}="{value}"' for key, value in more.items())
    return f'<testcase classname="{classname}" name="{name}"{attributes}>{inner}</testcase>'


def suite(*cases, name="pytest", **more):
    attributes = "".join(f' {key}="{value}"' for key, value in more.items())
    return f'<testsuite name="{name}"{attributes}>{"".join(cases)}</testsuite>'


def written(folder, *suites, name="tests.xml", start="<testsuites>"):
    path = folder / name
    path.write_text(f"{start}{''.join(suites)}</testsuites>", encoding="utf-8")
    return path


def attempts(path, **options):
    return {(t.case.id, t.round): t.attempt for t in Importer(**options).read(path).trials()}


def attempt(folder, inner, **more):
    (found,) = attempts(written(folder, suite(one_case("t", inner, **more)))).values()
    return found


def faults(path, kind=InvalidInput):
    return told_of(Importer().read, path, kind)


def test_the_example_has_what_the_page_says():
    found = Importer().read(EXAMPLES / "rates.xml")
    assert (found.created_at, found.suites["rates"].cases) == ("2026-05-12T14:30:52+00:00", 4)
    assert found.notes == ("skipped tests are left out: 1",)
    told = {key[0]: one.passed for key, one in attempts(EXAMPLES / "rates.xml").items()}
    assert told == {
        "tests.test_rates::test_euro": True,
        "tests.test_rates::test_dollar": True,
        "tests.test_rates::test_pound": False,
        "tests.test_rates::test_table": False,
    }
    euro = attempts(EXAMPLES / "rates.xml")[("tests.test_rates::test_euro", 1)]
    assert (euro.latency_ms, euro.scores["junit"].values) == (1250.0, {"junit.faithfulness": 0.9})
    nights = Importer(suite="rates").read(EXAMPLES / "nightly")
    assert (nights.suites["rates"].rounds, len(list(nights.trials()))) == (2, 8)
    assert Importer.recognises(look(EXAMPLES / "nightly"))


@pytest.mark.parametrize(
    ("inner", "status", "passed", "failures"),
    [
        ("", "completed", True, ()),
        (FAILED, "completed", False, ("failed",)),
        ('<failure type="java.lang.AssertionError"/>', "completed", False, ("assertion_error",)),
        ('<failure message="m.OwnError: no"/>', "completed", False, ("own_error",)),
        ('<failure type="my.no-match"/>', "completed", False, ("no_match",)),
        ("<failure>x\na.py:3: KeyError</failure>", "completed", False, ("key_error",)),
        ("<error/>", "agent_error", False, ("agent_error",)),
        ('<error type="ValueError"/>', "agent_error", False, ("value_error",)),
        ('<error message="ConnectionRefusedError: x"/>', "infra_error", None, ()),
        ('<error type="infra_error"/>', "infra_error", None, ()),
        (f"{FAILED}<error/>", "agent_error", False, ("agent_error",)),
    ],
)
def test_what_a_test_came_to(tmp_path, inner, status, passed, failures):
    found = attempt(tmp_path, inner)
    assert (found.status, found.passed, found.failures) == (status, passed, failures)


def test_what_a_failure_says_is_the_reason(tmp_path):
    found = attempt(tmp_path, '<failure message="a &lt; b">at <![CDATA[<line>]]> 3</failure>')
    assert found.scores["junit"].reason == "a < b\nat <line> 3"
    assert attempt(tmp_path, "<error>boom</error>").error == "boom"


def test_a_failed_result_before_another_in_its_testsuite_is_an_attempt(tmp_path):
    again = suite(one_case("t", FAILED), one_case("u"), one_case("t"))
    path = written(tmp_path, again)
    found = attempts(path)
    assert {key: one.n for key, one in found.items()} == {("m::u", 1): 1, ("m::t", 1): 2}
    (trial,) = (one for one in Importer().read(path).trials() if one.case.id == "m::t")
    assert [one.passed for one in trial.attempts] == [False, True]
    apart = attempts(path, reruns=False)
    assert {key[0]: one.passed for key, one in apart.items()} == {
        "m::u": True,
        "m::t": False,
        "m::t #2": True,
    }


def test_a_result_behind_a_passed_one_is_another_test(tmp_path):
    """Else a failing test would hide behind one of the same name."""
    path = written(tmp_path, suite(one_case("t"), one_case("t", FAILED)))
    assert {key: one.passed for key, one in attempts(path).items()} == {
        ("m::t", 1): True,
        ("m::t #2", 1): False,
    }
    found = Importer().read(path)
    assert found.suites["tests"].cases == 2
    assert "after a passed result the next one is a test of its own" in found.notes[0]
    assert Importer().read(written(tmp_path, suite(one_case("t")))).notes == ()


def test_a_teardown_without_a_connection_does_not_hide_the_failure(tmp_path):
    """pytest tells of both, one after the other."""
    teardown = '<error message="failed on teardown with &quot;ConnectionError: x&quot;"/>'
    path = written(tmp_path, suite(one_case("t", FAILED), one_case("t", teardown)))
    (found,) = attempts(path).values()
    assert (found.status, found.passed) == ("completed", False)


def test_reruns_inside_a_test_case_are_attempts(tmp_path):
    path = written(tmp_path, suite(one_case("t", "<flakyFailure/><flakyError/>")))
    (trial,) = Importer().read(path).trials()
    assert [one.passed for one in trial.attempts] == [False, False, True]


def test_another_testsuite_element_or_file_is_a_further_round(tmp_path):
    written(tmp_path, suite(one_case("t")), suite(one_case("t", FAILED)), name="1.xml")
    written(tmp_path, suite(one_case("t"), one_case("u")), name="2.xml")
    found = Importer().read(tmp_path)
    (sizes,) = found.suites.values()
    assert (sizes.cases, sizes.rounds) == (2, 3)
    told = {key: one.passed for key, one in attempts(tmp_path).items()}
    assert told == {("m::t", 1): True, ("m::t", 2): False, ("m::t", 3): True, ("m::u", 1): True}


def test_tests_of_one_name_in_two_testsuites_stay_apart(tmp_path):
    path = written(
        tmp_path, suite(one_case("t"), name="a"), suite(one_case("t"), one_case("u"), name="b")
    )
    found = Importer().read(path)
    assert [one.case.id for one in found.trials()] == ["a m::t", "b m::t", "m::u"]
    assert [one.case.category for one in found.trials()] == ["a", "b", "b"]


def test_testsuites_in_each_other_count_together(tmp_path):
    inner = suite(one_case("t"), name="inner", tests=1)
    found = attempts(written(tmp_path, suite(inner, one_case("u"), tests=2)))
    assert [key[0] for key in found] == ["m::t", "m::u"]


def test_a_name_that_has_its_class_is_not_doubled(tmp_path):
    """As jest writes it."""
    path = written(tmp_path, suite(one_case("rates add up", classname="rates")))
    assert [key[0] for key in attempts(path)] == ["rates add up"]


def test_times_and_properties_that_are_none_are_unknown(tmp_path):
    odd = '<properties><property name="p" value="nan"/><property name="q" value="x"/></properties>'
    for time in ("x", "-1", "inf"):
        found = attempt(tmp_path, odd, time=time)
        assert (found.latency_ms, found.scores["junit"].values) == (None, {})
    assert attempt(tmp_path, "", time="1,000.5").latency_ms == 1000500.0


def test_what_contradicts_itself_is_refused(tmp_path):
    path = written(tmp_path, suite(one_case("t"), tests=3, failures=1))
    message = faults(path)
    assert "tests.xml:1: says tests=3, but has 1 test cases - part of the file" in message
    assert "says that 1 tests failed, but none of its test cases did" in message
    for counts in ({"errors": 1}, {"failures": 1}):  # tools differ in which of them it is
        assert Importer().read(written(tmp_path, suite(one_case("t", "<error/>"), **counts)))
        assert "that 1 tests failed" in faults(written(tmp_path, suite(one_case("t"), **counts)))


BOMB = '<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><testsuites>'
FILE = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><testsuites>'


@pytest.mark.parametrize("start", [BOMB, FILE, '<!DOCTYPE a SYSTEM "http://h/a.dtd"><testsuites>'])
def test_a_dtd_is_refused_where_it_begins(tmp_path, start):
    path = written(tmp_path, suite(one_case("t", "<failure>&b;&c;</failure>")), start=start)
    assert faults(path).startswith("tests.xml:1: has a DTD")
    assert not Importer.recognises(look(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cut off in the middle"),
        ("<testsuites><testsuite>", "cut off in the middle"),
        ("<testsuites>\n</testsuite>", ":2: no XML: mismatched tag"),
        ("<html/>", "the root element is <html> - in JUnit XML it is <testsuites> or <testsuite>"),
        ("<testsuite><testcase/></testsuite>", "a testcase has no name"),
        ("<testsuites>&nbsp;</testsuites>", "no XML: undefined entity"),
        ('<?xml version="1.0" encoding="no-such"?><testsuite/>', "use UTF-8"),
        ("<testsuites>" + "<a>" * DEEPEST, "nested too deeply"),
    ],
)
def test_what_is_no_junit_is_refused_with_its_line(tmp_path, text, message):
    (tmp_path / "tests.xml").write_text(text)
    assert message in faults(tmp_path / "tests.xml")


def test_a_tag_without_an_end_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "tests.xml"
    with path.open("w") as file:
        file.write('<testsuites><testsuite name="')
        for _ in range(6):
            file.write("x" * (1 << 20))
    assert "a tag of more than 4 MB" in faults(path)


def test_of_a_long_text_its_beginning_is_kept(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(f"<a>{'x' * 200_000}<b/>y</a>")
    assert [one.text for one in steps(path, keep=10) if isinstance(one, End)] == ["", "x" * 10]


def test_a_file_without_a_test_that_ran_is_refused(tmp_path):
    path = written(tmp_path, suite(one_case("t", "<skipped/>")))
    assert "has no test that ran" in faults(path, UsageError)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.txt").touch()
    assert "has no XML file; give" in faults(tmp_path / "logs", UsageError)
    assert not Importer.recognises(look(tmp_path)), "a file and a folder"
