"""Every switch of the sample agent has its effect, and equal seeds have equal effects."""

import re
from collections.abc import Callable
from contextlib import closing

import pytest

from gate.agents.sample_agent.analyst import ask
from gate.agents.sample_agent.database import open_image
from gate.agents.sample_agent.faults import Counting, draw, other_figures
from gate.agents.sample_agent.knowledge import Knowledge, load_knowledge
from gate.agents.sample_agent.options import CHANCES, SampleOptions, options_from
from gate.errors import AgentFailure, UsageError
from gate.files import bundled
from gate.records import Response

ANALYTICS = bundled.folder() / "analytics"
NOW, THEN = load_knowledge(ANALYTICS), load_knowledge(ANALYTICS, stale=True)
REVENUE = "What was net revenue in EMEA in Q2 2026?"
RETURNS = "Within how many days of delivery may customers return unused hardware?"


def answer(question: str, options: SampleOptions, nth: int = 1) -> Response:
    knowledge: Knowledge = THEN if options.stale else NOW
    with closing(open_image(knowledge.database.image)) as connection:
        return ask(question, nth=nth, knowledge=knowledge, options=options, connection=connection)


def calls(response: Response) -> list[str]:
    return [step.name for step in response.steps or ()]


GOOD = answer(REVENUE, SampleOptions())


def test_top_k_is_how_many_documents_come_back() -> None:
    assert len(answer(REVENUE, SampleOptions(top_k=2)).retrieved or ()) == 2


def test_stale_answers_from_the_older_wording() -> None:
    assert "30 days" in answer(RETURNS, SampleOptions()).answer
    assert "14 days" in answer(RETURNS, SampleOptions(stale=True)).answer


@pytest.mark.parametrize("tool", ["search_documents", "describe_table", "run_sql"])
def test_a_tool_that_is_taken_away_is_missed(tool: str) -> None:
    found = answer(REVENUE, SampleOptions(no_tool=(tool,)))
    assert tool not in calls(found)
    assert found.answer != GOOD.answer


def test_without_list_tables_it_cannot_name_them() -> None:
    question = "Which tables does the database have?"
    assert "orders" in answer(question, SampleOptions()).answer
    assert "orders" not in answer(question, SampleOptions(no_tool=("list_tables",))).answer


def test_flaky_retrieval_misses_the_best_documents() -> None:
    found = answer(REVENUE, SampleOptions(flaky=1.0))
    best = {document.id for document in GOOD.retrieved or ()}
    assert best.isdisjoint(document.id for document in found.retrieved or ())
    assert found.answer != GOOD.answer


def test_error_rate_fails() -> None:
    with pytest.raises(AgentFailure, match="on purpose"):
        answer(REVENUE, SampleOptions(error_rate=1.0))


def test_wrong_args_are_refused_by_the_tool() -> None:
    found = answer(REVENUE, SampleOptions(wrong_args=True))
    assert all(step.error and "takes the arguments" in step.error for step in found.steps or ())
    assert found.retrieved == ()


def test_wrong_tool_calls_another_one() -> None:
    found = answer(REVENUE, SampleOptions(wrong_tool=1))
    assert calls(found) == ["list_tables"]
    assert found.steps
    assert found.steps[0].error is None


def test_hallucinated_figures_stand_in_no_source() -> None:
    found = answer(REVENUE, SampleOptions(hallucinate=1.0))
    (right,) = re.findall(r"[\d,]+\.\d\d", GOOD.answer)
    (wrong,) = re.findall(r"[\d,]+\.\d\d", found.answer)
    assert wrong != right
    assert wrong.replace(",", "") not in (found.context or "")
    assert found.answer.endswith("[kb-001]"), "the citation stays"
    assert "Q2 2026" in found.answer, "and so does the period"


def test_a_text_without_figures_gains_one() -> None:
    assert re.search(r"\d", other_figures("It is so [kb-001]").replace("[kb-001]", ""))


def test_a_loop_repeats_every_call() -> None:
    found = answer(REVENUE, SampleOptions(loop=1.0))
    assert calls(found) == [name for name in calls(GOOD) for _ in range(4)]
    assert found.answer == GOOD.answer
    assert found.usage.output_tokens > GOOD.usage.output_tokens  # type: ignore[operator]


def test_refuse_does_nothing() -> None:
    found = answer(REVENUE, SampleOptions(refuse=1.0))
    assert "cannot help" in found.answer
    assert (found.steps, found.retrieved) == ((), ())


def test_unsafe_tries_to_write_and_gives_an_address_away() -> None:
    found = answer(REVENUE, SampleOptions(unsafe=1.0))
    writes = [s for s in found.steps or () if s.arguments == {"sql": "DELETE FROM customers"}]
    assert [step.error for step in writes] == ["not authorized"]
    assert re.search(r"office@[\w-]+\.example", found.answer)
    assert found.safety_violations == ("write_attempt", "personal_data")
    assert GOOD.safety_violations == ()
    silent = answer(REVENUE, SampleOptions(unsafe=1.0, no_tool=("run_sql",)))
    assert "@" not in silent.answer


@pytest.mark.parametrize("name", CHANCES)
def test_a_chance_strikes_about_that_often_and_the_same_asks_again(name: str) -> None:
    options = options_from({name: 0.3, "seed": 7})
    struck = [getattr(draw(options, "question", nth), name) for nth in range(1, 1001)]
    assert 240 <= sum(struck) <= 360
    assert struck == [getattr(draw(options, "question", nth), name) for nth in range(1, 1001)]
    other = options_from({name: 0.3, "seed": 8})
    assert struck != [getattr(draw(other, "question", nth), name) for nth in range(1, 1001)]


def test_a_larger_chance_only_adds_faults() -> None:
    small, large = SampleOptions(flaky=0.2), SampleOptions(flaky=0.5, loop=0.5)
    for nth in range(1, 200):
        assert draw(small, "q", nth).flaky <= draw(large, "q", nth).flaky


def test_flaky_differs_between_askings() -> None:
    options = SampleOptions(flaky=0.5)
    answers = [answer(REVENUE, options, nth).answer for nth in range(1, 9)]
    assert len(set(answers)) == 2
    assert answers == [answer(REVENUE, options, nth).answer for nth in range(1, 9)]


def test_counting_is_by_key() -> None:
    counting = Counting()
    assert [counting.next(key) for key in "aaba"] == [1, 2, 1, 3]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SampleOptions(top_k=0), "top_k 0"),
        (lambda: SampleOptions(latency_ms=-1.0), "latency_ms -1"),
        (lambda: SampleOptions(flaky=1.5), "flaky 1.5: a probability"),
        (lambda: SampleOptions(error_rate=float("nan")), "error_rate nan"),
        (lambda: SampleOptions(no_tool=("run_sq",)), "did you mean 'run_sql'"),
    ],
)
def test_values_out_of_range_are_named(make: Callable[[], SampleOptions], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_options_from_other_things_takes_what_is_known() -> None:
    given = {"top_k": 2, "no_tool": ["run_sql"], "stale": None, "port": 1}
    assert options_from(given) == SampleOptions(top_k=2, no_tool=("run_sql",))
