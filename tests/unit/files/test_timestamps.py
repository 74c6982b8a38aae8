"""Moments that other tools write: what is one is in UTC, what is none is not known."""

import pytest

from gate.files.timestamps import after, iso, moment_of


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-05-12T14:30:52Z", "2026-05-12T14:30:52Z"),
        ("2026-05-12 14:30:52.999", "2026-05-12T14:30:52Z"),
        (" 20260512T143052+02:00\n", "2026-05-12T12:30:52Z"),
        ("1970-01-01T00:00:00+01:00", ""),
        ("0001-01-01T00:00:00", ""),
        ("0001-01-01T00:00:00+14:00", ""),
        ("9999-12-31T23:59:59-14:00", ""),
        ("noon", ""),
        ("", ""),
        (None, ""),
        (20260512, ""),
        (["2026-05-12"], ""),
    ],
)
def test_iso_8601_is_taken_in_utc_and_nothing_before_1970(written, moment):
    assert iso(moment_of(written)) == moment


@pytest.mark.parametrize(
    ("seconds", "moment"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_778_596_252.9, "2026-05-12T14:30:52Z"),
        (-1, ""),
        (1e18, ""),
        (float("nan"), ""),
    ],
)
def test_seconds_since_1970(seconds, moment):
    assert iso(after(seconds)) == moment
