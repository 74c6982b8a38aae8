"""Whether a claim is a right calculation: an equation of the answer, the time between two moments,
or an operation with operands that its sentence names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gate.graders.claims.equations import value_of
from gate.graders.claims.moments import Moments
from gate.graders.claims.named import Named
from gate.graders.claims.sources import is_scaled, precision
from gate.graders.claims.working import Working
from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import PARTS, Number

_JOINT = 90  # characters between two numbers of an equation
_CHAIN = 20  # operands of one equation
NEAR = _CHAIN  # places in the answer between a claim and what can be its operand
_SIGN = late_pattern(
    r"[^\d=+*/×÷−-]{0,40}?(?:(?<=[\s)\]$])|^)(?P<sign>[+*/×÷−x·-]|\\times|\\div|\\cdot|plus|minus|times"
    r"|divided by|multiplied by)(?=[\s($\[€£]|$)[^\d=+*/×÷−]{0,40}"
)
_EQUALS = late_pattern(r"[^\d=]{0,40}(?:=|≈|≅|\bequals|\bis|\bmakes|\bgives)[^\d=]{0,25}")
_OPENS = late_pattern(r"[^\d=(.;!?\n]{0,30}(?:\(=?[\s$€£(]*|:[ ])")
CONSTANTS = frozenset((4.0, 7.0, 12.0, 24.0, 52.0, 60.0, 100.0, 365.0))  # of calendars and percent
_AGED = late_pattern(r"\b(?:aged?|age of|at) \Z")


@dataclass(frozen=True)
class Arithmetic:
    """The calculations of one answer."""

    working: Working

    def explains(self, i: int, *, stated: bool) -> bool:
        """Whether number i of the answer is a right calculation. `stated`: the sources have it, of
        something else, so that only its own sentence can explain it.
        """
        if self._equation(i):
            return True
        if stated:
            return self._named.explains(i, within=True) or self._named.adds_up(i)
        return (
            self._between(i)
            or self._named.explains_share(i)
            or self._named.explains(i, within=False)
        )

    def excludes(self, i: int) -> bool:
        """Whether number i is no calculation with two numbers or moments."""
        unit = self.working.units[i]
        if unit is not None and unit.dimension in ("time", "months") and self._moments.several:
            return False
        return self._named.excludes(i)

    def clear(self, i: int) -> None:
        """An operand of a right equation is said of nothing else."""
        last = self._chain(i, 1)[-1]
        if last + 1 < len(self.working.numbers) and self._link(last) == "=":
            self._equation(last + 1)

    @cached_property
    def _named(self) -> Named:
        return Named(self.working)

    # --------------------------------------------------------------------------------- moments

    @cached_property
    def _moments(self) -> Moments:
        working = self.working
        return Moments((*working.labels.sources.texts, working.question, working.answer))

    def _between(self, i: int) -> bool:
        """ "26 minutes later", "at the age of 67": the time between two moments that are told."""
        working = self.working
        claim, unit = working.numbers[i], working.units[i]
        begin, end = working.sentences.around(claim.start)
        sentence = working.answer[begin:end]
        if unit is None:
            before = working.answer[max(0, claim.start - 12) : claim.start]
            aged = not claim.unit and _AGED.search(before)
            return bool(aged) and self._moments.years_apart(claim.value, sentence)
        if unit.dimension == "months" and unit.factor == 12:
            return self._moments.years_apart(claim.value, sentence)
        if unit.dimension == "months":
            return self._moments.months_apart(claim.value * unit.factor)
        if unit.dimension != "time":
            return False
        seconds = claim.value * unit.factor
        allowed = precision(claim, working.answer) * unit.factor
        return self._moments.apart(seconds, allowed)

    # ------------------------------------------------------------------------------- equations

    @cached_property
    def _links(self) -> dict[int, str]:
        return {}

    def _gap(self, i: int) -> str:
        """What stands between number i and the next."""
        numbers = self.working.numbers
        return self.working.answer[numbers[i].end : numbers[i + 1].start]

    def _link(self, i: int) -> str:
        """What that says: an operator, "=", or neither ("")."""
        if i not in self._links:
            numbers = self.working.numbers
            near = numbers[i + 1].start - numbers[i].end <= _JOINT
            self._links[i] = _joint(self._gap(i)) if near else ""
        return self._links[i]

    def _equation(self, i: int) -> bool:
        """ "300 + 200 = 500", "500 = 300 + 200", "500 (300 + 200)"."""
        numbers = self.working.numbers
        chains = [self._chain(i - 1, -1)] if i and self._link(i - 1) == "=" else []
        k = i + 1
        while k < len(numbers) and k < i + 4 and numbers[k].maybe_date:
            k += 1
        if k < len(numbers) and (self._link(k - 1) == "=" or _OPENS.fullmatch(self._gap(k - 1))):
            chains.append(self._chain(k, 1))
        for chain in chains:
            value = self._value(chain)
            if value is None:
                continue
            hundred = numbers[i].unit == "%" and any(numbers[k].value == 100 for k in chain)
            if self._is(i, value) or (hundred and self._is(i, value / 100)):
                self.working.known.update(chain)
                for k in chain:
                    self.working.doubted.pop(k, None)
                return True
        return False

    def _chain(self, at: int, step: int) -> range:
        """Numbers joined by operators, from `at` on in the direction of `step`."""
        end = at
        while abs(end - at) < _CHAIN and 0 <= end + step < len(self.working.numbers):
            if self._link(min(end, end + step)) in ("", "="):
                break
            end += step
        return range(min(at, end), max(at, end) + 1)

    def _value(self, chain: range) -> float | None:
        """None: an operand nobody knows, or no expression."""
        numbers, answer = self.working.numbers, self.working.answer
        if len(chain) < 2 or not all(self._may_be_operand(k, numbers[k]) for k in chain):
            return None
        amounts = [numbers[k].value / PARTS.get(numbers[k].unit, 1.0) for k in chain]
        first, last = numbers[chain[0]], numbers[chain[-1]]
        gaps = [
            answer[max(0, first.start - 12) : first.start],
            *(self._gap(k) for k in chain[:-1]),
            answer[last.end : last.end + 4],
        ]
        return value_of(amounts, [self._link(k) for k in chain[:-1]], gaps)

    def _may_be_operand(self, k: int, number: Number) -> bool:
        if k in self.working.known or (number.value in CONSTANTS and not number.unit):
            return True
        return not number.unit and (number.value, number.step) in self._without_scale

    @cached_property
    def _without_scale(self) -> frozenset[tuple[float, float]]:
        """412 of $412k: an equation may leave the thousands away."""
        found = set()
        for _, one in self.working.labels.sources.found[:5_000]:
            for power in (1e3, 1e6, 1e9):
                if one.text and one.text[-1].isalpha() and abs(one.value) >= power:
                    found.add((round(one.value / power, 9), round(one.step / power, 9)))
        return frozenset(found)

    def _is(self, i: int, value: float) -> bool:
        """Whether the value is claim i, to the precision of the claim."""
        claim = self.working.numbers[i]
        want = abs(value) * PARTS.get(claim.unit, 1.0)
        known_to = precision(claim, self.working.answer)
        scales = self.working.labels.sources.scales if is_scaled(claim) else ()
        return any(
            abs(abs(claim.value) / scale - want) <= self.working.leeway.of(known_to / scale, want)
            for scale in (1.0, *scales)
        )


def _joint(between: str) -> str:
    if sign := _SIGN.fullmatch(between):
        return sign["sign"]
    return "=" if _EQUALS.fullmatch(between) else ""
