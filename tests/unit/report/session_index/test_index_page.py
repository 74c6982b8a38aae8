"""The list of sessions as a page: hostile texts, and what it carries for the next session."""

import re

from gate.records.session_list import SessionEntry
from gate.report.page_script import join_modules
from gate.report.session_index.page import MODULES, read_entries, render

HOSTILE = "</script><script>x</script><img src=x>\x1b[31m\u202e\x00\ud800"
KILOBYTES = 25


def entry(**changes: object) -> SessionEntry:
    known = {
        "folder": "session-20261119-120001-0123abcd",
        "stamp": "1-2",
        "created_at": "2026-11-19T12:00:01.123Z",
        "outcome": "fail",
        "suites": ("analytics",),
        "cases": 1_200,
        "failed": 33,
        "success_rate": 0.871,
        "cost_usd": 0.0123,
        "duration_s": 725.4,
        "commit": "0123456789abcdef",
        "pull_request": 12,
        "has_page": True,
    }
    return SessionEntry(**{**known, **changes})


def cells(page: str) -> list[str]:
    return re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", page.split("<tbody>")[1])


def test_a_row_has_what_a_reader_chooses_by():
    shown = [re.sub(r"<[^>]*>", "", cell) for cell in cells(render([entry()]))]
    assert shown == [
        "",
        "2026-11-19 12:00:01",
        "✗ fail",
        "analytics",
        "1,200",
        "33",
        "0.87",
        "$0.012",
        "12 min 05 s",
        "0123456, #12",
    ]


def test_what_is_unknown_is_a_dash_and_without_a_page_there_is_no_link():
    bare = entry(failed=None, success_rate=None, cost_usd=None, commit=None, pull_request=None)
    assert [re.sub(r"<[^>]*>", "", one) for one in cells(render([bare]))[5:8]] == ["–"] * 3
    assert "href" not in render([entry(has_page=False)]).split("<tbody>")[1].split("</tbody>")[0]


def test_a_page_says_again_what_it_was_made_of():
    entries = (entry(), entry(folder="session-x", suites=(HOSTILE,), commit=HOSTILE))
    assert read_entries(render(entries)) == entries
    assert read_entries("<html>mine</html>") is None


def test_what_is_broken_in_a_page_is_left_out():
    page = render([entry()])
    block = re.search(r'id="known">(.*?)</script>', page)[1]
    for broken in (block[:-8], "AAAA", "", block[::-1]):
        assert read_entries(page.replace(block, broken)) in ((), None)


def test_hostile_texts_are_text():
    page = render([entry(suites=(HOSTILE,), commit=HOSTILE, created_at=HOSTILE)])
    assert "<img" not in page
    assert page.count("<script") == 2
    assert "␛[31m⟨U+202E⟩␀" in page


def test_no_session_is_said():
    assert "No session here came to a verdict" in render([])


def test_the_script_is_small_and_reads_no_text_as_html():
    script = join_modules(MODULES)
    assert len(script.encode()) <= KILOBYTES * 1000
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script)
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", script, re.M)
    assert sorted(names) == sorted(set(names))
