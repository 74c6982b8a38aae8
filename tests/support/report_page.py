"""What a browser reads out of report.html."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import Any

_BLOCK = re.compile(r'<script type="application/gzip;base64" id="([\w-]+)">(.*?)</script>')


def unpack(block: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(block)))


def unpack_page(text: str) -> tuple[dict[str, Any], list[list[dict[str, Any]]]]:
    """The index, and the blocks of details in order."""
    blocks = {name: unpack(block) for name, block in _BLOCK.findall(text)}
    index = blocks.pop("index")
    return index, [blocks[f"block-{number}"] for number in range(len(blocks))]
