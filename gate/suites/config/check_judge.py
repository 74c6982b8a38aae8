"""Checks the models that graders ask: whether one is configured, whether a grader asks it, and
whether it is the agent's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from gate.agents.pricing import strip_date
from gate.graders.user_code.make import manner_of
from gate.plugins import AGENTS, build
from gate.records import Config, Json, PluginSpec, Role, Suite
from gate.suites.config.lint import ConfigFindings
from gate.text.late_pattern import late_pattern

_FAMILIES = {  # what model names hold -> who made them
    "gpt": r"gpt|chatgpt|o1|o3|o4",
    "claude": "claude",
    "gemini": "gemini|gemma",
    "llama": "(?:code)?llama",
    "mistral": "mistral|mixtral|ministral|codestral",
    "qwen": "qwen|qwq",
    "deepseek": "deepseek",
    "command": "command",
    "grok": "grok",
    "phi": "phi",
}
_KNOWN = late_pattern(
    r"(?<![a-z0-9])(?:"
    + "|".join(f"(?P<{name}>{words})" for name, words in _FAMILIES.items())
    + r")(?![a-z])"
)
_FAVOUR = "models favour their own answers"
_INSTEAD = "choose a model of another family"


def judges(
    config: Config, root: Path, *, complete: bool = True, judge_unread: bool = False
) -> ConfigFindings:
    """Finds graders without their model, models that no grader asks, and templates without the
    question. `complete`: every suite could be read; `judge_unread`: there is a judge, with an error
    that is reported already.
    """
    findings = ConfigFindings()
    asking = list(_asking(config.suites, root))
    for grader, role in asking:
        alone = getattr(manner_of(grader.name, root), "partly_offline", False)
        if role == "judge" and config.judge is None and not judge_unread and not alone:
            form = "judge: {type: openai, base_url: ..., model: ..., api_key_env: ...}"
            findings.wrong(
                grader.place, f"'{grader.name}' needs a judge, and gate.yml has none - add {form}"
            )
    roles = {role for _, role in asking}
    if config.verifier is None and "verifier" in roles:
        roles.add("judge")  # which verifies then
    for section, spec in _models(config):
        if section not in roles and complete:
            findings.warn(
                spec.place, "no grader uses the judge - add one that does, or remove the judge"
            )
        if spec.name == "http" and not _reaches(spec):
            message = "does not contain the question - add {{input}}, or {{case.instructions}} and"
            findings.wrong(spec.place, f"body {message} {{{{case.material}}}}")
    return findings


def kinship(config: Config, root: Path) -> ConfigFindings:
    """Warns about models that would judge their own answers, or those of their family; with
    `require_different_judge` an error, and so is an unknown model. For the config that runs, after
    the options of the command line.
    """
    findings = ConfigFindings()
    agent = _model_of(config.agent, root)
    for section, spec in _models(config):
        judge = _model_of(spec, root)
        required = spec.options.get("require_different_judge") is True
        if judge and agent:
            message = _family_warning(section, judge, agent)
        else:
            message = _unknown(section, "agent" if judge else section) if required else ""
        if message and required and not (judge and agent is None):
            findings.wrong(spec.place, message)
        elif message:
            findings.warn(spec.place, message)
    return findings


def family(model: str) -> str:
    """The maker of a model by its name, without the provider's prefix; else the name's first
    word.
    """
    name = model.lower().rpartition("/")[2]
    match = _KNOWN.search(name)
    if match and match.lastgroup:
        return match.lastgroup
    word = re.match(r"[a-z]+", name)
    return word[0] if word else name


def _family_warning(section: Role, judge: str, agent: str) -> str:
    """Empty when they are of different families."""
    plain = [strip_date(model.lower().rpartition("/")[2]) for model in (judge, agent)]
    if plain[0] == plain[1]:
        return f"the {section} '{judge}' is the agent's model '{agent}': {_FAVOUR} - {_INSTEAD}"
    if family(judge) == family(agent):
        message = f"the {section} '{judge}' and the agent's '{agent}' are of the same model family"
        return f"{message} ({family(judge)}): {_FAVOUR} - {_INSTEAD}"
    return ""


def _unknown(section: Role, who: str) -> str:
    return (
        f"require_different_judge: the {who}'s model is not known, so it cannot be compared with "
        f"the {'agent' if who == section else section}'s - write {who}.model"
    )


def _model_of(spec: PluginSpec, root: Path) -> str | None:
    """Empty where gate.yml could name it and does not, None where the protocol has no such key."""
    try:
        model = getattr(build(AGENTS, spec, root), "model", None)
    except Exception:  # what is wrong with it is told elsewhere
        return None
    return model if isinstance(model, str) else None


def _asking(suites: Iterable[Suite], root: Path) -> Iterator[tuple[PluginSpec, Role]]:
    for grader in (grader for suite in suites for grader in suite.graders):
        with suppress(Exception):  # a user's own file; what is wrong with it is told elsewhere
            role = getattr(manner_of(grader.name, root), "role", None)
            if role in ("judge", "verifier"):
                yield grader, role


def _models(config: Config) -> Iterator[tuple[Role, PluginSpec]]:
    if config.judge is not None:
        yield "judge", config.judge
    if config.verifier is not None:
        yield "verifier", config.verifier


def _reaches(spec: PluginSpec) -> bool:
    """Whether an `http` template carries instructions and material."""
    from gate.agents.wire.template import names_in

    written: list[Json] = [spec.options.get("url", "")]
    if spec.options.get("method") != "GET":
        written.append(spec.options.get("body", {"input": "{{input}}"}))
    names = set(names_in(written))
    has_material = {"case.instructions"} <= names and bool({"case.material", "question"} & names)
    return "input" in names or has_material
