"""`regression.control: fresh`: which agent answers for the base branch, or why none is asked."""

from dataclasses import replace

import pytest

from gate.errors import Place, UsageError
from gate.records import Config, PluginSpec, RegressionRules
from gate.run.control_agent import Control, choose_control
from gate.suites.config.overrides import override


def sample(**options):
    return PluginSpec(name="sample", options=options)


def config(agent, control_agent=None, control="fresh", line=None):
    return Config(
        agent=agent,
        suites=(),
        control_agent=control_agent,
        regression=RegressionRules(control=control, place=Place("gate.yml", line, "regression")),
        file="gate.yml",
    )


NEW, OLD, OTHER = sample(options={"top_k": 1}), sample(), sample(options={"seed": 7})


def test_the_stored_baseline_is_the_default():
    assert choose_control(config(NEW, OLD, control="stored"), OLD) == Control()


def test_the_named_agent_is_asked_before_that_of_the_base_branch():
    assert choose_control(config(NEW, OTHER), OLD) == Control(fresh=True, agent=OTHER)
    assert choose_control(config(NEW), OLD) == Control(fresh=True, agent=OLD, of_base=True)


def test_without_any_agent_to_ask_it_says_what_to_write():
    with pytest.raises(UsageError) as caught:
        choose_control(config(NEW, line=9), None)
    assert str(caught.value) == (
        "gate.yml:9: regression: control: fresh: the base branch's agent is not known "
        "here; set control_agent to the agent to compare with, or use control: stored"
    )


def test_an_agent_is_not_its_own_control_unless_gate_yml_says_so():
    slower = sample(options={"top_k": 1}, timeout_s=9.0)
    found = choose_control(config(NEW), slower)
    assert not found.fresh
    assert "cannot be its own control; the stored baseline is used" in found.notes[0]
    found = choose_control(config(NEW, slower), None)
    assert found.agent == slower
    assert "no difference can be measured" in found.notes[0]


def test_a_run_of_the_base_branch_itself_asks_no_control():
    assert choose_control(config(NEW, OLD), None, own_run=True) == Control()


def test_an_option_that_names_stored_answers_wins_and_is_told():
    found = choose_control(config(NEW, OLD), None, instead="--baseline repo")
    assert not found.fresh
    assert found.notes[0].startswith("regression.control: fresh: --baseline repo uses stored")


def test_both_agents_are_asked_with_the_time_out_and_concurrency_of_the_command_line():
    found = choose_control(config(NEW, OTHER), None, timeout=7.0, concurrency=2)
    assert found.agent.options == {**OTHER.options, "timeout_s": 7.0, "concurrency": 2}


SEARCH, OTHER_SEARCH = (PluginSpec(name="python", options={"callable": n}) for n in ("a:b", "c:d"))


def test_the_base_branchs_agent_is_asked_with_the_base_branchs_retriever():
    own = replace(config(NEW), retriever=SEARCH)
    found = choose_control(own, OLD, base_retriever=OTHER_SEARCH)
    assert (found.agent, found.retriever) == (OLD, OTHER_SEARCH)
    assert choose_control(own, OLD).retriever is None


def test_a_named_agent_has_the_same_retriever_where_the_base_branch_is_unknown():
    assert choose_control(replace(config(NEW, OTHER), retriever=SEARCH), None).retriever == SEARCH


def test_another_retriever_alone_is_a_change_to_measure():
    own = replace(config(OLD), retriever=SEARCH)
    assert choose_control(own, OLD, base_retriever=OTHER_SEARCH).fresh
    assert not choose_control(own, OLD, base_retriever=SEARCH).fresh


def test_timeout_and_concurrency_are_no_other_retriever():
    own = override(replace(config(OLD), retriever=SEARCH), timeout=5, concurrency=2)
    assert own.retriever.options == {"callable": "a:b", "timeout_s": 5, "concurrency": 2}
    found = choose_control(own, OLD, base_retriever=OTHER_SEARCH, timeout=5, concurrency=2)
    assert found.retriever.options == {"callable": "c:d", "timeout_s": 5, "concurrency": 2}
    assert not choose_control(own, OLD, base_retriever=SEARCH).fresh
