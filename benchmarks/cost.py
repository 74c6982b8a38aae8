"""What a run costs, in counts, which are the same on every machine and on a busy one: what each
further trial takes, and what the run takes beside its trials.

    python benchmarks/cost.py [--cases 200 1200]

The agent is an OpenAI-compatible server on loopback, one request at a time, without a baseline.
tests/support/counted.py says what is counted and how; the bounds that a test holds are in
tests/support/cost_bounds.py. `run.py startup` has the times.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.chat_server import ChatServer
from tests.support.cost_bounds import (
    MOST_MODULES,
    MOST_OF_A_TRIAL,
    MOST_OF_OURS,
)
from tests.support.counted import ANSWER, GRADERS, WORK, count_command, split_cost, write_suite

KINDS = {
    "calls": "Python calls",
    "encodings": "JSON texts written",
    "decodings": "JSON texts read",
    "opens": "files opened",
    "written": "bytes written",
    "blocks": "memory blocks at the peak",
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cases", nargs=2, type=int, default=(200, 1200), metavar="N")
    few, more = options.parse_args().cases
    with tempfile.TemporaryDirectory() as name, ChatServer(lambda *_: ANSWER) as agent:
        folder = Path(name)
        costs = {}
        for graders in GRADERS:
            runs = []
            for cases in (few, more):
                here = write_suite(folder / f"{graders} {cases}", cases, agent.url, graders)
                count_command(here, "work", "run", "--quiet")  # whatever is compiled once
                runs.append(count_command(here, "work", "run", "--quiet"))
            costs[graders] = split_cost(runs[0], runs[1], (few, more))
        modules = count_command(here, "modules", "run", "--quiet")
    print(f"Runs of {few:,} and {more:,} cases; in brackets what a test of smaller runs allows\n")
    heads = [*(f"a trial, `{graders}`" for graders in GRADERS), "a run beside its trials"]
    print("| | " + " | ".join(heads) + " |")
    print("|:--|" + "--:|" * (len(GRADERS) + 1))
    for kind in WORK:
        cells = [f"{costs[g][kind][0]:,.1f} ({MOST_OF_A_TRIAL[g][kind]:,})" for g in GRADERS]
        cells.append(f"{costs[graders][kind][1]:,.0f}")
        print(f"| {KINDS[kind]} | " + " | ".join(cells) + " |")
    print()
    for when, names in (("at the first request of a run", "first"), ("of a run", "end")):
        ours = sum(module.partition(".")[0] == "gate" for module in modules[names])
        most = f"({MOST_MODULES[when]} and {MOST_OF_OURS[when]})"
        print(f"modules {when}: {len(modules[names])}, ours {ours} {most}")


if __name__ == "__main__":
    main()
