import re

from gate.report.session_page.joined_script import MODULES, join_script

KILOBYTES = 60


def test_the_modules_become_one_script():
    script = join_script()
    assert not re.search(r"^(import|export)\b", script, re.M)
    assert len(script.encode()) <= KILOBYTES * 1000


def test_no_name_stands_in_two_modules():
    """They share one scope."""
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", join_script(), re.M)
    assert sorted(names) == sorted(set(names))
    assert len(names) > len(MODULES)


def test_nothing_of_it_reads_text_as_html():
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", join_script()
    )
