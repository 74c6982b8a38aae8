"""The analytics suite takes right answers in other people's words, and no answer that says the
opposite.

The words were written down before they were tried: 2 of 54 right answers failed then (they are
mended since), and none of the wrong ones passed.
"""

import json
import re
from typing import Any

import pytest

from gate.files import bundled
from gate.graders.facts import Facts
from gate.records import Case, Response
from gate.user_code.patterns import is_short

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for line in (bundled.folder() / "analytics" / "dataset.jsonl").read_text("utf-8").splitlines()
    for case in [json.loads(line)]
}

RIGHT = {
    "trend-001": [
        "Net revenue in North America increased by $50,900.35, i.e. 54.19%.",
        "Up 50,900.35 USD (+54.2 %), from 93,926.40 USD in Q1 to 144,826.75 USD in Q2.",
        "North America's net revenue grew 54.19 percent, a gain of 50,900.35 USD.",
    ],
    "trend-005": [
        "Yes. MRR grew from 52,317 to 69,463 USD, an increase of 17,146 USD.",
        "MRR was up by $17,146.00 over those six months.",
    ],
    "trend-010": [
        "Yes, slightly: it went down from 10.31% in H1 2025 to 9.66% in H1 2026.",
        "It did: 9.66 percent, down from 10.31 percent.",
        "The rate dropped by 0.65 points, from 10.31 % to 9.66 %.",
    ],
    "trend-011": [
        "EMEA's average order value declined from $1,111.73 to $852.43.",
        "It was 1,111.73 USD in H1 2025 and 852.43 USD in H1 2026, so it fell by 259.30 USD.",
    ],
    "trend-013": [
        "Yes, much busier: June 2026 had 68 tickets, June 2025 had 19.",
        "Yes - volume went from 19 to 68 tickets.",
    ],
    "trend-003": [
        "Q1: 27,495.45\nQ2: 66,788.15\nQ3: 102,787.35\nQ4: 128,090.30",
        "In the first quarter 27,495.45 USD, in the second quarter 66,788.15 USD, in the third "
        "quarter 102,787.35 USD and in the fourth quarter 128,090.30 USD.",
    ],
    "mixed-012": [
        "Yes, it does: at 52.83 percent it is just above the target of 52 percent.",
        "The 52 % target was reached: gross margin came to 52.83 %.",
    ],
    "multi_doc-012": [
        "After a paid subscription: 60 days of export time, whereas a trial's readings are kept "
        "for 14 days.",
        "A subscription gives you 60 days; the trial only 14.",
    ],
    "multi_doc-007": ["Two weeks, that is 14 days, for monthly plans; export works for 60 days."],
    "policy-004": [
        "Anything over 30% needs the finance director.",
        "Discounts exceeding 30 percent.",
    ],
    "policy-022": [
        "No, they can't be stacked.",
        "You cannot use both at once: it is either the partner margin or the discount, not both.",
        "Discounts and partner margins are mutually exclusive.",
    ],
    "policy-001": ["30", "Thirty days (30).", "You get a 30-day window.", "30 calendar days"],
    "policy-014": ["$90", "It costs 90 dollars."],
    "policy-030": ["In 2 hours at most.", "2 hrs"],
    "policy-031": [
        "Yes, you have 30 days, so three weeks is fine.",
        "You can: 30 days are allowed.",
    ],
    "product-016": ["Four Lumabars.", "You would need 4 (140 / 35 = 4)."],
    "definition-005": [
        "No. Switching plans keeps the contract number.",
        "It isn't counted as churn.",
    ],
    "definition-015": ["The first paid month.", "It counts from when the first paid month starts."],
    "comparison-001": [
        "At the end of June, EMEA stood at $22,706.00 and APAC at $11,385.00.",
        "| region | MRR |\n|---|---|\n| EMEA | 22,706.00 |\n| APAC | 11,385.00 |",
    ],
    "comparison-009": [
        "No. The second half of 2025 brought 230,877.65 USD; H1 2026 598,036.55 USD."
    ],
    "abstain-001": [
        "I'm sorry, but I couldn't find that in the documents.",
        "That isn't mentioned anywhere in the knowledge base.",
        "The provided documents don't say who the CEO is.",
        "I don't have any information about that.",
        "This information is not available to me.",
        "No record of a chief executive exists in the data.",
        "The documents contain no information on this.",
    ],
    "abstain-012": [
        "We don't sell a product called Solarnode.",
        "Solarnode is not a product in the catalogue.",
        "I can't find any product named Solarnode.",
        "Solarnode does not exist in the database.",
    ],
    "abstain-008": [
        "August 2026 is outside the data I have.",
        "There's no data for August 2026.",
        "The database doesn't go that far.",
    ],
    "abstain-016": [
        "I cannot share contact details of customers.",
        "E-mail addresses are confidential.",
    ],
    "abstain-020": [
        "The Basic plan doesn't include telephone support; Premium and Ultimate do.",
        "It never did: only Premium and Ultimate have it.",
    ],
    "abstain-027": ["Orders don't record the sales person, so I can't split revenue that way."],
}
WRONG = {
    "trend-001": ["Net revenue fell by 50,900.35 USD (54.19 percent).", "It rose by 54.19 USD."],
    "trend-005": ["No, MRR fell by 17,146.00 USD.", "It shrank by 17,146 USD."],
    "trend-010": [
        "No, it rose from 9.66 to 10.31 percent.",
        "Yes, it fell from 9.66 to 10.31 percent.",
        "No, it rose from 10.31 to 9.66 percent.",
    ],
    "trend-011": ["From 852.43 to 1,111.73 USD.", "It rose from 1,111.73 to 852.43 USD."],
    "trend-013": ["No: 68 tickets against 19.", "Yes: 19 tickets in June 2026, 68 in June 2025."],
    "trend-003": ["Q1: 66,788.15\nQ2: 27,495.45\nQ3: 102,787.35\nQ4: 128,090.30"],
    "mixed-012": [
        "No: 52.83 percent against a target of 52.",
        "Yes: 52 percent; the target is 52.83.",
    ],
    "multi_doc-012": [
        "After a free trial: 60 days against 14.",
        "The trial: 60 days, paid: 14 days.",
    ],
    "policy-004": ["Below 30 percent.", "Up to 30 percent."],
    "policy-001": ["30 hours", "30 minutes after delivery"],
    "policy-013": ["24 days"],
    "policy-022": ["Yes, they may be combined.", "Yes.", "Both can be combined."],
    "policy-031": ["No: only within 30 days at a part of the price.", "No, 30 days are over."],
    "product-016": ["35, as one covers 4 square metres.", "More than 4 Lumabars."],
    "definition-005": ["Yes, it counts as churn.", "Yes."],
    "comparison-001": ["EMEA 11,385.00 USD, APAC 22,706.00 USD.", "22,706.00 USD for APAC."],
    "comparison-009": ["Yes: 230,877.65 USD in H2 2025, 598,036.55 USD in H1 2026."],
    "abstain-001": ["The chief executive is Mara Oduya.", "Fernhill is led by its founders."],
    "abstain-012": ["Net revenue from Solarnode was 12,400 USD in 2025.", "0 USD."],
    "abstain-020": [
        "Since January 2025.",
        "I do not know.",
        "The Basic plan has had it from 2024 on.",
    ],
    "abstain-027": ["Net revenue in 2025: 325,161.25 USD.", "Ann 200,000 USD, Ben 125,161.25 USD."],
}


def passes(case_id: str, answer: str) -> bool:
    keys = CASES[case_id]
    case = Case(id=case_id, input=keys["input"], keys=keys)
    return Facts().grade(case, Response(answer=answer)).passed is True


@pytest.mark.parametrize("case_id", RIGHT)
def test_a_right_answer_in_other_words_passes(case_id: str) -> None:
    assert [answer for answer in RIGHT[case_id] if not passes(case_id, answer)] == []


@pytest.mark.parametrize("case_id", WRONG)
def test_the_opposite_does_not(case_id: str) -> None:
    assert [answer for answer in WRONG[case_id] if passes(case_id, answer)] == []


@pytest.mark.parametrize("suite", ["analytics", "trajectories"])
def test_every_pattern_is_searched_in_a_moment(suite: str) -> None:
    """In this process: one of another form is sent to a process of its own, for each answer."""
    lines = (bundled.folder() / suite / "dataset.jsonl").read_text("utf-8").splitlines()
    facts = [fact for line in lines for fact in json.loads(line)["expected_facts"]]
    patterns = [one for fact in facts if fact.get("regex") for one in fact["value"]]
    assert patterns
    slow = [one for one in patterns if not is_short(re.compile(one, re.IGNORECASE), 2000)]
    assert slow == []
