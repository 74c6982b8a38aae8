"""Writes the evidence of a release next to the session's other files: what ran, on what, compared
with what, with which result. `gate verify` checks it (docs/release.md).
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from gate.files import yaml as yamlfile
from gate.files.encoding import decode
from gate.files.json_values import as_object
from gate.files.own_source import digest_of_gate
from gate.files.rows import DatasetRow, read_dataset
from gate.files.source import INDEX
from gate.records import Config, Json, PluginSpec, Report
from gate.records.codec import to_json
from gate.records.release_evidence import (
    BASELINES,
    CONFIG,
    ENVIRONMENT,
    FOLDER,
    LABELS,
    MANIFEST,
    RULES,
    Manifest,
    RulesInEffect,
    Sealed,
    dataset_file,
    sha256_of,
)
from gate.run.prepare import SuitePlan
from gate.run.setup import Setup
from gate.run.suite_metrics import metrics_of
from gate.store.event_log import disk
from gate.store.session import CONTROL, DETAILS, META, SUMMARY, SessionWriter
from gate.suites.config.load import rules_to_hash
from gate.suites.protection.rules import disk as working_tree

_COPIED = (META, SUMMARY, DETAILS, f"{CONTROL}/{META}", f"{CONTROL}/{DETAILS}")
_PACKAGES = ("requests", "PyYAML", "numpy", "jsonschema", "jinja2", "rich")
_DECIDING = ("votes", "min_agreement")  # of a judge
_FACTS = (
    *(f"GITHUB_{name}" for name in ("ACTOR", "REF", "RUN_ATTEMPT", "RUN_ID", "RUN_NUMBER", "SHA")),
    *("GITHUB_ACTION_REF", "GITHUB_ACTION_REPOSITORY", "GITHUB_WORKFLOW_REF"),
    *("GITHUB_WORKFLOW_SHA", "RUNNER_ARCH", "RUNNER_ENVIRONMENT", "RUNNER_OS"),
)


def write_evidence(setup: Setup, session: SessionWriter, report: Report) -> None:
    """Writes `<session>/evidence/` for a release; nothing in other modes, nor for a shard, which
    decides nothing. Secrets are removed. Raises InfrastructureError.
    """
    if setup.place.job.mode != "release" or setup.place.options.shard:
        return
    folder = session.folder / FOLDER
    with disk(folder):
        if folder.exists():  # of the run that is gone on with
            shutil.rmtree(folder)
        for name in _COPIED:
            if (session.folder / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(session.folder / name, folder / name)
    for name, text in _texts(setup):
        session.write(f"{FOLDER}/{name}", text)
    manifest = _manifest(setup, report, seal_files(folder))
    session.write(f"{FOLDER}/{MANIFEST}", _dump(to_json(manifest)))


def seal_files(folder: Path) -> dict[str, Sealed]:
    """Every file of the folder except the manifest, by its path, sorted, with size and hash."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {
        name: Sealed(sha256=sha256_of(path), size=path.stat().st_size)
        for name, path in sorted(files.items())
        if path.is_file() and name != MANIFEST
    }


def _manifest(setup: Setup, report: Report, files: Mapping[str, Sealed]) -> Manifest:
    provenance = report.provenance
    return Manifest(
        tag=setup.place.job.head_ref,
        commit=provenance.commit,
        repository=provenance.repository,
        run=provenance.run_url,
        event=provenance.event,
        session_id=report.session_id,
        created_at=report.created_at,
        tool_version=provenance.tool_version,
        outcome=report.outcome,
        exit_code=report.exit_code,
        files=files,
        build=digest_of_gate(),
    )


def _texts(setup: Setup) -> Iterator[tuple[str, str]]:
    """Name and text of what the session itself does not hold."""
    root, own_config = setup.place.rules.root, setup.place.rules.config
    file = own_config.file and working_tree(root)(own_config.file)
    written = yamlfile.parse(file, own_config.file).data if file and own_config.file else None
    if file and own_config.file:
        yield "gate.yml", decode(file, own_config.file)
    yield CONFIG, _dump(rules_to_hash(own_config, as_object(written)))
    yield RULES, _dump(to_json(_in_effect(setup)))
    yield ENVIRONMENT, _dump(_environment(setup))
    if setup.reviewed.found.rows:
        yield LABELS, "".join(f"{json.dumps(to_json(row))}\n" for row in setup.reviewed.found.rows)
    for plan in setup.plans:
        yield from _dataset(setup, plan)
        baseline = setup.baselines.get(plan.name)
        if baseline is not None and baseline.text:
            name = f"{BASELINES}/{plan.name}.json"
            yield name, decode(baseline.text, name)


def _dataset(setup: Setup, plan: SuitePlan) -> Iterator[tuple[str, str]]:
    source = setup.place.rules.base_source(plan.suite) or setup.place.rules.head_source(plan.suite)
    if source is None:
        return
    name = dataset_file(plan.name, plan.suite.dataset)
    if source.file == INDEX or Path(source.file).suffix != Path(name).suffix:
        rows = (row for row in read_dataset(source) if isinstance(row, DatasetRow))
        yield name, "".join(f"{json.dumps(row.data, ensure_ascii=False)}\n" for row in rows)
        return
    with source.open() as stream:
        yield name, decode(stream.read(), source.name)


def _in_effect(setup: Setup) -> RulesInEffect:
    place = setup.place
    ran = {plan.name for plan in setup.plans}
    left_out = [suite for suite in place.rules.config.suites if suite.name not in ran]
    return RulesInEffect(
        config=_without_agents(place.config),
        elsewhere=tuple(sorted(metrics_of(left_out, place.rules.config, place.rules.root))),
        advisory=setup.reviewed.advisory,
    )


def _without_agents(config: Config) -> Config:
    """Whom to ask is no rule; what of it decides stays (of a judge: whether its word gates)."""

    def named(model: PluginSpec | None) -> PluginSpec | None:
        if model is None:
            return None
        kept = {key: model.options[key] for key in _DECIDING if key in model.options}
        return replace(model, options=kept)

    return replace(
        config,
        agent=replace(config.agent, options={}),
        judge=named(config.judge),
        verifier=named(config.verifier),
        retriever=named(config.retriever),
        control_agent=named(config.control_agent),
    )


def _environment(setup: Setup) -> dict[str, Json]:
    place = setup.place
    provenance = setup.provenance
    return {
        "agent": {
            "type": place.config.agent.name,
            "is": provenance.agent,
            "options": provenance.agent_digest,
        },
        "judge": provenance.judge,
        "verifier": provenance.verifier,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "variables": {
            name: place.host.env[name] for name in sorted(_FACTS) if name in place.host.env
        },
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _dump(data: Json) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
