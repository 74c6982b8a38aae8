"""A project whose agent is never asked, and recorded answers to its cases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

CONFIG = """version: 1
agent: {type: openai, base_url: "http://127.0.0.1:9"}
suites: [{name: s, dataset: cases.jsonl, graders: [facts, retrieval, tool_calls], rounds: 2}]
gates: {correctness.fact_accuracy: {min: 0.5}}
baseline: {source: none}
protect: false
"""


def write_grading_project(folder: Path, cases: int = 6, config: str = CONFIG) -> list[dict]:
    """gate.yml and the cases; gives an answer to each case and round."""
    (folder / "gate.yml").write_text(config)
    rows = [
        {
            "id": f"c{n}",
            "input": f"question {n}",
            "expected_answer": f"{5000 + n}",
            "expected_facts": [{"value": 5000 + n}],
            "relevant_doc_ids": [f"d{n}"],
            "expected_tool_calls": [{"name": "search", "args": {"n": n}}],
        }
        for n in range(cases)
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [answer_to(n, number) for number in (1, 2) for n in range(cases)]


def answer_to(n: int, number: int) -> dict:
    """Right, but for each fourth case."""
    return {
        "case_id": f"c{n}",
        "round": number,
        "latency_ms": 100.5 + n,
        "answer": f"There are {5000 + n if n % 4 else 17} of them.",
        "retrieved": ["d0", f"d{n}"],
        "tool_calls": [{"name": "search", "arguments": {"n": n}}],
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def write_answers(path: Path, answers: Iterable[object]) -> Path:
    """A line each; what is bytes already stays as it is."""
    lines = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in answers)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def files_without_times(session: Path) -> dict[str, str]:
    """Name -> text of each file of the session, without what differs from run to run anyway."""
    own = re.escape(session.name.removeprefix("session-"))
    times = re.compile(
        rf"{own}|\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?"
        r"|\"duration_s\": [\d.]+|\b[\d.]+ s\b|time=\"[\d.]+\""
    )
    return {
        path.relative_to(session).as_posix(): times.sub(
            "", path.read_text("utf-8").replace("&#8203;", "")
        )
        for path in sorted(session.rglob("*"))
        if path.is_file()
        for text in [path.read_text("utf-8")]
    }
