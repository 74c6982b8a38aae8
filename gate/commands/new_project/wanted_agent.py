"""The agent that gate.yml is to name: from the options of `gate init`, or asked of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gate.agents.http_client.route import check_address, is_loopback
from gate.commands.new_project.first_suite import ADAPTER, TEMPLATES
from gate.errors import UsageError
from gate.records import Json
from gate.text.escaping import plain
from gate.text.late_pattern import late_pattern
from gate.text.suggestions import did_you_mean

_VARIABLE = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_VARIABLE = (
    "is not the name of a variable (letters, digits and _) - give the name, and set the variable "
    "to the key"
)
SAMPLE = "sample"
KINDS = (SAMPLE, "openai", "openagent", "anthropic", "http", "command", "python")
ADDRESS = "http://127.0.0.1:8000"
_ADDRESSES = {  # of the protocols that have one of their own
    "anthropic": "https://api.anthropic.com",
    "openagent": "http://127.0.0.1:14000",
}
MODEL = "my-model"  # until somebody names it
_OF_A_MODEL = ("openai", "openagent", "anthropic")
_AT_AN_ADDRESS = (*_OF_A_MODEL, "http")
# Of the command line: the types of agents that each belongs to.
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "base_url": _AT_AN_ADDRESS,
    "model": KINDS[1:],
    "api_key_env": KINDS[1:],
    "program": ("command",),
    "callable": ("python",),
}
_SPELLED = {"program": "command"}  # on the command line
_QUESTIONS: Mapping[str, str] = {  # to the user, where nothing is given
    "base_url": "Its address [{address}]: ",
    "model": f"Its model [{MODEL}]: ",
    "program": "The program, as you start it [python agent.py]: ",
    "callable": f"The function, as ./file.py:name [Enter: {ADAPTER} is written for you]: ",
}
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
    are questions, which are for an agent of the user's own. Raises UsageError for options that do
    not belong together.
    """
    kind = given["agent"] or _guess_kind(given, imported=imported)
    _check(kind, given, imported=imported)
    if kind == SAMPLE:
        return None
    return WantedAgent(
        kind=kind,
        options=_list_options(kind, given),
        template=given["template"] or "chat",
        has_code=kind != "python" or bool(given["callable"]),
        lacks_model=kind in _OF_A_MODEL and not given["model"],
    )


def _check(kind: str, given: Mapping[str, str | None], *, imported: bool) -> None:
    for name, kinds in OPTIONS.items():
        if given[name] and kind not in kinds:
            option = f"--{_SPELLED.get(name, name).replace('_', '-')}"
            raise UsageError(
                f"{option}: an agent of type {kind} has no such option - leave it out, or choose "
                f"the type with --agent ({', '.join(kinds)})"
            )
    if kind == SAMPLE and (imported or given["template"]):
        option = "--from" if imported else "--template"
        raise UsageError(f"{option}: is for an agent of yours - choose its type with --agent")
    if given["template"] == "langgraph" and kind != "python":
        raise UsageError(
            f"--template langgraph: is for --agent python, not {kind} - choose the template tools"
        )
    if fault := _find_address_fault(given["base_url"]):
        raise UsageError(f"--base-url: {fault}")
    if given["api_key_env"] and not _VARIABLE.fullmatch(given["api_key_env"]):
        raise UsageError(f"--api-key-env: {_NO_VARIABLE}")  # the text may be the key itself


def ask_user(read: Callable[[str], str]) -> dict[str, str | None]:
    """The same options, asked one by one, again where an answer is none of those that are listed;
    an empty first answer takes the sample agent. Raises UsageError where the input ends before.
    """
    try:
        return _ask_in_turn(read)
    except EOFError:
        raise UsageError(
            "gate init: the input ended before the last question, and nothing was written - answer "
            "each one, or name the agent with --agent"
        ) from None


def _ask_in_turn(read: Callable[[str], str]) -> dict[str, str | None]:
    given: dict[str, str | None] = dict.fromkeys(("agent", *OPTIONS, "template"))
    kind = _choose(read, "Your agent", KINDS)
    given["agent"] = kind
    if kind == SAMPLE:
        return given
    for name in _ASKED_OF.get(kind, ("base_url", "model")):
        ask = _ask_address if name == "base_url" else _ask
        given[name] = ask(read, _QUESTIONS[name].replace("{address}", _find_address(kind)))
    if kind in _AT_AN_ADDRESS:
        given["api_key_env"] = _ask_key(read)
    fitting = TEMPLATES if kind == "python" else TEMPLATES[:-1]
    given["template"] = _choose(read, "What it does", fitting)
    return given


def _choose(read: Callable[[str], str], words: str, names: tuple[str, ...]) -> str:
    """One of the names; the first one for an empty answer."""
    question = f"{words} ({', '.join(names)}) [{names[0]}]: "
    answer = read(question).strip().lower()
    while answer and answer not in names:
        again = f"There is no '{plain(answer)}'{did_you_mean(answer, names)}\n{question}"
        answer = read(again).strip().lower()
    return answer or names[0]


def _ask(read: Callable[[str], str], question: str) -> str | None:
    return read(question).strip() or None


def _ask_address(read: Callable[[str], str], question: str) -> str | None:
    address = _ask(read, question)
    while fault := _find_address_fault(address):
        address = _ask(read, f"This is {fault}.\n{question}")
    return address


def _find_address_fault(address: str | None) -> str:
    """What is wrong with it, and what was perhaps meant; empty: nothing. What a variable is to
    complete is not looked at.
    """
    if not address or "${" in address or _is_address(address):
        return ""
    whole = f"http://{address}"
    if not is_loopback(whole):
        whole = f"https://{address}"
    is_near = ":/" not in address and _is_address(whole)
    return f"not an address - write {whole if is_near else 'http://host:port or https://host'}"


def _is_address(text: str) -> bool:
    try:
        check_address(text, "")
    except UsageError:
        return False
    return True


def _find_address(kind: str) -> str:
    return _ADDRESSES.get(kind, ADDRESS)


def _ask_key(read: Callable[[str], str]) -> str | None:
    question = "The environment variable with its key, by name [none needed]: "
    name = read(question).strip()
    while name and not _VARIABLE.fullmatch(name):
        name = read(f"This {_NO_VARIABLE}.\n{question}").strip()
    return name or None


def _guess_kind(given: Mapping[str, str | None], *, imported: bool) -> str:
    if given["program"]:
        return "command"
    if given["callable"] or given["template"] == "langgraph":
        return "python"
    return "openai" if imported or any(given.values()) else SAMPLE


def _list_options(kind: str, given: Mapping[str, str | None]) -> dict[str, Json]:
    address = given["base_url"] or _find_address(kind)
    options: dict[str, Json]
    if kind == "http":
        options = {"url": address}
    elif kind == "command":
        options = {"command": given["program"] or "python agent.py"}
    elif kind == "python":
        options = {"callable": given["callable"] or f"./{ADAPTER}:ask"}
    else:
        is_known = kind == "anthropic" and not given["base_url"]  # the protocol's own default
        options = {**({} if is_known else {"base_url": address}), "model": MODEL}
    more = {name: given[name] for name in ("model", "api_key_env") if given[name]}
    return {**options, **more}
