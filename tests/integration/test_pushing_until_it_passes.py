"""A change for the worse does not pass because heads with the same files are pushed again."""

from benchmarks.retries import simulate


def test_five_heads_with_the_same_files_pass_no_more_often_than_the_first() -> None:
    found = simulate(drop=0.05, reps=16, seed=3)
    assert found.same_session[0] == found.afresh[0] < 1.0
    assert set(found.same_session) == {found.same_session[0]}
    assert found.afresh[-1] > found.afresh[0], "asked anew, heads would be tickets of a lottery"
    assert found.re_run[-1] <= found.afresh[-1]
