"""Makes tests/data/written_by_0_1/files.tar.xz: `python tests/support/make_written_by_0_1.py GATE`.

No module, but a program: GATE is the command of version 0.1, installed from a checkout of commit
9f810e2. It runs in a folder that is deleted; what names that folder or this machine is refused.
"""

import csv
import getpass
import io
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "written_by_0_1"
COMMIT = "c0ffee" + "0" * 34
RENDERED = (".lock", "comment.md", "junit.xml")
RELEASE = {
    "GITHUB_EVENT_NAME": "push",
    "GITHUB_EVENT_PATH": "event.json",
    "GITHUB_SHA": COMMIT,
    "GITHUB_REF": "refs/tags/v1.2.0",
    "GITHUB_REPOSITORY": "octocat/demo",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_RUN_ID": "7",
}
GATE_YML = """version: 1
agent: {type: python, callable: "./agent.py:answer", concurrency: 2, timeout_s: 20}
judge: {type: python, callable: "./judge.py:judge", model: a-judge, min_agreement: 0.2}
pricing: {small-model: {input: 0.27, output: 1.10}}
suites:
  - name: orders
    dataset: orders.jsonl
    graders: [exact_match, trajectory]
    rounds: 3
    version: "2"
  - name: advice
    dataset: advice.jsonl
    graders: [{judge: {rubric: answer}}, {contains: {text: answer}}]
    rounds: 2
    gates: {correctness.faithfulness: {min: 2.5}}
gates:
  agent.success_rate: {min: 0.6, target: 0.95}
  operational.p95_latency_ms: {max: 5000, level: warn}
regression:
  metrics: {agent.avg_steps: {tolerance: 10%, level: warn}}
quarantine: [{case: orders-07, owner: "@shop", until: 2099-12-31}]
baseline: {max_age_days: 36500}
report: {html: false}
protect: false
"""
AGENT = '''"""Answers as the variable AGENT says: good, worse, bad, away or slow."""

import os
import platform
import time
from collections import Counter

from gate.errors import InfraFailure

STATE = os.environ.get("AGENT", "good")
WRONG = {"worse": 1, "bad": 9}.get(STATE, 0)  # cases of a suite
asked = Counter()


def answer(case):
    if STATE == "away":
        raise InfraFailure("the shop's service does not answer (503)")
    if STATE == "slow":
        time.sleep(0.4)
    asked[case["id"]] += 1
    suite, number = case["id"].split("-")
    wrong = int(number) < WRONG or (number == "05" and asked[case["id"]] % 3 == 2)
    look = {"name": "look_up", "args": {"id": case["id"]}, "result": "found"}
    if suite == "orders":
        text = "delayed" if wrong or number == "07" else case["input"].split()[-1]
    else:
        text = f"answer q{int(number)}" + (" worse" if wrong else "")
    return {
        "answer": text,
        "steps": [look, look] if wrong else [look],
        "model": "small-model",
        "usage": {"prompt_tokens": 20, "completion_tokens": 5},
    }
'''
JUDGE = r'''"""Scores by the number in the answer, two points less where it is worse."""

import re


def judge(case):
    text = case["material"]
    score = 3 + int(re.search(r"answer q([0-9]+)", text).group(1)) % 3
    score = max(1, score - 2) if "worse" in text else score
    token = re.search(r"canary`: (\S+)", case["instructions"]).group(1)
    names = ("correctness", "completeness", "faithfulness")
    scores = {name: {"reason": f"{name} is {score}", "score": score} for name in names}
    return {**scores, "addressed_judge": False, "canary": token}
'''
JUNIT = """<testsuite name="rates" tests="6" failures="2" timestamp="2026-11-20T10:00:00">
  <testcase classname="tests.test_rates" name="test_eur" time="0.21"/>
  <testcase classname="tests.test_rates" name="test_usd" time="0.18"/>
  <testcase classname="tests.test_rates" name="test_gbp" time="0.25"/>
  <testcase classname="tests.test_rates" name="test_chf" time="0.19"/>
  <testcase classname="tests.test_rates" name="test_jpy" time="0.40">
    <failure type="AssertionError">161 is not 162</failure></testcase>
  <testcase classname="tests.test_rates" name="test_sek" time="0.22">
    <failure type="AssertionError">11.2 is not 11.4</failure></testcase>
</testsuite>
"""
WORDS = ("sent", "open", "paid", "returned")
ORDERS = [
    {
        "id": f"orders-{n:02d}",
        "input": f"What is the state of order {n}? The record says {WORDS[n % 4]}",
        "expected_answer": WORDS[n % 4],
        "category": "north" if n % 2 else "south",
        "optimal_steps": 1,
    }
    for n in range(12)
]
ADVICE = [
    {"id": f"advice-{n:02d}", "input": f"q{n}", "expected_answer": f"answer q{n}"} for n in range(8)
]
SAMPLE = """version: 1
agent: {type: sample}
suites: [{name: analytics, rounds: 2}]
protect: false
report: {html: false}
"""
FRESH = """
control_agent: {type: python, callable: "./agent.py:answer", timeout_s: 19}
"""

PROJECT = {
    "gate.yml": GATE_YML,
    "agent.py": AGENT,
    "judge.py": JUDGE,
    "orders.jsonl": "".join(json.dumps(case) + "\n" for case in ORDERS),
    "advice.jsonl": "".join(json.dumps(case) + "\n" for case in ADVICE),
    "tests.xml": JUNIT,
    "event.json": '{"ref": "refs/tags/v1.2.0", "repository": {"default_branch": "main"}}',
}


class Project:
    """A repository of git, and the old `gate` in it."""

    def __init__(self, command, folder):
        self.command, self.folder = command, folder
        folder.mkdir()
        for name, text in PROJECT.items():
            (folder / name).write_text(text)
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ana")
        self.git("config", "user.email", "ana@example.test")
        self.git("add", *PROJECT)
        self.git("commit", "-q", "-m", "The shop's agent")

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.folder, check=True)

    def environment(self, agent, more):
        kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
        return {**kept, "HOME": "/", "LC_ALL": "C.UTF-8", "AGENT": agent, **more}

    def gate(self, *arguments, code=0, agent="good", env=None):
        done = subprocess.run(
            [self.command, *arguments],
            cwd=self.folder,
            env=self.environment(agent, env or {}),
            capture_output=True,
            check=False,
        )
        if done.returncode != code:
            print(done.stdout.decode(), done.stderr.decode())
            sys.exit(f"gate {' '.join(arguments)}: {done.returncode}")
        return done.stdout

    def run(self, name, *arguments, code=0, agent="good", env=None):
        """`gate run`; its session becomes sessions/<name>."""
        told = self.gate("run", *arguments, "--no-color", code=code, agent=agent, env=env)
        last = told.decode().splitlines()[-1]
        self.keep(name, last.removeprefix("Session written to: "))
        (self.folder / "said" / f"run-{name}.txt").write_bytes(told)

    def keep(self, name, session):
        shutil.move(self.folder / session, self.folder / "sessions" / name)

    def say(self, name, *arguments, code=0):
        (self.folder / "said" / name).write_bytes(self.gate(*arguments, code=code))

    def interrupt(self, name):
        process = subprocess.Popen(
            [self.command, "run", "--stop", "off", "--baseline", "none", "--quiet"],
            cwd=self.folder,
            env=self.environment("slow", {}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        process.wait()
        self.keep(name, next((self.folder / "results").glob("session-*")))


def make(project):
    folder = project.folder
    (folder / "said").mkdir()
    (folder / "sessions").mkdir()
    for n in (1, 2, 3):
        record = ("--record", "answers.jsonl") if n == 1 else ()
        project.run(f"main-{n}", "--stop", "off", *record)
        project.gate("baseline", "save", f"sessions/main-{n}")
    project.git("add", "baselines")
    project.git("commit", "-q", "-m", "Baselines")

    project.run("pass")
    project.run("fail", agent="bad", code=1)
    project.run("inconclusive", agent="worse")
    project.run("error", agent="away", code=6)
    project.run("shard-1", "--shard", "1/2")
    project.run("shard-2", "--shard", "2/2")
    project.interrupt("interrupted")
    project.run("release", "--baseline", "baselines", "--stop", "off", env=RELEASE, code=1)

    cases = folder / "orders.jsonl"
    before = cases.read_text()
    cases.write_text(before.replace('"expected_answer": "open"', '"expected_answer": "shut"'))
    project.run("not_comparable", "--suite", "orders", code=5)
    cases.write_text(before)

    own = folder / "gate.yml"
    rules = own.read_text()
    own.write_text(rules.replace("regression:\n", "regression:\n  control: fresh\n") + FRESH)
    project.run("fresh", "--suite", "orders", agent="worse")
    own.write_text(SAMPLE)
    project.run("sample", "--sample", "6")
    own.write_text(rules)

    project.gate("import", "junit", "tests.xml", "--out", "imported")
    project.keep("imported", next((folder / "imported").glob("session-*")))

    project.gate(
        *("review", "sample", "sessions/main-1", "--suite", "advice"),
        *("--size", "6", "--period", "2026-W47"),
    )
    rate(folder / "reviews" / "2026-W47.csv", folder / "rated.csv")
    project.gate("review", "import", "rated.csv")

    project.say("history.json", "history", "baselines", "--format", "json")
    project.say("show.txt", "baseline", "show")
    project.say("plan.json", "plan", "--format", "json")
    project.say(
        "calibrate.json",
        *("calibrate", "sessions/main-1", "sessions/main-2", "sessions/main-3"),
        *("--reps", "200", "--format", "json"),
    )
    project.say("agreement.json", "review", "agreement", "--format", "json")
    for name, code in (("pass", 0), ("fail", 1), ("inconclusive", 0)):
        said = ("compare", "sessions/main-1", f"sessions/{name}", "--format", "json")
        project.say(f"compare-{name}.json", *said, code=code)
    for form in ("csv", "jsonl", "junit", "otel", "promptfoo"):
        project.say(f"export-fail.{form}", "export", "sessions/fail", "--format", form)
    project.gate("merge", "sessions/shard-1", "sessions/shard-2", "--out", "merged")
    project.keep("merged", next((folder / "merged").glob("session-*")))

    shutil.copytree(folder / "baselines", folder / "pooled")
    project.gate("baseline", "accept", "--reason", "other states", "--suite", "orders")
    project.run("main-4", "--stop", "off")
    project.gate("baseline", "save", "sessions/main-4")
    shutil.move(folder / "baselines", folder / "accepted")
    shutil.move(folder / "pooled", folder / "baselines")


def rate(sheet, rated):
    """Ann agrees with the judge but for the second answer."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    asked = [name for name in rows[0] if name.startswith("answer.")]
    for n, row in enumerate(rows):
        score = 3 + int(row["answer"].split()[1].lstrip("q")) % 3
        row["reviewer"] = "Ann"
        row.update(dict.fromkeys(asked, str(score - (n == 1))))
    with rated.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def pack(folder):
    """What readers read. A suite's own details.jsonl says again what the session's says."""
    names = {"events.jsonl": ("interrupted", "pass")}  # for --resume
    files = []
    for place in ("sessions", "baselines", "accepted", "reviews", "said"):
        for path in sorted((folder / place).rglob("*")):
            inside = path.relative_to(folder).parts
            again = path.name == "details.jsonl" and inside[2] in ("orders", "advice")
            left_out = path.name in names and inside[1] not in names[path.name]
            if path.is_file() and path.name not in RENDERED and not again and not left_out:
                files.append(path)
    files += [folder / name for name in ("rated.csv", "answers.jsonl", *PROJECT)]
    private = (str(folder), platform.node(), f"/home/{getpass.getuser()}", str(DATA))
    with tarfile.open(DATA / "files.tar.xz", "w:xz", preset=9) as archive:
        for path in files:
            data = path.read_bytes()
            for text in filter(None, private):
                if text.encode() in data:
                    sys.exit(f"{path} names {text}")
            member = tarfile.TarInfo(path.relative_to(folder).as_posix())
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def main():
    command = Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory() as temporary:
        project = Project(command, Path(temporary) / "shop")
        make(project)
        pack(project.folder)
        read = json.loads((project.folder / "sessions/fail/summary.json").read_text())
        print(read["outcome"], read["provenance"]["tool_version"])


if __name__ == "__main__":
    main()
