"""When the next request to a provider may start: how many may be under way, and how fast they may
follow each other. Pure: every time is an argument, in seconds of one monotonic clock.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

FIRST = 8  # requests under way while nothing is known yet
RAMP_S = 0.025  # twice as many each time, as long as nobody has answered or refused

_HOLDS = 1.5  # latency holds up to so many times that of the first answers,
_HOLDS_S = 0.02  # and this much more: what a busy machine of ours adds
_SLACK_S = 0.1  # a start that came late by this much is made up for
_STAGE_S, _STAGE_STARTS, _LONGEST_STAGE_S = 0.5, 8, 5.0  # how long a rate is tried
_STORM = 8  # refused requests that end a stage early, if they are most of it
_SHORTEST_S = 0.05  # what a storm is taken to last at least
_MANY = 0.2  # share of refused requests that tells of a limit
_CUTS = 3  # so many refused requests tell a share
_BINDS = 0.8  # share of a rate that must be used before a stage says something about it
_FAST, _PROBE = 2.0, 1.25  # how much more is tried: at first, and where that was too much
_GAINED = 0.5  # share of what was tried that must be accepted
_MOST_STAGES = 16  # between two tries
_FADES = 0.9  # a stage, of what the refusals that no rate explains were
_NEW = 0.3  # weight of the newest request in what one costs
_LONGEST_TOLD_S = 60.0  # after the last start; then a request finds out: headers may be wrong
_MARGIN = 2.0  # times the cost of a request that must be left: what is told is rounded

Started = tuple[int, float]  # a request under way: its number, from 1, and when it was started


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """What a provider says about one of its limits: its size, what is left of it, and in how many
    seconds all of it is there again.
    """

    name: str  # requests, tokens, input-tokens, output-tokens
    limit: float
    remaining: float
    reset_s: float


class Pace:
    """Starts with few requests at once, has twice as many each round trip as long as latency holds,
    and one more otherwise; halves them when the provider refuses many. Finds the rate that the
    provider accepts, and keeps to the limits that it tells.
    """

    def __init__(
        self,
        most: int,
        *,
        per_minute: float | None = None,
        adaptive: bool = True,
        patience_s: float = math.inf,
    ) -> None:
        """`most`: requests that may ever be under way; `per_minute`: starts, evenly spaced. Unless
        it is `adaptive`, these two alone count. What a provider would have waited for longer than
        `patience_s` is not waited for: it may refuse, and the request fails as others do.
        """
        self.most, self._adaptive, self._patience_s = most, adaptive, patience_s
        self.limit = min(most, FIRST) if adaptive else most
        self.running = self.started = self.refused = 0
        self._given = per_minute / 60.0 if per_minute else math.inf
        self._per_second = self._given
        self._next = self._last = -math.inf
        self._ramp_at = math.inf
        self._answers = self._since_growth = 0
        self._usual_s = 0.0  # mean of the first answers
        self._lately: deque[int] = deque(maxlen=_CUTS)  # the last requests that were refused
        self._cut = 0  # the last request that was started before the last cut
        self._uncut = 0  # the limit before the cuts whose rate is not known yet
        self._rate: _AcceptedRate | None = None
        self._told: dict[tuple[str, str], _Allowance] = {}

    @property
    def per_second(self) -> float | None:
        """Starts a second at most; None: as many as there are."""
        return None if math.isinf(self._per_second) else self._per_second

    def wait(self, now: float) -> float:
        """Seconds until a request may start; 0: it may now; infinite: another has to end first."""
        if self.running >= self.limit:
            if self.limit >= self.most:
                return math.inf
            if now < self._ramp_at:
                return self._ramp_at - now
            self.limit, self._ramp_at = min(self.most, 2 * self.limit), now + RAMP_S
        wait = self._next - now
        for allowance in self._told.values():
            wait = max(wait, self._wait_for(allowance, now))
        return max(wait, 0.0)

    def start(self, now: float) -> Started:
        self.running += 1
        self.started += 1
        self._last = now
        if self.started == 1:
            self._ramp_at = now + RAMP_S
        if self._per_second < math.inf:
            due = self._next if now - self._next <= _SLACK_S else now
            self._next = due + 1.0 / self._per_second
        for allowance in self._told.values():
            allowance.take()
        return self.started, now

    def end(self, now: float, took_s: float | None = None) -> None:
        """A request has ended; `took_s`: if it was answered."""
        self.running -= 1
        self._ramp_at = math.inf
        if took_s is not None and self.limit < self.most:
            self._grow(took_s)
        if self._rate is not None:
            self._review(self._rate, now, answered=took_s is not None)

    def refuse(self, now: float, request: Started, retry_after: float | None) -> None:
        """A request has ended: the provider refused it, and wants to be left alone for
        `retry_after` seconds, if it said so.
        """
        self.refused += 1
        if self._adaptive:
            if self._rate is None:
                self._rate = _AcceptedRate(now, self.started)
            if self._rate.pace is None and request[0] > self._cut:
                self._cut_limit(request[0])
            self._rate.refuse(request, retry_after)
        self.end(now)

    def tell(
        self,
        now: float,
        request: Started,
        limits: Iterable[RateLimit],
        source: str = "",
        *,
        accepted: bool = True,
    ) -> None:
        """What the reply to a request says about the limits of its provider, whether it `accepted`
        the request or not. `source` keeps the limits of several providers apart; all of them hold
        for every request.
        """
        if self._adaptive:
            for told in limits:
                allowance = self._told.setdefault((source, told.name), _Allowance(told.name))
                allowance.tell(now, request, told, self.started, accepted=accepted)

    def find_empty(self, now: float) -> tuple[str, float]:
        """The told limit that has to be waited for longest, and for how many seconds."""
        waits = [(name, self._wait_for(told, now)) for (_, name), told in self._told.items()]
        return max(waits, key=lambda one: one[1], default=("", 0.0))

    def _wait_for(self, told: _Allowance, now: float) -> float:
        wait = told.wait(now)
        return min(wait, self._last + _LONGEST_TOLD_S - now) if wait <= self._patience_s else 0.0

    def _cut_limit(self, number: int) -> None:
        """Halves it where refusals are close together: one in ten is no reason to be slow."""
        self._lately.append(number)
        if len(self._lately) == _CUTS and number - self._lately[0] < _CUTS / _MANY:
            self._uncut = max(self._uncut, self.limit)
            self.limit, self._cut = max(1, self.limit // 2), self.started
            self._lately.clear()

    def _grow(self, took_s: float) -> None:
        if self._answers < FIRST:
            self._usual_s = (self._usual_s * self._answers + took_s) / (self._answers + 1)
            self._answers += 1
        self._since_growth += 1
        if took_s <= _HOLDS * self._usual_s + _HOLDS_S or self._since_growth >= self.limit:
            self.limit += 1
            self._since_growth = 0

    def _review(self, rate: _AcceptedRate, now: float, *, answered: bool) -> None:
        if not rate.review(now, self.started, answered=answered):
            return
        if rate.is_nothing:  # shut for a while: afterwards as at the beginning
            self._next = now + rate.retry_after if rate.retry_after <= self._patience_s else now
            self._rate, self.limit, self._uncut = None, min(self.most, FIRST), 0
            self._per_second = self._given
        elif rate.pace is not None:
            self.limit, self._uncut = max(self.limit, self._uncut), 0
            self._per_second = min(self._given, rate.pace)


class _AcceptedRate:
    """The rate at which a provider accepts requests, found by trying.

    Stage by stage, the starts and the refusals among them are counted. Where many are refused, what
    was accepted is the rate. Then more is tried now and then: where more is accepted as well, the
    rate was not what requests were refused for. Refusals that stay as many at a lower rate are not
    for the rate either, and are put up with.
    """

    def __init__(self, now: float, started: int) -> None:
        self.pace: float | None = None  # starts a second
        self.is_nothing = False  # no request of the last stage was accepted
        self.retry_after = 1.0  # seconds that the last refusal asked for
        self._base = 0.0  # the pace between two tries
        self._accepted, self._share = 0.0, 0.0  # a second, and refused, in the stage before
        self._noise = 0.0  # share of refusals that no rate explains
        self._factor = _FAST
        self._left = self._stages = 1  # until the next try
        self._begin(now, started)

    def _begin(self, now: float, started: int) -> None:
        self._at, self._first, self._refused = now, started, 0

    def refuse(self, request: Started, retry_after: float | None) -> None:
        if request[0] > self._first:
            self._refused += 1
            self.retry_after = 1.0 if retry_after is None else retry_after

    def review(self, now: float, started: int, *, answered: bool) -> bool:
        """Whether a stage is over, so that the pace may be another. A refusal comes sooner than an
        answer: what is under way beside the first refusal may be refused as well.
        """
        starts, took_s = started - self._first, now - self._at
        storm = self._refused >= _STORM and 2 * self._refused > starts
        over = took_s >= _STAGE_S and (starts >= _STAGE_STARTS or took_s >= _LONGEST_STAGE_S)
        over = over and (answered or self._refused >= starts)
        if not (storm or over):
            return False
        taken = starts - self._refused
        accepted = (max(1, taken) if over else taken + 1) / max(took_s, _SHORTEST_S)
        share = self._refused / max(1, starts)
        self.is_nothing = over and share == 1.0
        if self._refused or self.pace is None or starts >= _BINDS * self.pace * took_s:
            self._judge(accepted, share)
        self._accepted, self._share = accepted, 0.0 if storm else share
        self._begin(now, started)
        return True

    def _judge(self, accepted: float, share: float) -> None:
        many = share > _MANY + self._noise
        if self.pace is None:
            if many:
                self.pace = self._base = accepted
        elif self.pace > self._base:
            self._judge_try(accepted, self.pace / self._base)
        elif many:
            self._noise = min(share, self._share)
            self.pace = self._base = accepted
        else:
            self._noise *= _FADES
            self._left -= 1
            if self._left <= 0:
                self.pace = self._base * self._factor

    def _judge_try(self, accepted: float, factor: float) -> None:
        if accepted / self._accepted - 1.0 > _GAINED * (factor - 1.0):
            self._base *= factor
            self._stages, self._factor = 1, _FAST
        else:
            self._base = min(self._base * factor, max(accepted, self._accepted))
            self._stages, self._factor = min(2 * self._stages, _MOST_STAGES), _PROBE
        self._left, self.pace = self._stages, self._base


class _Allowance:
    """What is left of a limit that a provider tells, and that fills up evenly."""

    def __init__(self, name: str) -> None:
        self._counts_requests = name == "requests"
        self._cost = 1.0 if self._counts_requests else 0.0  # of a request
        self._per_second = 0.0  # 0: not known yet
        self._level = self._limit = math.inf
        self._at = 0.0
        self._number, self._asked_at, self._remaining = 0, 0.0, 0.0  # of the last one that told

    def wait(self, now: float) -> float:
        if not self._per_second:
            return 0.0
        needed = min(_MARGIN * self._cost, self._limit)
        return (needed - self._level) / self._per_second - (now - self._at)

    def take(self) -> None:
        self._level -= self._cost

    def tell(
        self, now: float, request: Started, told: RateLimit, started: int, *, accepted: bool
    ) -> None:
        """`told` is as of the start of the request; what was started since is not in it."""
        number, asked_at = request
        since = number - self._number
        if since <= 0:  # a later one has told already
            return
        if told.reset_s > 0.0 and told.remaining < told.limit:
            self._per_second = (told.limit - told.remaining) / told.reset_s
        if not accepted:  # it has cost nothing
            self._level = min(self._level + self._per_second * (now - self._at), told.remaining)
            self._at = now
            return
        if self._number and not self._counts_requests:
            filled = self._per_second * (asked_at - self._asked_at)
            used = max(0.0, self._remaining - told.remaining + filled) / since
            self._cost += (_NEW if self._cost else 1.0) * (used - self._cost)
        self._number, self._asked_at, self._remaining = number, asked_at, told.remaining
        self._limit = told.limit
        level = min(told.limit, told.remaining + self._per_second * (now - asked_at))
        self._level, self._at = level - self._cost * (started - number), now
