"""A run folder of SWE-bench Full, 2,294 instances with a report each, made and imported.

python benchmarks/import_swebench.py            wall seconds and peak MB of `gate import`, and how
                                                the time splits
python benchmarks/import_swebench.py FOLDER [INSTANCES]     makes the folder only

A report has 1 to 20 tests that were to be mended and 50 to 280 that were to stay. Bounds: 5 s,
200 MB.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from run import timed

from gate.plugins import IMPORTERS

REPOSITORIES = (  # and their share of Full
    ("django__django", 850),
    ("sympy__sympy", 386),
    ("scikit-learn__scikit-learn", 229),
    ("sphinx-doc__sphinx", 187),
    ("matplotlib__matplotlib", 184),
    ("pytest-dev__pytest", 119),
    ("pydata__xarray", 110),
    ("astropy__astropy", 95),
    ("pylint-dev__pylint", 57),
    ("psf__requests", 44),
    ("mwaskom__seaborn", 22),
    ("pallets__flask", 11),
)
MODEL, RUN = "acme__agent-x", "nightly-001"
RUNS = 5


def tests(rng: random.Random, kind: str, n: int, failing: int) -> dict[str, list[str]]:
    ids = [
        f"tests/{kind}/test_module_{rng.randrange(40):02}.py::TestCase{i % 7}::test_behaviour_{i}"
        for i in range(n)
    ]
    return {"success": ids[failing:], "failure": ids[:failing]}


def report(rng: random.Random, *, resolved: bool) -> dict[str, object]:
    mended = rng.randint(1, 20)
    nothing: dict[str, list[str]] = {"success": [], "failure": []}
    return {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": True,
        "resolved": resolved,
        "infra_failure": False,
        "tests_status": {
            "FAIL_TO_PASS": tests(rng, "mended", mended, 0 if resolved else 1),
            "PASS_TO_PASS": tests(rng, "kept", rng.randint(50, 280), 0),
            "FAIL_TO_FAIL": nothing,
            "PASS_TO_FAIL": nothing,
        },
    }


def ids(instances: int) -> list[str]:
    found = [f"{name}-{1000 + n}" for name, share in REPOSITORIES for n in range(share)]
    return sorted(found)[:instances]


def make(folder: Path, instances: int = 2294) -> None:
    """Run report, predictions, and the logs of every instance: 2 in 100 have no report, as many no
    prediction.
    """
    rng = random.Random(7)
    logs = folder / "logs" / "run_evaluation" / RUN / MODEL
    by: dict[str, list[str]] = {
        key: [] for key in ("resolved", "unresolved", "error", "empty_patch", "incomplete")
    }
    predictions = []
    for n, instance in enumerate(ids(instances)):
        became = {0: "error", 1: "incomplete"}.get(n % 50) or rng.choice(["resolved", "unresolved"])
        by[became].append(instance)
        if became == "incomplete":
            continue
        patch = "diff --git a/x.py b/x.py\n" + "+line\n" * rng.randint(5, 300)
        predictions.append(
            {"instance_id": instance, "model_name_or_path": "acme/agent-x", "model_patch": patch}
        )
        own = logs / instance
        own.mkdir(parents=True)
        for name in ("run_instance.log", "test_output.txt", "eval.sh", "patch.diff"):
            (own / name).write_text("as it was\n")
        if became != "error":
            made = {instance: report(rng, resolved=became == "resolved")}
            (own / "report.json").write_text(json.dumps(made, indent=4))
    by["completed"] = sorted(by["resolved"] + by["unresolved"])
    by["submitted"] = sorted(by["completed"] + by["error"])
    by |= {"infra_failure": [], "ambiguous_failure": []}
    lists = {f"{key}_ids": sorted(found) for key, found in by.items()}
    counts = {f"{key}_instances": len(found) for key, found in by.items() if key != "incomplete"}
    whole = {"total_instances": instances, **counts, **lists, "schema_version": 2}
    (folder / f"{MODEL}.{RUN}.json").write_text(json.dumps(whole, indent=4))
    lines = "".join(json.dumps(one) + "\n" for one in predictions)
    (folder / "preds.jsonl").write_text(lines)


def reading(folder: Path) -> tuple[float, float]:
    """Seconds until it is checked, and until its trials are read."""
    start = time.perf_counter()
    found = IMPORTERS.get_class("swebench")().read(folder)
    checked = time.perf_counter()
    assert len(list(found.trials())) == 2294
    return checked - start, time.perf_counter() - checked


def main() -> None:
    if len(sys.argv) > 1:
        make(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2294)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder / "run")
        size = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
        walls, peaks = [], []
        for n in range(RUNS):
            command = ["-m", "gate", "import", "swebench", "run", "--out", f"out-{n}"]
            wall, peak, _ = timed([sys.executable, *command], cwd=folder)
            walls.append(wall)
            peaks.append(peak)
        checked, taken = reading(folder / "run")
    print(f"{size / 1e6:.0f} MB, 2,294 instances, whole process, {RUNS} runs")
    print(
        f"median {statistics.median(walls):.2f} s, fastest {min(walls):.2f} s, {max(peaks):.0f} MB"
    )
    print(f"read and checked {checked:.2f} s, trials taken {taken:.2f} s")


if __name__ == "__main__":
    main()
