"""With which stored sessions a run goes on, and with which it does not."""

from dataclasses import replace

import pytest

from gate.errors import UsageError
from gate.records import Looks, Provenance
from gate.run.resume import OtherSession, reopen
from gate.store.session import Meta, SessionWriter, SuiteMeta
from gate.verdict.course import course

PLAN = Looks(calls=(10, 20))
SUITE = SuiteMeta(dataset="d", dataset_digest="dd", rounds=2, cases=10, looks=PLAN)
META = Meta(
    session_id="20261120-120000-0123abcd",
    created_at="2026-11-20T12:00:00Z",
    provenance=Provenance(commit="c", agent="openai m", agent_digest="a", config_digest="r"),
    suites={"s": SUITE},
)


def same(text):
    return text


@pytest.fixture
def folder(tmp_path):
    with SessionWriter.create(tmp_path, META, same) as session:
        return session.folder


def end(folder):
    with SessionWriter.resume(folder, same) as session:
        session.log.append_look(course({"s": PLAN}, "c", None).after((), "done").state())


def changed(**provenance):
    return replace(META, provenance=replace(META.provenance, **provenance))


def test_the_looks_of_the_session_count_and_not_those_of_the_run(folder):
    other = replace(META, suites={"s": replace(SUITE, looks=None)})
    with reopen(folder, other, same) as session:
        assert session.meta.suites["s"].looks == PLAN


@pytest.mark.parametrize(
    "other",
    [
        {"dataset_digest": "ee"},
        {"rounds": 3},
        {"cases": 9},
        {"graders": {"x": "y"}},
    ],
)
def test_other_cases_or_graders_are_another_measurement(folder, other):
    with pytest.raises(OtherSession, match=r"--resume .* have changed since; start a new run"):
        reopen(folder, replace(META, suites={"s": replace(SUITE, **other)}), same)


def test_the_options_that_the_session_began_with_are_told(tmp_path):
    began = replace(META, options={"suite": ["s", "a b"], "rounds": 2, "quiet": True})
    with SessionWriter.create(tmp_path, began, same) as session:
        pass
    with pytest.raises(
        OtherSession,
        match=r"original options and files: --suite s --suite 'a b' --rounds 2$",
    ):
        reopen(session.folder, replace(META, suites={"s": replace(SUITE, rounds=3)}), same)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"commit": "d"}, "the commit changed"),
        ({"agent": "openai n"}, "the agent changed"),
        ({"agent_digest": "b"}, "the agent's options changed"),
        ({"config_digest": "q"}, "the rules changed"),
    ],
)
def test_rounds_are_added_to_an_ended_session_of_the_same_agent_and_rules_only(folder, other, said):
    with reopen(folder, changed(**other), same):
        pass  # cut off: what it still lacks may be made, with another budget say
    end(folder)
    with pytest.raises(OtherSession, match=said):
        reopen(folder, changed(**other), same)
    with reopen(folder, changed(tool_version="9", run_attempt="2"), same):
        pass


def of(commit, **provenance):
    """What a new head's run would say of itself."""
    return replace(changed(commit=commit, **provenance), same_agent="x", deployment="")


META_NOW = of("c", pull_request=3)


@pytest.fixture
def judged(tmp_path):
    meta = replace(META, same_agent="x", provenance=replace(META.provenance, pull_request=3))
    with SessionWriter.create(tmp_path, meta, same) as session:
        session.log.append_look(course({"s": PLAN}, "c", None).after((), "done").state())
        session.log.append_verdict("fail", "c")
        return session.folder


def test_a_new_head_goes_on_with_the_session_of_the_head_that_it_was_stored_for(judged):
    now = of("d", pull_request=3, agent_digest="b", config_digest="q")
    with reopen(judged, now, same, head="c") as session:
        session.note_head("d")
        assert session.log.verdicts == {"c": "fail"}
    with reopen(judged, of("e", pull_request=3), same, head="d") as session:
        assert session.meta.commits == ("c", "d")
    with reopen(judged, of("d", pull_request=3), same) as session:  # and its own re-run
        assert session.meta.commits == ("c", "d")


@pytest.mark.parametrize(
    ("head", "other", "said"),
    [
        ("b", {}, "the commit changed"),
        ("c", {"pull_request": 4}, "the pull request changed"),
        ("c", {"agent": "openai n"}, "the agent changed"),
        ("c", {"same_agent": "y"}, "the agent's options changed"),
        ("c", {"deployment": "v2"}, "agent.version changed"),
    ],
)
def test_a_new_head_goes_on_with_no_other_session(judged, head, other, said):
    fields = {key: other.pop(key) for key in ("same_agent", "deployment") if key in other}
    now = replace(of("d", **{"pull_request": 3, **other}), **fields)
    with pytest.raises(OtherSession, match=said):
        reopen(judged, now, same, head=head)


def test_another_deployment_goes_on_with_no_answers_of_a_run_that_was_cut_off(folder):
    with pytest.raises(OtherSession, match=r"agent\.version changed"):
        reopen(folder, replace(META, deployment="v2"), same)


def test_verdicts_that_no_run_gives_are_not_believed(judged):
    with (judged / "events.jsonl").open("a") as log:
        log.write('{"event":"verdict","outcome":"<b>pass</b>","commit":"e"}\n')
        log.write('{"event":"verdict","outcome":"pass","commit":7}\n')
    with reopen(judged, of("d", pull_request=3), same, head="c") as session:
        assert session.log.verdicts == {"c": "fail"}


@pytest.mark.parametrize(
    "line", ['{"suite": "s", "case_id": "a", "round": 1}', '{"suite": "x"', '{"round": "s"}', "[]"]
)
def test_no_line_of_the_log_is_believed_unread(folder, line):
    with (folder / "events.jsonl").open("a") as log:
        log.write(line + "\n")
    if '"case_id"' in line:
        with pytest.raises(OtherSession, match="trial 1"):
            reopen(folder, META, same)
    else:
        with reopen(folder, META, same) as session:
            assert list(session.rows()) == []


def test_a_session_that_is_refused_is_free_again(folder):
    with pytest.raises(UsageError):
        reopen(folder, replace(META, suites={}), same)
    with reopen(folder, META, same):
        pass


@pytest.mark.parametrize("calls", ["[]", "[20, 10]", '["many"]', "7", "[1e9]"])
def test_a_plan_of_looks_that_is_none_is_refused(folder, calls):
    file = folder / "meta.json"
    text = file.read_text().replace("\n", "").replace(" ", "")
    file.write_text(text.replace("[10,20]", calls))
    assert calls.replace(" ", "") in file.read_text().replace(" ", "")
    with pytest.raises(OtherSession, match=r"not (readable as )?a session"):
        reopen(folder, META, same)


@pytest.mark.parametrize(
    "change",
    [
        {"cases": -1},
        {"cases": 0},
        {"cases": 10**12},
        {"rounds": -1},
        {"rounds": 10**9},
        {"looks": Looks(calls=(10**9, 2 * 10**9))},
    ],
)
def test_numbers_that_no_run_has_are_refused_before_they_are_used(tmp_path, change):
    meta = replace(META, suites={"s": replace(SUITE, **change)})
    with SessionWriter.create(tmp_path, meta, same) as session:
        folder = session.folder
    with pytest.raises(OtherSession, match=r"suites\.s: impossible numbers of cases or trials"):
        reopen(folder, meta, same)


def test_rounds_are_added_to_a_session_with_a_verdict_and_the_same_rules(judged):
    with reopen(judged, META_NOW, same, rounds=5):
        pass
    with pytest.raises(OtherSession, match="no rounds can be added to it: the rules changed"):
        reopen(judged, of("c", pull_request=3, config_digest="q"), same, rounds=5)


def test_other_rounds_than_those_of_a_session_that_was_cut_off_are_refused(folder):
    with pytest.raises(OtherSession, match="the choice of cases"):
        reopen(folder, META, same, rounds=5)
    with reopen(folder, META, same, rounds=2):
        pass


def test_rounds_that_were_being_added_are_gone_on_with(judged):
    with reopen(judged, META_NOW, same, rounds=5) as session:
        session.note_rounds(5, {"s": PLAN})
        session.log.append_look({"looks": {"s": 1}, "going": ["s"], "ended": {}})
    with reopen(judged, META_NOW, same, rounds=5):
        pass
    with reopen(judged, META_NOW, same):
        pass
    with pytest.raises(OtherSession, match="the choice of cases"):
        reopen(judged, META_NOW, same, rounds=6)
