"""Where the checkout is, and what tests read of it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
ANALYTICS = ROOT / "datasets" / "analytics" / "dataset.jsonl"


def copy_a_third(to: Path) -> None:
    """67 of the 200 analytics cases, of all kinds: enough for a worse sample agent to fail."""
    cases = ANALYTICS.read_text(encoding="utf-8").splitlines(keepends=True)
    to.write_text("".join(cases[::3]), encoding="utf-8")
