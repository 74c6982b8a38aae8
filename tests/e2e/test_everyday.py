"""What people do with it day by day, command by command, in a folder of their own."""

import json
import shutil

import pytest

from gate.files.json_schema import mismatches
from tests.support.chat_server import ChatServer
from tests.support.in_process import gate, run_command, run_session, save_baseline
from tests.support.session_files import details_of, sessions_in, summary_of, trials_in
from tests.support.yes_project import CASES, right, write_project, wrong_on

GRADER = '''
from dataclasses import dataclass
from gate.records import MetricSpec, Score

@dataclass(frozen=True, slots=True, kw_only=True)
class Fragile:
    """Breaks on c3."""

    keys = {}
    needs = ()

    def metrics(self):
        return (MetricSpec(name="correctness.fragile", column="correctness.fragile"),)

    def grade(self, case, response):
        if case.id == "c3":
            raise RuntimeError("boom")
        return Score(values={"correctness.fragile": 1.0}, passed=True)

@dataclass(frozen=True, slots=True, kw_only=True)
class Silent:
    """Never decides."""

    decides = False
    keys = {}
    needs = ()

    def metrics(self):
        return (MetricSpec(name="correctness.length", column="correctness.length", high=None),)

    def grade(self, case, response):
        return Score(values={"correctness.length": float(len(response.answer))})
'''


@pytest.fixture
def recorded(tmp_path):
    """A project whose answers are recorded: c2 is wrong, so are some rounds of c5."""

    def reply(question, nth):
        return "no" if question == "q2" or (question == "q5" and nth % 2) else "yes"

    with ChatServer(reply, delay_s=0.01) as server:
        write_project(tmp_path, server.url, suite_more="rounds: 3")
        save_baseline(
            tmp_path, run_session(tmp_path, "--baseline", "none", "--record", "answers.jsonl")
        )
    return tmp_path


def test_a_new_user_in_an_empty_folder(tmp_path):
    run_command(tmp_path, "init")
    assert "8 cases" in run_command(tmp_path, "validate").stdout
    first = run_command(tmp_path, "run")
    assert "NO BASELINE" in first.stdout
    assert "8 of 8 cases pass every round: agent.success_rate 1.00." in first.stdout
    save_baseline(tmp_path, sessions_in(tmp_path)[0])
    second = run_command(tmp_path, "run")
    assert "baselines/first.json in the working tree" in second.stdout
    assert "8 cases paired" in second.stdout
    assert second.stdout.splitlines()[-2].startswith("PASS: ")


def test_a_worse_agent_fails_and_the_comment_says_what_broke(recorded):
    with ChatServer(wrong_on(2, 6, 7, 8, 9, 10, 11)) as server:
        write_project(recorded, server.url, suite_more="rounds: 3")
        session = run_session(recorded, "--baseline", "baselines", code=1)
    comment = (session / "comment.md").read_text("utf-8")
    assert "`agent.success_rate` fell by" in comment
    assert "`c6`" in comment
    assert summary_of(session)["cases"]["newly_failing"][0]["failures"] == ["answer_mismatch"]


def test_a_dry_run_checks_everything_and_asks_nobody(recorded):
    with ChatServer(lambda question, nth: "yes") as server:
        write_project(recorded, server.url, suite_more="rounds: 3")
        before = sessions_in(recorded)
        said = run_command(recorded, "run", "--dry-run", "--baseline", "baselines").stdout
        assert "s: 12 cases x 3 rounds, compared with baselines" in said
        assert "36 calls planned, at most 72; it ends earlier if the verdict is clear" in said
        some = run_command(recorded, "run", "--dry-run", "--sample", "5", "--baseline", "none")
        assert "s: 5 cases of 12 x 3 rounds, compared with nothing" in some.stdout
        assert server.calls == 0
        config = recorded / "gate.yml"
        keyed = config.read_text().replace("model: m,", "model: m, api_key_env: NOBODY_SET_IT,")
        config.write_text(keyed)
        told = run_command(recorded, "run", "--dry-run", "--baseline", "none").stdout
        missing = "agent.api_key_env: the environment variable NOBODY_SET_IT is not set"
        assert f"Warning: {missing}; a run ends at once without it" in told
    assert sessions_in(recorded) == before
    (recorded / "cases.jsonl").write_text('{"id": "a"}\n')
    wrong = run_command(recorded, "run", "--dry-run", code=2)
    assert "cases.jsonl:1: " in wrong.stderr


def test_a_replay_gives_the_recorded_verdict_without_an_agent(recorded):
    first = sessions_in(recorded)[0]
    again = run_session(recorded, "--replay", "answers.jsonl", "--baseline", "none")
    shown = ("case_id", "round", "passed", "latency_ms", "output", "status", "scores")
    assert [[row[key] for key in shown] for row in details_of(again)] == [
        [row[key] for key in shown] for row in details_of(first)
    ]
    before, after = summary_of(first), summary_of(again)
    assert before["suites"]["s"]["metrics"] == after["suites"]["s"]["metrics"]
    assert (before["outcome"], before["reason"]) == (after["outcome"], after["reason"])


def test_reports_are_rendered_again_byte_for_byte(recorded):
    session = run_session(recorded, "--replay", "answers.jsonl", "--baseline", "baselines")
    kept = ("meta.json", "events.jsonl", "details.jsonl", ".lock", "baseline.answers.jsonl.gz")
    before = {p: p.read_bytes() for p in session.rglob("*") if p.is_file()}
    for path in before:
        if path.name not in (*kept, "summary.json"):
            path.unlink()
    run_command(recorded, "report", str(session))
    assert {p: p.read_bytes() for p in session.rglob("*") if p.is_file()} == before


def test_merged_shards_are_judged_as_the_whole_run(recorded):
    replay = ("--replay", "answers.jsonl", "--baseline", "baselines")
    whole = summary_of(run_session(recorded, *replay))
    shards = [
        run_session(recorded, *replay, "--shard", f"{n}/3", "--out", "shards") for n in (1, 2, 3)
    ]
    assert sum(len(details_of(shard)) for shard in shards) == 36
    for shard in shards:
        assert summary_of(shard)["cases"]["removed"] == []
        assert "join the shards with gate merge" in summary_of(shard)["notes"][0]
    merged = run_command(
        recorded, "merge", *map(str, shards), "--baseline", "baselines", "--out", "merged"
    )
    joined = summary_of(recorded / merged.stdout.splitlines()[-1].split(": ")[1])
    for key in ("outcome", "exit_code", "reason", "comparisons", "gates", "cases", "calls"):
        assert joined[key] == whole[key], key
    assert joined["suites"]["s"]["metrics"] == whole["suites"]["s"]["metrics"]


def test_a_shard_never_ends_with_the_verdicts_exit_code(recorded):
    with ChatServer(lambda question, nth: "no") as server:
        write_project(recorded, server.url, suite_more="rounds: 3")
        shards = [
            run_session(recorded, "--shard", f"{n}/2", "--out", "shards", "--baseline", "baselines")
            for n in (1, 2)
        ]
        run_command(
            recorded, "merge", *map(str, shards), "--baseline", "baselines", "--out", "m", code=1
        )


def test_what_no_shard_got_an_answer_to_is_no_pass_after_the_merge(tmp_path):
    down = (503, {}, {"error": {"message": "down"}})
    with ChatServer(lambda q, n: down if int(q[1:]) % 2 else "yes") as server:
        write_project(tmp_path, server.url, suite_more="rounds: 1")
        for n in (1, 2):
            gate(tmp_path, "run", "--shard", f"{n}/2", "--out", "shards", "--baseline", "none")
        shards = (tmp_path / "shards").glob("session-*")
        joined = ("merge", *map(str, shards), "--baseline", "none", "--out", "merged")
        merged = run_command(tmp_path, *joined, code=6)
    report = summary_of(tmp_path / merged.stdout.splitlines()[-1].split(": ")[1])
    assert report["suites"]["s"]["infra_errors"] == 6
    assert report["suites"]["s"]["not_run"] == 0


def test_a_refused_merge_leaves_nothing_and_a_missing_shard_is_named(recorded):
    replay = ("--replay", "answers.jsonl", "--baseline", "none", "--out", "shards")
    shards = [str(run_session(recorded, *replay, "--shard", f"{n}/3")) for n in (1, 2)]
    twice = run_command(recorded, "merge", shards[0], shards[0], "--out", "merged", code=2)
    assert "shard 1/3 is in" in twice.stderr
    assert not (recorded / "merged").exists()
    part = run_command(recorded, "merge", *shards, "--baseline", "none", "--out", "merged", code=6)
    lost = summary_of(recorded / part.stdout.splitlines()[-1].split(": ")[1])["lost"]
    assert lost == ["shard 3/3 is not among the merged sessions"]
    cases = recorded / "cases.jsonl"
    cases.write_text(cases.read_text().replace("yes", "YES", 1))
    changed = run_command(recorded, "merge", *shards, "--out", "other", code=2)
    assert "dataset" in changed.stderr
    assert not (recorded / "other").exists()


def test_a_budget_stops_the_run_and_resume_finishes_it(tmp_path):
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        save_baseline(tmp_path, run_session(tmp_path, "--baseline", "none"))
        write_project(tmp_path, server.url, more="budget: {calls: 7}")
        before = server.calls
        session = run_session(tmp_path, "--baseline", "baselines")
        assert server.calls - before == 7
        report = summary_of(session)
        assert report["outcome"] == "inconclusive"
        used_up = "the budget of 7 calls was used up after 7 of 24 calls"
        assert any(used_up in note for note in report["notes"])
        assert report["reason"].startswith(f"{used_up}: 5 cases were never run")
        assert report["cases"]["removed"] == []
        assert report["counts"]["removed"] == 0
        told = (session / "report.md").read_text(encoding="utf-8")
        assert "raise the budget, then `gate run --resume`" in told
        compared = run_command(tmp_path, "compare", "baselines", str(session)).stdout
        assert "removed" not in told + compared
        assert report["calls"] == {"planned": 24, "cap": 48, "made": 7, "saved": 0}
        assert report["suites"]["s"]["not_run"] == 17
        write_project(tmp_path, server.url)
        assert run_session(tmp_path, "--baseline", "baselines", "--resume", str(session)) == session
        assert server.calls - before == len(details_of(session)) > 7
    assert summary_of(session)["outcome"] == "pass"
    assert summary_of(session)["suites"]["s"]["not_run"] == 0


def test_money_stops_a_run_too_and_unknown_prices_are_unknown(tmp_path):
    prices = "pricing: {stub-model: {input: 100, output: 200}}"  # 0.002 USD an answer
    with ChatServer(right) as server:
        write_project(tmp_path, server.url, more=prices)
        session = run_session(tmp_path, "--baseline", "none", "--budget-usd", "0.01")
        report = summary_of(session)
        assert 0.01 <= report["cost"]["usd"] < 0.02
        assert "the budget of $0.01 was used up after" in " ".join(report["notes"])
        write_project(tmp_path, server.url)
        cost = summary_of(run_session(tmp_path, "--baseline", "none"))["cost"]
        told = run_command(tmp_path, "run", "--baseline", "none", "--budget-usd", "1", code=2)
    assert (cost["usd"], cost["unknown_models"]) == (None, ["stub-model"])
    assert "the cost of an answer of the model 'stub-model' is unknown" in told.stderr
    assert "pricing: {stub-model: {" in told.stderr


def test_a_budget_of_money_without_a_price_is_refused_before_the_first_call(tmp_path):
    write_project(tmp_path, "https://api.openai.com/v1", more="budget: {usd: 5}")
    told = run_command(tmp_path, "run", "--baseline", "none", code=2)
    assert "the price of the model 'm' is unknown" in told.stderr
    assert not (tmp_path / "results").exists()


def test_one_case_runs_alone_and_is_compared_with_nothing(recorded):
    with ChatServer(right) as server:
        write_project(recorded, server.url, suite_more="rounds: 3")
        session = run_session(recorded, "--case", "c4")
        assert server.asked == {"q4": 3}
    assert not (session / "summary.json").exists()
    assert "no such case" in run_command(recorded, "run", "--case", "c99", code=2).stderr


def test_a_sample_is_compared_with_its_own_cases(recorded):
    replay = ("--replay", "answers.jsonl", "--baseline", "baselines")
    report = summary_of(run_session(recorded, *replay, "--sample", "8"))
    assert report["outcome"] == "pass"
    assert {c["n_paired"] for c in report["comparisons"]} == {8}
    assert report["cases"]["removed"] == []
    small, large = (run_session(recorded, *replay, "--sample", n) for n in ("5", "10"))
    ids = [{row["case_id"] for row in details_of(session)} for session in (small, large)]
    assert ids[0] < ids[1]


SUITES = """version: 1
agent: {{type: openai, base_url: "{url}", model: m, concurrency: 4}}
suites:
  - {{name: good, dataset: cases.jsonl, graders: [exact_match], rounds: 1}}
  - {{name: bad, dataset: bad.jsonl, graders: [exact_match], rounds: 2{own}}}
  - {{name: numbers, dataset: cases.jsonl, graders: ["./mine.py:Silent"], rounds: 1}}
{more}
"""


def write_suites(folder, url, *, own="", more=""):
    write_project(folder, url)
    bad = [{"id": f"w{n}", "input": f"q{90 + n}", "expected_answer": "yes"} for n in range(6)]
    (folder / "bad.jsonl").write_text("".join(json.dumps(case) + "\n" for case in bad))
    (folder / "mine.py").write_text(GRADER)
    (folder / "gate.yml").write_text(SUITES.format(url=url, own=own, more=more))


def test_several_suites_the_worst_decides_and_is_named(tmp_path):
    with ChatServer(wrong_on(*range(90, 96))) as server:
        write_suites(tmp_path, server.url, own=", gates: {agent.success_rate: {min: 0.5}}")
        finished = run_command(tmp_path, "run", "--baseline", "none", code=1)
        one = run_session(tmp_path, "--suite", "good", "--baseline", "none")
    session = tmp_path / finished.stdout.splitlines()[-1].split(": ")[1]
    report = summary_of(session)
    outcomes = {name: suite["outcome"] for name, suite in report["suites"].items()}
    assert outcomes == {"good": "no_baseline", "bad": "fail", "numbers": "no_baseline"}
    assert report["reason"].startswith("bad: agent.success_rate is 0.00, below min 0.50 ")
    assert "FAIL: bad: " in finished.stdout
    rate = report["suites"]["numbers"]["metrics"]["agent.success_rate"]
    assert rate["value"] is None
    assert rate["reason"]
    assert report["suites"]["numbers"]["metrics"]["correctness.length"]["value"] > 2
    for name in outcomes:
        assert {row["suite"] for row in details_of(session / name)} == {name}
    assert list(summary_of(one)["suites"]) == ["good"]


def test_a_gate_on_a_suite_that_was_left_out_is_not_missing(tmp_path):
    with ChatServer(right) as server:
        write_suites(tmp_path, server.url, more="gates: {correctness.length: {min: 1}}")
        chosen = summary_of(run_session(tmp_path, "--suite", "good", "--baseline", "none"))
        assert chosen["gates"] == []
        whole = summary_of(run_session(tmp_path, "--baseline", "none"))
    assert [(g["suite"], g["status"]) for g in whole["gates"]] == [("numbers", "pass")]


def test_a_case_in_quarantine_is_run_and_shown_and_never_blocks(tmp_path):
    gates = "gates: {agent.success_rate: {min: 0.99, rule: point}}"
    held = 'quarantine: [{case: c3, owner: "@me", until: 2999-12-31}]'
    with ChatServer(wrong_on(3)) as server:
        write_project(tmp_path, server.url, more=gates)
        run_session(tmp_path, "--baseline", "none", code=1)
        write_project(tmp_path, server.url, more=f"{gates}\n{held}")
        report = summary_of(run_session(tmp_path, "--baseline", "none"))
        assert [change["case_id"] for change in report["cases"]["quarantined"]] == ["c3"]
        assert report["suites"]["s"]["trials"] == 24
        over = held.replace("2999", "2001")
        write_project(tmp_path, server.url, more=f"{gates}\n{over}")
        assert "ended on 2001-12-31" in run_command(tmp_path, "run", code=2).stderr


def test_a_grader_of_the_users_own_that_raises_is_unscored_and_counted(tmp_path):
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        (tmp_path / "mine.py").write_text(GRADER)
        config = tmp_path / "gate.yml"
        config.write_text(
            config.read_text().replace("[exact_match]", '[exact_match, "./mine.py:Fragile"]')
        )
        session = run_session(tmp_path, "--baseline", "none")
    report = summary_of(session)
    suite = report["suites"]["s"]
    assert suite["graders_unscored"] == {"Fragile": 2}
    assert suite["metrics"]["agent.success_rate"]["value"] == 1
    assert suite["metrics"]["agent.success_rate"]["n"] == 22
    assert suite["metrics"]["correctness.exact_match"]["n"] == 24
    assert [change["case_id"] for change in report["cases"]["errored"]] == ["c3"]
    broken = [row for row in details_of(session) if row["case_id"] == "c3"]
    assert all(row["passed"] is None and "boom" in row["unscored"]["Fragile"] for row in broken)
    assert "2 answers not scored by `Fragile`" in (session / "report.md").read_text("utf-8")


RULES = {
    "level warn never blocks": ("agent.success_rate: {min: 0.99, rule: point, level: warn}", 0),
    "point": ("agent.success_rate: {min: 0.9, rule: point}", 0),
    "convicted": ("agent.success_rate: {min: 0.97, rule: convicted}", 0),
    "proven": ("agent.success_rate: {min: 0.9, rule: proven}", 1),
    "beyond every doubt": ("agent.success_rate: {min: 1.0}", 1),
    "a target is only wished for": ("agent.success_rate: {target: 0.999}", 0),
    "a metric that nothing yields": ("operational.estimated_cost_per_query: {max: 1}", 1),
}


@pytest.mark.parametrize("name", RULES)
def test_gates_by_rule_and_level(tmp_path, name):
    gates, code = RULES[name]
    with ChatServer(wrong_on(3)) as server:  # 44 of 48 passed: 0.917
        write_project(tmp_path, server.url, suite_more="rounds: 4", more=f"gates: {{{gates}}}")
        run_session(tmp_path, "--baseline", "none", code=code)


def test_a_missing_metric_may_be_let_through(tmp_path):
    more = "gates: {operational.estimated_cost_per_query: {max: 1}}\npolicy: {missing_metric: warn}"
    with ChatServer(right) as server:
        write_project(tmp_path, server.url, more=more)
        session = run_session(tmp_path, "--baseline", "none")
    assert summary_of(session)["gates"][0]["status"] == "missing"


def by_metric(report):
    return {row["metric"]: row for row in report["comparisons"]}


def test_compare_decides_as_the_run_did_and_lists_what_differs(recorded):
    first = sessions_in(recorded)[0]
    with ChatServer(wrong_on(2, 6, 7, 8, 9, 10, 11)) as server:
        write_project(recorded, server.url, suite_more="rounds: 3")
        session = run_session(recorded, "--baseline", "baselines", code=1)
    made = summary_of(session)
    for baseline in (first, recorded / "baselines", recorded / "baselines" / "s.json"):
        finished = run_command(
            recorded, "compare", str(baseline), str(session), "--format", "json", code=1
        )
        report = json.loads(finished.stdout)
        assert by_metric(report) == by_metric(made)
        assert report["reason"] == made["reason"]
        (change,) = report["baseline"]["fingerprint_diff"]
        assert change.startswith("agent address: http://127.0.0.1:")
    with (recorded / "baselines" / "s.json").open("a") as file:
        file.write(" " * (1 << 20))
    pair = ("compare", "baselines/s.json", str(session), "--max-mb")
    assert "larger than 1 MB; lower" in run_command(recorded, *pair, "1", code=2).stderr
    run_command(recorded, *pair, "2", code=1)


def test_output_in_every_form(recorded):
    replay = ("run", "--replay", "answers.jsonl", "--baseline", "baselines")
    told = run_command(recorded, *replay, "--format", "json")
    assert json.loads(told.stdout)["outcome"] == "pass"
    assert "Session written to: results" in told.stderr
    assert run_command(recorded, *replay, "--format", "markdown").stdout.startswith("# ")
    quiet = run_command(recorded, *replay, "--quiet")
    assert quiet.stderr == ""
    assert quiet.stdout.startswith("pass: ")
    assert len(quiet.stdout.splitlines()) == 2
    verbose = run_command(recorded, *replay, "--verbose")
    assert verbose.stderr.count("[s] c2 round") == 3
    plain = run_command(recorded, *replay, env={"PYTHONIOENCODING": "ascii", "COLUMNS": "60"})
    assert plain.stdout.isascii()
    assert max(map(len, plain.stdout.splitlines()[:-2])) <= 60
    assert "\x1b" not in plain.stdout + verbose.stdout


def test_files_fit_their_published_schemas(recorded):
    session = run_session(recorded, "--replay", "answers.jsonl", "--baseline", "baselines")

    def published(what):
        return json.loads(run_command(recorded, "schema", what).stdout)

    assert mismatches(published("session"), summary_of(session)) == []
    assert mismatches(published("session"), summary_of(session / "s")) == []
    assert mismatches(published("meta"), json.loads((session / "meta.json").read_text())) == []
    baseline = json.loads((recorded / "baselines" / "s.json").read_text())
    assert mismatches(published("baseline"), baseline) == []
    row = published("details")
    assert [mismatches(row, one) for one in details_of(session)] == [[]] * 36
    assert mismatches(row, {**details_of(session)[0], "more": 1})


def test_nothing_is_called_where_nothing_needs_to_be(recorded):
    """The recorded server is gone; every offline command still works."""
    session = sessions_in(recorded)[0]
    for command in (
        ("validate",),
        ("report", str(session)),
        ("compare", str(session), str(session)),
        ("baseline", "show", "--baseline", "baselines"),
        ("merge", str(session), "--baseline", "none", "--out", "merged"),
    ):
        run_command(recorded, *command)
    shutil.rmtree(recorded / "merged")
    assert len(trials_in(session)) == len(CASES) * 3


def test_two_mistakes_in_two_suites_are_told_at_once(tmp_path):
    write_suites(tmp_path, "http://127.0.0.1:9")
    config = tmp_path / "gate.yml"
    text = (
        config.read_text()
        .replace("[exact_match]", "[exact_mach]", 1)
        .replace("rounds: 2", "rounds: two")
    )
    config.write_text(text)
    told = run_command(tmp_path, "validate", code=2).stderr.splitlines()
    assert told == [
        "gate.yml:4: suites[0].graders[0]: unknown grader 'exact_mach' - did you mean "
        "'exact_match'?",
        "gate.yml:5: suites[1].rounds: 'two' is not a whole number",
    ]


def test_a_recording_of_fewer_rounds_replays_to_its_end_and_says_so(tmp_path):
    with ChatServer(wrong_on(3)) as server:
        write_project(tmp_path, server.url)
        made = ("--baseline", "none", "--stop", "off", "--rounds", "1")
        first = summary_of(run_session(tmp_path, *made, "--record", "kept/answers.jsonl"))
    again = ("--replay", "kept/answers.jsonl", "--baseline", "none", "--rounds", "3")
    report = summary_of(run_session(tmp_path, *again))
    assert report["outcome"] == first["outcome"]
    assert report["suites"]["s"]["trials"] == 12
    assert any(
        "the recording has only 12 trials, 24 were not recorded: some planned trials were "
        "not run" in note
        for note in report["notes"]
    )


def test_a_finished_session_stays_as_it_is_and_is_never_compared_with_itself(tmp_path):
    with ChatServer(wrong_on(1, 2, 3)) as server:
        rules = "gates: {agent.success_rate: {min: 0.9}}\nregression: {stop: off}"
        write_project(tmp_path, server.url, more=rules)
        session = run_session(tmp_path, code=1)
        saved = run_command(tmp_path, "baseline", "save", "latest")
        assert (
            f"note: the verdict of results/{session.name} was FAIL" in saved.stderr + saved.stdout
        )
        before, calls = (session / "summary.json").read_bytes(), server.calls
        again = run_command(tmp_path, "run", "--resume", session.name, code=1)
        assert "is finished and stays as it is: nobody was asked" in again.stderr
        assert again.stdout.splitlines()[-1] == f"Session written to: results/{session.name}"
        assert (session / "summary.json").read_bytes() == before
        # A job judges it anew, and its own rounds in the baseline do not count.
        given = ("--resume", session.name, "--baseline", "baselines")
        judged = run_command(tmp_path, "run", *given, code=1, env={"CI": "1"})
        assert "which is not compared with itself" in " ".join(judged.stdout.split())
        assert server.calls == calls
        assert run_command(tmp_path, "run", "--baseline", "latest", code=1).returncode == 1
    (other,) = (one for one in sessions_in(tmp_path) if one != session)
    assert summary_of(other)["baseline"]["source"] == "session"
