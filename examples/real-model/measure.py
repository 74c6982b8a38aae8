"""What the gate says of this agent unchanged, and changed for the worse, run after run.

    python measure.py live --runs 5      runs of each kind, in turns; adds to live.jsonl
    python measure.py pool --rounds 24   rounds of each kind, all made; adds to pool.json
    python measure.py table              what stands in live.jsonl (--file: in another file)

Needs the model (serve.py) and, for `live`, the baseline of this folder. It may be interrupted:
`live` goes on where it ended.
"""

import argparse
import collections
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from gate.stats.intervals import clopper_pearson

HERE = Path(__file__).parent
POOL = HERE / "pool.json"
GATE = [sys.executable, "-m", "gate"]
KINDS = {  # what a pull request changes in gate.yml
    "unchanged": ("", ""),
    "temperature 1.0": ("temperature: 0.7", "temperature: 1.0"),
}


def make_run(kind: str, *options: str) -> tuple[dict, Path]:
    """Runs the gate in a copy of this folder: its summary, and the folder of the session."""
    work = Path(tempfile.mkdtemp(prefix="real-model-"))
    for name in ("gate.yml", "questions.jsonl"):
        shutil.copy(HERE / name, work)
    shutil.copytree(HERE / "baselines", work / "baselines")
    rules = (work / "gate.yml").read_text()
    (work / "gate.yml").write_text(rules.replace(*KINDS[kind]))
    command = [*GATE, "run", "--quiet", "--format", "plain", *options]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)  # noqa: S603
    if done.returncode not in (0, 1):
        sys.exit(f"{kind}: gate run ended with {done.returncode}\n{done.stdout}{done.stderr}")
    session = next((work / "results").glob("session-*"))
    return json.loads((session / "summary.json").read_text()), session


def add_live_runs(file: Path, runs: int, kinds: list[str]) -> None:
    made = collections.Counter(run["kind"] for run in read_runs(file))
    for number in range(runs):
        for kind in kinds:
            if made[kind] > number:
                continue
            summary, session = make_run(kind)
            change = next(
                row for row in summary["comparisons"] if row["metric"] == "agent.success_rate"
            )
            line = {
                "kind": kind,
                "at": summary["created_at"],
                "outcome": summary["outcome"],
                "calls": summary["calls"]["made"],
                "unanswered": sum(suite["trials"] for suite in summary["suites"].values())
                - summary["overall"]["judged"],
                "seconds": summary["duration_s"],
                **{key: change[key] for key in ("status", "delta", "ci_low", "ci_high", "mde")},
            }
            with file.open("a") as lines:
                lines.write(json.dumps(line) + "\n")
            shutil.rmtree(session.parent.parent)


def read_runs(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def record_pool(rounds: int, kinds: list[str]) -> None:
    """kind -> case -> a digit for each round: 1 passed, 0 failed."""
    pool = json.loads(POOL.read_text()) if POOL.exists() else {}
    for kind in kinds:
        summary, session = make_run(kind, "--stop", "off", "--rounds", str(rounds))
        passed = collections.defaultdict(str)
        for line in (session / "details.jsonl").read_text().splitlines():
            trial = json.loads(line)
            passed[trial["case_id"]] += "1" if trial["passed"] else "0"
        before = pool.get(kind, {})
        pool[kind] = {case: before.get(case, "") + passed[case] for case in sorted(passed)}
        POOL.write_text(json.dumps(pool, indent=1) + "\n")
        print(f"{kind}: {summary['calls']['made']} calls in {summary['duration_s']:.0f} s")
        shutil.rmtree(session.parent.parent)


def print_table(file: Path) -> None:
    print("| agent: runs | blocked | 95 % interval | calls | change, points | 98 % interval |")
    print("|:--|--:|--:|--:|--:|--:|")
    for kind in KINDS:
        runs = [run for run in read_runs(file) if run["kind"] == kind]
        if not runs:
            continue
        blocked = sum(run["outcome"] == "fail" for run in runs)
        sure = clopper_pearson(blocked, len(runs), confidence=0.95)
        calls = statistics.mean(run["calls"] for run in runs)
        change, least, most = (
            statistics.median(run[key] for run in runs) for key in ("delta", "ci_low", "ci_high")
        )
        sureness = f"{100 * sure.low:.1f} to {100 * sure.high:.1f} %"
        print(
            f"| {kind}: {len(runs)} | {blocked} | {sureness} | {calls:.0f} | "
            f"{100 * change:+.1f} | {100 * least:+.1f} to {100 * most:+.1f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("live", "pool", "table"))
    parser.add_argument("--file", type=Path, default=HERE / "live.jsonl")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--kind", action="append", choices=KINDS, help="repeatable; default: all")
    chosen = parser.parse_args()
    kinds = chosen.kind or list(KINDS)
    if chosen.what == "live":
        add_live_runs(chosen.file, chosen.runs, kinds)
    elif chosen.what == "pool":
        record_pool(chosen.rounds, kinds)
    print_table(chosen.file)


if __name__ == "__main__":
    main()
