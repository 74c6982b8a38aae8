"""Calls and results of any shape: which belongs to which, and what is odd about them."""

import pytest

from gate.agents.traces.open_calls import MOST_OPEN, OpenCalls, Step
from gate.agents.traces.reading import read_trace
from gate.agents.traces.trace import MAX_STEPS


def call(name="f", id=None, arguments="{}"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls, **more):
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def result(content, id=None, **more):
    return {"role": "tool", "content": content, **({"tool_call_id": id} if id else {}), **more}


def read(*messages):
    return read_trace(list(messages), "openai")


def results(trace):
    return [(step.name, step.result) for step in trace.steps]


def test_results_find_their_calls_by_id_in_any_order():
    trace = read(asks(call("a", "1"), call("b", "2")), result("B", "2"), result("A", "1"))
    assert results(trace) == [("a", "A"), ("b", "B")]
    assert trace.faults == ()


def test_a_result_may_name_its_call_by_id_alone():
    answered = {"role": "tool", "id": "2", "content": "B"}
    assert results(read(asks(call("a", "1"), call("b", "2")), answered))[1] == ("b", "B")


def test_parallel_calls_share_a_turn_and_are_steps_of_their_own():
    trace = read(asks(call("a", "1"), call("b", "2")), asks(call("c", "3")), {"role": "assistant"})
    assert [step.turn for step in trace.steps] == [0, 0, 1]
    assert trace.turns == 3


def test_results_without_an_id_belong_to_the_oldest_open_call():
    trace = read(asks(call("a"), call("b")), result("A"), result("B"))
    assert results(trace) == [("a", "A"), ("b", "B")]


def test_a_result_with_a_name_and_no_id_belongs_to_the_oldest_call_of_that_name():
    trace = read(asks(call("a"), call("b"), call("b")), result("B", name="b"), result("A"))
    assert results(trace) == [("a", "A"), ("b", "B"), ("b", None)]


def test_a_result_with_an_id_may_belong_to_a_call_without_one():
    trace = read(asks(call("a", "1"), call("b")), result("B", "new"))
    assert results(trace) == [("a", None), ("b", "B")]


def test_calls_with_the_same_id_get_their_results_in_order_and_it_is_told():
    trace = read(asks(call("a", "1"), call("b", "1")), result("A", "1"), result("B", "1"))
    assert results(trace) == [("a", "A"), ("b", "B")]
    assert trace.faults == (
        "1 call has the id of another one: their results are matched in order (1)",
    )


def test_an_id_that_is_used_again_after_its_result_is_paired_with_the_later_call():
    trace = read(asks(call("a", "1")), result("A", "1"), asks(call("b", "1")), result("B", "1"))
    assert results(trace) == [("a", "A"), ("b", "B")]


def test_a_run_that_was_cut_off_keeps_its_calls_and_tells_which_have_no_result():
    trace = read(asks(call("a", "1"), call("b", "2")), result("A", "1"))
    assert results(trace) == [("a", "A"), ("b", None)]
    assert trace.steps[1].error is None
    assert trace.faults == ("1 call has no result (b 2)",)


def test_a_result_without_a_call_is_told_and_no_step():
    trace = read(asks(call("a", "1")), result("A", "1"), result("A", "1"), result("?", "9"))
    assert results(trace) == [("a", "A")]
    assert trace.faults == ("2 results belong to no call (1, 9)",)


@pytest.mark.parametrize(
    ("written", "parsed", "raw"),
    [
        *(('{"q": 1}', {"q": 1}, None), ('{"q": ', None, '{"q": ')),
        *((given, {}, None) for given in ("", None, "null")),
    ],
)
def test_arguments_that_are_not_json_are_kept_as_they_came(written, parsed, raw):
    (step,) = read(asks(call("a", "1", written)), result("A", "1")).steps
    assert (step.arguments, step.raw_arguments) == (parsed, raw)


def test_an_error_is_a_flag_whose_reason_stands_in_the_result_or_a_text():
    trace = read(asks(call("a", "1")), result("it broke", "1", error=True))
    assert (trace.steps[0].result, trace.steps[0].error) == ("it broke", "it broke")
    assert read(asks(call("a", "1")), result("x", "1", error="late")).steps[0].error == "late"
    assert read(asks(call("a", "1")), result("x", "1", error=False)).steps[0].error is None
    assert read(asks(call("a", "1")), result("", "1", error=True)).steps[0].error == "error"


def test_a_result_of_nothing_but_text_is_one_text_and_any_other_stays_as_it_is():
    words = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    mixed = [*words, {"type": "image", "data": "..."}]
    trace = read(asks(call("a", "1"), call("b", "2")), result(words, "1"), result(mixed, "2"))
    assert results(trace) == [("a", "ab"), ("b", mixed)]


# ------------------------------------------------------------------------------------ usage


def usages(*given):
    return read(*({"role": "assistant", "content": "x", "usage": usage} for usage in given))


def test_usage_is_the_sum_over_the_model_calls():
    one = {"prompt_tokens": 5, "completion_tokens": 2, "cost": 0.5}
    usage = usages(one, {**one, "prompt_tokens_details": {"cached_tokens": 3}}).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (10, 4, 1.0)
    assert usage.cached_tokens == 3


def test_a_sum_of_which_a_part_is_not_told_is_unknown():
    trace = usages({"prompt_tokens": 5, "completion_tokens": 2}, {"prompt_tokens": 5}, None)
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (None, None)
    assert trace.faults == (
        "2 totals are unknown: not every model call reports its part "
        "(input_tokens: 2 of 3, output_tokens: 1 of 3)",
    )


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1, 10**400])
def test_a_number_of_tokens_that_is_none_is_unknown_and_told(bad):
    trace = usages({"prompt_tokens": bad, "completion_tokens": 2})
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (None, 2)
    assert trace.faults[0] == (
        "1 value is not a number, negative or too large: it counts as unknown (usage.input_tokens)"
    )


def test_a_cost_that_is_none_makes_the_whole_cost_unknown_and_no_price_stands_in():
    trace = usages({"cost": 1.0}, {"cost": float("nan")})
    assert trace.usage.cost_usd != trace.usage.cost_usd
    assert "usage.cost_usd" in trace.faults[0]


@pytest.mark.parametrize("told", ["output_tokens_details", "completion_tokens_details"])
def test_reasoning_tokens_by_each_of_their_names(told):
    reasoned = {"output_tokens": 9, told: {"reasoning_tokens": 4}}
    assert usages(reasoned, reasoned).usage.reasoning_tokens == 8
    of_langchain = {"output_tokens": 9, "output_token_details": {"reasoning": 4}}
    assert usages(of_langchain).usage.reasoning_tokens == 4


def test_a_cost_may_stand_beside_the_usage_of_a_message():
    trace = read(
        {"role": "assistant", "content": "x", "usage": {"prompt_tokens": 5}, "cost": 0.5},
        {"role": "assistant", "content": "y", "usage": {"prompt_tokens": 5}, "cost": 0.25},
    )
    assert (trace.usage.input_tokens, trace.usage.cost_usd) == (10, 0.75)


def test_what_messages_say_of_their_model_and_end_wins_over_what_stands_beside_them():
    beside = {"model": "other", "finish_reason": "length"}
    last = {"role": "assistant", "content": "x"}
    told = read_trace({"messages": [{**last, "model": "m", "finish_reason": "stop"}], **beside})
    assert (told.model, told.finish_reason) == ("m", "stop")
    silent = read_trace({"messages": [last], **beside})
    assert (silent.model, silent.finish_reason) == ("other", "length")


def test_usage_beside_the_messages_counts_where_these_tell_none():
    data = {"messages": [{"role": "assistant", "content": "x"}] * 2, "model": "m"}
    trace = read_trace({**data, "usage": {"input_tokens": 7}})
    assert (trace.usage.input_tokens, trace.model, trace.faults) == (7, "m", ())


def test_several_models_are_all_named_so_that_no_price_of_one_is_taken_for_all():
    trace = read(
        {"role": "assistant", "content": "x", "model": "a"},
        {"role": "assistant", "content": "y", "model": "b"},
    )
    assert trace.model == "a + b"
    crowd = read(*({"role": "assistant", "content": "x", "model": f"m{n}"} for n in range(99)))
    assert crowd.model == "m0 + m1 + m2 + m3 + m4"


# ----------------------------------------------------------------------------------- bounds


def test_the_first_steps_are_kept_and_the_others_counted():
    messages = []
    for n in range(MAX_STEPS + 5):
        messages += [asks(call("f", f"c{n}")), result(n, f"c{n}")]
    trace = read(*messages, {"role": "assistant", "content": "done"})
    assert (len(trace.steps), trace.omitted_steps) == (MAX_STEPS, 5)
    assert trace.steps[-1].result == MAX_STEPS - 1
    assert (trace.turns, trace.answer, trace.faults) == (MAX_STEPS + 6, "done", ())


def test_examples_of_a_fault_are_told_each_once_and_that_there_are_more():
    trace = read(*(result("r", id) for id in ("1", "1", "2", "3", "4")))
    assert trace.faults == ("5 results belong to no call (1, 2, 3, ...)",)


def test_faults_are_few_and_short_however_much_is_wrong():
    calls = [call("x" * 500, f"{n}" * 200) for n in range(3 * MOST_OPEN)]
    trace = read(asks(*calls), *(result("r", f"no{n}") for n in range(100)))
    assert len(trace.faults) <= 4
    assert all(len(told) < 400 for told in trace.faults)


def test_no_more_open_calls_are_remembered_than_there_is_room_for():
    calls = OpenCalls()
    for n in range(MOST_OPEN + 3):
        calls.add(Step(name="f", id=str(n), turn=None, number=n))
    assert (len([*calls]), calls.overflowed) == (MOST_OPEN, 3)


def test_more_open_calls_than_are_remembered_make_no_false_complaints():
    calls = [call("f", f"c{n}") for n in range(MOST_OPEN + 10)]
    answers = [result("r", f"c{n}") for n in range(MOST_OPEN + 10)]
    assert read(asks(*calls), *answers).faults == ()
