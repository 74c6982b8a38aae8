"""How a recorded run was planned and how far it came: the last line that `--record` writes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from gate.files.json_schema import mismatches
from gate.records import MOST_CASES, MOST_ROUNDS, Json, Looks
from gate.records.codec import digest, from_json, schema_of, to_json

KEY = "ended"  # of the line; no answer has it
_MOST_TRIALS = MOST_CASES * MOST_ROUNDS
_LONGEST = 200  # characters of a session's name and of a seed


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEnd:
    """One suite of the run."""

    cases: str  # digest of the ids that were chosen
    planned: int  # trials: cases x rounds
    made: int  # trials
    looks: Looks | None = None  # None: all rounds were to be made

    def fits(self, ids: Collection[str], rounds: int) -> bool:
        """Whether these cases, and as many rounds of them, were planned then."""
        return self.planned == len(ids) * rounds and self.cases == digest_of_cases(ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """The whole run. Raises ValueError for numbers that no run has: anybody may have written it."""

    session: str
    seed: str  # of the order of the cases
    suites: Mapping[str, SuiteEnd]

    def __post_init__(self) -> None:
        if max(len(self.session), len(self.seed)) > _LONGEST:
            raise ValueError(f"session and seed have at most {_LONGEST} characters")
        for suite in self.suites.values():
            cap = suite.looks.cap if suite.looks else suite.planned
            if not (0 <= suite.made <= cap <= _MOST_TRIALS and 0 <= suite.planned <= _MOST_TRIALS):
                raise ValueError("impossible numbers of trials")

    @property
    def early(self) -> bool:
        """Whether a suite did not make all its planned trials."""
        return any(suite.made < suite.planned for suite in self.suites.values())

    @property
    def trial_count(self) -> int:
        """Trials of all suites."""
        return sum(suite.made for suite in self.suites.values())


_SCHEMA = schema_of(RunEnd)


def digest_of_cases(ids: Iterable[str]) -> str:
    """What two runs of the same cases have in common, whatever is expected of them."""
    return digest(sorted(ids))


def run_end_line(end: RunEnd) -> str:
    """A line of the file, without its end."""
    return json.dumps({KEY: to_json(end)}, separators=(",", ":"))


def parse_run_end(line: Mapping[str, Json]) -> RunEnd:
    """What `run_end_line` wrote. Raises ValueError for anything else."""
    if len(line) > 1:
        raise ValueError(f"{KEY}: must be the only key of its line")
    if wrong := mismatches(_SCHEMA, line[KEY]):
        where = ".".join(map(str, (KEY, *wrong[0].path)))
        raise ValueError(f"{where}: {wrong[0].message}")
    end: RunEnd = from_json(RunEnd, line[KEY])
    return end
