import random

from gate.analysis.tally import TOP, Tally
from gate.records import Amounts, EvidenceCounts
from tests.support.reports import row_evidence


def row(**more):
    return {
        "case_id": "c",
        "attempts": [{}],
        "status": "completed",
        "passed": None,
        "failures": [],
        "unscored": {},
        "error": None,
        "cost_usd": 0.01,
        "latency_ms": 100.0,
        "model": "m",
        **more,
    }


def test_counts_over_rows():
    tally = Tally()
    tally.add(row(failures=["a", "a", "b"]))
    tally.add(row(attempts=[{}, {}], failures=["b"], cost_usd=None))
    tally.add(row(status="agent_error", failures=["agent_error"], error="boom", latency_ms=30.0))
    tally.add(row(status="infra_error", latency_ms=None, cost_usd=None, unscored={"judge": "down"}))
    assert (tally.trials, tally.calls) == (4, 5)
    assert (tally.agent_errors, tally.infra_errors) == (1, 1)
    assert tally.top() == (("b", 2), ("a", 1), ("agent_error", 1))
    assert tally.unscored == {"judge": 1}
    assert tally.usd == 0.02
    assert tally.unknown_models == {"m": 1}
    assert tally.why_unanswered == ""
    assert tally.failed_latency.amounts() == Amounts(n=1, mean=30.0, worst=30.0)


def test_what_most_unanswered_calls_ended_with():
    tally = Tally()
    for error in ("refused", "429", "429", "reset", "refused"):
        tally.add(row(status="infra_error", error=error))
    tally.add(row(status="agent_error", error="HTTP 500"))
    assert tally.why_unanswered == ": 429"
    assert tally.error_reasons == {"agent_error": "HTTP 500", "infra_error": "429"}


def test_only_the_ten_most_frequent_codes_are_told():
    tally = Tally()
    for n in range(15):
        for _ in range(n + 1):
            tally.add(row(failures=[f"code{n:02}"]))
    assert len(tally.top()) == 10
    assert tally.top()[0] == ("code14", 15)
    tally.add(row(failures=["code13"]))
    assert tally.top()[:2] == (("code13", 15), ("code14", 15)), "ties by their names"


def judging(**more):
    return {"asked": 1, "scored": 0, "calls": 1, "usd": 0.0, "unknown": 0, "failures": [], **more}


def test_why_a_grader_mostly_could_not_judge():
    tally = Tally()
    for why in ("401", "late", "401"):
        tally.add(row(unscored={"judge": why}))
    assert tally.mostly() == {"judge": "401"}


def test_a_judge_that_scored_nothing_says_why():
    tally = Tally()
    assert tally.no_vote_reason == ""
    for why in ("401", "late", "401"):
        tally.add(row(judging=judging(failures=[why])))
    assert tally.no_vote_reason.endswith("called 3 times: 401")
    tally.add(row(judging=judging(scored=1)))
    assert tally.no_vote_reason == ""


def test_no_more_than_fifty_reasons_are_kept():
    tally = Tally()
    for n in range(1000):
        tally.add(row(unscored={"judge": f"why {n}"}, judging=judging(failures=[f"why {n}"])))
    assert (len(tally.why["judge"]), len(tally.judge_failures)) == (50, 50)
    assert tally.unscored["judge"] == 1000


def counts(*rows):
    tally = Tally()
    for one in rows:
        tally.add(one)
    return tally.evidence.counts()


def test_checked_evidence_is_counted():
    none, unread = row_evidence("unknown", notes=["no log"]), ["not read", "later notes"]
    assert counts(
        row(evidence=row_evidence()),
        row(evidence=row_evidence("incomplete", missing=["shell"], fabricated=["shell", "shell"])),
        row(evidence=none),
        row(evidence=none),
        row(evidence=row_evidence("unknown", notes=unread, fabricated=["web_fetch"])),
        row(),
        row(evidence=None),
    ) == EvidenceCounts(
        complete=1,
        incomplete=1,
        unknown=3,
        fabricated=2,
        notes=(("no log", 2), ("not read", 1)),
        missing_calls=(("c", "shell"),),
        fabricated_calls=(("c", "shell"), ("c", "web_fetch")),
    )


def test_a_suite_without_any_has_no_counts():
    assert counts() is None
    assert counts(row(), row(evidence=None)) is None


def test_evidence_adds_up_alike_in_whatever_order_trials_come():
    rows = [
        row(
            case_id=f"c{n % 700:03}",
            evidence=row_evidence("incomplete", missing=[f"t{n % 7}"], fabricated=[f"u{n % 5}"]),
        )
        for n in range(4_000)
    ]
    found = counts(*rows)
    assert len(found.missing_calls) == TOP
    assert found.missing_calls[0] == ("c000", "t0")
    random.Random(3).shuffle(rows)
    assert counts(*rows) == found
