"""Results of other tools with as many cases as wanted: what importing a further one costs."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from gate.records import Json
from tests.support.counted import Work
from tests.support.in_process import gate

SENTENCE = (
    "the order was sent on Monday and has not arrived yet so please look up its number and tell "
    "the customer when it can be there"
)
DOCUMENTS = 100  # of a query
FAILS = 20  # one case in so many


def write_source(tool: str, folder: Path, cases: int) -> list[str]:
    """Writes so many cases into the folder; returns what stands behind `gate import`."""
    folder.mkdir(parents=True)
    return [tool, *map(str, WRITERS[tool](folder, cases))]


def count_calls(tool: str, folder: Path, cases: tuple[int, int]) -> float:
    """Python functions that a further case of an import calls, on a straight line through two
    imports of so many.
    """
    _import_counted(tool, folder / "warm", cases[0])  # loads what is loaded once
    few, more = (_import_counted(tool, folder / str(number), number) for number in cases)
    return (more - few) / (cases[1] - cases[0])


def _import_counted(tool: str, folder: Path, cases: int) -> int:
    words, work = write_source(tool, folder, cases), Work()
    sys.setprofile(work.count)
    try:
        done = gate(folder, "import", *words, "--out", "out", "--quiet")
    finally:
        sys.setprofile(None)
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    return work.calls


def _text(number: int, characters: int) -> str:
    return " ".join(random.Random(number).choices(SENTENCE.split(), k=characters // 5))


def _write_junit(folder: Path, cases: int) -> Sequence[object]:
    file = folder / "junit.xml"
    with file.open("w", encoding="utf-8") as stream:
        stream.write(f'<testsuites><testsuite name="s" tests="{cases}">\n')
        for n in range(cases):
            said = "" if n % FAILS else f'<failure message="expected {n}">no</failure>'
            head = f'<testcase classname="tests.c{n % 97}" name="case {n}" time="0.{n % 9}1">'
            stream.write(f"{head}{said}</testcase>\n")
        stream.write("</testsuite></testsuites>\n")
    return (file,)


def _write_trec(folder: Path, cases: int) -> Sequence[object]:
    run, judgements = folder / "run.trec", folder / "qrels.txt"
    with run.open("w", encoding="utf-8") as found, judgements.open("w", encoding="utf-8") as judged:
        for n in range(cases):
            names = [f"d{(7 * n + 13 * rank) % 50_000}" for rank in range(DOCUMENTS + 1)]
            for rank, name in enumerate(names[:DOCUMENTS], 1):
                found.write(f"q{n} Q0 {name} {rank} {100.5 - rank} tag\n")
            for rank in (0, 3, 6, 40, DOCUMENTS):
                judged.write(f"q{n} 0 {names[rank]} {1 + (rank == 3)}\n")
    return run, "--option", f"qrels={judgements}"


def _promptfoo_row(n: int) -> Mapping[str, Json]:
    passed = n % FAILS != 0
    text = _text(n, 900)
    known: Json = {"name": f"case {n}", "text": text}
    first: Json = {"type": "contains", "value": "order"}
    second: Json = {"type": "javascript", "value": "output.length < 4000", "metric": "length"}
    reason = "Assertion passed" if passed else "Expected output to contain order"
    graded = {"pass": passed, "score": int(passed), "reason": reason}
    return {
        "cost": 0.0001,
        "gradingResult": {
            **graded,
            "componentResults": [
                {**graded, "assertion": first},
                {"pass": True, "score": 1, "reason": "Assertion passed", "assertion": second},
            ],
        },
        "latencyMs": 20 + n % 300,
        "namedScores": {"length": 1},
        "prompt": {
            "raw": f"Answer case {n}: {known['text']}",
            "label": "Answer {{name}}: {{text}}",
        },
        "promptIdx": 0,
        "provider": {"id": "openai:chat:gpt-5", "label": ""},
        "response": {
            "output": _text(n + 1, 900),
            "tokenUsage": {"prompt": 300, "completion": 200, "total": 500},
        },
        "score": int(passed),
        "success": passed,
        "failureReason": 0 if passed else 1,
        "testCase": {"vars": known, "assert": [first, second]},
        "testIdx": n,
        "vars": known,
        **({} if passed else {"error": reason}),
    }


def _write_promptfoo(folder: Path, cases: int) -> Sequence[object]:
    file = folder / "results.json"
    with file.open("w", encoding="utf-8") as stream:
        stream.write('{"evalId": "eval-1", "results": {"version": 3, "results": [\n')
        for n in range(cases):
            stream.write(json.dumps(_promptfoo_row(n)) + (",\n" if n < cases - 1 else "\n"))
        stream.write('], "stats": {}}, "config": {"description": "shop"}}\n')
    return (file,)


def _write_openagent(folder: Path, cases: int) -> Sequence[object]:
    session = folder / "session-20260512-143052-1a2b3c4d"
    session.mkdir()
    (session / "meta.json").write_text(json.dumps({"model": "m", "rounds": 1}), encoding="utf-8")
    with (session / "details.jsonl").open("w", encoding="utf-8") as stream:
        for n in range(cases):
            record = {
                **{"suite": "dialogue", "task_id": f"task-{n}", "category": "format"},
                **{"round": 1, "attempt": 1, "ok": n % FAILS != 0, "latency_ms": 800.25 + n % 9},
                **{"total_tokens": 43, "prompt_tokens": 30, "completion_tokens": 13},
                **{"response_status": 200, "api_error": None, "parse_error": None},
                "validation_errors": [] if n % FAILS else ["missing_field"],
                "response_text": _text(n, 200),
                **{"evidence": {}, "extra": {}},
            }
            stream.write(json.dumps(record) + "\n")
    return (session,)


def _spans(n: int) -> Iterator[Mapping[str, Json]]:
    begun = 1_790_000_000_000_000_000 + n * 1_000_000_000
    asked = [{"role": "user", "parts": [{"type": "text", "content": _text(n, 300)}]}]
    said = [{"role": "assistant", "parts": [{"type": "text", "content": _text(n + 1, 300)}]}]
    own = {
        "invoke_agent": {"gate.case_id": f"case-{n}"},
        "chat": {"gen_ai.input.messages": asked, "gen_ai.output.messages": said},
    }
    for number, (operation, attributes) in enumerate(own.items(), 1):
        told = {"gen_ai.operation.name": operation, **attributes}
        texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in told.items()}
        yield {
            **{"traceId": f"{n + 1:032x}", "spanId": f"{number:016x}", "name": operation},
            **({"parentSpanId": f"{1:016x}"} if number > 1 else {}),
            **{"startTimeUnixNano": str(begun), "endTimeUnixNano": str(begun + 10**8)},
            "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in texts.items()],
        }


def _write_otel(folder: Path, cases: int) -> Sequence[object]:
    file = folder / "spans.jsonl"
    with file.open("w", encoding="utf-8") as stream:
        for n in range(cases):
            batch = {"resourceSpans": [{"scopeSpans": [{"spans": list(_spans(n))}]}]}
            stream.write(json.dumps(batch) + "\n")
    return (file,)


WRITERS: Mapping[str, Callable[[Path, int], Sequence[object]]] = {
    "junit": _write_junit,
    "trec": _write_trec,
    "promptfoo": _write_promptfoo,
    "openagent": _write_openagent,
    "otel": _write_otel,
}
