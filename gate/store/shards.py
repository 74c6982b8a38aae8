"""The stored parts of one run: found, and checked to be parts of the same run, each given once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gate.errors import UsageError
from gate.records import TrialRow
from gate.store.session import (
    CONTROL,
    Session,
    SuiteMeta,
    is_session,
    load_session,
    refuse_debugging,
)
from gate.store.session_check import check_rows

Key = tuple[str, str, int]  # suite, case, round
# Options that choose the trials: parts of one run have them in common.
_CHOICE = ("sample", "rounds", "dataset", "protect")


def find_parts(paths: Sequence[str]) -> list[Session]:
    """The sessions at `paths` by the number of their shard; of another folder, all sessions in it,
    at any depth. Raises UsageError for a path without a session, and for a run of single cases.
    """
    parts = [load_session(folder) for path in paths for folder in _find_folders(Path(path))]
    for part in parts:
        refuse_debugging(part)
    return sorted(parts, key=lambda part: shard_of(part) or (0, 0))


def _find_folders(path: Path) -> list[Path]:
    if is_session(path):
        return [path]
    folders = sorted(file.parent for file in path.rglob("meta.json"))
    folders = [folder for folder in folders if folder.name != CONTROL]
    if not folders:
        raise UsageError(
            f"{path}: no session here; give a session or a folder of sessions, and if every shard "
            "was lost, run the shards again"
        )
    return folders


def shard_of(part: Session) -> tuple[int, int] | None:
    """I and N of `--shard I/N`; None for a session of all cases."""
    given = part.meta.options.get("shard")
    return (int(given[0]), int(given[1])) if given else None


def stage_of(part: Session) -> int | None:
    """1 or 2 of `--stage`; None for a run in one piece."""
    given = part.meta.options.get("stage")
    return int(given) if given else None


def is_look(part: Session) -> bool:
    """Whether it is the joined session of all shards of stage 1."""
    return stage_of(part) == 1 and shard_of(part) is None


def check_parts(parts: Sequence[Session]) -> None:
    """Raises UsageError unless the sessions are of one run, with each shard once, and of one stage:
    with those of stage 2 comes the joined session of stage 1.
    """
    first = parts[0]
    for part in parts[1:]:
        if what := _find_difference(first, part):
            raise UsageError(
                f"{part.folder}: is of another run than {first.folder}: its {what} differs; "
                "merge the shards of one run"
            )
    _check_stages(parts)
    _check_numbers(parts)


def _find_difference(one: Session, other: Session) -> str:
    mine, theirs = one.meta.provenance, other.meta.provenance
    pairs = {
        "commit": (mine.commit, theirs.commit),
        "workflow run": (mine.run_id, theirs.run_id),
        "version of gate": (mine.tool_version, theirs.tool_version),
        "agent": (mine.agent_options, theirs.agent_options),
        "gate.yml": (mine.config_digest, theirs.config_digest),
    }
    for name in _CHOICE:
        pairs[f"--{name}"] = (one.meta.options.get(name), other.meta.options.get(name))
    return next((what for what, (here, there) in pairs.items() if here != there), "")


def _check_numbers(parts: Sequence[Session]) -> None:
    """N is the same for all, and no I/N comes twice. Suites may be in shards of their own."""
    seen: dict[tuple[str, int], Session] = {}
    counts: dict[str, tuple[int, Session]] = {}
    for part in parts:
        if (shard := shard_of(part)) is None:
            continue
        index, count = shard
        for suite in part.meta.suites:
            number, first = counts.setdefault(suite, (count, part))
            if number != count:
                raise UsageError(
                    f"{part.folder}: is shard {index}/{count}, and {first.folder} is one of "
                    f"{number}; merge the shards of one run"
                )
            twin = seen.setdefault((suite, index), part)
            if twin is not part:
                raise UsageError(
                    f"{part.folder}: shard {index}/{count} is in {twin.folder} too; merge each "
                    "shard once"
                )


def _check_stages(parts: Sequence[Session]) -> None:
    looks = [part for part in parts if is_look(part)]
    second = [part for part in parts if stage_of(part) == 2]
    others = [part for part in parts if part not in looks and part not in second]
    stages = {stage_of(part) for part in others}
    if len(looks) > 1:
        raise UsageError(
            f"{looks[1].folder}: is the joined session of a stage 1, as {looks[0].folder} is; "
            "give one of them"
        )
    if second and not looks:
        raise UsageError(
            f"{second[0].folder}: is a shard of stage 2; give the session that `gate merge` made "
            "of stage 1, too"
        )
    if looks and not second:
        raise UsageError(
            f"{looks[0].folder}: the shards of stage 1 are merged already; give the shards of "
            "stage 2, too"
        )
    if looks and others:
        raise UsageError(
            f"{others[0].folder}: is no shard of stage 2, and {looks[0].folder} has all of stage "
            "1; leave it out"
        )
    if len(stages) > 1:
        odd = next(part for part in others if stage_of(part) is None)
        raise UsageError(
            f"{odd.folder}: was run without --stage, the others with --stage 1; merge the shards "
            "of one run"
        )
    for part in second:
        if part.meta.look != looks[0].meta.session_id:
            raise UsageError(
                f"{part.folder}: goes on with session {part.meta.look}, and {looks[0].folder} is "
                "another one; give the session that was its --resume"
            )


def check_trials(parts: Sequence[Session], suites: Mapping[str, SuiteMeta]) -> frozenset[Key]:
    """The trials of all parts. `suites`: what the joined session measures. Raises UsageError for a
    part that measured something else, and for a trial that comes twice.
    """
    seen: set[Key] = set()
    for part in parts:
        _check_suites(part, suites)
        own_trials = {(row["suite"], row["case_id"], row["round"]) for row in _rows(part)}
        if both := sorted(seen & own_trials):
            _, case, number = both[0]
            raise UsageError(
                f"{part.folder}: case '{case}' round {number} is in another shard too; "
                "merge each shard once"
            )
        seen |= own_trials
    return frozenset(seen)


def _rows(part: Session) -> Iterator[TrialRow]:
    return check_rows(part.rows(), part.meta.suites, part.folder)


def _check_suites(part: Session, suites: Mapping[str, SuiteMeta]) -> None:
    for name, suite in part.meta.suites.items():
        # Judged once more, at a fixed size, alpha would be spent twice.
        if suite.looks is not None and not is_look(part):
            raise UsageError(
                f"{part.folder}: '{name}' was judged while it ran and cannot be merged; "
                "merge sessions of `gate run --shard I/N`, or of `gate run --stop off`"
            )
        first = suites.get(name)
        for what in ("rounds", "graders", "dataset_digest"):
            if first is None or getattr(first, what) != getattr(suite, what):
                word = what.removesuffix("_digest")
                raise UsageError(
                    f"{part.folder}: '{name}' was run with other {word} than the files "
                    "here; merge with the files of that run"
                )
