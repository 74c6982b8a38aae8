"""Declared calls, what they are called, and whether a log holds them."""

import pytest

from gate.graders.openagent_rules.declared import (
    MOST,
    canonical_name,
    is_same_family,
    is_same_tool,
    list_declared_calls,
    list_observed_calls,
    list_unmatched,
)
from gate.graders.openagent_rules.requirements import is_there, names_path
from gate.records import LoggedCall


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("web_search", "web_search"),
        (" Web-Search ", "web_search"),
        ("functions.web-search", "web_search"),
        ("a.b.Shell", "shell"),
        ("search-mcp__web_search", "search_mcp__web_search"),
        ("ends with a dot.", ""),
        ("  ", ""),
        ("\x1b[31mshell\x1b[0m", "shell"),
    ],
)
def test_a_name_in_one_spelling(written, name):
    assert canonical_name(written) == name


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("web_search", "web_search", True),
        ("search_mcp__web_search", "web_search", True),
        ("web_search", "search_mcp__web_search", True),
        ("a__web_search", "b__web_search", False),
        ("a__b__web_search", "web_search", False),
        ("a__b__c", "b", False),
        ("__web_search", "web_search", False),
        ("web_search", "web_fetch", False),
        ("browser_use_open", "browser_use_click", False),
    ],
)
def test_a_plain_name_is_the_tool_of_any_server(one, other, same):
    assert is_same_tool(one, other) is same


def test_in_a_family_any_call_of_a_browser_stands_for_each():
    assert is_same_family("browser_use_open", "browser_use_click")
    assert is_same_family("local_text_write", "local_special_dirs")
    assert not is_same_family("browser_use_open", "local_text_write")
    assert not is_same_family("web_search", "web_fetch")


def names(answer):
    return [call.name for call in list_declared_calls(answer)]


def test_calls_stand_in_either_list_under_any_of_three_keys():
    answer = {
        "evidence": {"tool_calls": [{"name": "web-search"}, {"tool": "mcp.Shell"}]},
        "tool_calls": [{"type": "function", "function": {"name": "web_fetch"}}],
    }
    assert names(answer) == ["web_search", "shell", "web_fetch"]


def test_an_entry_goes_by_every_name_it_gives():
    (call,) = list_declared_calls({"tool_calls": [{"name": "call-1", "tool": "web_search"}]})
    assert call.names == ("call_1", "web_search")


def test_a_call_that_both_lists_tell_is_one_call():
    """Else an honest answer in two shapes would declare twice what ran once."""
    shell = {"name": "shell", "arguments": {"cmd": "ls", "n": 1}}
    same = {"function": {"name": "shell", "arguments": '{"n": 1, "cmd": "ls"}'}}
    other = {"name": "shell", "arguments": {"cmd": "pwd"}}
    assert names({"evidence": {"tool_calls": [shell]}, "tool_calls": [same]}) == ["shell"]
    assert names({"evidence": {"tool_calls": [shell]}, "tool_calls": [other]}) == ["shell"] * 2
    assert names({"evidence": {"tool_calls": [shell, shell]}}) == ["shell"] * 2


@pytest.mark.parametrize("brief", [{"name": "shell"}, {"tool": "os__shell"}])
def test_a_list_that_is_brief_about_a_call_tells_no_other_one(brief):
    full, other = ({"name": "shell", "arguments": {"cmd": cmd}} for cmd in ("ls", "pwd"))
    assert names({"evidence": {"tool_calls": [brief]}, "tool_calls": [full]}) == [
        next(iter(brief.values()))
    ]
    assert names({"evidence": {"tool_calls": [full]}, "tool_calls": [brief]}) == ["shell"]
    both = {"evidence": {"tool_calls": [brief, full]}, "tool_calls": [full, brief, other]}
    assert len(names(both)) == 3


def test_calls_of_two_servers_are_two():
    lists = {
        "evidence": {"tool_calls": [{"name": "a__fetch"}]},
        "tool_calls": [{"name": "b__fetch"}],
    }
    assert names(lists) == ["a__fetch", "b__fetch"]


@pytest.mark.parametrize("key", ["args", "input", "parameters"])
def test_arguments_go_by_several_names(key):
    calls = [{"name": "shell", "arguments": {"n": 1}}], [{"name": "shell", key: {"n": 2}}]
    assert names({"evidence": {"tool_calls": calls[0]}, "tool_calls": calls[1]}) == ["shell"] * 2


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        "x",
        {"evidence": []},
        {"evidence": {"tool_calls": {"name": "shell"}}},
        {"tool_calls": ["shell", 1, None, [], {}, {"name": 3}, {"function": "shell"}]},
        {"tool_calls": [{"name": " "}, {"function": {"name": None}}]},
    ],
)
def test_what_is_no_call_is_none(answer):
    assert list_declared_calls(answer) == ()


def test_a_flood_of_calls_is_cut():
    assert (
        len(list_declared_calls({"tool_calls": [{"name": f"t{n}"} for n in range(9_000)]})) == MOST
    )


def test_names_are_paired_one_to_one():
    assert list_unmatched(["web_fetch", "web_fetch"], ["web_fetch"]) == ("web_fetch",)
    assert list_unmatched(["fetch", "shell"], ["mcp__fetch", "shell"]) == ()
    assert list_unmatched(["a__fetch", "fetch"], ["fetch", "b__fetch"]) == ()
    assert list_unmatched(["a__fetch"], ["b__fetch"]) == ("a__fetch",)


def logged(*calls):
    return list_observed_calls(LoggedCall(name=name, log=log) for name, log in calls)


def test_a_call_in_two_logs_ran_once():
    both = [("fetch", "audit"), ("mcp__fetch", "console"), ("shell", "console")]
    assert logged(*both) == ("fetch", "shell")
    assert logged(("shell", "console"), ("shell", "console")) == ("shell", "shell")


WANTED = "./scratch/fi2_draft.md"


@pytest.mark.parametrize(
    "text",
    [
        "./scratch/fi2_draft.md",
        "scratch/fi2_draft.md",
        "/runs/session-1/scratch/FI-2/1/fi2_draft.md",
        r"C:\My Runs\session-1\scratch\fi2_draft.md",
        "cat > ./scratch/fi2_draft.md <<EOF",
        '{"path": "./scratch/fi2_draft.md", "overwrite": true}',
        "It is in scratch/fi2_draft.md.",
    ],
)
def test_a_path_is_named_wherever_scratch_was_moved_to(text):
    assert names_path([text], WANTED)


@pytest.mark.parametrize(
    "text",
    ["", "fi2_draft.md", "/tmp/fi2_draft.md", "scratch/fi2_draft.md.bak", "./scratch/"],
)
def test_another_path_is_not_it(text):
    assert not names_path([text], WANTED)


def test_a_path_elsewhere_is_named_as_it_is():
    assert names_path(["./scratch/my note.md"], "./scratch/my note.md")
    assert not names_path(["scratch/a.md"], "./out/a.md")
    assert not names_path(["a"], "./")


def test_files_tell_of_scratch_only():
    assert is_there(["fi2_draft.md"], WANTED) is True
    assert is_there([r"scratch\fi2_draft.md"], WANTED) is True
    assert is_there([], WANTED) is False
    assert is_there(["a.md"], "./out/a.md") is None
