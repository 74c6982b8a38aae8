"""What two failures share: their texts and codes with the details of the one case taken out."""

from __future__ import annotations

import re

from gate.text.late_pattern import late_pattern

MASK = "*"
_DETAIL = 100  # of a code
# Codes whose detail is what the one case wants or the one answer says.
_OF_THE_CASE = frozenset(
    {"fact_missing", "forbidden_fact", "text_missing", "pattern_missing", "forbidden_pattern_hit"}
    | {"unsupported_number"}
)
_DETAILS = late_pattern(
    # A status is no detail: 404 is another failure than 500.
    r"(?P<kept>\b(?:answered|http(?:/[\d.]+)?|status|code|signal)[ :=]+\d{1,3}\b)"
    r"|(?P<masked>"
    r"(?<!\w)'[^']{0,200}'(?!\w)|\"[^\"]{0,200}\"|`[^`]{0,200}`|\u201c[^\u201d]{0,200}\u201d"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b0x[0-9a-f]+\b"
    r"|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b"  # a digest or an id
    r"|\b(?=[a-z]*\d)[a-z\d]{16,}\b"  # a token
    r"|[+-]?\d+(?:[.,:]\d+)*"
    r")",
    re.IGNORECASE,
)
_RUN = late_pattern(r"\*(?:[-T_/:.,]?\*)+Z?")


def masked(text: str) -> str:
    """With `*` for numbers, ids and what stands in quotes; statuses stay."""
    shown = _DETAILS.sub(lambda found: found["kept"] or MASK, text)
    return _RUN.sub(MASK, shown)


def masked_code(code: str) -> str:
    """`wrong_tool_args:run_sql` as it is, `fact_missing:4.2 %` as `fact_missing`."""
    head, colon, detail = code.partition(":")
    if head in _OF_THE_CASE:
        return head
    return masked(f"{head[:_DETAIL]}{colon}{detail[:_DETAIL]}")
