from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from gate.errors import UsageError
from gate.records import BaselineRules, Provenance
from gate.store.baseline.file import BaselineFile, parse, render
from gate.store.baseline.find import age_days, differences, find
from gate.store.baseline.source_order import BaselineContext
from gate.store.baseline.sources.file import session_baseline
from gate.store.session import load_session
from tests.support.main_runs import passes, past
from tests.support.stored_session import store

NOW = datetime(2026, 11, 29, 12, 0, 1, tzinfo=UTC)
MADE = Provenance(agent="openai m", agent_digest="a1", config_digest="c1", tool_version="0.1.0")


def look(root, source, now=MADE, suite="analytics", **changes):
    rules = BaselineRules(**{"source": source, **changes})
    place = BaselineContext(root=root, forge=None, base_sha=None, now=NOW)
    return find(suite, "dd", rules, place, now)


@pytest.fixture
def root(tmp_path):
    """Holds session `s` and the baseline that two like it make, in `baselines/`."""
    sessions = [
        store(
            tmp_path / "results",
            {"a": [True, True], "b": [True, False]},
            number=n,
            agent_digest="a1",
            config_digest="c1",
            tool_version="0.1.0",
        )
        for n in (1, 2)
    ]
    made = None
    for session in sessions:
        made = session_baseline(load_session(session), "analytics", onto=made, keep_rounds=15)
    (tmp_path / "baselines").mkdir()
    (tmp_path / "baselines" / "analytics.json").write_text(render(made))
    sessions[0].rename(tmp_path / "s")
    return tmp_path


def test_the_runs_of_a_file_are_pooled(root):
    found = look(root, "baselines")
    assert found.table.rounds == found.info.rounds == 4
    assert (found.info.runs, found.info.source) == (2, "file")
    assert found.info.age_days == pytest.approx(10, abs=0.01)
    assert found.info.fingerprint_diff == ()
    assert found.table.column("success").sum() == 6


def test_the_newest_rounds_are_kept(root):
    found = look(root, "baselines", keep_rounds=3)
    assert (found.table.rounds, found.info.runs) == (3, 2)


def test_a_sample_does_not_cost_the_other_cases_their_rounds(root):
    file = root / "baselines" / "analytics.json"
    made = parse(file.read_bytes(), "x")
    for n in (3, 4):
        folder = store(root / "results", {"a": [False, False]}, number=n, not_selected=1)
        made = session_baseline(load_session(folder), "analytics", onto=made, keep_rounds=4)
    file.write_text(render(made))
    found = look(root, "baselines", keep_rounds=4)
    assert found.info.rounds == 4
    assert np.nansum(found.table.column("success"), axis=1).tolist() == [0, 2]
    assert (~np.isnan(found.table.column("success"))).sum(axis=1).tolist() == [4, 4]


def test_the_session_effect_of_the_runs_is_handed_on(root):
    shares = (0.5, 0.7, 0.45, 0.72, 0.6)
    table, runs = past(*(passes(share, 300, seed=n) for n, share in enumerate(shares)))
    table = replace(table, suite="analytics")
    text = render(BaselineFile(table=table, runs=tuple(runs)))
    (root / "baselines" / "analytics.json").write_text(text)
    found = look(root, "baselines")
    assert (found.info.runs, found.info.rounds) == (5, 15)
    assert found.drift.keys() == {"agent.success_rate"}
    (note,) = found.info.pooling
    assert note.startswith(
        "the baseline's runs differ by more than chance, and the comparison allows for it"
    )
    assert look(root, "s").drift == {}


def test_a_session_is_a_baseline_too(root):
    found = look(root, "s")
    assert (found.info.source, found.table.rounds) == ("session", 2)


def test_without_one_the_reasons_are_told(root):
    found = look(root / "results", "auto")
    assert found.table is None
    assert found.info.source == "none"
    assert found.info.detail == (
        "this folder is no git repository, and has no baselines/analytics.json"
    )
    assert "did not run 'other'" in look(root, "s", suite="other").info.detail


def test_a_release_without_an_earlier_one_has_none_unless_a_path_is_named(root):
    why = "no earlier release than v1.0.0: 1 tags looked at"
    place = BaselineContext(
        root=root, forge=None, base_sha=None, no_base=why, now=NOW, mode="release"
    )
    for source in ("auto", "repo", "artifact"):
        found = find("analytics", "dd", BaselineRules(source=source), place, MADE)
        assert (found.table, found.info.source, found.info.detail) == (None, "none", why)
    found = find("analytics", "dd", BaselineRules(source="baselines"), place, MADE)
    assert found.info.source == "file"


def test_on_a_laptop_without_a_repository_the_own_file_serves(root):
    assert look(root, "auto").info.detail == "baselines/analytics.json in the working tree"


def test_what_differs_is_listed_by_name(root):
    other = Provenance(agent="openai n", agent_digest="a2", config_digest="c1", tool_version="0.2")
    assert look(root, "baselines", now=other).info.fingerprint_diff == (
        "agent: openai m -> openai n",
        "agent options or address",
        "tool: 0.1.0 -> 0.2",
    )


def test_an_agent_that_is_reached_elsewhere_has_no_other_options():
    before, now = (
        {"agent": f"openai m at :{port}", "agent_digest": str(port), "agent_options": "o"}
        for port in (1, 2)
    )
    assert differences(before, now) == ("agent address: :1 -> :2",)
    assert differences(before, {**now, "agent_options": "p"})[1:] == ("agent options",)
    older = {name: fact for name, fact in before.items() if name != "agent_options"}
    assert differences(older, now)[1:] == ("agent options or address",)
    assert differences({**older, "agent": now["agent"]}, now) == ("agent options",)


def test_a_path_that_is_not_there_is_an_error(root):
    with pytest.raises(UsageError, match="nowhere"):
        look(root, "nowhere.json")


def test_only_what_both_know_can_differ():
    assert differences({"agent": "a"}, {"judge": "j"}) == ()
    assert differences({"config": "1"}, {"config": "2"}) == ("rules",)


@pytest.mark.parametrize(
    ("moment", "days"),
    [
        ("2026-11-28T12:00:01Z", 1.0),
        ("2026-11-28T12:00:01", 1.0),
        ("2026-12-24T00:00:00Z", 0.0),
        ("yesterday", None),
    ],
)
def test_age(moment, days):
    assert age_days(moment, NOW) == days


class Tree:
    """A host that has one text of the baseline file."""

    def __init__(self, text):
        self.text = text

    def read(self, path, ref):
        return self.text


def here(root, theirs, source="repo"):
    place = BaselineContext(root=root, forge=Tree(theirs), base_sha="b" * 40, now=NOW)
    return find("analytics", "dd", BaselineRules(source=source), place, MADE).here


def test_an_edited_baseline_of_the_working_tree_is_noticed(root):
    file = root / "baselines" / "analytics.json"
    theirs = file.read_bytes()
    assert here(root, theirs) == ""
    file.write_bytes(theirs.replace(b"\n", b"\r\n"))
    assert here(root, theirs) == "", "a checkout with other line ends"
    file.write_bytes(theirs.replace(b"1", b"0"))
    assert here(root, theirs) == "edited"
    file.write_bytes(b"nonsense")
    assert here(root, theirs) == "edited"


def test_a_baseline_that_the_working_tree_lost_or_has_alone_is_noticed(root):
    file = root / "baselines" / "analytics.json"
    theirs = file.read_bytes()
    assert here(root, None) == "added"
    assert here(root, None, "none") == "", "no baseline of the repository is asked for"
    file.unlink()
    assert here(root, theirs) == "gone"
    assert here(root, None) == ""


def test_a_branch_that_is_behind_has_not_edited_the_baseline(root):
    """The base branch has one run more than the branch's own, older file."""
    file = root / "baselines" / "analytics.json"
    theirs = file.read_bytes()
    older = session_baseline(load_session(root / "s"), "analytics", keep_rounds=15)
    file.write_text(render(older))
    assert here(root, theirs) == ""
    assert here(root, render(older).encode()) == ""
    file.write_bytes(theirs)
    assert here(root, render(older).encode()) == "edited", "one run more than the base branch"
