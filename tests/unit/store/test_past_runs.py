"""Runs read from sessions and baseline files: what is left out is told, what is named must be
readable.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.store.baseline.file import BaselineFile, parse, render
from gate.store.baseline.pool import accept, starts_anew
from gate.store.baseline.sources.file import session_baseline
from gate.store.past_runs import read_past_runs
from gate.store.session import load_session
from tests.support.main_nights import SUCCESS, Main
from tests.support.stored_session import store

MODES = [{"mode": "loop", "trials": 2, "cases": 1}]


def with_report(session: Path, **changes: object) -> Path:
    path = session / "summary.json"
    summary = json.loads(path.read_text("utf-8"))
    summary["suites"]["analytics"] |= changes
    path.write_text(json.dumps(summary), encoding="utf-8")
    return session


def saved(session: Path, onto: BaselineFile | None = None) -> BaselineFile:
    return session_baseline(load_session(session), "analytics", onto=onto)


def test_a_folder_of_sessions_has_their_runs(tmp_path: Path) -> None:
    with_report(store(tmp_path, {"a": [True, False]}), modes=MODES)
    store(tmp_path, {"a": [True, True]}, number=2)
    past = read_past_runs([tmp_path])
    (chain,) = past.chains
    assert (chain.suite, chain.source, past.notes) == ("analytics", str(tmp_path), ())
    assert [(run.cases, run.rounds, run.trials, run.modes) for run in chain.runs] == [
        (1, 2, 2, {"loop": 1}),
        (1, 2, 2, {}),
    ]


def test_the_chain_of_a_baseline_file_has_the_same_runs_as_its_sessions(tmp_path: Path) -> None:
    one = with_report(store(tmp_path, {"a": [True, False]}), modes=MODES)
    two = store(tmp_path, {"a": [True, True]}, number=2)
    file = tmp_path / "kept" / "analytics.json"
    file.parent.mkdir()
    file.write_text(render(saved(two, saved(one))), encoding="utf-8")
    for path in (file, file.parent):
        (of_file,) = read_past_runs([path]).chains
        (of_sessions,) = read_past_runs([one, two]).chains
        told = [(r.session_id, r.cases, r.rounds, r.trials, r.modes) for r in of_file.runs]
        assert told == [
            (r.session_id, r.cases, r.rounds, r.trials, r.modes) for r in of_sessions.runs
        ]


def test_rounds_of_cases_are_the_same_from_a_baseline_file_and_its_sessions(tmp_path: Path) -> None:
    one = store(tmp_path, {"a": [True, False], "b": [True, True]})
    two = store(tmp_path, {"a": [False, False], "b": [True, True]}, number=2)
    file = tmp_path / "analytics.json"
    pool = session_baseline(load_session(two), "analytics", onto=saved(one), keep_rounds=4)
    file.write_text(render(pool), encoding="utf-8")
    for paths in ([file], [one, two]):
        (chain,) = read_past_runs(paths).chains
        found = [chain.details[run.session_id].read_cases() for run in chain.runs]
        assert found == [{"a": (1, 2), "b": (2, 2)}, {"a": (0, 2), "b": (2, 2)}]
        assert chain.specs.keys() == {"agent.success_rate"}


def test_a_session_tells_more_of_a_run_than_a_baseline_file(tmp_path: Path) -> None:
    session = store(tmp_path, {"a": [True]}, run_id="7")
    file = tmp_path / "analytics.json"
    file.write_text(render(saved(session)), encoding="utf-8")
    for paths in ([file, session], [session, file]):
        (chain,) = read_past_runs(paths).chains
        (detail,) = chain.details.values()
        assert detail.provenance
        assert detail.provenance.run_id == "7"


def test_damaged_rows_are_no_rounds(tmp_path: Path) -> None:
    session = store(tmp_path, {"a": [True]})
    (session / "details.jsonl").write_text('{"case_id": 1}\n')
    (chain,) = read_past_runs([session]).chains
    assert [detail.read_cases() for detail in chain.details.values()] == [{}]


def test_a_run_that_is_found_twice_counts_once(tmp_path: Path) -> None:
    session = with_report(store(tmp_path, {"a": [True, False]}), modes=MODES)
    file = tmp_path / "analytics.json"
    text = render(saved(session)).replace(', "modes": {"loop": 1}', "")
    file.write_text(text, encoding="utf-8")
    (chain,) = read_past_runs([file, session]).chains
    assert [run.modes for run in chain.runs] == [{"loop": 1}], "the session knows more"
    assert chain.source == f"{file}, {session}"


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (lambda s: (s / "meta.json").write_text("{"), "not readable"),
        (lambda s: (s / "meta.json").unlink(), "not a session folder"),
        (lambda s: (s / "summary.json").write_text('{"a": 1}'), "not a session of this version"),
        (lambda s: (s / "summary.json").unlink(), "the run did not finish"),
        (lambda s: with_report(s, outcome="error"), "'analytics' ended in an error"),
    ],
)
def test_a_broken_session_is_left_out_and_named(tmp_path: Path, broken, why: str) -> None:
    store(tmp_path, {"a": [True]})
    bad = store(tmp_path, {"a": [False]}, number=2)
    broken(bad)
    past = read_past_runs([tmp_path])
    assert [len(chain.runs) for chain in past.chains] == [1]
    (note,) = past.notes
    assert str(bad) in note
    assert why in note


def test_a_suite_that_the_report_lacks_is_named(tmp_path: Path) -> None:
    session = store(tmp_path, {"a": [True]})
    summary = json.loads((session / "summary.json").read_text("utf-8"))
    (session / "summary.json").write_text(json.dumps({**summary, "suites": {}}), encoding="utf-8")
    past = read_past_runs([tmp_path])
    assert past.chains == ()
    assert past.notes == (f"left out: {session}: its report has no suite 'analytics'",)


def test_a_shard_is_no_run(tmp_path: Path) -> None:
    session = store(tmp_path, {"a": [True]})
    meta = json.loads((session / "meta.json").read_text("utf-8"))
    (session / "meta.json").write_text(json.dumps({**meta, "options": {"shard": [1, 2]}}))
    past = read_past_runs([tmp_path])
    assert past.chains == ()
    assert "a part of the cases (--shard)" in past.notes[0]


def test_beside_sessions_a_folders_other_files_are_not_read(tmp_path: Path) -> None:
    store(tmp_path, {"a": [True]})
    (tmp_path / "notes.json").write_text("not a baseline")
    (chain,) = read_past_runs([tmp_path]).chains
    assert len(chain.runs) == 1


def test_a_folder_without_sessions_has_no_history(tmp_path: Path) -> None:
    assert read_past_runs([tmp_path]).chains == ()


@pytest.mark.parametrize("name", ["nowhere", "no.json"])
def test_what_is_named_must_be_readable(tmp_path: Path, name: str) -> None:
    (tmp_path / "no.json").write_text("not JSON")
    with pytest.raises(UsageError, match=name):
        read_past_runs([tmp_path / name])


# ------------------------------------------------------------------- what a baseline file keeps


def old_file(tmp_path: Path) -> str:
    """As a version without modes and trials wrote it."""
    text = render(saved(store(tmp_path, {"a": [True, False]})))
    return text.replace(', "trials": 2', "")


def test_a_file_of_an_older_version_loads_and_keeps_its_bytes(tmp_path: Path) -> None:
    text = old_file(tmp_path)
    assert "modes" not in text
    assert "trials" not in text
    old = parse(text.encode(), "x")
    assert (old.runs[0].modes, old.runs[0].trials) == (None, None)
    assert render(old) == text


def test_consent_in_a_file_of_an_older_version_still_counts(tmp_path: Path) -> None:
    old = parse(old_file(tmp_path).encode(), "x")
    meant = accept(old, who="ana", when="2026-11-20T00:00:00Z", why="meant")
    assert starts_anew(parse(render(meant).encode(), "x"))


def test_modes_survive_the_file_in_their_order(tmp_path: Path) -> None:
    modes = [{"mode": mode, "trials": 2, "cases": 1} for mode in ("wrong_tool", "loop", "format")]
    session = with_report(store(tmp_path, {"a": [True, False]}), modes=modes)
    again = parse(render(saved(session)).encode(), "x")
    assert list((again.runs[0].modes or {}).items()) == [
        ("wrong_tool", 1),
        ("loop", 1),
        ("format", 1),
    ]


@pytest.mark.parametrize(
    "modes", ['{"loop": -1}', '{"loop": 1.5}', '{"<b>": 1}', '{"loop": "1"}', "[]", '{"a": null}']
)
def test_modes_that_no_run_has_are_refused(tmp_path: Path, modes: str) -> None:
    session = with_report(store(tmp_path, {"a": [True, False]}), modes=MODES)
    text = render(saved(session)).replace('{"loop": 1}', modes)
    with pytest.raises(UsageError, match="modes"):
        parse(text.encode(), "x.json")


def test_a_baseline_tells_its_anchor_and_what_main_has_lost(tmp_path: Path) -> None:
    main = Main()
    main.run(times=5)
    main.run(0.2, times=2)
    file = tmp_path / "demo.json"
    file.write_text(render(main.file()), encoding="utf-8")
    found = read_past_runs([file])
    (chain,) = found.chains
    assert chain.anchor[SUCCESS.name] == pytest.approx(main.chances.mean(), abs=0.03)
    assert chain.anchor_name == "its first 5 runs up to 2026-01-05"
    told = "agent.success_rate has fallen below main's anchor, first seen on 2026-01-07"
    assert told in found.notes
