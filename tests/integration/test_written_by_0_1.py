"""What version 0.1 wrote is read by every command, and its figures are what they were then."""

import csv
import io
import json
import operator
import re
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gate import __version__
from gate.analysis.metric_names import RENAMED
from gate.suites.config.load import load
from tests.support.git_repository import git
from tests.support.github_server import REPOSITORY, GitHub, serving
from tests.support.in_process import gate, output_of, run_command, run_session
from tests.support.session_files import details_of, summary_of, trials_in
from tests.support.written_by_0_1 import ENDED_EARLY, WRITTEN, unpack

WITH_VERDICT = (
    *("main-1", "main-2", "main-3", "main-4", "pass", "fail", "inconclusive", "error"),
    *("not_comparable", "shard-1", "shard-2", "merged", "fresh", "release", "sample", "imported"),
)
OUTCOMES = {  # of the sessions whose name does not say it
    **dict.fromkeys(("main-1", "main-2", "main-3", "sample", "imported"), "no_baseline"),
    **dict.fromkeys(("main-4", "shard-1", "merged", "fresh"), "pass"),
    "shard-2": "not_comparable",
    "release": "fail",
}
REPEATED = {  # file in said/ -> the command that said it
    **{
        f"compare-{name}.json": ("compare", "sessions/main-1", f"sessions/{name}")
        for name in ("pass", "fail", "inconclusive")
    },
    "history.json": ("history", "baselines"),
    "plan.json": ("plan", "--baseline", "baselines"),
    "agreement.json": ("review", "agreement"),
    "calibrate.json": (
        *("calibrate", "sessions/main-1", "sessions/main-2", "sessions/main-3"),
        *("--reps", "200"),
    ),
}
OF_THE_DAY = ("session_id", "created_at", "age_days", "duration_s", "tool_version")
OF_THE_PLACE = ("detail", "source")  # there is no repository here
# Figures of a command that are not what 0.1 said of the same files: where they begin, and why that
# is wanted.
SINCE = ("operational.judge_injection_rate",)  # metrics that 0.1 had not
CHANGED = {
    "compare: reproduce": "the command shows the case, and compares nothing",
    "compare: gates[].ci_": "a share of cases that ran once has the bounds of Clopper and Pearson",
    "compare: suites.orders.metrics.": "a share of cases that ran once has other bounds",
    "compare: gates[].rule": "the value decides by default",
    "compare: gates[].status": "so a value beyond its limit fails",
    "compare: gates[].reason": "and says so",
    "compare: comparisons[].ci_": "the chances of error are spent otherwise on the looks",
    "compare: comparisons[].p_adjusted": "the chances of error are spent otherwise on the looks",
    "compare: suites.orders.success_rate_": "fewer than 30 cases have Wilson's interval",
    "review: agreements[].alpha_all.low": "few ratings that agree prove less",
    "review: agreements[].kappa": "few ratings that agree prove less",
    "compare: comparisons[].level": "so a judge with six labels only warns",
    "compare: worse[].blocks": "so a judge with six labels only warns",
    "compare: gates[].level": "so a judge with six labels only warns",
    "compare: notes": "and a note says so",
    "compare: suites.advice.outcome": "and what it says decides nothing",
    "plan: suites[].keep_rounds": "a small suite keeps more rounds",
    "calibrate: shapes[]": "main gets as many rounds as its pool has",
    "calibrate: splits": "so rounds are drawn, and there are up to twenty looks",
    "compare: comparisons[].mde": "the drop's own variance counts",
    "compare: comparisons[].status": "too few cases to tell anything are inconclusive",
    "compare: comparisons[].settled": "and so are not settled",
    "compare: comparisons[].reason": "and say what size would do",
    "plan: suites[].actions[]": "the drop's own variance counts",
    "plan: suites[].best": "the drop's own variance counts",
    "plan: suites[].metrics[]": "the drop's own variance counts",
    "compare: reason": "a figure has the form that it has everywhere",
    "compare: suites.orders.reason": "a figure has the form that it has everywhere",
    "compare: suites.advice.reason": "a value beyond its limit is one more reason",
    "compare: suites.advice.metrics.": "a value that is missing has its reason in other words",
    "plan: notes[]": "a note has other words",
    "plan: suites[].notes[]": "a note has other words",
    "plan: suites[].baseline.notes": "a note says which names are old",
    "calibrate: notes": "a note says which names are old",
    "review: agreements[].alpha_people.reason": "a reason has other words",
    "review: notes": "a note says which names are old",
    "compare: suites.orders.ended": "a sentence is plain text",
    "compare: suites.advice.ended": "a sentence is plain text",
    "compare: suites.advice.baseline.notes": "a note says which names are old",
    "plan: suites[].baseline.fingerprint_diff": "the baseline's version is another one than ours",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For commands that write nothing into it."""
    return unpack(tmp_path_factory.mktemp("written") / "shop")


@pytest.fixture
def shop(tmp_path: Path, written: Path) -> Path:
    return shutil.copytree(written, tmp_path / "shop")


def places(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """Where the two differ; what only the later one has is no difference."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in before.keys() - {*OF_THE_DAY, *OF_THE_PLACE}:
            where = f"{path}.{key}".lstrip(".")
            yield from places(before[key], now[key], where) if key in now else [f"{where}: gone"]
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for one, other in zip(by_metric(before), by_metric(now), strict=True):
            yield from places(one, other, f"{path}[]")
    elif isinstance(before, (int, float)) and isinstance(now, (int, float)):
        if before != pytest.approx(now, rel=1e-9, abs=1e-12):
            yield path
    elif before != now:
        yield path


def by_metric(rows: list[Any]) -> list[Any]:
    """Sorted, where each is about a metric: those that were renamed stand elsewhere now."""
    if not all(isinstance(row, dict) and "metric" in row for row in rows):
        return rows
    return sorted(rows, key=lambda row: (row.get("suite", ""), row["metric"]))


def said(written: Path, name: str) -> str:
    """What 0.1 said, with the names that metrics have now."""
    return with_new_names((written / "said" / name).read_text("utf-8"))


def with_new_names(text: str) -> str:
    for old, renamed in RENAMED.items():
        text = text.replace(old, renamed.name)
    return text


def figures(summary: dict[str, Any]) -> dict[str, Any]:
    """Each suite's numbers: those of a metric, and what each comparison came to."""
    suites = {
        name: {
            "metrics": {m: one["value"] for m, one in suite["metrics"].items() if m not in SINCE},
            "counts": (suite["cases"], suite["rounds"], suite["trials"]),
        }
        for name, suite in summary["suites"].items()
    }
    compared = {
        f"{one['suite']} {one['metric']}": (one["baseline"], one["current"], one["n_paired"])
        for one in summary["comparisons"]
        if one["metric"] not in SINCE
    }
    return {"suites": suites, "compared": compared}


@pytest.mark.parametrize("name", WITH_VERDICT)
def test_a_session_is_rendered_again_and_nothing_of_its_record_is_lost(
    shop: Path, name: str
) -> None:
    session = shop / "sessions" / name
    before = summary_of(session)
    run_command(shop, "report", str(session))
    assert before["outcome"] == OUTCOMES.get(name, name)
    exported = output_of(shop, "export", str(session), "--format", "jsonl")
    assert len(exported.splitlines()) == len(details_of(session))
    report = (session / "report.md").read_text("utf-8")
    assert before["session_id"] in report
    for suite in before["suites"]:
        assert (session / suite / "report.md").is_file()
        assert suite in report


def test_without_a_verdict_it_says_how_to_go_on(shop: Path) -> None:
    told = run_command(shop, "report", "sessions/interrupted", code=2).stderr
    assert "gate run --resume sessions/interrupted" in told


@pytest.fixture(scope="module")
def repeated(written: Path) -> dict[str, set[str]]:
    """File in said/ -> where what the same command says now is not what it said then."""
    return {
        name: {
            f"{command[0]}: {where}"
            for where in places(
                json.loads(said(written, name)),
                json.loads(gate(written, *command, "--format", "json").stdout),
            )
        }
        for name, command in REPEATED.items()
    }


@pytest.mark.parametrize("name", REPEATED)
def test_a_command_has_the_figures_of_then(repeated: dict[str, set[str]], name: str) -> None:
    found = {where for where in repeated[name] if not where.startswith(tuple(CHANGED))}
    assert not found, "0.1 said otherwise: mend it, or name it in CHANGED with its reason"


def test_every_change_that_is_named_is_one(repeated: dict[str, set[str]]) -> None:
    found = {where for places in repeated.values() for where in places}
    assert [one for one in CHANGED if not any(where.startswith(one) for where in found)] == []


@pytest.mark.parametrize("form", ["csv", "jsonl", "junit", "otel", "promptfoo"])
def test_exports_are_those_of_then(written: Path, form: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_command(written, "export", "sessions/fail", "--format", form, "--out", str(out))
    now, before = out.read_text("utf-8"), said(written, f"export-fail.{form}")
    if form == "junit":  # what fails on main too is skipped since, and the counts say so
        skipped = now.count("<skipped ")
        assert f'failures="{before.count("<failure ") - skipped}"' in now
        return
    assert in_order(form, now) == in_order(form, before)
    if form == "promptfoo":
        assert now == before


def in_order(form: str, text: str) -> Any:
    """What the text holds: metrics that were renamed stand elsewhere among the others."""
    if form == "csv":
        return list(csv.DictReader(io.StringIO(text)))
    text = re.sub(r'(?<="stringValue":")[0-9a-f]{32}', "id", text)  # of a result, by its name
    lines = [json.loads(line) for line in text.splitlines()] if form in ("jsonl", "otel") else text
    return sorted_lists(lines) if form == "otel" else lines


def sorted_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: sorted_lists(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted(map(sorted_lists, value), key=lambda item: json.dumps(item, sort_keys=True))
    return value


def test_the_history_of_sessions_and_accepted_changes(written: Path) -> None:
    rows = json.loads(output_of(written, "history", "sessions", "--format", "json"))["suites"]
    orders = next(suite for suite in rows if suite["suite"] == "orders")
    assert len(orders["runs"]) >= 8
    assert "orders: 4 runs" in output_of(written, "history", "accepted")


def test_shards_are_merged_to_the_figures_of_then(shop: Path) -> None:
    done = run_command(
        shop,
        "merge",
        "sessions/shard-1",
        "sessions/shard-2",
        "--out",
        "out",
        "--baseline=baselines",
    )
    assert done.returncode == 0
    (merged,) = (shop / "out").glob("session-*")
    before = json.loads(with_new_names(json.dumps(summary_of(shop / "sessions" / "merged"))))
    assert figures(summary_of(merged)) == figures(before)


def test_an_interrupted_run_goes_on_with_its_answers(shop: Path) -> None:
    session = shop / "sessions" / "interrupted"
    before = trials_in(session)
    told = output_of(shop, "run", "--resume", str(session), "--stop", "off", "--baseline", "none")
    after = {(r["suite"], r["case_id"], r["round"]): r for r in trials_in(session)}
    assert 0 < len(before) < len(after) == 12 * 3 + 8 * 2
    assert all(after[r["suite"], r["case_id"], r["round"]] == r for r in before)
    assert summary_of(session)["outcome"] == "no_baseline", told


def test_a_recording_gives_the_answers_of_then(shop: Path) -> None:
    session = run_session(
        shop, "--replay", "answers.jsonl", "--stop", "off", "--baseline", "baselines"
    )
    before, now = summary_of(shop / "sessions" / "main-1"), summary_of(session)
    assert now["outcome"] == "pass"
    for suite in ("orders", "advice"):
        for metric in ("agent.success_rate", "operational.avg_tokens"):
            metrics = now["suites"][suite]["metrics"], before["suites"][suite]["metrics"]
            assert metrics[0][metric]["value"] == metrics[1][metric]["value"]


@pytest.mark.parametrize("source", ["baselines", "accepted", "sessions/main-1"])
def test_a_run_is_compared_with_a_baseline_of_then(shop: Path, source: str) -> None:
    report = summary_of(run_session(shop, "--baseline", source))
    orders = next(
        one
        for one in report["comparisons"]
        if (one["suite"], one["metric"]) == ("orders", "agent.success_rate")
    )
    assert (orders["status"], orders["n_paired"]) == ("no_regression", 11)
    odd = [one for one in report["comparisons"] if one["status"] in ("not_comparable", "new")]
    assert not [one for one in odd if one["metric"] not in SINCE]
    judged = {one["metric"]: one["n_paired"] for one in report["comparisons"]}
    renamed = ("correctness.factual_correctness", "correctness.reference_coverage")
    assert [judged[name] for name in renamed] == [8, 8]
    assert judged.keys().isdisjoint(RENAMED)
    assert report["suites"]["orders"]["baseline"]["runs"] == {"baselines": 3}.get(source, 1)
    tool = f"tool: 0.1.0 -> {report['provenance']['tool_version']}"
    assert tool in report["suites"]["orders"]["baseline"]["fingerprint_diff"]


def test_runs_of_then_and_of_now_share_a_baseline_file(shop: Path) -> None:
    session = run_session(shop, "--stop", "off", "--baseline", "baselines")
    told = output_of(shop, "baseline", "save", str(session))
    assert "baselines/orders.json: 12 rounds of 4 runs, 12 cases" in told
    run_command(shop, "baseline", "save", "sessions/main-4")
    shown = output_of(shop, "baseline", "show")
    assert "pool: 15 rounds of 5 runs" in shown
    git(shop, "init", "-q", "-b", "main")
    git(shop, "config", "user.name", "Ana")
    git(shop, "add", "baselines")
    git(shop, "commit", "-q", "-m", "Baselines")
    run_command(shop, "baseline", "accept", "--reason", "new prices", "--suite", "orders")
    accepted = json.loads((shop / "baselines" / "orders.json").read_text("utf-8"))["accepted"]
    assert [one["why"] for one in accepted] == ["new prices"]


def test_the_listing_is_that_of_then(shop: Path) -> None:
    """But for where the files are, the order of what has another name, and the anchor, which they
    lack: there is no repository here.
    """
    now, before = output_of(shop, "baseline", "show"), said(shop, "show.txt")
    listed, listed_before = (
        sorted(
            line.split()
            for line in text.splitlines()
            if "baselines/" not in line and "anchor: none before" not in line
        )
        for text in (now, before)
    )
    assert listed == listed_before


def test_a_releases_evidence_is_verified(written: Path) -> None:
    commit = "c0ffee" + "0" * 34
    told = output_of(
        *(written, "verify", "sessions/release/evidence"),
        *("--commit", commit, "--tag", "v1.2.0"),
    )
    assert "Verified: octocat/demo v1.2.0" in told
    assert "fail, exit code 1; 11 files, verdict recomputed from 52 trials" in told


def test_evidence_that_is_judged_otherwise_now_names_the_version(
    tmp_path: Path,
) -> None:
    folder = unpack(tmp_path, ENDED_EARLY)
    told = run_command(folder, "verify", "evidence", "--tag", "v1.2.0", code=1).stdout
    assert told.splitlines() == [
        "differs: gate s: agent.success_rate is stated as pass (0.333333), its trials say "
        "inconclusive (0.333333)",
        "Not decided: the files are those of the manifest, which says fail, exit code 1. Agent "
        f"Gate 0.1.0 wrote it, this is {__version__}, and what differs above may be due to that or "
        "to a forgery. Verify with the version that wrote it:",
        "pipx run --spec git+https://github.com/agent-gate/agent-gate@v0.1.0 gate verify evidence "
        "--tag v1.2.0",
    ]
    (folder / "evidence" / "details.jsonl").write_bytes(b"")
    told = run_command(folder, "verify", "evidence", code=1).stdout
    assert told.startswith("not verified: details.jsonl: 0 bytes")


def test_a_sheet_and_labels_of_then_are_read(shop: Path) -> None:
    before = (shop / "reviews" / "labels.jsonl").read_bytes()
    (shop / "reviews" / "labels.jsonl").unlink()
    run_command(shop, "review", "import", "rated.csv")
    now = (shop / "reviews" / "labels.jsonl").read_text("utf-8").splitlines()
    unlike = {"labelled_at": ""}
    assert [{**json.loads(line), **unlike} for line in now] == [
        {**json.loads(line), **unlike} for line in by_new_name(before.decode())
    ]


def by_new_name(labels: str) -> list[str]:
    """Labels of a case and round, sorted by metric as they are stored."""
    rows = [json.loads(line) for line in with_new_names(labels).splitlines()]
    key = operator.itemgetter("suite", "period", "case_id", "round", "metric")
    return [json.dumps(row) for row in sorted(rows, key=key)]


def test_a_stored_session_is_published(shop: Path) -> None:
    session = shop / "sessions" / "fail"
    commit = summary_of(session)["provenance"]["commit"]
    with serving(GitHub(heads={3: commit})) as github:
        event = shop / "event.json"
        pull = {"number": 3, "head": {"sha": commit, "ref": "topic"}, "base": {"sha": "b" * 40}}
        event.write_text(json.dumps({"pull_request": pull, "number": 3}), encoding="utf-8")
        run_command(
            *(shop, "comment", "sessions/fail"),
            env={
                "GITHUB_EVENT_NAME": "pull_request",
                "GITHUB_EVENT_PATH": str(event),
                "GITHUB_REPOSITORY": REPOSITORY,
                "GITHUB_API_URL": github.url,
                "GITHUB_TOKEN": "ghs_notToBeTold123",
            },
        )
        body = github.comments[0]["body"]
    assert "orders" in body
    assert commit in body.splitlines()[0]


def test_gate_yml_of_then_is_valid(shop: Path) -> None:
    run_command(shop, "validate")
    text = (WRITTEN / "every_key.yml").read_bytes()
    config = load(lambda path: text, "gate.yml", env={}, root=Path(), today=date(2026, 11, 21))
    assert config.warnings == ()
    assert [suite.name for suite in config.suites] == ["analytics"]
    assert (config.regression.max_rounds, config.baseline.keep_rounds) == (6, 15)
    assert config.quarantine[0].owner == "@payments"


# ---------------------------------------------------------------------- what changed is told, once

VALUE = "since version 0.2.0 a measured value beyond its limit now fails"
SINGLE = "now compares nothing with a baseline"


def notes(session: Path) -> str:
    return "\n".join(summary_of(session)["notes"])


def words(text: str) -> str:
    """Without the line ends of the terminal."""
    return " ".join(text.split())


def remember(shop: Path, name: str) -> None:
    """Makes a session of then the newest one in the folder of sessions."""
    session_id = summary_of(shop / "sessions" / name)["session_id"]
    shutil.copytree(shop / "sessions" / name, shop / "results" / f"session-{session_id}")


def test_the_first_run_after_a_session_of_then_tells_it_and_the_next_one_does_not(
    shop: Path,
) -> None:
    remember(shop, "pass")
    first = run_command(shop, "run", "--baseline", "none", "--suite", "orders")
    assert VALUE in words(first.stdout)
    session = max((shop / "results").glob("session-*"))
    assert VALUE in notes(session)
    assert "a measured value beyond its limit" in (session / "comment.md").read_text("utf-8")
    assert VALUE not in notes(run_session(shop, "--baseline", "none", "--suite", "orders"))


def test_so_does_the_first_run_that_is_compared_with_a_baseline_of_then(shop: Path) -> None:
    with_baseline = ("--baseline", "baselines", "--suite", "orders")
    assert VALUE in notes(run_session(shop, *with_baseline))
    assert VALUE not in notes(run_session(shop, *with_baseline))


def test_a_change_waits_for_the_run_that_it_concerns(shop: Path) -> None:
    """No limits first, then one case, then limits."""
    rules = (shop / "gate.yml").read_text("utf-8")
    none = "agent.success_rate: {target: 0.95}"
    (shop / "gate.yml").write_text(
        rules.replace("agent.success_rate: {min: 0.6, target: 0.95}", none)
        .replace("  operational.p95_latency_ms: {max: 5000, level: warn}\n", "")
        .replace("    gates: {correctness.faithfulness: {min: 2.5}}\n", ""),
        "utf-8",
    )
    remember(shop, "pass")
    once = ("--suite", "orders")
    assert VALUE not in notes(run_session(shop, "--baseline", "none", *once))
    single = words(gate(shop, "run", "--case", "orders-01", *once).stdout)
    assert SINGLE in single
    assert VALUE not in single
    (shop / "gate.yml").write_text(rules, "utf-8")
    assert VALUE in notes(run_session(shop, "--baseline", "none", *once))
    assert "since version" not in words(gate(shop, "run", "--case", "orders-01", *once).stdout)


def test_a_first_run_hears_nothing_of_the_past(shop: Path) -> None:
    remember(shop, "imported")
    assert "since version" not in notes(
        run_session(shop, "--baseline", "none", "--suite", "orders")
    )


def test_in_a_job_the_baseline_counts_and_not_what_lies_in_the_folder(shop: Path) -> None:
    remember(shop, "pass")
    event = shop / "event.json"
    event.write_text(json.dumps({"repository": {"default_branch": "main"}}), encoding="utf-8")
    job = {
        "GITHUB_EVENT_NAME": "workflow_dispatch",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_SHA": "c0ffee" + "0" * 34,
        "GITHUB_REF": "refs/heads/topic",
        "GITHUB_REPOSITORY": "octocat/demo",
    }
    once = ("--suite", "orders")
    assert VALUE not in notes(run_session(shop, "--baseline", "none", *once, env=job))
    for _ in range(2):
        assert VALUE in notes(run_session(shop, "--baseline", "baselines", *once, env=job))
