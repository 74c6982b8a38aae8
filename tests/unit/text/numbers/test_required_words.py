"""Words that a clause says together, in any order, with dates and a name."""

import pytest

from gate.text import wording

STATED = (
    ("pets are not allowed in Lisbon", "In Lisbon you aren't allowed any pets."),
    ("the meeting is on Monday", "The meeting will take place on Monday."),
    ("deadline 31 March", "The deadline is 31 March 2025."),
    ("12 June, 9:40", "It begins on June 12 at 9:40 in the morning."),
    ("peak at 18:30", "The load peaked at 6:30 pm."),
    ("3:00 p.m.", "opens at 15:00"),
    ("02:30 UTC", "at 2:30 am UTC"),
    ("27. November", "am 27.11. zugestellt"),
)
NOT_STATED = (
    ("fasting is not required", "Fasting is required for this test."),
    ("pets are allowed in rooms", "Pets aren't allowed in rooms."),
    ("the meeting is on Monday", "The meeting moved from Monday to Tuesday."),
    ("governing law: Ireland", "Hearings are in Ireland, but the governing law is that of Spain."),
    ("deadline 31 March", "The deadline is 30 March; the office opens on 31 March."),
    ("12 June, 9:40", "It begins on 12 June at 10:40."),
    ("parents' evening on 12 June", "The parents' evening was on 12 June but has been moved."),
    ("02:30 UTC", "at 02:30 CET"),
    ("27. November", "am 28.11. zugestellt"),
    ("the cat chased the dog", "The dog chased the cat."),
    ("the server runs Ubuntu", "The server runs Debian, not Ubuntu."),
)


@pytest.mark.parametrize(("phrase", "text"), STATED)
def test_a_clause_tells_it(phrase, text):
    assert wording.states(phrase, text)


@pytest.mark.parametrize(("phrase", "text"), NOT_STATED)
def test_other_clauses_do_not(phrase, text):
    assert not wording.states(phrase, text)


def test_a_seat_that_is_taken_is_denied():
    assert not wording.states("seat 14C", "Seat 14C was already taken, so I put you in 15D.")
