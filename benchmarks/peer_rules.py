"""Rules of benchmarks/other_rules.py, decided by the tools' own packages.

`tests/install_peers.sh FOLDER rules` installs them, and GATE_PEERS names FOLDER:

    GATE_PEERS=FOLDER PYTHONPATH=. python "$GATE_TOOLS/verdict_sim.py" \\
        --method benchmarks.peer_rules:nel_compare --reps 100 --seed 1

Only the modules that decide are loaded, not what the packages need for their other commands.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.other_rules import MAX_DROP, Array, rule


@rule
def nel_compare(was: Array, now: Array, _alpha: float) -> bool:
    return _ask_nel(was, now) == "BLOCK"


@rule
def nel_compare_strict(was: Array, now: Array, _alpha: float) -> bool:
    return _ask_nel(was, now) != "PASS"


@rule
def agent_regress(was: Array, now: Array, _alpha: float) -> bool:
    tool = load_peer("agent_regress.core.compare")
    arms = [[iter(rounds) for rounds in arm.tolist()] for arm in (was, now)]
    agents = [lambda case, arm=arm: next(arm[case["id"]]) for arm in arms]
    suite = [{"id": i} for i in range(len(now))]
    report = tool.compare(*agents, suite, n_runs=now.shape[1], metric="passed")
    return bool(report.verdict.value == "REGRESSED")


def multivon_compare(baseline: Array, candidate: Array, **_: object) -> list[str]:
    regressed = bool(_ask_multivon(baseline, candidate).regressions)
    return ["regression" if regressed else "inconclusive"] * candidate.shape[2]


def multivon_mcnemar(baseline: Array, candidate: Array, **_: object) -> list[str]:
    found = _ask_multivon(baseline, candidate)
    worse = found.mcnemar_p < 0.05 and len(found.regressions) > len(found.improvements)
    return ["regression" if worse else "inconclusive"] * candidate.shape[2]


def load_peer(module: str) -> ModuleType:
    """A module of a package in GATE_PEERS/rules."""
    folder = Path(os.environ.get("GATE_PEERS") or "-") / "rules"
    names = module.split(".")
    if not folder.joinpath(*names).with_suffix(".py").is_file():
        raise ModuleNotFoundError(
            f"{folder} has no {module}: "
            "run tests/install_peers.sh FOLDER rules and set GATE_PEERS=FOLDER"
        )
    for depth in range(1, len(names)):
        package = ModuleType(".".join(names[:depth]))
        package.__path__ = [str(folder.joinpath(*names[:depth]))]
        sys.modules.setdefault(package.__name__, package)
    return import_module(module)


def _ask_nel(was: Array, now: Array) -> str:
    tool = load_peer("nemo_evaluator.engine.comparison")
    records = [
        {trial: {"reward": reward} for trial, reward in np.ndenumerate(arm)} for arm in (was, now)
    ]
    return str(tool.compare_results(*records, min_effect=MAX_DROP)["verdict"])


def _ask_multivon(baseline: Array, candidate: Array) -> Any:
    results = load_peer("multivon_eval.result")
    reports = []
    for arm in (baseline, candidate):
        rounds = arm.all(axis=2)
        cases = [
            results.CaseResult(
                case_input=str(i),
                actual_output="",
                results=[],
                latency_ms=0.0,
                runs=rounds.shape[1],
                pass_count=int(passed),
            )
            for i, passed in enumerate(rounds.sum(axis=1))
        ]
        reports.append(results.EvalReport("s", cases))
    return load_peer("multivon_eval.compare").compare_reports(*reports)
