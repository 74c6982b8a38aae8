"""Completes suites of gate.yml: from bundled ones of the same name, with a mode, with a judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gate.files import bundled
from gate.files import yaml as yamlfile
from gate.files.json_values import as_object
from gate.graders.user_code.make import manner_of
from gate.records import CheckedJson, Config, Json, PluginSpec, Suite
from gate.suites.config.build import spell_out_graders
from gate.suites.config.lint import ConfigFindings

_LENT = ("dataset", "graders")


def load_bundled_entry(name: str) -> dict[str, Json]:
    """The bundled suite as gate.yml would write it, with an absolute path to its dataset."""
    file = bundled.folder() / name / "suite.yml"
    entry: dict[str, CheckedJson] = as_object(yamlfile.parse(file.read_bytes(), str(file)).data)
    graders = spell_out_graders(entry["graders"])
    return {**entry, "graders": graders, "dataset": str(file.parent / entry["dataset"])}


def fill_from_bundled(entry: Mapping[str, Json]) -> dict[str, Json]:
    """The entry, with missing keys taken from the bundled suite of its name."""
    name = entry.get("name")
    is_complete = "suite" in entry or all(key in entry for key in _LENT)
    if is_complete or name not in bundled.suites():
        return dict(entry)
    return {**load_bundled_entry(str(name)), **entry}


def settle_options(config: Config, root: Path, findings: ConfigFindings | None = None) -> Config:
    """The config with each suite's `mode` passed to the graders that have both modes, and without
    optional judge graders if there is no judge. Adds the latter to `findings`.
    """
    suites = tuple(
        _judgeable(_in_mode(suite, root, findings), config, findings) for suite in config.suites
    )
    return replace(config, suites=suites)


def _in_mode(suite: Suite, root: Path, findings: ConfigFindings | None) -> Suite:
    knowing = [_knows_modes(spec, root) for spec in suite.graders]
    if suite.mode == "upstream" and findings is not None and not any(knowing):
        message = "mode: no grader of this suite has an upstream mode - remove it"
        findings.wrong(suite.place, message)
    graders = tuple(
        replace(spec, options={"mode": suite.mode, **spec.options}) if knows else spec
        for spec, knows in zip(suite.graders, knowing, strict=True)
    )
    return replace(suite, graders=graders)


def _knows_modes(spec: PluginSpec, root: Path) -> bool:
    try:
        return getattr(manner_of(spec.name, root), "knows_modes", False) is True
    except Exception:  # a user's own file; what is wrong with it is told elsewhere
        return False


def _judgeable(suite: Suite, config: Config, findings: ConfigFindings | None) -> Suite:
    unasked = suite.mode == "upstream" or config.judge is None
    dropped = [spec for spec in suite.graders if unasked and spec.options.get("optional") is True]
    if not dropped:
        return suite
    if suite.mode == "strict" and findings is not None:
        message = f"{suite.name}: rubrics are skipped because gate.yml has no judge - add one"
        findings.warn(suite.place, message)
    kept = tuple(spec for spec in suite.graders if spec not in dropped)
    return replace(suite, graders=kept)
