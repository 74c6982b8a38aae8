"""The list of sessions: what it says, what it leaves out, and what it does not read again."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gate.store.session_list import list_sessions
from tests.support.stored_session import store


def edit(file: Path, change: object) -> None:
    data = json.loads(file.read_text("utf-8"))
    change(data)
    file.write_text(json.dumps(data), encoding="utf-8")


def test_the_newest_comes_first_with_its_numbers(tmp_path: Path) -> None:
    store(tmp_path, {"a": [True]})
    newest = store(tmp_path, {"a": [True], "b": [False]}, number=2, pull_request=7)
    (newest / "report.html").write_text("")

    def known(summary: dict) -> None:
        summary["suites"]["analytics"]["counts"] = {
            "asked": 2,
            "passing": 1,
            "flaky": 0,
            "failing": 1,
        }
        summary |= {"cost": {**summary["cost"], "usd": 0.25}, "created_at": "2027-11-19T13:00:00Z"}

    edit(newest / "summary.json", known)
    first, second = list_sessions(tmp_path, ())
    assert (first.folder, first.suites, first.cases, first.failed) == (
        newest.name,
        ("analytics",),
        2,
        1,
    )
    assert (first.success_rate, first.cost_usd, first.pull_request) == (0.5, 0.25, 7)
    assert (first.has_page, second.has_page, second.failed) == (True, False, None)


def test_what_is_known_is_not_read_again(tmp_path: Path) -> None:
    session = store(tmp_path, {"a": [True]})
    (known,) = list_sessions(tmp_path, ())
    for name in ("summary.json", "meta.json"):
        os.truncate(session / name, 0)  # whoever opens it finds nothing
    os.utime(session / "summary.json")
    assert list_sessions(tmp_path, (known,)) == (), "another stamp: read again, and damaged"
    stamp = (session / "summary.json").lstat()
    same = replace(known, stamp=f"{stamp.st_mtime_ns}-{stamp.st_size}")
    assert list_sessions(tmp_path, (same,)) == (same,)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda s: (s / "summary.json").unlink(),
        lambda s: (s / "summary.json").write_text("{"),
        lambda s: (s / "summary.json").write_text("[]"),
        lambda s: (s / "meta.json").write_text("{}"),
        lambda s: edit(s / "summary.json", lambda d: d.update(outcome="<b>")),
        lambda s: edit(s / "summary.json", lambda d: d.update(duration_s="long")),
        lambda s: edit(s / "summary.json", lambda d: d.update(duration_s=10**400)),
        lambda s: edit(s / "summary.json", lambda d: d["suites"].update(analytics=None)),
        lambda s: edit(s / "meta.json", lambda d: d["options"].update(case=["a"])),
        lambda s: edit(s / "meta.json", lambda d: d["options"].update(shard="1/2")),
        lambda s: s.rename(s.with_name("session-<b>")),
        lambda s: s.rename(s.with_name("other")),
    ],
)
def test_what_is_damaged_or_no_whole_run_is_left_out(tmp_path: Path, spoil: object) -> None:
    store(tmp_path, {"a": [True]})
    spoil(store(tmp_path, {"a": [True]}, number=2))
    assert [one.folder for one in list_sessions(tmp_path, ())] == [
        "session-20261119-120001-0123abcd"
    ]


def test_a_link_to_a_session_is_none(tmp_path: Path) -> None:
    session = store(tmp_path / "elsewhere", {"a": [True]})
    (tmp_path / "session-linked").symlink_to(session)
    assert list_sessions(tmp_path, ()) == ()
