"""A badge says the newest success rate, and its colour whether it fell."""

import json
from xml.etree import ElementTree

import pytest

from gate.records.history import LevelChange, PastRun, SuiteHistory
from gate.report.history.badge import as_shields, as_svg


def run(success_rate):
    return PastRun(
        session_id="s",
        created_at="2026-11-19T12:00:00Z",
        commit=None,
        cases=10,
        rounds=3,
        success_rate=success_rate,
        efficiency=None,
        avg_steps=None,
        cost_per_task=None,
        modes=None,
    )


def change(after, *, metric="agent.success_rate", accepted=()):
    return LevelChange(
        metric=metric,
        unit="share",
        direction="higher",
        before=0.9,
        after=after,
        runs_before=5,
        runs_after=5,
        last=run(0.9),
        first=run(after),
        p=0.001,
        accepted=accepted,
    )


def history(*changes, success_rate=0.871, name="analytics"):
    return SuiteHistory(suite=name, source="", runs=(run(success_rate),), changes=changes)


@pytest.mark.parametrize(
    ("suite", "color", "message"),
    [
        (history(), "green", "0.87"),
        (history(change(0.5)), "red", "0.87"),
        (history(change(0.5, accepted=("by ana",))), "green", "0.87"),
        (history(change(0.5), change(0.95)), "green", "0.87"),
        (history(change(0.5, metric="agent.avg_steps")), "green", "0.87"),
        (history(success_rate=None), "grey", "unknown"),
        (SuiteHistory(suite="analytics", source="", runs=()), "grey", "unknown"),
    ],
)
def test_what_a_badge_says(suite, color, message):
    assert json.loads(as_shields(suite)) == {
        "schemaVersion": 1,
        "label": "analytics success rate",
        "message": message,
        "color": color,
    }
    assert f"analytics success rate: {message}" in as_svg(suite)


def test_a_hostile_name_stays_text():
    drawn = as_svg(history(name="<script>\"&'</text>"))
    texts = [node.text for node in ElementTree.fromstring(drawn).iter() if node.text]
    assert texts[1] == "<script>\"&'</text> success rate"
    assert "<script" not in drawn
