"""How far a run has come between its looks: which suites go on, and with which trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gate.files.json_values import as_object
from gate.records import Json, Looks

SETTLED = "every blocking metric of it is settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Suites that are looked at while they run; the others make all their rounds and have no part
    in this. `seed` decides the order of the cases.
    """

    plans: Mapping[str, Looks] = field(default_factory=dict)
    seed: str = ""
    made: Mapping[str, int] = field(default_factory=dict)  # suite -> looks so far
    going: frozenset[str] = frozenset()  # suites that need more trials
    ended: Mapping[str, str] = field(default_factory=dict)  # suite -> why it needs no more
    again: bool = False  # the run had ended, and goes on because somebody asked for it
    # Suite -> looks that it comes to because somebody named a number of rounds, and no more.
    until: Mapping[str, int] = field(default_factory=dict)

    def trials(self, suite: str) -> range:
        """Numbers, from 0, of the trials of the batch that the suite makes next; of one that does
        not go on, those of its last batch.
        """
        stops = (0, *self.plans[suite].calls)
        last = self.made[suite] + (suite in self.going)
        return range(stops[max(0, last - 1)], stops[last])

    def after(self, undecided: Iterable[str], why: str, *, over: bool = False) -> Course:
        """Once the batches were made and looked at. `why` the run ends, where no suite goes on;
        `over`: more trials would not change that, so none is made that somebody asked for.
        """
        looks_made = {name: looks + (name in self.going) for name, looks in self.made.items()}
        most = {name: self.until.get(name, len(plan.calls)) for name, plan in self.plans.items()}
        open_suites = self.going & frozenset(undecided)
        wanted = open_suites if over else open_suites | (self.going & self.until.keys())
        going = frozenset(name for name in wanted if looks_made[name] < most[name])
        ended = dict.fromkeys(self.going - going, SETTLED if open_suites else why)
        ended |= {
            name: f"all {self.plans[name].calls[most[name] - 1]} trials were run"
            for name in open_suites - going
        }
        return Course(
            plans=self.plans,
            seed=self.seed,
            made=looks_made,
            going=going,
            ended={**{k: v for k, v in self.ended.items() if k not in going}, **ended},
            until=self.until,
        )

    def state(self) -> dict[str, Json]:
        """What `course` needs to go on from here, as JSON."""
        until = {"until": dict(self.until)} if self.until else {}
        looks, going, ended = dict(self.made), sorted(self.going), dict(self.ended)
        return {"looks": looks, "going": going, "ended": ended, **until}


def course(
    plans: Mapping[str, Looks], seed: str, state: Mapping[str, Json] | None, *, stands: bool = True
) -> Course:
    """At the beginning, or from where a stored `state` (anybody may have written it) had come. Of a
    run that had ended every suite below its cap makes one batch more. Where no verdict `stands`,
    because it was cut off after its last look or an outage kept it from one, that look comes again.
    """
    given = state or {}
    looks, stored = as_object(given.get("looks")), given.get("going")
    reached = {name: _within(looks.get(name), len(plan.calls)) for name, plan in plans.items()}
    below = frozenset(name for name, plan in plans.items() if reached[name] < len(plan.calls))
    named = stored if isinstance(stored, list) else sorted(below)
    left = below & frozenset(name for name in named if isinstance(name, str))
    ended = state is not None and not left
    last = max(reached.values(), default=0)
    back = (
        {name for name in reached if reached[name] == last > 0} if ended and not stands else set()
    )
    reached = {name: number - (name in back) for name, number in reached.items()}
    going = frozenset(back) or left or below
    why = as_object(given.get("ended"))
    until = as_object(given.get("until")) if left else {}
    return Course(
        plans=plans,
        seed=seed,
        made=reached,
        going=going,
        ended={name: str(why.get(name, "")) for name in plans if name not in going},
        again=ended and not back,
        until={
            name: max(reached[name] + 1, _within(until[name], len(plans[name].calls)))
            for name in sorted(going & until.keys())
        },
    )


def _within(number: Json, most: int) -> int:
    return max(0, min(most, number)) if type(number) is int else 0
