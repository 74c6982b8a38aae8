"""A suite's categories side by side: success, steps, cost, why they fail."""

from __future__ import annotations

from gate.records import CategoryReport, SuiteReport
from gate.report.wording.patterns import words
from gate.text import figures
from gate.text.shortening import shorten

HEAD = ("Category", "cases", "success rate", "steps", "cost a task", "cost a success", "top mode")


def rows(suite: SuiteReport) -> list[tuple[str, ...]]:
    """The first cell is hostile text."""
    return [_row(category) for category in suite.categories] if len(suite.categories) > 1 else []


def _row(category: CategoryReport) -> tuple[str, ...]:
    unknown = f" ({category.unknown_cost:,} unknown)" if category.unknown_cost else ""
    mode = (
        f"{words(category.top_mode)} ({category.top_mode_cases:,})" if category.top_mode else "none"
    )
    return (
        shorten(category.category or "", 80) or figures.ABSENT,
        f"{category.cases:,}",
        figures.value(category.success_rate, "share"),
        figures.value(category.avg_steps, "steps"),
        _usd(category.cost_per_task) + unknown,
        _usd(category.cost_per_success),
        mode,
    )


def _usd(amount: float | None) -> str:
    return figures.ABSENT if amount is None else figures.money(amount)
