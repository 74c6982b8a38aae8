"""A name that was copied from a report is found."""

import pytest

from gate.text.escaping import inline, one_line
from gate.text.pasted import find_pasted


@pytest.mark.parametrize("name", ["a\u200bb", "\x1b[31mx", "a  b", "x\u202ey", "⟨ZWSP⟩", "é"])
def test_a_name_is_found_as_it_is_and_as_it_is_shown(name):
    known = ["a", "ab", name, "x"]
    assert find_pasted([name], known) == {name}
    assert find_pasted([one_line(name)], known) == {name}


def test_what_is_a_name_stands_for_no_other():
    assert find_pasted(["a⟨ZWSP⟩b"], ["a\u200bb", "a⟨ZWSP⟩b"]) == {"a⟨ZWSP⟩b"}
    assert find_pasted(["a b"], ["a b", "a  b"]) == {"a b"}
    assert find_pasted(["c", "a"], ["a", "b"]) == {"a"}


def test_what_keeps_github_from_making_links_is_not_part_of_a_name():
    copied = inline("deadbeef1@x").replace("&#8203;", "\u200b")
    assert find_pasted([copied], ["deadbeef1@x", "deadbeef"]) == {"deadbeef1@x"}
