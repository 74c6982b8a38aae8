from gate.tally import Tally


def row(**more):
    return {
        "attempts": [{}],
        "status": "completed",
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
