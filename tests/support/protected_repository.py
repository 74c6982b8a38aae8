"""A repository whose main branch has the rules that judge its work tree."""

import json
from datetime import date
from pathlib import Path

from gate.github.git import open_repository
from gate.run.prepare import Selection, prepare
from gate.suites.protection.rules import RulesBase, judging_rules, load_own_config
from tests.support.git_repository import git

TODAY = date(2026, 11, 20)


def config(*, gates="agent.success_rate: {min: 0.9}", graders="[exact_match]", more=""):
    return f"""version: 1
agent: {{type: command, command: [echo]}}
suites:
  - {{name: s, dataset: cases.jsonl, graders: {graders}, rounds: 2}}
gates: {{{gates}}}
{more}
"""


def dataset(**answers):
    rows = [{"id": i, "input": f"q {i}", "expected_answer": a} for i, a in answers.items()]
    return "".join(json.dumps(row) + "\n" for row in rows)


class Repository:
    """A work tree with its main branch at the first commit and `work` checked out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments):
        return git(self.folder, *arguments)

    def commit(self, **files):
        """`gate_yml="..."` writes gate.yml."""
        self.write(**files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def write(self, **files):
        for name, text in files.items():
            path = self.folder / name.replace("_", ".")
            path.unlink() if text is None else path.write_text(text)

    def rules(self, file=None):
        """What judges the work tree as it is now, against main."""
        opened = open_repository(self.folder)
        base = RulesBase(sha=self.git("rev-parse", "main"), name="main", forge=opened)
        own = load_own_config(file, self.folder, {}, TODAY)
        return judging_rules(own, root=self.folder, base=base, env={})


def plan_of(rules):
    (plan,) = prepare(rules.config.suites, rules, Selection())
    return plan


def committed_repository(folder):
    """Its main branch asks three cases."""
    made = Repository(folder)
    made.commit(gate_yml=config(), cases_jsonl=dataset(a="1", b="2", c="3"))
    return made
