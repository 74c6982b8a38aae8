"""Judgements on disk: JSON lines that only somebody with the model's key could have written."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from gate.agents.wire import answer
from gate.files.json_values import as_object
from gate.files.plain_file import open_plain
from gate.records import Json
from gate.records.codec import to_json

MOST_BYTES = 1_000_000  # of one line


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedReply:
    """A judgement as it is stored: no prompt, nothing that tells what was asked."""

    data: Mapping[str, Json]
    model: str | None


class Cache:
    """Key -> judgement, read once and appended to. Nothing that is wrong with the file stops a run:
    it is told by `notes`.
    """

    def __init__(self, path: Path, shown: str, section: str, secret: str | None) -> None:
        """`shown`: the path as gate.yml has it. `secret`: the model's API key; without one a line
        carries a plain sha256, which finds damage and proves no origin.
        """
        self._path, self._shown, self._section = path, shown, section
        self._secret = secret.encode() if secret else None
        self._lock = Lock()
        self._found: dict[str, CachedReply] | None = None
        self._rejected = 0
        self._trouble = ""

    def get(self, key: str) -> CachedReply | None:
        with self._lock:
            if self._found is None:
                self._found = self._read_entries()
            return self._found.get(key)

    def put(self, key: str, kept: CachedReply) -> None:
        value = to_json(kept)
        line = {"for": self._section, "key": key, "value": value, "mac": self._mac(key, value)}
        written = json.dumps(line).encode() + b"\n"
        if len(written) > MOST_BYTES:
            return  # could not be read back
        with self._lock:
            try:
                self._append(written)
            except OSError as error:
                self._trouble = f"{self._shown}: cannot be written: {error.strerror}"

    def notes(self) -> tuple[str, ...]:
        rejected = f"{self._rejected} lines" if self._rejected > 1 else "1 line"
        ignored = (
            f"{self._shown}: {rejected} ignored: damaged, or signed with another key than that of "
            f"the {self._section}"
        )
        return (*([ignored] if self._rejected else []), *filter(None, [self._trouble]))

    def _append(self, line: bytes) -> None:
        """One write: runs beside this one add lines to the same file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        before = b"" if self._ends_whole() else b"\n"
        with self._path.open("ab", buffering=0) as file:
            os.write(file.fileno(), before + line)

    def _ends_whole(self) -> bool:
        """Whether the last line has its end: a run that was killed may have left half of one."""
        with suppress(FileNotFoundError), open_plain(self._path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            return file.read(1) in (b"", b"\n")
        return True

    def _read_entries(self) -> dict[str, CachedReply]:
        entries: dict[str, CachedReply] = {}
        try:
            with open_plain(self._path) as file:
                while line := file.readline(MOST_BYTES):
                    self._take(line, entries)
        except FileNotFoundError:
            return entries
        except OSError as error:
            self._trouble = f"{self._shown}: cannot be read: {error.strerror}"
        return entries

    def _take(self, line: bytes, entries: dict[str, CachedReply]) -> None:
        item: Json = None
        with suppress(ValueError):
            item = answer.parse(line)
        entry = as_object(item)
        if entry.get("for") not in (None, self._section):
            return  # another model's, which may share the file
        kept = self._parse_entry(entry)
        if kept is None:
            self._rejected += bool(line.strip())
        else:
            entries[str(entry["key"])] = kept

    def _parse_entry(self, item: Mapping[str, Json]) -> CachedReply | None:
        key, value, mac = item.get("key"), item.get("value"), item.get("mac")
        if not (isinstance(key, str) and isinstance(value, dict) and isinstance(mac, str)):
            return None
        if not hmac.compare_digest(self._mac(key, value).encode(), mac.encode()):
            return None
        data, model = value.get("data"), value.get("model")
        if not isinstance(data, dict) or not isinstance(model, (str, type(None))):
            return None
        return CachedReply(data=data, model=model)

    def _mac(self, key: str, value: Json) -> str:
        text = json.dumps([self._section, key, value], sort_keys=True, separators=(",", ":"))
        if self._secret is None:
            return hashlib.sha256(text.encode()).hexdigest()
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()
