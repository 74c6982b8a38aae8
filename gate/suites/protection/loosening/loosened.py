"""All that a pull request makes easier for itself to pass."""

from __future__ import annotations

from collections.abc import Mapping

from gate.records import Config, MetricSpec
from gate.suites.protection.loosening.limits import limits
from gate.suites.protection.loosening.settings import settings
from gate.suites.protection.loosening.suites import suites


def loosened(
    head: Config, base: Config, measured: Mapping[str, Mapping[str, MetricSpec]]
) -> tuple[str, ...]:
    """Each rule that the head makes easier to pass than the base has it.

    `measured`: suite of the base -> metric -> what it is; tells defaults and scales.
    """
    found = (*limits(head, base, measured), *suites(head, base), *settings(head, base))
    return tuple(dict.fromkeys(found))
