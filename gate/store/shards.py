"""What the shards of one run must have in common before their trials are joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gate.errors import UsageError
from gate.records import TrialRow
from gate.store.session import Session, SuiteMeta
from gate.store.session_check import check_rows

Key = tuple[str, str, int]  # suite, case, round


def check(shards: Sequence[Session], suites: Mapping[str, SuiteMeta]) -> None:
    """`suites`: what the joined session measures. Raises UsageError for a shard that measured
    something else, and for a trial that comes twice.
    """
    seen: set[Key] = set()
    for shard in shards:
        _same_run(shard, suites)
        own_trials = {(row["suite"], row["case_id"], row["round"]) for row in _rows(shard)}
        if both := sorted(seen & own_trials):
            _, case, number = both[0]
            raise UsageError(
                f"{shard.folder}: case '{case}' round {number} is in another shard too; "
                "merge each shard once"
            )
        seen |= own_trials


def absent(shards: Iterable[Session]) -> str:
    """The parts of the run that are not among the shards; empty when all are."""
    parts = [shard.meta.options.get("shard") or (1, 1) for shard in shards]
    count = max((part[1] for part in parts), default=0)
    missing = sorted(set(range(1, count + 1)) - {part[0] for part in parts})
    names = ", ".join(f"{number}/{count}" for number in missing)
    return f"shard {names} is not among the merged sessions" if missing else ""


def _rows(shard: Session) -> Iterator[TrialRow]:
    return check_rows(shard.rows(), shard.meta.suites, shard.folder)


def _same_run(shard: Session, suites: Mapping[str, SuiteMeta]) -> None:
    for name, suite in shard.meta.suites.items():
        if suite.looks is not None:  # judged once more, at a fixed size, alpha would be spent twice
            raise UsageError(
                f"{shard.folder}: '{name}' was judged while it ran and cannot be merged; "
                "merge sessions of `gate run --shard I/N`, or of `gate run --stop off`"
            )
        first = suites.get(name)
        for what in ("rounds", "graders", "dataset_digest"):
            if first is None or getattr(first, what) != getattr(suite, what):
                word = what.removesuffix("_digest")
                raise UsageError(
                    f"{shard.folder}: '{name}' was run with other {word} than the files "
                    "here; merge with the files of that run"
                )
