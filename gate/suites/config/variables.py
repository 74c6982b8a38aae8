"""`${NAME}` in gate.yml is replaced in `agent`, `judge` and similar sections only, and in
`report.url` by `fill_in`; API keys in the file are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from gate.files.yaml import Path, scalar
from gate.records import Json
from gate.system.sealing import OF_THE_GATE
from gate.text.credentials import looks_secret
from gate.text.late_pattern import late_pattern

SECTIONS = ("agent", "control_agent", "judge", "verifier", "retriever")
NOTHING: Mapping[Path, str] = {}
_FILLED_IN_LATER: Path = ("report", "url")

_VARIABLE = late_pattern(r"(\$)?\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
_NAME = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
# Shapes of keys that providers give out; a long run of mixed letters and digits is one too.
_KEY = late_pattern(
    r"\b(sk|pk|rk|gsk|xai|ghp|gho|ghs|hf|glpat)[-_][A-Za-z0-9_-]{8,}|\bgithub_pat_\w{8,}"
    r"|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\bxox[abp]-[\w-]{8,}|\beyJ[\w-]{10,}\.[\w-]{10,}"
)
_DENSE = late_pattern(r"(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{24,}")
_SECRET = late_pattern(
    r"(?i)(x-)?(api|access|auth|provider|secret)[-_]?(key|token)|token|secret|password|authorization"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFault:
    """An error at a path of gate.yml."""

    path: Path
    message: str


@dataclass(slots=True, kw_only=True)
class Replaced:
    """Data without variables. `hidden`: the paths whose values came from the environment and must
    not be printed.
    """

    data: dict[str, Json]
    hidden: set[Path] = field(default_factory=set)
    faults: list[ConfigFault] = field(default_factory=list)


def replace_variables(
    data: Mapping[str, Json],
    env: Mapping[str, str],
    wants_text: Callable[[Path], bool],
    instead: Mapping[Path, str] = NOTHING,
) -> Replaced:
    """The data with variables replaced. `wants_text(path)`: False if the text becomes a number, as
    in `timeout_s: ${TIMEOUT}`. `$${NAME}` is the text `${NAME}`. `instead`: what stands for a text
    that has variables, whatever they are.
    """
    done = Replaced(data={})

    def inside(path: Path, text: str) -> Json:
        if path in instead and _VARIABLE.search(text):
            return instead[path]
        return _replace(path, text, env, done, as_text=wants_text(path))

    def outside(path: Path, text: str) -> Json:
        if path == _FILLED_IN_LATER:
            done.faults += _secrets_in_link(path, text)
            return text
        if any(not match[1] for match in _VARIABLE.finditer(text)):
            message = (
                "environment variables are expanded only under agent and judge - write the "
                "value itself"
            )
            done.faults.append(ConfigFault(path=path, message=message))
        return _VARIABLE.sub(lambda match: match[0][1:] if match[1] else match[0], text)

    for section, value in data.items():
        done.data[section] = _walk(value, (section,), inside if section in SECTIONS else outside)
    return done


def fill_in(text: str, env: Mapping[str, str]) -> str:
    """The text with its variables; empty where one of them has no value, as on a laptop."""
    names = [match for match in _VARIABLE.finditer(text) if not match[1]]
    if any(not (env.get(match["name"]) or match["default"]) for match in names):
        return ""
    return _VARIABLE.sub(
        lambda match: (
            match[0][1:] if match[1] else env.get(match["name"]) or match["default"] or ""
        ),
        text,
    )


def _secrets_in_link(path: Path, text: str) -> Iterator[ConfigFault]:
    for match in _VARIABLE.finditer(text):
        if not match[1] and (looks_secret(match["name"]) or OF_THE_GATE.fullmatch(match["name"])):
            message = f"{match['name']} may be a secret, and a link is read by many - leave it out"
            yield ConfigFault(path=path, message=message)


def secrets(data: Mapping[str, Json]) -> Iterator[ConfigFault]:
    """A fault for each key or token that is written into the file; its message never shows the
    value.
    """
    for section in SECTIONS:
        for path, text in _texts(data.get(section), (section,)):
            if path[-1] == "api_key_env":
                if not _NAME.fullmatch(text) or _looks_like_key(text):
                    yield ConfigFault(
                        path=path,
                        message="must be the name of an environment "
                        "variable, not the API key itself",
                    )
            elif _is_secret(str(path[-1]), text):
                message = (
                    "an API key must not be in the file - put it in an environment variable "
                    "and write api_key_env: NAME"
                )
                yield ConfigFault(path=path, message=message)


def _is_secret(name: str, text: str) -> bool:
    """Defaults of variables stand in the file too."""
    literal = _VARIABLE.sub(lambda match: match["default"] or "", text)
    if _looks_like_key(literal):
        return True
    variables = list(_VARIABLE.finditer(text))
    return bool(_SECRET.fullmatch(name)) and (
        any(variable["default"] for variable in variables) if variables else bool(text.strip())
    )


def _looks_like_key(text: str) -> bool:
    return bool(_KEY.search(text) or _DENSE.fullmatch(text))


def _replace(
    path: Path, text: str, env: Mapping[str, str], done: Replaced, *, as_text: bool
) -> Json:
    def value(match: re.Match[str]) -> str:
        if match[1]:
            return match[0][1:]
        name, default = match["name"], match["default"]
        value_set = None if OF_THE_GATE.fullmatch(name) else env.get(name)
        if value_set is None and default is None:
            message = (
                f"the environment variable {match['name']} is not set - set it, or write "
                f"${{{match['name']}:-default}}"
            )
            done.faults.append(ConfigFault(path=path, message=message))
        return value_set or default or ""

    new, count = _VARIABLE.subn(value, text)
    if not count:
        return text
    done.hidden.add(path)
    match = _VARIABLE.fullmatch(text)
    return new if as_text or not match or match[1] else scalar(new)


def _walk(value: Json, path: Path, change: Callable[[Path, str], Json]) -> Json:
    if isinstance(value, str):
        return change(path, value)
    if isinstance(value, dict):
        return {key: _walk(item, (*path, key), change) for key, item in value.items()}
    if isinstance(value, list):
        return [_walk(item, (*path, index), change) for index, item in enumerate(value)]
    return value


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
