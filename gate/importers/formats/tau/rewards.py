"""The reward of a tau2 simulation: what it is made of, and whether it is the product of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from gate.files.json_values import CLOSE, as_number, as_object
from gate.importers.formats.tau.simulations import EARNING, Simulation
from gate.records import Json, MetricSpec

# Component -> our metric, and what it says.
COMPONENTS: Mapping[str, tuple[str, str]] = {
    "DB": ("tau2.db", "share of trials whose final data are as they should be"),
    "ENV_ASSERTION": ("tau2.env_assertions", "share of trials that meet all assertions on them"),
    "COMMUNICATE": ("tau2.communicate", "share of trials in which all that was to be said was"),
    "NL_ASSERTION": ("tau2.nl_assertions", "share of trials that meet all assertions in words"),
    "ACTION": ("tau2.actions", "share of trials with all calls of the reference"),
}
_MODES = dict.fromkeys(("max_steps", "context_window_exceeded"), ("loop",))  # as codes
_CHECKS = {  # where each lies in reward_info, and the key that says how it went
    "ENV_ASSERTION": ("env_assertions", "met"),
    "COMMUNICATE": ("communicate_checks", "met"),
    "NL_ASSERTION": ("nl_assertions", "met"),
    "ACTION": ("action_checks", "action_match"),
}


def metrics() -> tuple[MetricSpec, ...]:
    return tuple(
        MetricSpec(
            name=name,
            column=name,
            family="rate",
            unit="share",
            on_agent_error=None,
            description=about,
        )
        for name, about in COMPONENTS.values()
    )


def components(simulation: Simulation) -> dict[str, float | None]:
    """Metric -> 1 or 0 as the checks went; None where nothing was checked."""
    found = {
        name: _check_component(simulation.judged, part) for part, (name, _) in COMPONENTS.items()
    }
    return {name: None if value is None else float(value >= 1.0) for name, value in found.items()}


def contradictions(simulation: Simulation) -> Iterator[str]:
    """What it says twice and not alike, and checks of which it does not say how they went."""
    yield from _find_unclear_checks(simulation.judged)
    if simulation.reward is None:
        return
    judged = simulation.judged
    if simulation.reason not in EARNING and simulation.reward > CLOSE:
        yield f"reward {simulation.reward:g}, but {simulation.reason} earns none"
        return
    told = as_object(judged.get("reward_breakdown"))
    for part in COMPONENTS:
        own, given = _check_component(judged, part), as_number(told.get(part))
        if own is not None and given is not None and abs(own - given) > CLOSE:
            yield f"reward_breakdown.{part} is {given:g}, but its checks come to {own:g}"
    basis = judged.get("reward_basis")
    if not isinstance(basis, list) or not basis or simulation.reason not in EARNING:
        return
    product = prod(_part(judged, told, part) for part in dict.fromkeys(map(str, basis)))
    if abs(product - simulation.reward) > CLOSE:
        parts = ", ".join(map(str, basis[:5]))
        yield f"reward {simulation.reward:g}, but the product of {parts} is {product:g}"


def _find_unclear_checks(judged: Mapping[str, Json]) -> Iterator[str]:
    db = judged.get("db_check")
    told = [as_object(db).get("db_match"), as_object(db).get("db_reward")]
    if db is not None and not (
        isinstance(told[0], bool) and (told[1] is None or as_number(told[1]) == float(told[0]))
    ):
        yield "db_check has no db_match and db_reward that say the same"
    for key, says in _CHECKS.values():
        listed = judged.get(key)
        whole = isinstance(listed, list) and all(
            isinstance(as_object(check).get(says), bool) for check in listed
        )
        if listed is not None and not whole:
            yield f"{key} is no list of checks with `{says}` true or false"


def _part(judged: Mapping[str, Json], told: Mapping[str, Json], part: str) -> float:
    """One of the basis; 1 where nothing had to be checked, as the benchmark counts it."""
    own = _check_component(judged, part)
    given = as_number(told.get(part))
    return own if own is not None else 1.0 if given is None else given


def _check_component(judged: Mapping[str, Json], part: str) -> float | None:
    """1 or 0 by the checks of a component; None without any."""
    if part == "DB":
        check = as_object(judged.get("db_check"))
        reward = as_number(check.get("db_reward"))
        return reward if reward is not None else _flag(check.get("db_match"))
    key, says = _CHECKS.get(part, ("", ""))
    listed = judged.get(key)
    checks = [as_object(check) for check in listed] if isinstance(listed, list) else []
    flags = [flag for check in checks if (flag := _flag(check.get(says))) is not None]
    return min(flags, default=None)


def _flag(value: Json) -> float | None:
    return float(value) if isinstance(value, bool) else None


def list_failures(simulation: Simulation) -> Sequence[str]:
    """Codes: why it has no full reward."""
    if simulation.reason not in EARNING:
        return (simulation.reason, *_MODES.get(simulation.reason, ()))
    basis = simulation.judged.get("reward_basis")
    named = {str(part) for part in basis} if isinstance(basis, list) else {*COMPONENTS}
    values = components(simulation)
    wrong = [
        f"{name.removeprefix('tau2.')}_failed"
        for part, (name, _) in COMPONENTS.items()
        if part in named and values[name] == 0.0
    ]
    return wrong or ("no_reward",)
