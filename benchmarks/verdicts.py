"""Runs the verdict simulator of the tools folder with the looks that a run has.

    PYTHONPATH=. python benchmarks/verdicts.py --suites 100x3 --history 4 --cap 2 --reps 10000

The simulator (`verdict_sim.py` in the folder that `GATE_TOOLS` names) looks ten times; a run looks
up to twenty times. Options are the simulator's; `--method` is the gate's own and `--alpha` 1 %
unless given. `--drops 0,5,10` simulates only these, in points. The suites of one command have as
many rounds.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from benchmarks import verdict_sim_adapter
from gate.records import equal_looks

DEFAULTS = ("--method", "benchmarks.verdict_sim_adapter:sequential", "--alpha", ".01")


def main(arguments: list[str]) -> None:
    if "GATE_TOOLS" not in os.environ:
        sys.exit("GATE_TOOLS has to name the folder with verdict_sim.py")
    sys.path.insert(0, os.environ["GATE_TOOLS"])
    simulator = importlib.import_module("verdict_sim")
    simulator.looks_for = lambda calls: list(equal_looks(calls).calls)
    if "--drops" in arguments:
        at = arguments.index("--drops")
        simulator.DROPS = tuple(float(drop) / 100 for drop in arguments[at + 1].split(","))
        arguments = arguments[:at] + arguments[at + 2 :]
    options = argparse.ArgumentParser()
    options.add_argument("--suites", default="100x3")
    suites = options.parse_known_args(arguments)[0].suites
    verdict_sim_adapter.PLANNED = int(suites.partition("x")[2].partition(",")[0])
    sys.argv = ["verdict_sim.py", *DEFAULTS, "--sequential", *arguments]
    simulator.main()


if __name__ == "__main__":
    main(sys.argv[1:])
