"""Speed, side by side: Agent Gate, its peers and the bare loops, in one run against one stub agent.

    python benchmarks/run.py [PART ...] [--runs 3]

Every figure is a whole process timed from outside, start-up and all files included, unless it says
otherwise; the variants of one table take turns (A B C A B C ...), so that a machine whose speed
drifts slows all of them, and what counts is the ratio. At the end one table holds each figure that
has a bound; the command exits with 1 and names those that miss it.

GATE_TOOLS names the folder with `peers/` (stub agent, bare loops, the peers' smallest scripts);
PEERS_ROOT (default /tmp/peers) holds one environment a peer, made by `peers/setup.sh`. A peer that
is not installed is left out by name.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from figures import Figure
from imports import AIMS, OTEL, measure_imports

import gate

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.limited_server import (
    Bucket,
    Headers,
    limited_server,
    tell_as_anthropic,
    tell_as_openai,
    tell_nothing,
)

TOOLS = Path(os.environ.get("GATE_TOOLS", "")) / "peers"
PEERS = Path(os.environ.get("PEERS_ROOT", "/tmp/peers"))
PYTHON = sys.executable


def floor(client: str) -> list[str]:
    return [str(PEERS / "floor/bin/python"), str(TOOLS / "floor/floor.py"), "--client", client]


RIVALS = {
    "bare loop, http.client": floor("stdlib"),
    "bare loop, urllib3": floor("urllib3"),
    "bare loop, requests": floor("requests"),
    "evalproof": [str(PEERS / "evalproof/bin/python"), str(TOOLS / "evalproof/run.py")],
    "pydantic-evals on aiohttp (keeps nothing)": [
        str(PEERS / "pydantic-evals/bin/python"),
        str(TOOLS / "pydantic-evals/run.py"),
        "--client",
        "aiohttp",
    ],
    "inspect-ai, lean log": [
        str(PEERS / "inspect-ai/bin/python"),
        str(TOOLS / "inspect-ai/task.py"),
        "--log",
        "lean",
    ],
}


FIGURES: list[Figure] = []  # in the order in which they are measured


class Stub:
    """The peers' stub agent on a free port."""

    def __init__(self, latency_ms: float, *more: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        python = PEERS / "floor/bin/python"
        command = [str(python if python.exists() else PYTHON), str(TOOLS / "stub_agent.py")]
        command += ["--port", str(self.port), "--latency-ms", str(latency_ms), *more]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Stub:
        for _ in range(100):
            try:
                self.get("/health")
                return self
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the stub agent does not start")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def get(self, path: str) -> dict[str, int]:
        with urllib.request.urlopen(self.url + path, timeout=5) as reply:
            found: dict[str, int] = json.load(reply)
            return found


def timed(command: Sequence[str], *, cwd: Path) -> tuple[float, float, str]:
    """Wall seconds, peak memory in MB (largest process) and output of one whole process."""
    peak = [0.0]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    watch = threading.Thread(target=_peak, args=(process.pid, peak))
    watch.start()
    output, _ = process.communicate()
    wall = time.perf_counter() - start
    watch.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{output[-2000:]}")
    return wall, peak[0], output


def _peak(pid: int, peak: list[float]) -> None:
    status = Path(f"/proc/{pid}/status")
    while True:
        try:
            text = status.read_text()
        except OSError:
            return
        for line in text.splitlines():
            if line.startswith("VmHWM:"):
                peak[0] = max(peak[0], int(line.split()[1]) / 1024)
        if "\nState:\tZ" in text:
            return
        time.sleep(0.02)


def gate_folder(folder: Path, cases: int, url: str, concurrency: int) -> list[str]:
    """A gate.yml with the peers' data and their two checks; returns the command that runs it."""
    sys.path.insert(0, str(TOOLS))
    from stub_agent import expected, question  # the stub's own questions and answers

    rows = ({"id": f"case-{n}", "input": question(n)} for n in range(cases))
    lines = [json.dumps({**row, "expected": expected(row["input"])}) + "\n" for row in rows]
    shared = PEERS / "data" / f"cases-{cases}.jsonl"  # where the rivals look for the same data
    shared.parent.mkdir(parents=True, exist_ok=True)
    for path in (folder / "cases.jsonl", shared):
        path.write_text("".join(lines), encoding="utf-8")
    (folder / "gate.yml").write_text(
        f"""version: 1
agent: {{type: openai, base_url: "{url}", model: stub, concurrency: {concurrency}}}
suites:
  - name: bench
    dataset: cases.jsonl
    graders:
      - contains: {{key: expected}}
      - regex: {{pattern: '^The code is [0-9a-f]{{8}}\\.$'}}
    rounds: 1
baseline: {{source: none}}
report: {{html: false}}
""",
        encoding="utf-8",
    )
    return [PYTHON, "-m", "gate", "run", "--quiet"]


def checked(output: str, folder: Path, cases: int) -> None:
    """Every 50th answer of the stub is wrong on purpose: a right run says 98 %."""
    if "RESULT {" in output:
        found = json.loads(output[output.rindex("RESULT {") + 7 :].splitlines()[0])
        passed, total = found["passed"], found["total"]
    else:
        newest = max((folder / "results").iterdir())
        summary = json.loads((newest / "summary.json").read_text())
        rate = summary["suites"]["bench"]["metrics"]["agent.success_rate"]
        passed, total = round(rate["value"] * rate["n"]), rate["n"]
    if (passed, total) != (cases - cases // 50, cases):
        raise SystemExit(f"wrong result: {passed}/{total}\n{output[-2000:]}")


def side_by_side(
    title: str,
    *,
    cases: int,
    concurrency: int,
    latency_ms: float,
    runs: int,
    rivals: Sequence[str],
    stub_options: Sequence[str] = (),
) -> dict[str, float]:
    """All variants in turn, `runs` times; prints medians and ratios to Agent Gate, and returns by
    variant how many times as long Agent Gate takes; its own seconds are those of "Agent Gate".
    """
    with tempfile.TemporaryDirectory() as name, Stub(latency_ms, *stub_options) as stub:
        folder = Path(name)
        commands = {"Agent Gate": gate_folder(folder, cases, stub.url, concurrency)}
        for rival in rivals:
            if not Path(RIVALS[rival][0]).exists():
                print(f"(left out, not installed: {rival})")
                continue
            base = ["-n", str(cases), "-c", str(concurrency), "--base", stub.url + "/v1"]
            commands[rival] = [*RIVALS[rival], *base]
        walls: dict[str, list[float]] = {variant: [] for variant in commands}
        peaks: dict[str, list[float]] = {variant: [] for variant in commands}
        for _ in range(runs):
            for variant, command in commands.items():
                stub.get("/reset")
                wall, peak, output = timed(command, cwd=folder)
                checked(output, folder, cases)
                walls[variant].append(wall)
                peaks[variant].append(peak)
    print(f"\n### {title}\n\n| | wall s (median of {runs}) | ratio to Agent Gate | peak MB |")
    print("|:--|--:|--:|--:|")
    own = walls["Agent Gate"]
    slower = {"Agent Gate": statistics.median(own)}
    for variant, seconds in walls.items():
        ratio = statistics.median(a / b for a, b in zip(seconds, own, strict=True))
        peak = statistics.median(peaks[variant])
        print(f"| {variant} | {statistics.median(seconds):.2f} | {ratio:.2f} | {peak:.0f} |")
        if variant not in slower:
            slower[variant] = statistics.median(a / b for a, b in zip(own, seconds, strict=True))
    return slower


def throughput(runs: int) -> None:
    title = "5,000 cases, agent of 0 ms, concurrency 32"
    slower = side_by_side(
        title,
        cases=5000,
        concurrency=32,
        latency_ms=0,
        runs=runs,
        rivals=[name for name in RIVALS if not name.startswith("inspect")],
    )
    bounds = {
        "bare loop, http.client": 1.6,
        "pydantic-evals on aiohttp (keeps nothing)": 1.0,
        "evalproof": 1.0,
    }
    FIGURES.extend(
        Figure(f"{title}: to {rival}", "x", most, slower[rival])
        for rival, most in bounds.items()
        if rival in slower
    )


def overlap(runs: int) -> None:
    slower = side_by_side(
        "1,000 cases, agent of 200 ms, concurrency 64 (possible: 3.2 s)",
        cases=1000,
        concurrency=64,
        latency_ms=200,
        runs=runs,
        rivals=["bare loop, http.client", "bare loop, requests", "evalproof"],
    )
    title = "1,000 cases of 200 ms, concurrency 64: to the possible 3.2 s"
    FIGURES.append(Figure(title, "x", 1.05, slower["Agent Gate"] / 3.2))


def throttle(runs: int) -> None:
    title = "200 cases of 50 ms, one in ten answered 429 with Retry-After 1, concurrency 32"
    slower = side_by_side(
        title,
        cases=200,
        concurrency=32,
        latency_ms=50,
        runs=runs,
        rivals=["evalproof"],
        stub_options=["--throttle-every", "10", "--retry-after", "1"],
    )
    if "evalproof" in slower:
        FIGURES.append(Figure(f"{title}: to evalproof", "x", 1.0, slower["evalproof"]))


def tail(runs: int) -> None:
    """The share of a run that comes after the last answer left the agent."""
    cases, shares = 5000, []
    with tempfile.TemporaryDirectory() as name, Stub(0) as stub:
        folder = Path(name)
        command = gate_folder(folder, cases, stub.url, 32)
        for _ in range(runs):
            stub.get("/reset")
            start = time.perf_counter()
            process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
            while stub.get("/stats")["requests"] < cases and process.poll() is None:
                time.sleep(0.01)
            last = time.perf_counter()
            process.wait()
            end = time.perf_counter()
            shares.append((end - last) / (end - start))
    share = statistics.median(shares)
    print(f"\n### After the last answer\n\n{share:.1%} of a run of {cases:,} cases at 0 ms")
    FIGURES.append(Figure(f"{cases:,} cases at 0 ms: after the last answer", "%", 10, share * 100))


def limit(runs: int) -> None:
    """1,000 cases at providers that allow 50 requests a second, in turns with and without the pace:
    what share of the allowed requests is used from the first to the last one.
    """
    kinds = {
        "refusals alone": (Bucket(per_s=50, size=50, left=50), tell_nothing),
        "OpenAI's headers": (Bucket(per_s=50, size=3000, left=50), tell_as_openai),
        "Anthropic's headers": (Bucket(per_s=50, size=3000, left=50), tell_as_anthropic),
    }
    print(
        "\n### 1,000 cases of 100 ms, 50 requests a second allowed (50 at once), concurrency 32\n\n"
        f"| the provider tells | adaptive | share of the allowed rate (median of {runs}) | refused "
        "| trials not answered |\n|:--|:--|--:|--:|--:|"
    )
    for kind, (bucket, tell) in kinds.items():
        found: dict[str, list[tuple[float, int, int]]] = {"true": [], "false": []}
        for _ in range(runs):
            for adaptive, figures in found.items():
                figures.append(_limited(replace(bucket), tell, adaptive))
        for adaptive, figures in found.items():
            share, refused, lost = (
                statistics.median(column) for column in zip(*figures, strict=True)
            )
            print(f"| {kind} | {adaptive} | {share:.1%} | {refused:.0f} | {lost:.0f} |")
            if adaptive == "true":
                what = f"50 requests a second allowed, {kind}"
                FIGURES.append(Figure(f"{what}: not used", "%", 5, 100 - 100 * share))
                FIGURES.append(Figure(f"{what}: trials without an answer", "", 0, lost))


def _limited(bucket: Bucket, tell: Headers, adaptive: str) -> tuple[float, int, int]:
    """Share of the allowed requests that was used, refused ones, and trials without an answer."""
    cases = 1000
    at_first, per_s = bucket.left, bucket.per_s
    with (
        tempfile.TemporaryDirectory() as name,
        limited_server(bucket, latency_s=0.1, tell=tell) as server,
    ):
        folder = Path(name)
        rows = ({"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"} for n in range(cases))
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "cases.jsonl").write_text(lines, encoding="utf-8")
        (folder / "gate.yml").write_text(
            f"""version: 1
agent: {{type: openai, base_url: "{server.url}", concurrency: 32, adaptive: {adaptive}}}
suites: [{{name: s, dataset: cases.jsonl, graders: [exact_match], rounds: 1}}]
baseline: {{source: none}}
report: {{html: false}}
""",
            encoding="utf-8",
        )
        timed([PYTHON, "-m", "gate", "run", "--quiet"], cwd=folder)
        summary = json.loads(next(folder.glob("results/*/summary.json")).read_text())
        rate = summary["suites"]["s"]["metrics"]["agent.success_rate"]
        answered = round(rate["value"] * rate["n"])
    seconds = server.accepted[-1] - server.accepted[0]
    return cases / (at_first + per_s * seconds), server.refused, cases - answered


def memory(runs: int) -> None:
    """Peak memory at two sizes: the slope is what one more trial costs."""
    peaks = {}
    for cases in (1000, 5000):
        with tempfile.TemporaryDirectory() as name, Stub(0) as stub:
            folder = Path(name)
            command = gate_folder(folder, cases, stub.url, 32)
            peaks[cases] = statistics.median(
                timed(command, cwd=folder)[1] for _ in range(max(1, runs))
            )
    slope = (peaks[5000] - peaks[1000]) * 1024 / 4000
    print(
        f"\n### Memory\n\n5,000 cases: {peaks[5000]:.0f} MB at the peak; "
        f"one more trial: {slope:.2f} KB"
    )
    FIGURES.append(Figure("memory of 5,000 cases", "MB", 60, peaks[5000]))
    FIGURES.append(Figure("memory of a further trial", "KB", 1, slope))


def startup(runs: int) -> None:
    """Against `python -c pass`, in turn; the difference is what the user waits for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = {
            "python -c pass": [PYTHON, "-c", "pass"],
            "gate --version": [PYTHON, "-m", "gate", "--version"],
            "gate run --help": [PYTHON, "-m", "gate", "run", "--help"],
            "gate validate, own config": [PYTHON, "-m", "gate", "validate"],
        }
        own = Path(__file__).resolve().parent.parent
        walls: dict[str, list[float]] = {variant: [] for variant in commands}
        for _ in range(max(5, runs * 5)):
            for variant, command in commands.items():
                cwd = own if "own" in variant else folder
                walls[variant].append(timed(command, cwd=cwd)[0])
    print("\n### Start-up\n\n| | ms (median) | over `python -c pass`, ms |\n|:--|--:|--:|")
    bare = walls["python -c pass"]
    for variant, seconds in walls.items():
        over = statistics.median(a - b for a, b in zip(seconds, bare, strict=True))
        print(f"| {variant} | {statistics.median(seconds) * 1e3:.0f} | {over * 1e3:.0f} |")
    first = statistics.median(first_request(walls["python -c pass"]))
    print(f"\n`gate run` to its first request, over `python -c pass`: {first * 1e3:.0f} ms")
    FIGURES.append(Figure("`gate run` to its first request", "ms", 300, first * 1e3))


def first_request(bare: Sequence[float]) -> list[float]:
    """Seconds from the start of `gate run` to its first connection, less a bare Python's."""
    found = []
    for seconds in bare:
        with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as agent:
            folder = Path(name)
            url = f"http://127.0.0.1:{agent.getsockname()[1]}"
            command = gate_folder(folder, 1, url, 1)
            start = time.perf_counter()
            process = subprocess.Popen(
                command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            agent.accept()[0].close()
            found.append(time.perf_counter() - start - seconds)
            process.terminate()
            process.wait()
    return found


def compare(runs: int) -> None:
    """`gate compare` of two baseline files with 100,000 cases x 3 rounds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(
            [PYTHON, str(Path(__file__).with_name("big_baselines.py")), name], check=True
        )
        command = [PYTHON, "-m", "gate", "compare", "a.json", "b.json", "--quiet"]
        walls = [timed(command, cwd=folder)[0] for _ in range(runs)]
    big = Path(__file__).with_name("big_baselines.py")
    inside = subprocess.run(
        [PYTHON, str(big), "--time"], check=True, capture_output=True, text=True
    ).stdout.strip()
    print(
        f"\n### 100,000 cases x 3 rounds compared\n\n"
        f"estimates and verdict, tables in memory: {inside} s; `gate compare` of two baselines "
        f"(20 MB each, read and checked), whole process: {statistics.median(walls):.2f} s"
    )


def growth(runs: int) -> None:
    """How runs grow to 100,000 trials; `gate compare` of 1,000,000 cases x 3 rounds."""
    here = Path(__file__)
    command = [PYTHON, str(here.with_name("growth.py")), "--rounds", "10", "--runs", str(runs)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    print(f"\n### Growth\n\n{told.strip()}")
    exponent = float(told.rpartition(":")[2])
    FIGURES.append(Figure("growth from 10,000 to 100,000 trials: exponent", "", 1.05, exponent))
    with tempfile.TemporaryDirectory() as name:
        folder, million = Path(name), ["--cases", "1000000", "--columns", "success"]
        big = str(here.with_name("big_baselines.py"))
        subprocess.run([PYTHON, big, name, *million], check=True)
        command = [PYTHON, "-m", "gate", "compare", "a.json", "b.json", "--quiet"]
        wall, peak, _ = timed(command, cwd=folder)
    print(f"\n1,000,000 cases x 3 rounds compared: {wall:.1f} s, {peak:.0f} MB")
    FIGURES.append(Figure("1,000,000 cases x 3 rounds compared", "s", 25, wall))


def imports(runs: int) -> None:
    """`gate import` of other tools' results, in two sizes; the full sizes by the straight line."""
    print("\n### Imports\n")
    FIGURES.extend(measure_imports([*AIMS, OTEL], runs=runs, full=False))


def grade(runs: int) -> None:
    """`gate grade` with one process and with two."""
    command = [PYTHON, str(Path(__file__).with_name("grade.py")), "--runs", str(runs)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    print(f"\n### Recorded answers, one process and two\n\n{told.strip()}")
    share = float(told.rpartition(":")[2])
    FIGURES.append(Figure("gate grade: time with two processes, to one", "x", 1 / 1.6, share))


def tell_figures() -> list[str]:
    """Prints the table of all figures with a bound; returns the names of those that miss it."""
    peers = [path.read_text().split()[0] for path in sorted(PEERS.glob("*/.ok"))]
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    print(
        f"\n### Bounds\n\n{time.strftime('%Y-%m-%d')}, Agent Gate {gate.__version__} ({commit}), "
        f"Python {platform.python_version()}, {os.cpu_count()} cores; {', '.join(peers)}\n\n"
        "| figure | bound | here | |\n|:--|--:|--:|:--|"
    )
    for figure in FIGURES:
        mark = "met" if figure.is_met else "**missed**"
        print(f"| {figure.what} | {figure.most:g} {figure.unit} | {figure.here:.2f} | {mark} |")
    return [figure.what for figure in FIGURES if not figure.is_met]


PARTS = {
    "startup": startup,
    "throughput": throughput,
    "overlap": overlap,
    "throttle": throttle,
    "limit": limit,
    "tail": tail,
    "memory": memory,
    "compare": compare,
    "growth": growth,
    "imports": imports,
    "grade": grade,
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("parts", nargs="*", metavar="PART", help="all by default")
    options.add_argument("--runs", type=int, default=3)
    given = options.parse_args()
    # A checkout may have no compiled files, and be run where Python writes none.
    compileall.compile_dir(str(Path(gate.__file__).parent), quiet=1)
    parts = given.parts or list(PARTS)
    if unknown := set(parts) - set(PARTS):
        options.error(f"no part is called {', '.join(unknown)}; there are {', '.join(PARTS)}")
    for part in parts:
        if (
            part not in ("limit", "compare", "growth", "imports", "grade")
            and not (TOOLS / "stub_agent.py").exists()
        ):
            print(f"\n(left out: {part}; GATE_TOOLS does not name the tools' folder)")
        else:
            PARTS[part](given.runs)
    if FIGURES and (missed := tell_figures()):
        raise SystemExit("missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
