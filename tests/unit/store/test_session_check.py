"""A session may come from a fork: what it says is checked before it is used."""

import json
import re

import pytest

from gate.commands import compare, report
from gate.commands.options.all import parse
from gate.errors import UsageError
from gate.store.session import load_session
from gate.store.session_check import check_names, check_rows
from tests.support.stored_session import store

NAMES = ["../../up", "/etc", "a/b", "..", ".git", "", "a\\b", "a\nb", "CON:", "\u202ex"]


def rewrite(path, change):
    data = json.loads(path.read_text("utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def renamed(key):
    def change(data):
        data["suites"] = {key: {**data["suites"].pop("analytics"), "name": key}}

    return change


@pytest.mark.parametrize("name", NAMES)
def test_a_suite_never_leads_out_of_the_session(tmp_path, name):
    session = store(tmp_path / "s", {"a": [True]})
    rewrite(session / "summary.json", renamed(name))
    before = sorted(path for path in tmp_path.rglob("*") if path.name != ".lock")
    with pytest.raises(UsageError, match="not a suite name"):
        load_session(session)
    assert sorted(path for path in tmp_path.rglob("*") if path.name != ".lock") == before
    with pytest.raises(UsageError, match="not a suite name"):
        check_names([name], tmp_path)


def test_a_meta_with_such_a_name_is_refused_too(tmp_path):
    session = store(tmp_path, {"a": [True]})

    def change(data):
        data["suites"] = {"../up": data["suites"].pop("analytics")}

    rewrite(session / "meta.json", change)
    with pytest.raises(UsageError, match="not a suite name"):
        load_session(session)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("reason"),
        lambda data: data.update(outcome="fine"),
        lambda data: data.update(exit_code="0"),
        lambda data: data.update(suites=[]),
        lambda data: data.update(more=1),
        lambda data: data["suites"]["analytics"].update(metrics=None),
    ],
)
def test_a_summary_of_another_form_is_refused_with_its_place(tmp_path, change):
    session = store(tmp_path, {"a": [True]})
    rewrite(session / "summary.json", change)
    with pytest.raises(UsageError, match=r"summary\.json: .*not a session of this version"):
        load_session(session)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\ufeff"])
def test_a_summary_that_is_no_json_is_refused(tmp_path, text):
    session = store(tmp_path, {"a": [True]})
    (session / "summary.json").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"not readable|not a session"):
        load_session(session)


ROWS = {
    "scores.x": {"scores": {"x": "high"}},
    "scores.y": {"scores": {"y": 1e300}},
    "latency_ms": {"latency_ms": 10**400},
    "round": {"round": "first"},
    "attempts": {"attempts": None},
    "no suite": {"suite": "other"},
    "more": {"more": 1},
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("command", [report, compare])
def test_rows_that_no_run_would_write_are_told_with_their_place(tmp_path, name, command):
    session = store(tmp_path / "s", {"a": [True], "b": [False]})
    details = session / "details.jsonl"
    first, second = details.read_text("utf-8").splitlines()
    details.write_text(first + "\n" + json.dumps({**json.loads(second), **ROWS[name]}) + "\n")
    argv = ["report", session] if command is report else ["compare", session, session]
    with pytest.raises(UsageError, match=rf"trial 2: .*{name}"):
        command.run(parse([str(part) for part in argv]), {})


def test_rows_of_a_real_session_are_the_same_rows(tmp_path):
    session = load_session(store(tmp_path, {"a": [True, False]}))
    assert list(check_rows(session.rows(), ["analytics"], tmp_path)) == list(session.rows())


@pytest.mark.parametrize("word", ["NaN", "Infinity", "1e999"])
def test_a_row_with_a_number_that_is_none_is_refused(tmp_path, word):
    session = load_session(store(tmp_path, {"a": [True]}))
    details = session.folder / "details.jsonl"
    text = details.read_text("utf-8")
    assert '"latency_ms":' in text
    details.write_text(re.sub(r'"latency_ms": ?[^,]+', f'"latency_ms":{word}', text))
    with pytest.raises(UsageError, match="latency_ms"):
        list(check_rows(session.rows(), ["analytics"], tmp_path))
