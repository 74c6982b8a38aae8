"""Settings that beat gate.yml by their dotted key, as the action's inputs give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gate.records import Config


def apply(config: Config, given: Mapping[str, str]) -> Config:
    """`policy.*` and `baseline.*` as text; other keys are the caller's business."""
    parts: dict[str, dict[str, Any]] = {"policy": {}, "baseline": {}}
    for key, value in given.items():
        section, _, name = key.partition(".")
        if section in parts:
            parts[section][name] = value
    return replace(
        config,
        policy=replace(config.policy, **parts["policy"]),
        policy_set=(*config.policy_set, *parts["policy"]),
        baseline=replace(config.baseline, **parts["baseline"]),
    )
