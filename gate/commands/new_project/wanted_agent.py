"""The agent that gate.yml is to name: from the options of `gate init`, or asked of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gate.commands.new_project.first_suite import ADAPTER, TEMPLATES
from gate.errors import UsageError
from gate.records import Json
from gate.text.late_pattern import late_pattern

_VARIABLE = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
SAMPLE = "sample"
KINDS = (SAMPLE, "openai", "openagent", "anthropic", "http", "command", "python")
ADDRESS = "http://127.0.0.1:8000"
# Of the command line, and what the user is asked where nothing is given.
OPTIONS: Mapping[str, str] = {
    "base_url": f"Its address [{ADDRESS}]",
    "model": "Its model [my-model]",
    "api_key_env": "",
    "program": "The program, as you start it [python agent.py]",
    "callable": "The function, as ./file.py:name [a file is written]",
}
_OF_A_MODEL = ("openai", "openagent", "anthropic")
MODEL = "my-model"  # until somebody names it
_ASKED_OF: Mapping[str, tuple[str, ...]] = {
    "http": ("base_url",),
    "command": ("program",),
    "python": ("callable",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedAgent:
    """`options`: of `agent` in gate.yml, without the type. `template`: what the agent does.
    `has_code`: False where the function that asks it is to be written first. `lacks_model`: nobody
    has named its model.
    """

    kind: str
    options: Mapping[str, Json]
    template: str = "chat"
    has_code: bool = True
    lacks_model: bool = False


def choose_agent(given: Mapping[str, str | None], *, imported: bool) -> WantedAgent | None:
    """The agent that the options fit, by name -> value; None: the sample agent. `imported`: there
    are questions, which are for an agent of the user's own.
    """
    check_key_name(given["api_key_env"])
    kind = given["agent"] or _guess_kind(given, imported=imported)
    if kind == SAMPLE:
        return None
    return WantedAgent(
        kind=kind,
        options=_list_options(kind, given),
        template=given["template"] or "chat",
        has_code=kind != "python" or bool(given["callable"]),
        lacks_model=kind in _OF_A_MODEL and not given["model"],
    )


def check_key_name(name: str | None) -> None:
    """Raises UsageError, without the text, which may be the key itself."""
    if name and not _VARIABLE.fullmatch(name):
        raise UsageError(
            "--api-key-env: is not the name of a variable (letters, digits and _); give the name, "
            "and set that variable to the key"
        )


def ask_user(read: Callable[[str], str]) -> dict[str, str | None]:
    """The same options, asked one by one; an empty first answer takes the sample agent."""
    given: dict[str, str | None] = dict.fromkeys(("agent", *OPTIONS, "template"))
    kind = read(f"Your agent ({', '.join(KINDS)}) [{SAMPLE}]: ").strip()
    given["agent"] = kind if kind in KINDS else SAMPLE
    if given["agent"] == SAMPLE:
        return given
    for name in _ASKED_OF.get(kind, ("base_url", "model")):
        given[name] = read(f"{OPTIONS[name]}: ").strip() or None
    template = read(f"What it does ({', '.join(TEMPLATES)}) [chat]: ").strip()
    given["template"] = template if template in TEMPLATES else None
    return given


def _guess_kind(given: Mapping[str, str | None], *, imported: bool) -> str:
    if given["program"]:
        return "command"
    if given["callable"] or given["template"] == "langgraph":
        return "python"
    return "openai" if imported or any(given.values()) else SAMPLE


def _list_options(kind: str, given: Mapping[str, str | None]) -> dict[str, Json]:
    address = given["base_url"] or ADDRESS
    options: dict[str, Json]
    if kind == "http":
        options = {"url": address}
    elif kind == "command":
        options = {"command": given["program"] or "python agent.py"}
    elif kind == "python":
        options = {"callable": given["callable"] or f"./{ADAPTER}:ask"}
    else:
        options = {"base_url": address, "model": given["model"] or MODEL}
    key = given["api_key_env"]
    return {**options, "api_key_env": key} if key else options
