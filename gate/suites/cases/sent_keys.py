"""Keys of a case that the request of an agent or retriever is filled with (`{{case.KEY}}`), and the
cases that lack one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gate.errors import Place, Problem
from gate.files import yaml
from gate.files.plain_file import read_if_there
from gate.plugins import AGENTS, RETRIEVERS, Agent, AgentTraits, OptionPath, build, read_traits
from gate.records import Case, CheckedJson, Config, PluginSpec
from gate.registry import Registry
from gate.text.figures import count


@dataclass(frozen=True, slots=True, kw_only=True)
class SentKey:
    """A key of a case in the request of a section of gate.yml."""

    section: str
    path: OptionPath  # of the placeholder, in the section
    key: str
    spec: PluginSpec
    control_at: str | None = None  # of the control: the commit of its gate.yml; empty: the own one


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCase:
    """A case that is to be asked."""

    case: Case
    is_new: bool = False  # the control is not asked it
    base: str = ""  # the branch that it is read from; empty: it is read here


def list_sent_keys(config: Config, root: Path) -> list[SentKey]:
    """The keys that the agent and the retriever of gate.yml are sent."""
    return [
        *list_keys("agent", config.agent, root),
        *list_keys("retriever", config.retriever, root, RETRIEVERS),
    ]


def list_keys(
    section: str, spec: PluginSpec | None, root: Path, registry: Registry[Agent] = AGENTS
) -> Iterator[SentKey]:
    """The keys that the agent or retriever of a section is sent. Only a type that sends any is
    made: of an agent in Python nothing is loaded.
    """
    if spec is None or spec.name not in registry:
        return
    if hasattr(registry.get_class(spec.name), "case_keys"):
        for path, key in read_traits(AgentTraits, build(registry, spec, root)).case_keys:
            yield SentKey(section=section, path=path, key=key, spec=spec)


def find_absent_keys(
    sent: Iterable[SentKey], asked: Iterable[AskedCase], file: Path
) -> list[Problem]:
    """A problem for each key that a case lacks, at its first placeholder in gate.yml, which is
    `file`.
    """
    first_of: dict[tuple[str, str, str | None], SentKey] = {}
    for one in sent:
        first_of.setdefault((one.section, one.key, one.control_at), one)
    keys = list(first_of.values())
    lacking: Counter[int] = Counter()
    first: dict[int, AskedCase] = {}
    for case in asked:
        for number, key in enumerate(keys):
            is_sent = not case.is_new or key.control_at is None
            if is_sent and key.key not in case.case.keys:
                lacking[number] += 1
                first.setdefault(number, case)
    return [
        Problem(_place(keys[number], file), _tell_absent(keys[number].key, first[number], cases))
        for number, cases in sorted(lacking.items())
    ]


def _tell_absent(key: str, first: AskedCase, cases: int) -> str:
    more = f" and {count(cases - 1, 'more case')} have" if cases > 1 else " has"
    each = "each of them" if cases > 1 else "it"
    where = f" on {first.base}, whose cases run here" if first.base else ""
    return (
        f"{{{{case.{key}}}}}: the case at {first.case.place}{more} no '{key}' - write the key into "
        f"{each}{where}, or remove the placeholder"
    )


def _place(sent: SentKey, file: Path) -> Place:
    """The line of the placeholder; that of its section where the section stands elsewhere."""
    path = (sent.section, *sent.path)
    around = replace(sent.spec.place, key=yaml.format_path(path))
    if sent.control_at is not None:
        at = f"@{sent.control_at}" if sent.control_at else ""
        return replace(around, file=f"{around.file}{at}")
    content = read_if_there(file, file.name)
    if content is None:  # a program gave it
        return around
    document = yaml.parse(content, around.file)
    return document.place(path) if sent.key in str(_find(document.data, path)) else around


def _find(data: CheckedJson, path: OptionPath) -> CheckedJson:
    """None where nothing is at the path."""
    try:
        for part in path:
            data = data[part]
    except (KeyError, IndexError, TypeError):
        return None
    return data
