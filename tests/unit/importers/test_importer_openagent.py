"""The importer of OpenAgent sessions: what records become, and what is refused with its place."""

import json
import shutil
from functools import partial

import pytest

from gate.errors import InvalidInput, UsageError
from gate.files.plain import digest_of
from gate.records import CheckedEvidence, Health, LogRead, Usage
from tests.support.importing import read_results
from tests.support.openagent_records import META, RECORD
from tests.support.paths import DATA

read = partial(read_results, "openagent")

SESSION = DATA / "openagent_session"


def written(folder, *records, meta=META, summary=None):
    """A session with these records; each adds to RECORD, or is a text as it stands."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = [one if isinstance(one, str) else json.dumps({**RECORD, **one}) for one in records]
    (folder / "details.jsonl").write_text("\n".join(whole) + "\n", encoding="utf-8")
    (folder / "meta.json").write_text(json.dumps(meta))
    if summary is not None:
        (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def trial(folder, **record):
    (found,) = read(written(folder, record)).trials()
    return found


def faults(folder, kind=InvalidInput):
    with pytest.raises(kind) as caught:
        read(folder)
    return str(caught.value).replace(f"{folder.as_posix()}/", "")


def test_a_session_has_its_time_model_address_and_sizes():
    found = read(SESSION)
    assert found.created_at == "2026-05-12T14:30:52Z"
    assert found.provenance.agent == (
        "openagent deepseek/deepseek-v4-flash at http://127.0.0.1:14000"
    )
    sizes = {name: (suite.cases, suite.rounds) for name, suite in found.suites.items()}
    assert sizes == {"dialogue": (8, 3), "tool": (6, 3)}
    assert (found.health.ok, found.health.status) == (True, 200)
    assert len(list(found.trials())) == len(list(found.trials())) == 42
    assert "1 of the 21 trials that passed needed more than one attempt;" in found.notes[1]


def test_what_the_session_says_of_itself_is_kept():
    found = read(SESSION)
    made = found.provenance
    judged = {"success", "first_success", "score"}
    assert set(found.suites["tool"].graders) == judged, "another judge's are not compared"
    assert (made.event, made.tool_version) == ("import", "openagent-agentbench")
    settings = {"rounds": 3, "max_attempts": 2, "timeout_s": 240}
    assert found.options == {**settings, "session": "20260512-143052-1a2b3c4d"}
    assert found.health == Health(ok=True, status=200, latency_ms=6.4)
    models = {one.attempt.response.model for one in found.trials() if one.attempt.response}
    assert models == {"deepseek/deepseek-v4-flash"}


def test_what_it_says_in_another_form_is_unknown(tmp_path):
    numbers = {"rounds": True, "max_attempts": "2", "timeout_s": -1}
    odd = {**META, **numbers, "model": 7, "base_url": " ", "suites": 3, "health": {"ok": "yes"}}
    found = read(written(tmp_path, {}, meta=odd))
    assert found.options == {"session": META["session_id"]}
    assert (found.provenance.agent, found.health) == ("openagent", None)
    ill = {"ok": False, "status": True, "latency_ms": -3}
    assert read(written(tmp_path, {}, meta={**META, "health": ill})).health == Health(
        ok=False, status=None, latency_ms=0.0
    )


def test_what_was_planned_and_is_not_there_is_told(tmp_path):
    planned = {**META, "rounds": 5, "suites": ["dialogue", "tool"]}
    found = read(written(tmp_path, {"round": 2}, {"round": 1}, meta=planned))
    assert (found.suites["dialogue"].rounds, found.suites["dialogue"].cases) == (5, 1)
    assert found.notes[1:] == ("tool: meta.json names this suite, but it has no record",)
    assert read(written(tmp_path, {"round": 2}, {"round": 1})).suites["dialogue"].rounds == 2


def test_the_digest_is_of_all_that_was_read(tmp_path):
    first, same, other, elsewhere = (
        digest_of(
            read(written(tmp_path / name, {"latency_ms": n}, meta={**META, "model": model})).files
        )
        for name, n, model in (("a", 1, "m"), ("b", 1, "m"), ("c", 2, "m"), ("d", 1, "n"))
    )
    assert first == same
    assert len({first, other, elsewhere}) == 3


def test_an_answer_that_is_ok(tmp_path):
    found = trial(tmp_path)
    judged = found.attempt
    assert (found.case.id, found.case.category, found.round) == ("t1", "format", 1)
    assert (judged.status, judged.passed, judged.failures) == ("completed", True, ())
    assert (judged.response.answer, judged.latency_ms) == ("Hello.", 12.5)
    assert judged.response.usage == Usage(input_tokens=4, output_tokens=3)


def test_what_is_null_or_left_out_stays_unknown(tmp_path):
    needed = {key: RECORD[key] for key in ("suite", "task_id", "round", "attempt", "ok")}
    (found,) = read(written(tmp_path, json.dumps(needed))).trials()
    assert found.attempt.latency_ms is None
    assert found.attempt.response.usage == Usage()
    assert found.case.category is None


@pytest.mark.parametrize(
    ("said", "http", "status"),
    [
        ("Authentication failed: invalid provider key", 200, "infra_error"),
        ("quota exceeded for this model", 200, "infra_error"),
        ("<urlopen error [Errno 111] Connection refused>", None, "infra_error"),
        ("[Errno 104] Connection reset by peer", None, "infra_error"),
        ("getaddrinfo failed", None, "infra_error"),
        ("HTTP Error 502: Bad Gateway", None, "infra_error"),
        ("Bad Gateway", 502, "infra_error"),
        ("HTTP Error 500: Internal Server Error", 500, "agent_error"),
        ("timed out", None, "agent_error"),
        ("the model has no such tool", 200, "agent_error"),
    ],
)
def test_an_api_error_is_the_agents_or_nobodys(tmp_path, said, http, status):
    judged = trial(
        tmp_path,
        ok=False,
        api_error=said,
        response_status=http,
        response_text=None,
        validation_errors=["completion_failed"],
    ).attempt
    assert (judged.status, judged.error) == (status, said)
    assert judged.failures == ("completion_failed", "api_error")
    assert judged.passed is (None if status == "infra_error" else False)


def test_a_parse_error_is_the_agents(tmp_path):
    judged = trial(tmp_path, ok=False, parse_error="no choices").attempt
    assert (judged.status, judged.failures) == ("agent_error", ("parse_error",))


def test_codes_of_an_answer_stay_as_they_are(tmp_path):
    codes = ["missing_field:a.b", "missing_tool_call:shell", "missing_tool_call:shell"]
    judged = trial(tmp_path, ok=False, validation_errors=codes).attempt
    assert (judged.status, judged.passed) == ("completed", False)
    assert judged.failures == ("missing_field:a.b", "missing_tool_call:shell")


def test_attempts_that_were_not_kept_failed_and_that_is_all_that_is_known(tmp_path):
    first, second, third = trial(tmp_path, attempt=3).attempts
    assert [one.n for one in (first, second, third)] == [1, 2, 3]
    assert (first.passed, first.latency_ms, first.response) == (False, None, None)
    assert "keeps only the last attempt" in second.error
    assert third.passed


def test_what_was_found_in_the_logs_is_evidence(tmp_path):
    logs = {
        "tools_log_verdict": "incomplete",
        "tool_calls_observed_union": ["openagent.Web-Search"],
        "required_tools": ["web_search", "shell"],
        "missing_tools_in_tool_log": ["shell"],
        "log_paths_checked": ["openagent/logs/openagent.log"],
        "notes": ["a note"],
    }
    judged = trial(tmp_path, evidence={"log_verification": logs}).attempt
    (score,) = judged.scores.values()
    path = LogRead(kind="access", path="openagent/logs/openagent.log", bound="window")
    assert score.evidence == CheckedEvidence(
        verdict="incomplete",
        observed=("web_search",),
        required=("web_search", "shell"),
        missing=("shell",),
        logs=(path,),
        notes=("a note",),
    )


def test_a_flood_of_evidence_is_cut(tmp_path):
    many = [f"\x1b[1mtool_{n}\n{'x' * 500}" for n in range(1_000)]
    keys = ("tool_calls_observed_union", "missing_tools_in_tool_log", "log_paths_checked", "notes")
    logs = {"tools_log_verdict": "incomplete", **dict.fromkeys(keys, many)}
    (score,) = trial(tmp_path, evidence={"log_verification": logs}).attempt.scores.values()
    found = score.evidence
    assert (len(found.observed), len(found.missing)) == (100, 100)
    for texts in (found.notes, [one.path for one in found.logs]):
        assert len(texts) == 10
        assert max(map(len, texts)) == 200
        assert not any("\n" in text for text in texts)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"suite": "d', "details.jsonl:2: not JSON"),
        ('{"suite": NaN}', "details.jsonl:2: NaN is not JSON"),
        ("[1]", "details.jsonl:2: "),
        ({"round": 0}, "details.jsonl:2: round: "),
        ({"round": True}, "details.jsonl:2: round: "),
        ({"round": 10**5}, "details.jsonl:2: round: "),
        ({"task_id": ""}, "details.jsonl:2: task_id: "),
        ({"latency_ms": 1e70}, "details.jsonl:2: latency_ms: "),
        ({"attempt": 10**6}, "details.jsonl:2: attempt: "),
        ({"ok": 1}, "details.jsonl:2: ok: "),
        ({"latency_ms": -1}, "details.jsonl:2: latency_ms: "),
        ({"latency_ms": "12"}, "details.jsonl:2: latency_ms: "),
        ({"prompt_tokens": 1.5}, "details.jsonl:2: prompt_tokens: "),
        ({"validation_errors": "x"}, "details.jsonl:2: validation_errors: "),
        ({"suite": "../up"}, "details.jsonl:2: suite: "),
        ({"suite": "tool\n"}, "details.jsonl:2: suite: "),
        ({"suite": "summary.json"}, "details.jsonl:2: suite: "),
        ({"evidence": {"log_verification": {"notes": 7}}}, "details.jsonl:2: evidence."),
        ({"round": 1}, "details.jsonl:2: has the same suite, task and round as line 1 - keep one"),
        ({"round": 2, "api_error": "down"}, "details.jsonl:2: ok is true, but it failed"),
        ('{"suite": "a", "suite": "b"}', "details.jsonl:2: the key 'suite' appears twice"),
        ("[" * 100_000, "details.jsonl:2: nested too deeply"),
        ('"\\ud800"', "details.jsonl:2: an incomplete character"),
    ],
)
def test_a_wrong_record_is_told_with_its_line(tmp_path, line, told):
    assert faults(written(tmp_path, {}, line)).startswith(told)


def test_without_a_record_there_is_no_session(tmp_path):
    assert faults(written(tmp_path)) == "details.jsonl: has no record"


def test_a_last_line_that_was_cut_off_is_no_record(tmp_path):
    folder = written(tmp_path, {})
    with (folder / "details.jsonl").open("a") as file:
        file.write('{"suite": "dialogue", "task_id": "t2", "ro')
    assert faults(folder).startswith("details.jsonl:2: cut off in the middle")


def test_everything_wrong_is_told_at_once_and_no_more_than_fifty(tmp_path):
    told = faults(written(tmp_path, *("nonsense" for _ in range(70)))).splitlines()
    assert len(told) == 51
    assert told[-1].endswith("and 20 more problems from here on")


def test_a_record_of_many_megabytes_is_refused(tmp_path):
    folder = written(tmp_path, {"response_text": "x" * (65 << 20)})
    assert faults(folder) == "details.jsonl:1: longer than 64 MB - not a line of this format"


def summary(**figures):
    whole = {"rounds": 3, "success_rate": 0.6667, **figures}
    return {"suites": {"dialogue": whole}, "total_records": 3}


THREE = (
    {"round": 1, "latency_ms": 10, "total_tokens": 5},
    {"round": 2, "latency_ms": 20, "total_tokens": None},
    {"round": 3, "ok": False, "latency_ms": 600, "validation_errors": ["a", "b"]},
)


@pytest.mark.parametrize(
    "figures",
    [
        {},
        {"latency_ms_mean": 210.0, "latency_ms_std": 275.8, "worst_latency_ms": 600},
        {"latency_ms_std": 337.8},
        {"tokens_mean": 6.0, "tokens_std": 1.0},
        {"tokens_mean": 4.0},
        {"failures_top": [["a", 1], ["b", 1]]},
    ],
)
def test_figures_that_the_records_bear_out(tmp_path, figures):
    """Both standard deviations; missing tokens left out or counted as 0."""
    assert read(written(tmp_path, *THREE, summary=summary(**figures)))


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ({"rounds": 4}, "rounds: says 4, but there are 3 records"),
        ({"success_rate": 0.6668}, "success_rate: says 0.6668, but 2 of 3 records are ok, 0.6667"),
        ({"success_rate": "high"}, "success_rate: says high, but 2 of 3 records are ok"),
        ({"latency_ms_mean": 213}, "latency_ms_mean: says 213, but the records give 210.00"),
        ({"latency_ms_mean": 230}, "latency_ms_mean: says 230, but the records give 210.00"),
        ({"latency_ms_std": 300}, "latency_ms_std: says 300, but the records give 275.80"),
        ({"worst_latency_ms": 500}, "worst_latency_ms: says 500, but the records give 600.00"),
        ({"tokens_mean": 20}, "tokens_mean: says 20, but the records give 6.00"),
        ({"failures_top": [["a", 2]]}, "failures_top.a: says 2, but 1 records have this code"),
        ({"failures_top": [7]}, "failures_top: an entry is not a pair"),
    ],
)
def test_a_summary_that_says_something_else_is_refused_with_both_figures(tmp_path, figures, told):
    said = faults(written(tmp_path, *THREE, summary=summary(**figures)))
    assert said.startswith(f"summary.json: suites.dialogue.{told}")


def test_suites_that_only_one_of_the_two_files_has(tmp_path):
    other = {"suites": {"tool": {"rounds": 3}}, "total_records": 4}
    assert faults(written(tmp_path, *THREE, summary=other)).splitlines() == [
        "summary.json: suites.dialogue: is in the records, but not in the summary",
        "summary.json: suites.tool: is in the summary, but has no record",
        "summary.json: total_records: says 4, but there are 3 records - the file was changed or "
        "cut off; export it again",
    ]


def test_the_suites_own_records_stand_in_for_the_common_ones(tmp_path):
    whole = tmp_path / "session-20260512-143052-1a2b3c4d"
    shutil.copytree(SESSION, whole)
    before = [(one.suite, one.case.id, one.round) for one in read(whole).trials()]
    (whole / "details.jsonl").unlink()
    assert sorted((one.suite, one.case.id, one.round) for one in read(whole).trials()) == sorted(
        before
    )
    (whole / "meta.json").unlink()
    assert read(whole).created_at == "2026-05-12T14:30:52Z"


def test_what_is_no_session_is_told_what_it_looks_like(tmp_path):
    assert "is not there" in faults(tmp_path / "no", UsageError).replace(": not", ": is not")
    assert "has no details.jsonl; a session of the OpenAgent benchmark has meta.json" in faults(
        tmp_path, UsageError
    )
    (tmp_path / "events.jsonl").write_text("")
    assert "this is an Agent Gate session, which needs no import" in faults(tmp_path, UsageError)
    other = tmp_path / "thudm"
    other.mkdir()
    (other / "overall.json").write_text("{}")
    assert "THUDM's AgentBench" in faults(other, UsageError)
    assert f"--suite {SESSION.name}" not in faults(SESSION / "tool", UsageError)
    assert "give" in faults(SESSION / "tool", UsageError)
    assert "a file; give the folder of a session" in faults(SESSION / "meta.json", UsageError)


@pytest.mark.parametrize("name", ["details.jsonl", "meta.json"])
def test_a_link_to_nothing_is_not_taken_for_a_missing_file(tmp_path, name):
    folder = written(tmp_path / "session-20260512-143052-1a2b3c4d", {})
    (folder / "tool").mkdir()
    (folder / "tool" / "details.jsonl").write_text(json.dumps(RECORD))
    (folder / name).unlink()
    (folder / name).symlink_to(tmp_path / "gone")
    assert f"{name}: a link, not a regular file" in faults(folder, UsageError)


def test_files_of_another_form_and_blank_lines(tmp_path):
    assert len(list(read(written(tmp_path / "a", {}, " ", {"round": 2})).trials())) == 2
    assert "must be a JSON object; use" in faults(written(tmp_path / "b", {}, meta=[1]), UsageError)
    assert "suites: must be a JSON object" in faults(written(tmp_path / "c", {}, summary={"a": 1}))


@pytest.mark.parametrize("name", ["details.jsonl", "meta.json"])
def test_links_are_refused(tmp_path, name):
    folder = written(tmp_path / "s", {})
    (folder / name).replace(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    assert f"{name}: a link, not a regular file" in faults(folder, UsageError)


@pytest.mark.parametrize("session_id", ["today", "20269912-143052-1a2b3c4d", 7, "../x"])
def test_a_session_without_a_time_is_refused(tmp_path, session_id):
    folder = written(tmp_path, {}, meta={"session_id": session_id})
    assert "meta.json: session_id: " in faults(folder, UsageError)


def test_an_address_is_shown_without_its_key(tmp_path):
    meta = {**META, "base_url": "http://me:secret@host:1/x?key=secret"}
    assert "secret" not in repr(read(written(tmp_path, {}, meta=meta)))


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        ({"total_tokens": 9}, (None, None, 9)),
        ({"total_tokens": 9, "prompt_tokens": 4}, (4, 5, 9)),
        ({"prompt_tokens": 4, "completion_tokens": 5, "total_tokens": 12}, (4, 5, 9)),
        ({"prompt_tokens": 4}, (4, None, None)),
    ],
)
def test_a_total_of_tokens_counts_where_it_is_not_split(tmp_path, told, tokens):
    untold = dict.fromkeys(("total_tokens", "prompt_tokens", "completion_tokens"))
    (trial,) = read(written(tmp_path, {**untold, **told})).trials()
    usage = trial.attempt.response.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == tokens
