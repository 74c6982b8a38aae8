"""OpenAgent's built-in tools as far as the sample agent has them: its own documents as files, text
files in the scratch folder, and the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gate.agents.sample_agent.documents import KnowledgePage
from gate.agents.sample_agent.faults import PlantedFaults
from gate.agents.sample_agent.scratch_files import Refused, Scratch
from gate.agents.sample_agent.server_lines import NO_SUCH_TOOL
from gate.records import CheckedJson, Json, ToolCall

ROOT = "/documents"  # of no disk: the documents are in memory
_REPEATS = 4  # of every call, for an agent caught in a loop
_NO_FOLDER = "this server may not write files: `gate agent --scratch DIR` allows it"


@dataclass(slots=True, kw_only=True)
class FileTools:
    """The tools during one request; `steps` grows with each call."""

    pages: Sequence[KnowledgePage]
    scratch: Scratch | None  # None: nothing is written
    faults: PlantedFaults
    now: Callable[[], datetime]
    steps: list[ToolCall] = field(default_factory=list)

    def call(self, name: str, **arguments: Json) -> CheckedJson:
        """The tool's result; None when the call failed."""
        if self.faults.wrong_tool:
            name = f"{name}_all"
        if self.faults.wrong_args:
            arguments = {f"{key}_value": value for key, value in arguments.items()} or {"all": 1}
        for _ in range(_REPEATS if self.faults.loop else 1):
            result, error = self._perform(name, arguments)
            number = len(self.steps)
            self.steps.append(
                ToolCall(
                    name=name,
                    arguments=arguments,
                    result=result,
                    error=error,
                    id=f"call-{number + 1}",
                    turn=number,
                )
            )
        return result

    def _perform(self, name: str, arguments: dict[str, Json]) -> tuple[Json, str | None]:
        if name not in TOOLS:
            return None, f"{NO_SUCH_TOOL} {name!r}"
        try:
            return TOOLS[name](self, **arguments), None
        except TypeError:
            return None, f"{name} does not take the arguments ({', '.join(arguments)})"
        except Refused as refusal:
            return None, str(refusal)
        except OSError as error:
            return None, error.strerror or "the file cannot be written"

    def _dirs(self) -> Json:
        return {"documents": ROOT}

    def _scan(self, root: str, preview_chars: int) -> Json:
        if root != ROOT:
            raise Refused(f"there is no folder {root!r}")
        return [
            {"path": _path(page), "title": page.title, "preview": page.text[:preview_chars]}
            for page in self.pages
        ]

    def _read_document(self, path: str, limit: int) -> Json:
        page = next((page for page in self.pages if _path(page) == path), None)
        if page is None:
            raise Refused(f"there is no document {path!r}")
        return {"path": path, "title": page.title, "text": page.text[:limit]}

    def _write(self, path: str, text: str, overwrite: bool) -> Json:
        if self.scratch is None:
            raise Refused(_NO_FOLDER)
        receipt = self.scratch.write(path, text, overwrite=overwrite)
        return {"path": path, "byte_size": receipt.bytes, "overwrote": receipt.overwrote}

    def _time(self) -> Json:
        return {"now": self.now().isoformat(timespec="seconds")}


TOOLS: Mapping[str, Callable[..., Json]] = {
    "local_special_dirs": FileTools._dirs,
    "local_documents_scan": FileTools._scan,
    "local_document_read": FileTools._read_document,
    "local_text_write": FileTools._write,
    "time": FileTools._time,
}


def _path(page: KnowledgePage) -> str:
    return f"{ROOT}/{page.id}.md"
