import json
from datetime import UTC, datetime

import pytest

from gate.analysis.table import tabulate
from gate.errors import InvalidInput, UsageError
from gate.store.baseline.file import parse, render
from gate.store.baseline.pool import append
from gate.store.baseline.sources.file import run_of, session_baseline
from gate.store.measurements import load
from gate.store.session import load_session
from tests.support.stored_session import store

NOW = datetime(2026, 11, 20, 12, 0, 1, tzinfo=UTC)
MIXED = {f"c{n:02d}": [n % 3 > 0, True] for n in range(12)}


def baseline(folder, *sessions):
    """The file that `gate baseline save` makes of these sessions, one after the other."""
    made = None
    for path in sessions:
        made = session_baseline(load_session(path), "analytics", onto=made, keep_rounds=15)
    file = folder / "analytics.json"
    file.write_text(render(made))
    return file


def test_a_session_is_its_rows(tmp_path):
    stored = load(store(tmp_path, MIXED), NOW)
    suite = stored.suites["analytics"]
    assert suite.table.cases == tuple(MIXED)
    assert suite.table.column("success").sum() == 20
    assert (suite.tally.trials, suite.tally.calls) == (24, 24)
    assert (suite.info.source, suite.info.age_days, suite.info.rounds) == ("session", 1.0, 2)
    assert suite.facts["agent"] == "openai m"
    assert suite.facts["dataset"] == "dd"
    found = stored.rows_of("analytics", frozenset({"c01"}))
    assert [(row["case_id"], row["round"]) for row in found] == [("c01", 1), ("c01", 2)]
    assert list(stored.rows_of("other", frozenset({"c01"}))) == []


def test_failures_of_a_session_from_before_there_were_modes_have_one(tmp_path):
    suite = load(store(tmp_path, MIXED), NOW).suites["analytics"]
    (mode,) = suite.tally.failures.modes()
    assert (mode.mode, mode.trials, mode.cases) == ("wrong_answer", 4, 4)


def test_a_cut_off_session_is_read_as_far_as_it_goes(tmp_path):
    folder = store(tmp_path, MIXED, finished=False)
    (folder / "details.jsonl").unlink()
    log = folder / "events.jsonl"
    log.write_bytes(log.read_bytes()[:-40])
    assert load(folder, NOW).suites["analytics"].tally.trials == 23


def test_a_baseline_file_and_a_folder_of_them_say_the_same_as_the_session(tmp_path):
    folder = store(tmp_path / "s", MIXED)
    file = baseline(tmp_path, folder)
    for path in (file, tmp_path):
        if path.is_dir():
            path = path / "only"
            path.mkdir()
            file.rename(path / file.name)
        suite = load(path, NOW).suites["analytics"]
        assert suite.table.cases == tuple(MIXED)
        assert suite.table.column("success").sum() == 20
        assert suite.info.source == "file"
        assert suite.info.rounds == 2
        assert suite.facts == load(folder, NOW).suites["analytics"].facts
        assert list(load(path, NOW).rows_of("analytics", frozenset(MIXED))) == []


def test_runs_that_differ_are_left_out_as_in_a_run(tmp_path):
    bad = store(tmp_path / "1", {case: [False] * 6 for case in MIXED}, number=1)
    good = store(tmp_path / "2", {case: [True] * 6 for case in MIXED}, number=2)
    suite = load(baseline(tmp_path, bad, good), NOW).suites["analytics"]
    assert suite.table.rounds == suite.info.rounds == 6
    assert suite.info.runs == 1
    assert "differs by −100.0 pt from the newer runs" in suite.info.pooling[0]
    assert suite.table.column("success").min() == 1.0


def test_a_file_has_the_session_effect_of_its_runs(tmp_path):
    runs = [
        store(tmp_path / str(n), {f"c{i:03d}": [i >= failed] * 2 for i in range(100)}, number=n)
        for n, failed in enumerate((10, 40, 5, 45, 20))
    ]
    suite = load(baseline(tmp_path, *runs), NOW).suites["analytics"]
    assert suite.drift["agent.success_rate"] > 0.01
    assert load(runs[0], NOW).suites["analytics"].drift == {}


def test_a_file_without_runs_has_no_age(tmp_path):
    session = load_session(store(tmp_path / "s", MIXED))
    meta = session.meta.suites["analytics"]
    table = tabulate("analytics", session.rows(), meta.specs, meta.graders)
    text = render(append(None, table, run_of(session, "analytics"), keep_rounds=9))
    assert parse(text.encode(), "x").runs[0].session_id == session.meta.session_id
    data = json.loads(text)
    data["runs"], data["cases"] = [], []
    (tmp_path / "empty.json").write_text(json.dumps(data))
    suite = load(tmp_path / "empty.json", NOW).suites["analytics"]
    assert (suite.info.age_days, suite.info.commit, suite.table.cases) == (None, None, ())


def test_what_is_neither_is_told(tmp_path):
    with pytest.raises(UsageError, match="neither a session folder nor a folder of baseline"):
        load(tmp_path, NOW)
    with pytest.raises(UsageError, match=r"nowhere.*give a session or a baseline file"):
        load(tmp_path / "nowhere", NOW)
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(InvalidInput, match=r"x\.json"):
        load(tmp_path / "x.json", NOW)
