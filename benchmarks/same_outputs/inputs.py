"""What the gate is asked to do: a function a scenario, in the folder of a project."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from peers import BASE, HEAD, REPOSITORY, draw
from project import ROOT, Project

IMPORTS = Path(__file__).resolve().parents[2] / "tests" / "data" / "imports"
DATASETS = ROOT / "checkout" / "datasets"
OPENAI = '{type: openai, base_url: "URL/MODE", model: m, concurrency: 1, timeout_s: 20}'
RUN = ("run", "--stop", "off")
FORMATS = ("csv", "jsonl", "junit", "otel", "promptfoo")
COMMANDS = [
    "run",
    "compare",
    "merge",
    "plan",
    "calibrate",
    "report",
    "comment",
    "baseline",
    "import",
    "export",
    "history",
    "review",
    "validate",
    "init",
    "dataset",
    "agent",
    "action",
    "verify",
    "schema",
]
ACTIONS = {
    "baseline": ("save", "pull", "show", "accept"),
    "review": ("sample", "import", "agreement"),
    "dataset": ("extend", "approve", "stats"),
}
SCHEMAS = [
    "config",
    "case",
    "baseline",
    "session",
    "details",
    "meta",
    "evidence",
    "label",
    "history",
]


def products(count: int, **more: object) -> str:
    """A dataset of so many questions that the model of peers.py knows."""
    rows = [
        {
            "id": f"product-{n:02d}",
            "input": f"What is {n} times 7?",
            "category": ("small", "large")[n > count // 2],
            "expected_answer": str(7 * n),
            "expected_facts": [{"value": 7 * n, "tolerance": 0.0, "required": True}],
            "relevant_doc_ids": [f"doc-{n}"],
            "expected_tool_calls": [{"name": "multiply", "args": {"a": n, "b": 7}}],
            "reference_trajectory": [{"name": "search"}, {"name": "multiply"}],
            "max_words": 6 + n % 4,
            **more,
        }
        for n in range(1, count + 1)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def config(
    project: Project,
    agent: str = OPENAI,
    *,
    mode: str = "good",
    graders: str = "[facts]",
    rounds: int = 3,
    more: str = "",
    suite: str = "",
    path: str = "gate.yml",
) -> None:
    """gate.yml with the suite `s` of cases.jsonl. URL and MODE in the agent's block and in `more`
    are the model's address and manner.
    """
    told = f"""version: 1
agent: {agent}
suites:
  - name: s
    dataset: cases.jsonl
    graders: {graders}
    rounds: {rounds}
{suite}{more}
"""
    project.write(path, told.replace("URL", project.url).replace("MODE", mode))


def every_form(project: Project, session: str) -> None:
    """All that is made of a stored session."""
    project.gate("report", session)
    for form in FORMATS:
        project.gate("export", session, "--format", form)
    project.gate("export", session, "--format", "csv", "--out", "trials.csv")
    project.gate("export", session, "--format", "nonsense")


# --------------------------------------------------------------------------------- words alone


def helps(project: Project) -> None:
    for words in (
        (),
        ("--version",),
        ("--help",),
        ("--self-test",),
        ("nonsense",),
        ("--nonsense",),
    ):
        project.gate(*words)
    for name in COMMANDS:
        project.gate(name, "--help")
        for action in ACTIONS.get(name, ()):
            project.gate(name, action, "--help")
    for name in SCHEMAS:
        project.gate("schema", name)


def wrong_use(project: Project) -> None:
    for words in (
        ("run", "--rounds", "none"),
        ("run", "--shard", "3/2"),
        ("run", "--config", "missing.yml"),
        ("run", "--resume", "missing"),
        ("run", "--replay", "missing.jsonl"),
        ("compare", "a", "b"),
        ("compare", "a"),
        ("report", "missing"),
        ("export", "missing", "--format", "csv"),
        ("history", "missing"),
        ("import", "nonsense", "missing"),
        ("import", "junit", "missing"),
        ("plan", "--suite", "nonsense"),
        ("calibrate",),
        ("merge", "missing", "--out", "merged"),
        ("baseline", "save", "missing"),
        ("baseline", "show"),
        ("review", "sample", "missing"),
        ("review", "agreement"),
        ("verify", "missing"),
        ("schema", "nonsense"),
        ("dataset", "stats", "missing.jsonl"),
        ("comment", "missing"),
        ("action",),
        ("validate",),
    ):
        project.gate(*words)


def first_project(project: Project) -> None:
    project.gate("init", "made")
    project.gate("init", "made")
    project.gate("init", "made", "--force")
    for words in (("validate",), ("plan",), ("run",), ("history",), ("baseline", "show")):
        project.gate(*words, inside="made")


MISTAKES = """version: 1
agent: {type: opnai, base_url: "http://127.0.0.1:1", modle: m, concurrency: 0, timeout_s: soon}
judge: {type: openai, base_url: "${NOT_SET}", model: m, votes: 1000, api_key_env: NOT_SET_EITHER}
suites:
  - name: s
    dataset: cases.jsonl
    gradres: [facts]
    graders:
      [facts, nonsense, {retrieval: {k: [0]}}, {contains: {}}, {regex: {pattern: "("}}, facts]
    rounds: 0
    mode: lax
    sample: {pull_request: -1, weekend: 3}
  - {name: s, dataset: missing.jsonl, graders: []}
  - {name: "a/b", dataset: cases.jsonl, graders: [./missing.py:Thing, {judge: {rubric: nonsense}}]}
gates:
  retrieval.recal@5: {min: 0.5}
  correctness.fact_accuracy: {min: 1.2}
  agent.success_rate: {min: 0.9, max: 0.1, target: 2, level: loud, rule: guess}
  operational.error_rate: {min: 0}
QUALITY_GATES: {}
regression:
  {alpha: 2, power: 0, tolerance: "5 %", stop: late, control: old, metrics: {nonsense: {}}}
policy: {inconclusive: shrug, deploy: always}
baseline: {source: moon, keep_rounds: -3, max_age_days: none}
budget: {usd: free, calls: -1}
quarantine:
  - {case: product-01, owner: "@ann", until: 2020-01-01}
  - {case: nobody, owner: "@ann", until: 2099-01-01}
report: {html: maybe, pdf: true}
pricing: {m: {input: cheap, output: -1}}
protect: perhaps
nonsense: 1
"""
BROKEN = {
    "empty": "",
    "tab": "version: 1\n\tagent: x\n",
    "twice": "version: 1\nversion: 1\n",
    "tag": "version: !!python/object:os.system 1\n",
    "list": "- 1\n",
    "two": "version: 1\n---\nversion: 1\n",
    "later": "version: 7\nsuites: []\n",
    "key": 'version: 1\nagent: {type: openai, base_url: "http://x.test", model: m, '
    'headers: {a: b}, api_key: "sk-'
    'abcdefghijklmnop1234567890"}\n',
    "open": "version: 1\nagent: {type: openai\n",
    "latin": b"version: 1\n# \xe9\n",
}
DATA = {
    "twice": '{"id": "a", "input": "x"}\n{"id": "a", "input": "y"}\n',
    "no-id": '{"input": "x"}\n',
    "no-input": '{"id": "a"}\n',
    "not-json": '{"id": "a", "input": "x"}\n{"id": \n',
    "facts": '{"id": "a", "input": "x", "expected_facts": [{"tolerance": 1}]}\n',
    "none": "",
    "unread": '{"id": "a", "input": "x", "expected_facts": ["x"], "expected_fcats": 1}\n',
    "proposed": '{"id": "a", "input": "x", "expected_facts": ["x"], "status": "proposed"}\n',
}


def mistakes(project: Project) -> None:
    project.write("cases.jsonl", products(4))
    project.write("gate.yml", MISTAKES)
    project.gate("validate")
    project.gate("run")
    for name, text in BROKEN.items():
        project.write(f"broken/{name}.yml", text)
        project.gate("validate", "--config", f"broken/{name}.yml")
    for name, text in DATA.items():
        folder = f"data/{name}"
        config(project, path=f"{folder}/gate.yml")
        project.write(f"{folder}/cases.jsonl", text)
        project.gate("validate", inside=folder)
    wide = "gates: {agent.success_rate: {min: 0.999}, operational.p95_latency_ms: {min: 3}}\n"
    config(project, graders="[facts, {judge: {rubric: answer}}]", more=wide)
    project.gate("validate")
    same = '\njudge: {type: openai, base_url: "URL/judge", model: m'
    for ending in ("}", ", require_different_judge: true}"):
        config(project, graders="[facts, {judge: {rubric: answer}}]", more=wide + same + ending)
        project.gate("validate")


# ------------------------------------------------------------------------------ bundled suites


def sample_config(options: str = "") -> str:
    """gate.yml of this product's own checkout in small: both suites of the sample agent."""
    text = (ROOT / "checkout" / "gate.yml").read_text(encoding="utf-8")
    text = text.replace("type: sample", f"type: sample\n  options: {{{options}}}")
    text = text.replace("concurrency: 8", "concurrency: 1").replace("rounds: 3", "rounds: 2")
    text = text.replace("agent.pass^3", "agent.pass^2")
    return text.replace("datasets/", f"{DATASETS}/")


def bundled_sample(project: Project) -> None:
    """The suites analytics and trajectories, unchanged and worse."""
    project.write("gate.yml", sample_config())
    project.gate("validate")
    project.gate("plan")
    project.gate("run", "--verbose")
    project.gate("baseline", "save", project.newest())
    project.gate("run")
    every_form(project, project.newest())
    project.write("gate.yml", sample_config("hallucinate: 0.5, wrong_args: 0.3, seed: 3"))
    project.gate("run")
    project.gate("history", "--format", "md")


def sample_faults(project: Project) -> None:
    for option in (
        "top_k: 1",
        "stale: true",
        "no_tool: [run_sql]",
        "flaky: 0.3",
        "error_rate: 0.3",
    ):
        project.write("gate.yml", sample_config(option))
        project.gate("run", "--sample", "15", "--baseline", "none")
    faults = "wrong_args wrong_tool hallucinate loop refuse unsafe malformed disobey invent"
    for fault in faults.split():
        project.write("gate.yml", sample_config(f"{fault}: 0.6"))
        project.gate("run", "--sample", "12", "--baseline", "none", "--format", "markdown")


def bundled_openagent(project: Project) -> None:
    """The four suites that run without a gate.yml, asked of the model and of `gate agent`."""
    model = ("--base-url", f"{project.url}/good", "--concurrency", "1", "--rounds", "2")
    project.gate("validate")
    project.gate("plan")
    project.gate("run", *model, OPENAGENT_PROVIDER_KEY="a-key-for-the-tests")
    more = (*model, "--baseline", project.newest(), "--suite", "dialogue")
    project.gate("run", *more, OPENAGENT_PROVIDER_KEY="a-key-for-the-tests")
    suites = "\n".join(
        f"  - {{name: {one}, rounds: 1}}" for one in ("dialogue", "tool", "hardchat")
    )
    project.write(
        "gate.yml",
        'version: 1\nagent: {type: openagent, base_url: "http://127.0.0.1:47312", concurrency: 1, '
        "model: m, api_key_env: STORE_KEY, key: store, logs: null}\n"
        f'judge: {{type: openai, base_url: "{project.url}/judge", model: j, concurrency: 1}}\n'
        f"suites:\n{suites}\n",
    )
    with project.serving(47_312):
        project.gate("run", STORE_KEY="another-key-for-tests")
    project.gate("run", "--max-attempts", "1", STORE_KEY="another-key-for-tests")


# ----------------------------------------------------------------------------------- own suites

GRADERS = """[facts, {contains: {any_of: [times, It]}}, {regex: {pattern: 'is [0-9]+'}},
      numeric, completion, readability, structure, conciseness: {key: max_words},
      hallucination, {retrieval: {k: [1, 3]}}, {tool_calls: {mode: superset}}, trajectory, safety,
      {trajectory_match: {mode: superset}}, ./own.py:Short]"""
OWN = """
from dataclasses import dataclass

from gate.records import MetricSpec, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Short:
    limit: int = 32
    keys = {}
    needs = ()

    def metrics(self):
        name = "response_quality.shortness"
        return (MetricSpec(name=name, column=name),)

    def grade(self, case, response):
        value = 1.0 if len(response.answer) < self.limit else 0.0
        return Score(values={"response_quality.shortness": value}, passed=None)
"""
PYTHON_AGENT = """
import re


def answer(case):
    number = int(re.search(r"is (\\d+)", case["input"]).group(1))
    if number % 5 == 0:
        raise ValueError(f"no product of {number}")
    told = {"usage": {"input_tokens": number, "output_tokens": 2}, "model": "m"}
    return {"answer": f"It is {number * 7}.", "cost_usd": number / 1e4, **told}


async def slowly(case):
    asked = {"role": "user", "content": case["input"]}
    return [asked, {"role": "assistant", "content": "It is 14."}]


def documents(question):
    number = int(re.search(r"is (\\d+)", question).group(1))
    return [{"id": f"doc-{n}", "score": 1 / n} for n in range(number, number + 4)]
"""
COMMAND_AGENT = """
import json, re, sys

case = json.load(sys.stdin)
number = int(re.search(r"is (\\d+)", case["input"]).group(1))
if number % 6 == 0:
    sys.exit("it does not go")
steps = [{"name": "multiply", "args": {"a": number, "b": 7}}]
print(json.dumps({"answer": f"It is {number * 7}.", "steps": steps}))
"""
AGENTS = {
    "openai": OPENAI,
    "tools": OPENAI.replace("MODE", "tools"),
    "odd": OPENAI.replace("MODE", "odd"),
    "anthropic": OPENAI.replace("openai", "anthropic"),
    "http": """
  type: http
  url: "URL/MODE/ask?q={{question}}"
  body: {question: "{{question}}", id: "{{id}}"}
  response: {answer: data.0.reply.text, input_tokens: meter.in, output_tokens: meter.out}
  concurrency: 1""",
    "openagent": OPENAI.replace("openai", "openagent"),
    "python": '{type: python, callable: "./agent.py:answer", concurrency: 1}',
    "async": '{type: python, callable: "./agent.py:slowly", concurrency: 1}',
    "command": "{type: command, command: [python, command.py], concurrency: 1}",
    "none": '{type: none}\nretriever: {type: python, callable: "./agent.py:documents"}',
    "retriever": OPENAI + '\nretriever: {type: http, url: "URL/search/x", '
    "response: {documents: hits}}",
    "unreachable": OPENAI.replace("URL/MODE", "http://127.0.0.1:9"),
    "raises": '{type: python, callable: "./agent.py:missing"}',
}


def agents(project: Project) -> None:
    project.write("cases.jsonl", products(12))
    project.write("own.py", OWN)
    project.write("agent.py", PYTHON_AGENT)
    project.write("command.py", COMMAND_AGENT)
    prices = "pricing: {m: {input: 1.5, output: 6}}\nreport: {sarif: true}"
    for name, agent in AGENTS.items():
        graders = "[{retrieval: {k: [1, 3]}}]" if name == "none" else GRADERS
        config(project, agent, graders=graders, rounds=2, more=prices)
        project.gate(*RUN, "--baseline", "none", "--out", f"results/{name}")
    every_form(project, project.newest("results/tools"))
    every_form(project, project.newest("results/odd"))
    project.gate("compare", project.newest("results/openai"), project.newest("results/odd"))


SUITE = """
import json, urllib.request


class Suite:
    def load_tasks(self):
        return [{"id": f"t{n}", "prompt": f"What is {n} times 7?"} for n in range(9)]

    def run_task(self, task, round_index, attempt, base_url, model, provider_key, timeout_s):
        body = {"model": model, "messages": [{"role": "user", "content": task["prompt"]}]}
        asked = urllib.request.Request(base_url + "/v1/chat/completions", json.dumps(body).encode())
        with urllib.request.urlopen(asked, timeout=timeout_s) as reply:
            text = json.load(reply)["choices"][0]["message"]["content"]
        ok = str(int(task["id"][1:]) * 7) in text
        return {"ok": ok, "response_text": text, "latency_ms": 3.0, "prompt_tokens": len(text),
                "validation_errors": [] if ok else ["wrong_product"]}
"""


def suite_as_code(project: Project) -> None:
    project.write("suite.py", SUITE)
    for mode in ("good", "worse"):
        agent = OPENAI.replace("URL", project.url).replace("MODE", mode)
        suite = "{name: code, suite: ./suite.py:Suite, rounds: 3}"
        project.write("gate.yml", f"version: 1\nagent: {agent}\nsuites:\n  - {suite}\n")
        project.gate("validate")
        project.gate("run")
        if mode == "good":
            project.gate("baseline", "save", project.newest())


# ----------------------------------------------------------------------- outcomes and baselines


def outcomes(project: Project) -> None:
    """Every outcome, and what is asked of the sessions and baselines that come of them."""
    project.write("cases.jsonl", products(40))
    config(project)
    project.gate("run", "--format", "json")  # no baseline
    for _ in range(3):
        project.gate(*RUN)
        project.gate("baseline", "save", project.newest())
    good = project.newest()
    project.gate("baseline", "save", good)  # twice
    project.gate("baseline", "show")
    project.gate("run", "--verbose")  # pass
    config(project, mode="worse", more="gates: {agent.success_rate: {min: 0.9}}")
    for more in (
        (),
        ("--format", "json"),
        ("--format", "markdown"),
        ("--quiet",),
        ("--stop", "off"),
    ):
        project.gate("run", *more)  # fail
    worse = project.newest()
    every_form(project, worse)
    for form in ("text", "json", "markdown"):
        project.gate("compare", good, worse, "--format", form, "--out", f"compared/{form}")
        project.gate("plan", "--format", form)
        project.gate("calibrate", "baselines", "--reps", "60", "--rounds", "2", "--format", form)
    project.gate("compare", "baselines/s.json", worse, "--quiet")
    for form in ("table", "md", "json", "html"):
        project.gate("history", "results", "baselines", "--format", form)
    project.gate("history", "--last", "2", "--out", "history.html", "--format", "html")
    config(project, mode="rare")
    project.gate("run", "--rounds", "1", "--stop", "off")  # inconclusive
    config(project, mode="rare", more="policy: {inconclusive: extend}")
    project.gate(*RUN, "--rounds", "1")
    config(project, graders="[facts, {contains: {text: times}}]")
    project.gate("run", "--rounds", "1")  # another grader
    project.write("cases.jsonl", products(30).replace("What is", "Then what is"))
    config(project)
    project.gate("run")  # not comparable
    project.gate("plan", good)
    project.gate("baseline", "accept", "--reason", "a new table")
    project.gate("baseline", "show")
    project.gate("baseline", "pull", "--out", "pulled")
    project.write("baselines/s.json", "{}")
    project.gate("validate")
    project.gate("run")


def outages(project: Project) -> None:
    project.write("cases.jsonl", products(10))
    for mode in ("down", "odd"):
        config(project, mode=mode)
        project.gate("run", "--baseline", "none", "--out", f"results/{mode}")
        session = project.newest(f"results/{mode}")
        config(project)
        project.gate("run", "--baseline", "none", "--resume", session)
    for budget in ("usd: 0.0004", "calls: 7"):
        prices = "pricing: {m: {input: 1, output: 2}}"
        config(project, more=f"{prices}\nbudget: {{{budget}}}")
        project.gate("run", "--baseline", "none")
    config(project, OPENAI.replace("m,", "m, api_key_env: SOME_KEY,", 1))
    project.gate("run")
    project.gate("run", SOME_KEY="a-key-for-the-tests")


def parts(project: Project) -> None:
    """Shards and their merge, recording and replay, resuming, regrading, chosen cases."""
    project.write("cases.jsonl", products(24))
    config(project)
    project.gate(*RUN, "--record", "recorded.jsonl")
    base = project.newest()
    for nth in (1, 2, 3):
        project.gate(*RUN, "--shard", f"{nth}/3", "--out", f"shards/{nth}")
    shards = [project.newest(f"shards/{nth}") for nth in (1, 2, 3)]
    project.gate("merge", *shards, "--out", "merged", "--baseline", base)
    project.gate("merge", *shards[:2], "--out", "merged")
    project.gate("run", "--replay", "recorded.jsonl", "--baseline", base)
    config(project, graders="[facts, {contains: {text: times}}]", rounds=2)
    project.gate("run", "--replay", "recorded.jsonl", "--baseline", base)
    project.gate("run", "--case", "product-03", "--case", "product-07", "--case", "nobody")
    project.gate("run", "--case", "product-03", "--case", "product-07", "--verbose")
    two = ("--case", "product-03", "--case", "product-07")
    project.gate("run", *two, "--resume", project.newest())
    session = project.folder / base
    cut = project.folder / "results" / "cut" / session.name
    shutil.copytree(session, cut)
    rows = (session / "details.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (cut / "details.jsonl").write_text("".join(rows[:20]), encoding="utf-8")
    for name in ("summary.json", "report.html", "comment.md"):
        (cut / name).unlink(missing_ok=True)
    project.gate("report", f"results/cut/{session.name}")
    config(project)
    project.gate(*RUN, "--resume", f"results/cut/{session.name}")
    config(project, suite="    retry: any_failure\n    max_attempts: 3\n", mode="noisy")
    project.gate(*RUN, "--baseline", base)
    more = 'quarantine: [{case: product-03, owner: "@ann", until: 2099-12-31}]'
    config(project, mode="worse", more=more)
    project.gate(*RUN, "--baseline", base)


def control(project: Project) -> None:
    """The base's agent is asked in the same run."""
    project.write("cases.jsonl", products(30))
    for mode in ("good", "worse", "down"):
        beside = "regression: {control: fresh}\ncontrol_agent: " + OPENAI.replace("MODE", "good")
        config(project, mode=mode, more=beside)
        project.gate("run")
    project.gate("compare", f"{project.newest()}/_control", project.newest())


def repository(project: Project) -> None:
    """A checkout with history: main's rules and cases judge a branch that changed them."""
    project.write("cases.jsonl", products(30))
    config(project, more="gates: {agent.success_rate: {min: 0.95}}")
    project.gate("run", "--baseline", "none")
    project.gate("baseline", "save", project.newest())
    project.write(".gitignore", "results/\n")
    project.git("init", "--quiet")
    project.git("add", ".")
    project.git("commit", "--quiet", "--message", "First")
    project.git("switch", "--quiet", "--create", "topic")
    project.gate("run")
    config(project, mode="worse", more="gates: {agent.success_rate: {min: 0.1}}")
    project.write("cases.jsonl", products(20))
    project.git("commit", "--quiet", "--all", "--message", "Looser")
    project.gate("validate")
    project.gate("plan")
    project.gate("run")
    config(project, mode="worse", more="protect: false")
    project.gate("run")
    project.git("config", "user.name", "Ann")
    project.gate("baseline", "accept", "--reason", "a new table")
    project.gate("baseline", "show")
    project.gate("run")


# --------------------------------------------------------------------------- judges and people

JUDGE = 'judge: {type: openai, base_url: "URL/JUDGE", model: j, concurrency: 1, timeout_s: 20'


def judged(project: Project) -> None:
    project.write("cases.jsonl", products(16, context=["3 times 7 is 21."], rubric="It is right."))
    for rubric in ("answer", "task", "quality", "trajectory", "safety", "case"):
        graders = f"[facts, {{judge: {{rubric: {rubric}}}}}]"
        told = JUDGE.replace("JUDGE", "judge") + ", votes: 2}"
        config(project, mode="tools", graders=graders, rounds=1, more=told)
        project.gate("run", "--baseline", "none")
    graders = "[facts, {judge: {rubric: answer}}, hallucination]"
    gates = "gates: {correctness.faithfulness: {min: 2}}"
    for manner in ("judge-prose", "judge-refused", "judge"):
        told = JUDGE.replace("JUDGE", manner) + "}\nverifier" + told_verifier(manner)
        config(project, mode="worse", graders=graders, rounds=1, more=f"{told}\n{gates}")
        project.gate("run", "--baseline", "none")
    project.gate("report", project.newest())


def told_verifier(manner: str) -> str:
    return JUDGE.replace("judge:", ":", 1).replace("JUDGE", manner) + "}"


def people(project: Project) -> None:
    """A sample for reviewers, filled in by two of them, imported, compared and used by runs."""
    project.write("cases.jsonl", products(24, context=["3 times 7 is 21."]))
    gates = "\ngates: {correctness.faithfulness: {min: 2.5}}"
    told = JUDGE.replace("JUDGE", "judge") + ", min_agreement: 0.4}" + gates
    config(project, graders="[facts, {judge: {rubric: answer}}]", rounds=1, more=told)
    project.gate("run", "--baseline", "none")
    session = project.newest()
    project.gate("review", "sample", session, "--size", "16", "--period", "first")
    project.gate("review", "sample", session, "--size", "6")
    table = (project.folder / "reviews" / "first.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(table)))
    criteria = [name for name in rows[0] if name.endswith(" (1 to 5)")]
    for reviewer in ("Ann", "Ben"):
        for nth, row in enumerate(rows):
            row["reviewer"] = reviewer
            for at, name in enumerate(criteria):
                row[name] = str(1 + draw(at, nth, reviewer if nth % 3 == 0 else "", of=5))
        if reviewer == "Ben":
            rows[3][criteria[0]] = "9"
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        project.write(f"{reviewer}.csv", text.getvalue())
    project.gate("review", "import", "Ann.csv", "Ben.csv")
    project.gate("review", "import", "Ann.csv", "missing.csv")
    for form in ("text", "json", "markdown"):
        project.gate("review", "agreement", "--format", form)
    project.gate("run", "--baseline", session)
    config(project, graders="[facts, {judge: {rubric: quality}}]", rounds=1, more=told)
    project.gate("run", "--baseline", session)
    project.gate("review", "agreement")


PROPOSING = """
import json, re


def propose(case):
    told = case["input"] if isinstance(case["input"], str) else json.dumps(case["input"])
    canary = re.search(r"canary.{0,12}?const.{0,8}?([0-9a-f]{16})", told)[1]
    one = {"category": "new", "expected_answer": None, "expected_facts": [], "why": "w"}
    if "entry 1" in told:
        return {"canary": canary, "cases": [{"entry": 1, "keep": True, **one}]}
    cases = [{"input": f"Fresh {n} words {n}{n} here {n}{n}{n}?", **one} for n in range(1, 4)]
    return {"canary": canary, "cases": cases}
"""


def datasets(project: Project) -> None:
    project.copy(DATASETS / "analytics" / "dataset.jsonl", "analytics.jsonl")
    project.write("cases.jsonl", products(6))
    project.write("judge.py", PROPOSING)
    project.write("log.jsonl", '"Where is my order? Mail me at ann@x.example"\n"And now?"\n')
    more = 'judge: {type: python, callable: "./judge.py:propose"}'
    config(project, graders="[facts, {judge: {rubric: quality}}]", more=more)
    for form in ("text", "json", "markdown"):
        project.gate("dataset", "stats", "analytics.jsonl", "--format", form)
    project.gate("dataset", "stats", "cases.jsonl")
    project.gate("dataset", "extend", "cases.jsonl", "--count", "3")
    project.gate("dataset", "extend", "cases.jsonl", "--logs", "log.jsonl", "--out", "new.jsonl")
    project.gate("dataset", "approve", "cases.jsonl", "--case", "product-02", "--reviewer", "Ann")
    reject = ("--case", "product-03", "--reject", "--note", "double")
    project.gate("dataset", "approve", "cases.jsonl", "--reviewer", "Ann", *reject)
    project.gate("dataset", "approve", "cases.jsonl", "--reviewer", "Ann", "--case", "nobody")
    project.gate("dataset", "stats", "cases.jsonl")
    project.gate("validate")


# -------------------------------------------------------------------------------------- imports

AT = ("--at", "2026-05-12T14:30:52Z")
SITES = 'sites={"shopping": "http://shop.example:7770", "map": "http://map.example:3000"}'
SCORE = "pass_score=accuracy>=1"
SOURCES: tuple[tuple[str, ...], ...] = (
    ("promptfoo", "promptfoo/monday.json"),
    ("promptfoo", "promptfoo/tuesday.json"),
    ("promptfoo", "promptfoo/promptfooconfig.yaml", "--dataset", "made/shop.jsonl"),
    ("junit", "junit/rates.xml", "--option", "suite=rates"),
    ("junit", "junit/nightly", "--option", "suite=rates"),
    ("otel", "otel/before.jsonl"),
    ("otel", "otel", "--option", "by=conversation", "--option", "case=question"),
    ("swebench", "swebench/run"),
    ("swebench", "swebench/leaderboard", "--option", "declared=25", *AT),
    (
        "swebench",
        "swebench/lists/results.json",
        "-o",
        "instances=swebench/lists/instances.txt",
        *AT,
    ),
    ("mini-swe-agent", "mini-swe-agent/run"),
    ("webarena", "webarena/answers.jsonl", "-o", "tasks=webarena/tasks.json", "-o", SITES),
    ("webarena", "webarena/run"),
    ("webarena", "webarena/study"),
    ("thudm-agentbench", "thudm-agentbench/2026-05-12-14-30-52"),
    (
        "tau-bench",
        "tau-bench/tool-calling-m-1-0.0_range_0--1_user-gpt-4o-llm_0512143052.json",
        *AT,
    ),
    ("tau2", "tau2/results.json"),
    ("tau2", "tau2/shop", "--option", "suite=seats"),
    ("bfcl", "bfcl", "--option", "questions=bfcl", *AT),
    ("messages", "messages/shop.jsonl", "--option", "passed=passed", *AT),
    ("trec", "trec/run.txt", "--option", "qrels=trec/qrels.txt", *AT),
    ("beir", "beir/fruits", "--option", "run=beir/run.json", "--option", "mrr_k=[10]", *AT),
    ("inspect", "inspect/rates.json"),
    ("inspect", "inspect/rates.json", "-o", "scorer=brevity", "-o", "threshold=0.75"),
    ("deepeval", "deepeval/test_run_20260512_143052.json"),
    ("pydantic-evals", "pydantic-evals/report.json", *AT),
    ("langfuse", "langfuse/traces.csv", "-o", 'columns={"id": "metadata.case_id"}', "-o", SCORE),
    ("langfuse", "langfuse/bucket", "-o", SCORE, "-o", "suite=support"),
    ("braintrust", "braintrust/experiment.jsonl", "-o", "pass_score=Factuality>=0.5"),
    ("auto", "promptfoo/monday.json"),
    ("auto", "deepeval/test_run_20260512_143052.json"),
    ("deepeval", "promptfoo/monday.json"),
)
REGRADED = """version: 1
agent: {type: replay, file: FILE}
suites:
  - {name: NAME, dataset: DATA, graders: [completion, conciseness, readability], rounds: 1}
"""


def imports(project: Project) -> None:
    """Every format; each also as cases and a recording, which a run then plays back."""
    project.copy(IMPORTS, "from")
    (project.folder / "made").mkdir()
    (project.folder / "from" / "made").mkdir()
    for nth, (name, path, *more) in enumerate(SOURCES):
        out = f"../imported/{nth:02d}"
        kept = () if "--dataset" in more else ("--out", out)
        project.gate("import", name, path, *more, *kept, inside="from")
    before, after = project.newest("imported/00"), project.newest("imported/01")
    project.gate("compare", before, after)
    every_form(project, after)
    project.gate("import", "promptfoo", "from/promptfoo/tuesday.json", "--baseline", before)
    for name, path in (
        ("promptfoo", "from/promptfoo/monday.json"),
        ("otel", "from/otel/before.jsonl"),
        ("tau2", "from/tau2/results.json"),
        ("inspect", "from/inspect/rates.json"),
        ("langfuse", "from/langfuse/traces.csv"),
    ):
        made = (f"made/{name}.jsonl", f"made/{name}-answers.jsonl")
        project.gate("import", name, path, "--dataset", made[0], "--recording", made[1])
        suites = sorted(one.name for one in (project.folder / "made").glob(f"{name}*.jsonl"))
        text = REGRADED.replace("FILE", made[1]).replace("NAME", name).replace("DATA", made[0])
        project.write("gate.yml", text)
        if suites:
            project.gate("validate")
            project.gate("run", "--baseline", "none", "--concurrency", "1")
            project.gate("import", name, path, "--regrade", "--suite", name)


# --------------------------------------------------------------------------------------- GitHub


def step(project: Project, name: str, event: Mapping[str, object], **more: str) -> dict[str, str]:
    """The environment of a step; its outputs and summary are files that are kept."""
    number = len(list(project.folder.glob("step*/event.json"))) + 1
    project.write(f"step{number}/event.json", json.dumps(event))
    folder = project.folder / f"step{number}"
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_ENV": str(folder / "env"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_WORKSPACE": str(project.folder),
        "GITHUB_API_URL": f"{project.url}/github",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_REPOSITORY_ID": "42",
        "GITHUB_SHA": HEAD,
        "GITHUB_REF": "refs/heads/main",
        "GITHUB_ACTOR": "alice",
        "GITHUB_RUN_ID": "7",
        "GITHUB_RUN_ATTEMPT": "1",
        "INPUT_GITHUB-TOKEN": "ghs_token",
        "INPUT_CHECK-RUN": "true",
        **more,
    }


REPO = {"full_name": REPOSITORY, "id": 42, "default_branch": "main"}


def pull_request(fork: bool = False) -> dict[str, object]:
    head = {**REPO, "full_name": "mallory/demo", "id": 43, "fork": True} if fork else REPO
    base = {"sha": BASE, "ref": "main", "repo": REPO}
    pull = {"number": 3, "head": {"sha": HEAD, "ref": "topic", "repo": head}, "base": base}
    return {"action": "synchronize", "number": 3, "pull_request": pull, "repository": REPO}


def on_main(project: Project) -> None:
    """What is in the working tree is also what the base commit has."""
    for path in ("gate.yml", "cases.jsonl", "baselines/s.json"):
        if (project.folder / path).exists():
            project.github.contents[BASE, path] = project.read(path)


LIMIT = "gates: {agent.success_rate: {min: 0.9}}\nreport: {sarif: true}"


def github(project: Project) -> None:
    """The action on pull requests: passed, failed, from a fork, without a baseline, broken."""
    project.write("cases.jsonl", products(24))
    config(project, more=LIMIT)
    project.gate("action", **step(project, "pull_request", pull_request()))  # no gate.yml at base
    on_main(project)
    project.gate("action", **step(project, "pull_request", pull_request()))  # no baseline
    project.gate("run", "--baseline", "none", "--stop", "off", "--out", "measured")
    project.gate("baseline", "save", project.newest("measured"))
    on_main(project)
    project.gate("action", **step(project, "pull_request", pull_request()))
    config(project, mode="worse", more=LIMIT)
    failed = step(project, "pull_request", pull_request())
    project.gate("action", **failed)
    project.gate("action", **{**failed, "INPUT_FAIL": "false", "INPUT_COMMENT": "on-change"})
    project.gate("action", **step(project, "pull_request", pull_request(fork=True)))
    project.gate("comment", project.newest(), **step(project, "pull_request", pull_request()))
    wrong = {"INPUT_ROUNDS": "many", "INPUT_SAMPLE": "-1", "INPUT_COMMENT": "sometimes"}
    project.gate("action", **step(project, "pull_request", pull_request(), **wrong))
    config(project, mode="down", more=LIMIT)
    project.gate("action", **step(project, "pull_request", pull_request()))
    project.write("gate.yml", MISTAKES)
    project.gate("action", **step(project, "pull_request", pull_request()))
    config(project, more=LIMIT)
    project.gate("action", **step(project, "pull_request", {"action": "closed"}))
    recorded = {"INPUT_IMPORT": "promptfoo", "INPUT_IMPORT-PATH": "monday.json"}
    project.copy(IMPORTS / "promptfoo" / "monday.json", "monday.json")
    project.gate("action", **step(project, "pull_request", pull_request(), **recorded))
    project.gate(
        "action", **{**step(project, "pull_request", pull_request()), "INPUT_GITHUB-TOKEN": ""}
    )


def github_events(project: Project) -> None:
    """Other events: main, a merge queue, a schedule, a comment, a release with its evidence."""
    project.write("cases.jsonl", products(24))
    config(project, more=LIMIT)
    on_main(project)
    project.github.contents.update({(HEAD, p): d for (_, p), d in project.github.contents.items()})
    push = {"ref": "refs/heads/main", "before": BASE, "after": HEAD, "repository": REPO}
    project.gate("action", **step(project, "push", push))
    project.gate("baseline", "save", project.newest(), **step(project, "push", push))
    on_main(project)
    config(project, mode="worse", more=LIMIT)
    project.gate("action", **step(project, "push", push))
    group = {"head_sha": HEAD, "base_sha": BASE, "head_ref": "q", "base_ref": "refs/heads/main"}
    queue = {"action": "checks_requested", "merge_group": group, "repository": REPO}
    project.gate("action", **step(project, "merge_group", queue))
    project.gate(
        "action", **step(project, "schedule", {"schedule": "1 * * * *", "repository": REPO})
    )
    project.gate(
        "action", **step(project, "workflow_dispatch", {"ref": "main", "repository": REPO})
    )
    project.gate("action", **step(project, "repository_dispatch", {"repository": REPO}))
    for who in ("alice", "mallory"):
        user = {"login": who, "type": "User"}
        body = "/gate accept the prices are new"
        comment = {"id": 77, "user": user, "body": body}
        issue = {"number": 3, "pull_request": {"url": "x"}}
        said = {"action": "created", "comment": comment, "issue": issue, "repository": REPO}
        project.gate("action", **step(project, "issue_comment", said))
    project.github.tags.update({"v1.0.0": BASE, "v1.1.0": HEAD})
    tag = {"ref": "refs/tags/v1.1.0", "before": "0" * 40, "after": HEAD, "repository": REPO}
    at = {
        "GITHUB_REF": "refs/tags/v1.1.0",
        "GITHUB_REF_TYPE": "tag",
        "GITHUB_REF_NAME": "v1.1.0",
        "INPUT_RESULTS-DIR": "released",
    }
    for mode in ("worse", "good"):
        config(project, mode=mode, more=LIMIT)
        project.gate("action", **step(project, "push", tag, **at))
        evidence = f"{project.newest('released')}/evidence"
        project.gate("verify", evidence, "--commit", HEAD, "--tag", "v1.1.0")
    project.gate("verify", evidence, "--commit", BASE)
    manifest = next(iter(sorted(Path(project.folder / evidence).glob("*.json"))), None)
    if manifest is not None:
        manifest.write_text(manifest.read_text(encoding="utf-8").replace("0.9", "0.8"))
        project.gate("verify", evidence)


SCENARIOS: dict[str, Callable[[Project], None]] = {
    one.__name__.replace("_", "-"): one
    for one in (
        bundled_sample,
        imports,
        outcomes,
        sample_faults,
        bundled_openagent,
        agents,
        github,
        github_events,
        helps,
        outages,
        parts,
        judged,
        people,
        mistakes,
        wrong_use,
        control,
        repository,
        suite_as_code,
        datasets,
        first_project,
    )
}
