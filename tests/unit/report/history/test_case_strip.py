import re

from gate.records.history import CaseCourse, CaseCourses
from gate.report.history.case_strip import draw_strip
from tests.support.long_history import long_history

RUNS = long_history(3).suites[0].runs


def strip(*cases: CaseCourse, **known: int) -> str:
    courses = CaseCourses(**{"runs": 3, "cases": cases, "steady": 4, **known})
    return draw_strip(courses, RUNS, "s")


def test_a_cell_says_how_many_rounds_passed_and_has_a_kind():
    text = strip(CaseCourse(case_id="a", rounds=((0, 3), (2, 3), None)))
    cells = re.findall(r'<td class="(\w+)">([^<]*)<', text)
    assert cells == [("no", "0/3"), ("most", "2/3"), ("none", "–")]
    assert text.count('<th scope="col"') == 1 + 3
    assert '<th scope="row"><code>a</code>' in text


def test_what_is_not_listed_is_said():
    text = strip(CaseCourse(case_id="a", rounds=((1, 3),)), left_out=7, runs=1)
    assert "4 cases never failed and are not listed" in text
    assert "7 more cases failed in these runs: only the 1 worst" in text
    assert "Only the newest 1 runs are shown" in text


def test_where_nothing_failed_there_is_no_table():
    assert "<table" not in strip()


def test_a_hostile_id_is_text():
    text = strip(CaseCourse(case_id="<img src=x>\x1b\u202e\x00", rounds=(None, None, None)))
    assert "<img" not in text
    assert "&lt;img src=x&gt;␛⟨U+202E⟩␀" in text
