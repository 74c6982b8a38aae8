"""What unpacks zstd here: Python's own from 3.14 on, or one of two packages if it is there."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import BinaryIO

_MODULES = ("compression.zstd", "backports.zstd")
_OTHER = "zstandard"


def find_zstd() -> Callable[[BinaryIO], BinaryIO] | None:
    """Packed bytes -> unpacked bytes; None where nothing here unpacks zstd."""
    for name in _MODULES:
        try:
            reader: Callable[[BinaryIO], BinaryIO] = importlib.import_module(name).ZstdFile
        except ImportError:
            continue
        return reader
    try:
        decoder = importlib.import_module(_OTHER).ZstdDecompressor()
    except ImportError:
        return None
    return lambda packed: decoder.stream_reader(packed, read_across_frames=True)


def zstd_errors() -> tuple[type[Exception], ...]:
    """What is raised for bytes that are no zstd."""
    return tuple(sys.modules[name].ZstdError for name in (*_MODULES, _OTHER) if name in sys.modules)


def tell_no_zstd(path: str, other: str) -> str:
    """What to say where nothing unpacks it; `other`: another way on, may be empty."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"{path}: packed with zstd, which Python {version} cannot unpack without help; "
        f"install the package backports.zstd{f', or {other}' if other else ''}"
    )
