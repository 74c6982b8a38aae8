"""Loads gate.yml as a Config: reads it, checks form and meaning, and reports every problem at
once.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from gate.analysis.catalogue import collect_k, every_metric, trial_metrics
from gate.analysis.default_gates import with_default_gates
from gate.analysis.metric_names import describe_renamed
from gate.errors import InfraFailure, InvalidInput, Place, Problem, UsageError
from gate.files import bundled
from gate.files import yaml as yamlfile
from gate.files.json_values import as_list, as_object, as_objects
from gate.graders.user_code.make import is_own, make_grader, option_faults
from gate.plugins import AGENTS, RETRIEVERS, Agent, GraderTraits, build, read_traits
from gate.records import CheckedJson, Config, Json, MetricSpec, PluginSpec, Suite, codec
from gate.records.codec import to_json
from gate.records.settings import EVIDENCE
from gate.registry import Registry
from gate.suites.config import build as build_records
from gate.suites.config.check import check_document
from gate.suites.config.check_judge import judges
from gate.suites.config.current_names import use_current_names
from gate.suites.config.inherit import load_bundled_entry, settle_options
from gate.suites.config.lint import ConfigFindings, Measured, lint
from gate.suites.config.variables import NOTHING
from gate.text.late_pattern import late_pattern
from gate.text.suggestions import did_you_mean
from gate.user_code.hashes import grader_file
from gate.user_code.processes import PROCESSES

Read = Callable[[str], bytes | None]  # a file's bytes by its path; None: it is not there

DEFAULT_AGENT = PluginSpec(
    name="openagent",
    options={
        "base_url": "http://127.0.0.1:14000",
        "model": "deepseek/deepseek-v4-flash",
        "api_key_env": "OPENAGENT_PROVIDER_KEY",
    },
    place=Place("the default agent"),
)
_NAME = late_pattern(r"[A-Za-z_]\w*")
_CODE_OPTIONS = ("callable", "embed")  # of plug-ins that call a function of the user's
_NOT_RULES = ("agent", "same_agent", "retriever", "digest", "file", "warnings", "place")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedConfig:
    """The parts of gate.yml that could be read, and all problems."""

    config: Config
    measured: Measured  # suite -> metric -> what it is
    findings: ConfigFindings


def load(
    read: Read,
    file: str,
    *,
    env: Mapping[str, str],
    root: Path,
    today: date,
    instead: Mapping[yamlfile.Path, str] = NOTHING,
) -> Config:
    """The checked config. `read` reads files (of the working tree or of a commit); user plug-ins
    are loaded from `root`. `instead`: texts for those of gate.yml that have variables. Raises
    InvalidInput with every problem, UsageError if the file does not exist.
    """
    examined = examine(read, file, env=env, root=root, today=today, instead=instead)
    if examined.findings.problems:
        raise InvalidInput(examined.findings.problems)
    return examined.config


def examine(
    read: Read,
    file: str,
    *,
    env: Mapping[str, str],
    root: Path,
    today: date,
    instead: Mapping[yamlfile.Path, str] = NOTHING,
) -> ExaminedConfig:
    """As `load`, but returns the parts that could be read together with the problems."""
    content = read(file)
    if content is None:
        raise UsageError(f"{file}: file not found - create one with `gate init`")
    document = yamlfile.parse(content, file)
    _begin_graders(document.data, root)
    data, problems = check_document(document, env, instead)
    config = build_records.config(data, document.place, agent=DEFAULT_AGENT, file=file)
    has_suites = "suites" in as_object(document.data)
    if not has_suites:
        config = replace(config, suites=default_suites())
    findings, of_options = ConfigFindings(problems=problems), ConfigFindings()
    PROCESSES.allow(float(config.agent.options.get("timeout_s") or 0.0))
    config = with_default_gates(settle_options(config, root, of_options))
    findings.add(of_options)
    measured = measure(config.suites, root, findings, collect_k(config))
    config = use_current_names(config, measured, findings)
    _agent_fits(config.agent, root, findings)
    for other in (config.control_agent, *models_of(config)):
        if other is not None:
            _agent_fits(other, root, findings)
    if config.retriever is not None:
        _agent_fits(config.retriever, root, findings, RETRIEVERS)
    complete = not any(problem.place.key.startswith("suites") for problem in findings.problems)
    findings.add(lint(config, measured, today, complete=complete))
    unread = any(problem.place.key.startswith("judge") for problem in findings.problems)
    findings.add(judges(config, root, complete=complete, judge_unread=unread))
    if findings.problems and not has_suites:  # who misspelt `suites` did not ask for bundled ones
        findings.warnings[:] = [w for w in findings.warnings if w not in of_options.warnings]
    findings.problems[:] = without_secrets(findings.problems, config, env)
    sha = digest(config, as_object(document.data))
    config = replace(config, digest=sha, warnings=tuple(findings.warnings))
    return ExaminedConfig(config=config, measured=measured, findings=findings)


def _begin_graders(data: Json, root: Path) -> None:
    """Starts the process of graders of the user's, if there are any, while the rest is checked."""
    written = as_object(data)
    suites = as_objects(written.get("suites"))
    graders = [one for suite in suites for one in as_list(suite.get("graders"))]
    names = [name for one in graders for name in (one if isinstance(one, dict) else [one])]
    if any(isinstance(name, str) and is_own(name) for name in names):
        timeout = as_object(written.get("agent")).get("timeout_s")
        PROCESSES.allow(float(timeout) if isinstance(timeout, (int, float)) else 0.0)
        PROCESSES.judging(root).begin()


def without_secrets(
    problems: Sequence[Problem], config: Config, env: Mapping[str, str]
) -> list[Problem]:
    """The problems with secrets masked: user code that does not load may print any of them."""
    if not problems:
        return []
    specs = (config.agent, config.control_agent, config.retriever, *models_of(config))
    # What finds secrets takes time to import: only where something is wrong.
    names, redacting = map(
        importlib.import_module, ("gate.text.secret_names", "gate.text.redaction")
    )
    secrets = names.secrets_sent(env, (spec.options for spec in specs if spec is not None))
    redact = redacting.Redactor(secrets).redact
    return [replace(problem, message=redact(problem.message)) for problem in problems]


def defaults() -> Config:
    """The config without a gate.yml: the OpenAgent suites and a server on this machine."""
    config = Config(agent=DEFAULT_AGENT, suites=default_suites())
    config = with_default_gates(settle_options(config, Path()))
    return replace(config, digest=digest(config, {}))


def select(config: Config, names: Sequence[str], root: Path = Path()) -> Config:
    """The config with the suites called `names`, from gate.yml or the bundled ones, or classes as
    `./file.py:Class`; without names, or with `all`, every suite of gate.yml. `root`: where user
    plug-ins are. Raises UsageError.
    """
    if not names or "all" in names:
        return config
    suites_by_name = {suite.name: suite for suite in config.suites}
    suites_by_name |= {
        name: _find_code_suite(name, config.suites) for name in names if is_own(name)
    }
    if not suites_by_name.keys() >= set(names):
        suites_by_name = {
            **{suite.name: suite for suite in load_bundled_suites()},
            **suites_by_name,
        }
    for name in names:
        if name not in suites_by_name:
            raise UsageError(
                f"--suite {name}: no such suite{did_you_mean(name, sorted(suites_by_name))}"
            )
    suites = {suites_by_name[name].name: suites_by_name[name] for name in dict.fromkeys(names)}
    chosen = replace(config, suites=tuple(suites.values()))
    return with_default_gates(settle_options(chosen, root))


def _find_code_suite(code: str, written: Sequence[Suite]) -> Suite:
    """The suite that gate.yml has of this class, else one of the class's name. Raises
    UsageError.
    """
    named = next((suite for suite in written if suite.suite == code), None)
    if named is not None:
        return named
    name = code.rpartition(":")[2]
    place = Place(f"--suite {code}")
    if any(suite.name.casefold() == name.casefold() for suite in written):
        raise UsageError(f"{place}: gate.yml has another suite '{name}'; rename the class")
    if not _NAME.fullmatch(name):
        raise UsageError(f"{place}: write ./file.py:Class or module:Class")
    (suite,) = build_records.suites([{"name": name, "suite": code}], lambda path: place)
    return suite


def default_suites() -> tuple[Suite, ...]:
    """The suites of the OpenAgent benchmark, in its order."""
    bundled_suites = {suite.name: suite for suite in load_bundled_suites()}
    return tuple(bundled_suites[name] for name in bundled.DEFAULT)


def list_written_suites(config: Config) -> tuple[Suite, ...]:
    """The suites in gate.yml, without the bundled ones that are used if it has none."""
    stand_ins = {suite.place for suite in default_suites()}
    return tuple(suite for suite in config.suites if suite.place not in stand_ins)


def load_bundled_suites() -> tuple[Suite, ...]:
    """The suites that come with the package; their dataset paths are absolute."""
    return tuple(map(_load_bundled_suite, bundled.suites()))


def _load_bundled_suite(name: str) -> Suite:
    place = Place(f"the bundled suite {name}")
    (suite,) = build_records.suites([load_bundled_entry(name)], lambda path: place)
    return suite


def digest(config: Config, written: Mapping[str, Json]) -> str:
    """sha256 over canonical JSON of every rule (`codec.digest` of what `hashed` gives)."""
    return codec.digest(rules_to_hash(config, written))


def rules_to_hash(config: Config, written: Mapping[str, Json]) -> dict[str, Json]:
    """Every rule that the digest covers: not the agent, places in the file, or values of variables.
    Other agents, and the base branch, are as `written` in gate.yml.
    """
    named = written.get("baseline")
    branch = named.get("branch") if isinstance(named, dict) else None
    baseline = replace(config.baseline, branch=str(branch or "main"))
    others = {key: written.get(key) for key in ("judge", "verifier", "control_agent")}
    suites = tuple(replace(one, dataset=bundled.short_path(one.dataset)) for one in config.suites)
    return {**_without_places(to_json(replace(config, suites=suites, baseline=baseline))), **others}


def _without_places(value: Json) -> CheckedJson:
    if isinstance(value, dict):
        return {k: _without_places(item) for k, item in value.items() if k not in _NOT_RULES}
    return [_without_places(item) for item in value] if isinstance(value, list) else value


def grader_digest(spec: PluginSpec, root: Path, about: Json = None) -> str:
    """sha256[:16] of a grader's name, options and, for a user's own, its files: a comparison with
    the baseline needs it to be the same (docs/semantics.md 5). `about`: what else shapes its
    scores, such as the judge's model and prompt.
    """
    written = [spec.name, to_json(spec.options), *([about] if about else [])]
    text = json.dumps(written, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode() + read_user_code(spec, root)).hexdigest()[:16]


def read_user_code(spec: PluginSpec, root: Path) -> bytes:
    """The content of the user's files that a plug-in runs, with the files that they import; empty
    if they are not found.
    """
    return code_in(code_of(spec), root)


def code_in(names: Iterable[str], root: Path) -> bytes:
    """The content of code by its names, as `code_of` returns them."""
    given = [name for name in names if name]
    files = [file for file in map(grader_file, given) if file]
    content = b"".join((root / file).read_bytes() for file in files if (root / file).is_file())
    # Of what they import the hashes do; without such files nothing changes.
    loaded = PROCESSES.sources(root) if given else {}
    more = {f: sha for name in given for f, sha in loaded.get(name, {}).items() if f not in files}
    return content + "".join(f"{file}:{sha}\n" for file, sha in sorted(more.items())).encode()


def code_of(spec: PluginSpec) -> tuple[str, ...]:
    """The user's code that a grader or model runs, as `./file.py:name` or `module:name`: the
    plug-in itself, and code that its options name.
    """
    named = (spec.name, *(spec.options.get(key) for key in _CODE_OPTIONS))
    return tuple(one for one in named if isinstance(one, str) and ":" in one)


def models_of(config: Config) -> tuple[PluginSpec, ...]:
    """The models that graders ask."""
    return tuple(model for model in (config.judge, config.verifier) if model is not None)


def measure(
    suites: Sequence[Suite], root: Path, findings: ConfigFindings, asked: frozenset[int]
) -> Measured:
    """The metrics of each suite; a grader that cannot be made is added to `findings`. `asked`: the
    k of `collect_k`.
    """
    measured: dict[str, Mapping[str, MetricSpec]] = {}
    for suite in suites:
        if suite.name.casefold() in {name.casefold() for name in measured}:
            findings.wrong(suite.place, f"two suites are called '{suite.name}' - rename one")
        if suite.name == "all":
            findings.wrong(suite.place, "'all' means every suite - choose another name")
        if suite.name.casefold() == EVIDENCE:
            message = (
                f"'{suite.name}' is reserved for a release's evidence folder - choose another name"
            )
            findings.wrong(suite.place, message)
        specs = {spec.name: spec for spec in trial_metrics(suite.rounds, asked)}
        for grader in suite.graders:
            for spec in _metrics(grader, root, findings):
                if spec.name in specs:
                    message = (
                        f"'{grader.name}' measures {spec.name}, which another grader of this "
                        "suite already measures"
                    )
                    findings.wrong(grader.place, f"{message} - remove one of the two")
                specs[spec.name] = spec
        measured[suite.name] = every_metric([specs.values()], suite.rounds, asked)
    return measured


def _metrics(spec: PluginSpec, root: Path, findings: ConfigFindings) -> tuple[MetricSpec, ...]:
    try:
        faults = option_faults(spec, root)
        for fault in faults:
            findings.wrong(spec.place, fault)
        if faults:
            return ()
        grader = make_grader(spec, root)
        for old, new in read_traits(GraderTraits, grader).older_words.items():
            findings.warn(spec.place, f"{describe_renamed(old, new)} - write the new name")
        return grader.metrics()
    except (UsageError, InfraFailure) as error:
        findings.wrong(spec.place, str(error))
        return ()


def _agent_fits(
    agent: PluginSpec, root: Path, findings: ConfigFindings, registry: Registry[Agent] = AGENTS
) -> None:
    try:
        build(registry, agent, root)
    except (UsageError, ValueError) as error:
        findings.wrong(agent.place, str(error))
