from gate.tally import Tally


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
        "model": "m",
        **more,
    }


def test_counts_over_rows():
    tally = Tally()
    tally.add(row(failures=["a", "a", "b"]))
    tally.add(row(attempts=[{}, {}], failures=["b"], cost_usd=None))
    tally.add(row(status="agent_error", failures=["agent_error"], error="boom"))
    tally.add(row(status="infra_error", cost_usd=None, unscored={"judge": "down"}))
    assert (tally.trials, tally.calls) == (4, 5)
    assert (tally.agent_errors, tally.infra_errors) == (1, 1)
    assert tally.top() == (("b", 2), ("a", 1), ("agent_error", 1))
    assert tally.unscored == {"judge": 1}
    assert tally.usd == 0.02
    assert tally.unknown_models == {"m": 1}
    assert tally.last_error == "boom"


def test_only_the_ten_most_frequent_codes_are_told():
    tally = Tally()
    for n in range(15):
        for _ in range(n + 1):
            tally.add(row(failures=[f"code{n:02}"]))
    assert len(tally.top()) == 10
    assert tally.top()[0] == ("code14", 15)


def judging(**more):
    return {"asked": 1, "scored": 0, "calls": 1, "usd": 0.0, "unknown": 0, "failures": [], **more}


def test_why_a_grader_mostly_could_not_judge():
    tally = Tally()
    for why in ("401", "late", "401"):
        tally.add(row(unscored={"judge": why}))
    assert tally.mostly() == {"judge": "401"}


def test_a_judge_that_scored_nothing_says_why():
    tally = Tally()
    assert tally.unjudged == ""
    for why in ("401", "late", "401"):
        tally.add(row(judging=judging(failures=[why])))
    assert tally.unjudged.endswith("asked 3 times: 401")
    tally.add(row(judging=judging(scored=1)))
    assert tally.unjudged == ""


def test_no_more_than_fifty_reasons_are_kept():
    tally = Tally()
    for n in range(1000):
        tally.add(row(unscored={"judge": f"why {n}"}, judging=judging(failures=[f"why {n}"])))
    assert (len(tally.why["judge"]), len(tally.judge_failures)) == (50, 50)
    assert tally.unscored["judge"] == 1000
