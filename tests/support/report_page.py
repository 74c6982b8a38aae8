"""What a browser reads out of report.html."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

_BLOCK = re.compile(r'<script type="application/gzip;base64" id="([\w-]+)">(.*?)</script>')


def unpack(block: str) -> Any:
    """The index."""
    return json.loads(_text(block))


def unpack_cases(block: str) -> list[dict[str, Any]]:
    """What is said of each case of a block, its rounds with their answers."""
    *texts, facts = map(json.loads, _text(block).split("\n"))
    return [
        {
            **of_case,
            **told,
            "rounds": [
                {**one, "output": output, "error": error}
                for one, (output, error) in zip(told["rounds"], of_case["answers"], strict=True)
            ],
        }
        for of_case, told in zip(texts, facts, strict=True)
    ]


def _text(block: str) -> str:
    return gzip.decompress(base64.b64decode(block)).decode()


def unpack_page(text: str) -> tuple[dict[str, Any], list[list[dict[str, Any]]]]:
    """The index, and the blocks of details in order."""
    blocks = dict(_BLOCK.findall(text))
    index = unpack(blocks.pop("index"))
    return index, [unpack_cases(blocks[f"block-{number}"]) for number in range(len(blocks))]
