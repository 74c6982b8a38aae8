"""Where the checkout is, and what tests read of it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
ANALYTICS = ROOT / "datasets" / "analytics" / "dataset.jsonl"
