"""`promptfoo`: the results of an eval, or a configuration with its tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.errors import UsageError
from gate.files.sniff import FirstLook
from gate.importers.formats.promptfoo.config import config_in, tests_of
from gate.importers.formats.promptfoo.results import results
from gate.plugins import IMPORTERS
from gate.records.imported import Imported

_RESULTS = {"evalId", "results"}
_ROW = {"gradingResult", "promptId", "success", "testCase"}
_CONFIG = (b"prompts:", b"providers:", b"targets:", b"tests:")


@IMPORTERS.register("promptfoo")
@dataclass(frozen=True, slots=True, kw_only=True)
class Promptfoo:
    """`suite`: its name, or what the names of several begin with. `prompt`: number or label of the
    configuration's prompt that becomes the input of the cases.
    """

    suite: str = ""
    prompt: str = ""

    reads: ClassVar[str] = "the results of `promptfoo eval -o`, or its configuration"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if found.is_folder:
            return any(
                name in found.names for name in ("promptfooconfig.yaml", "promptfooconfig.json")
            )
        if found.ends(".yaml", ".yml"):
            lines = [line.rstrip() for line in found.head[:65536].splitlines()]
            starts = [line for line in lines if line[:1].isalpha()]
            config = sum(any(line.startswith(one) for line in starts) for one in _CONFIG) > 1
            return config or any(line.startswith(b"evalId:") for line in starts)
        return found.has(*_RESULTS) or found.has(*_ROW) or found.has("prompts", "providers")

    def read(self, path: Path) -> Imported:
        if path.suffix.lower() in (".csv", ".html") and path.is_file():
            raise UsageError(
                f"{path}: promptfoo's CSV and HTML leave things out; have it write JSON "
                "(promptfoo eval -o results.json)"
            )
        config = config_in(path)
        return results(path, self.suite) if config is None else tests_of(config, self.prompt)
