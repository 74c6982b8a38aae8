"""1 GB of OTLP JSON Lines imported: seconds, MB/s and peak memory of the whole `gate import otel`.

python benchmarks/import_otel.py FOLDER [MB]    writes FOLDER/spans.jsonl and imports it
python benchmarks/import_otel.py --make FILE MB    the file alone
python benchmarks/import_otel.py --read FILE    the importer alone: checking, then all trials twice

Bounds: 30 MB/s, 300 MB.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from gate.importers.otel import OtelTraces
from gate.records import Json

LINE_SPANS = 32  # of a batch, as a collector writes them
OPEN = 40  # traces under way at once, so that their spans lie mixed
SENTENCES = (
    "the order was sent on Monday and has not arrived yet so please look up its number and tell "
    'the customer when "Größe 42" can be there or give the money back\n'
)
WORDS = re.split(" ", SENTENCES)


def text(rng: random.Random, characters: int) -> str:
    return " ".join(rng.choices(WORDS, k=characters // 6))


def attribute(key: str, value: Json) -> Json:
    kind = {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}
    return {"key": key, "value": kind}


def spans_of(rng: random.Random, n: int) -> Iterator[dict[str, Json]]:
    """A trace as an instrumented agent ends its spans: 3 to 10 of them, the agent's own last."""
    trace, root = f"{rng.getrandbits(128):032x}", f"{rng.getrandbits(64):016x}"
    began = 1_790_000_000_000_000_000 + n * 1_000_000_000
    system = [{"type": "text", "content": text(rng, 2_000)}]
    tools = [{"type": "function", "name": "look_up", "description": text(rng, 1_200)}]
    asked = {"type": "text", "content": text(rng, 300)}
    messages: list[Json] = [{"role": "user", "parts": [asked]}]
    clock = began

    def span(name: str, kind: int, **attributes: Json) -> Json:
        nonlocal clock
        clock += rng.randrange(10**8, 10**9)
        return {
            "traceId": trace,
            "spanId": f"{rng.getrandbits(64):016x}",
            "parentSpanId": root,
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str(clock),
            "endTimeUnixNano": str(clock + rng.randrange(10**7, 10**8)),
            "attributes": [attribute(f"gen_ai.{k}", v) for k, v in attributes.items()],
            "status": {},
        }

    calls = rng.randrange(5)
    for call in range(calls + 1):
        last = call == calls
        made: Json = {
            "type": "tool_call",
            "id": f"call_{n}_{call}",
            "name": "look_up",
            "arguments": {"query": text(rng, 60), "page": call},
        }
        said = {"type": "text", "content": text(rng, 600)}
        reply = {"role": "assistant", "parts": [said if last else made], "finish_reason": "stop"}
        yield span(
            "chat gpt-4o",
            3,
            **{
                "operation.name": "chat",
                "provider.name": "openai",
                "request.model": "gpt-4o",
                "response.model": "gpt-4o-2024-11-20",
                "response.id": f"chatcmpl-{rng.getrandbits(64):016x}",
                "conversation.id": f"conv-{n}",
                "usage.input_tokens": 400 + 900 * call,
                "usage.output_tokens": 60,
                "usage.cache_read.input_tokens": 300 * call,
                "system_instructions": json.dumps(system, ensure_ascii=False),
                "tool.definitions": json.dumps(tools, ensure_ascii=False),
                "input.messages": json.dumps(messages, ensure_ascii=False),
                "output.messages": json.dumps([reply], ensure_ascii=False),
            },
        )
        messages.append(reply)
        if not last:
            result = text(rng, rng.randrange(1_000, 3_500))
            yield span(
                "execute_tool look_up",
                1,
                **{
                    "operation.name": "execute_tool",
                    "tool.name": "look_up",
                    "tool.call.id": made["id"],
                    "tool.call.arguments": json.dumps(made["arguments"], ensure_ascii=False),
                    "tool.call.result": result,
                },
            )
            answered = {"type": "tool_call_response", "id": made["id"], "response": result}
            messages.append({"role": "tool", "parts": [answered]})
    agent = span("invoke_agent support", 1, **{"operation.name": "invoke_agent"})
    case = attribute("gate.case_id", f"case-{n // 2:05}")
    yield {
        **{key: value for key, value in agent.items() if key != "parentSpanId"},
        "spanId": root,
        "startTimeUnixNano": str(began),
        "endTimeUnixNano": str(clock),
        "attributes": [*agent["attributes"], case],
    }
    yield {**agent, "name": "POST /log", "parentSpanId": root, "attributes": []}


def make(path: Path, size: int) -> int:
    """Batches of many traces' spans until the file has `size` bytes; how many traces."""
    rng, n, written = random.Random(8), OPEN, 0
    under_way = [spans_of(rng, number) for number in range(OPEN)]
    resource = {"attributes": [attribute("service.name", "support")]}
    with path.open("wb") as file:
        while under_way:
            batch: list[Json] = []
            while under_way and len(batch) < LINE_SPANS:
                at = rng.randrange(len(under_way))
                span = next(under_way[at], None)
                if span is not None:
                    batch.append(span)
                elif written < size or n % 2:
                    under_way[at] = spans_of(rng, n)
                    n += 1
                else:
                    del under_way[at]
            scope = {"scope": {"name": "example"}, "spans": batch}
            line = {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}
            written += file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    return n


def measure(command: list[str]) -> tuple[float, float]:
    """Seconds and peak MB of a whole process."""
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)}: failed")
    return time.perf_counter() - start, used.ru_maxrss / 1024


def read_alone(path: Path) -> None:
    start = time.perf_counter()
    found = OtelTraces().read(path)
    checked = time.perf_counter()
    for _ in range(2):
        trials = sum(1 for _ in found.trials())
    done = time.perf_counter()
    print(f"read: {checked - start:.1f} s; {trials} trials twice: {done - checked:.1f} s")


def main() -> None:
    if sys.argv[1] == "--make":
        make(Path(sys.argv[2]), int(sys.argv[3]) << 20)
        return
    if sys.argv[1] == "--read":
        read_alone(Path(sys.argv[2]))
        return
    folder = Path(sys.argv[1])
    size = (int(sys.argv[2]) if len(sys.argv) > 2 else 1_000) << 20
    path = folder / "spans.jsonl"
    traces = make(path, size)
    gate = [sys.executable, "-m", "gate", "import", "otel", str(path), "--out", str(folder)]
    seconds, peak = measure(gate)
    speed = path.stat().st_size / seconds / 1e6
    print(f"{path.stat().st_size / 1e6:.0f} MB, {traces} traces: {seconds:.1f} s", end="; ")
    print(f"{speed:.0f} MB/s; {peak:.0f} MB")


if __name__ == "__main__":
    main()
