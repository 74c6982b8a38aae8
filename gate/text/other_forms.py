"""Other forms of the same text: a code with other gaps, "3:1" for "3-1", "finished third" for
"third place".
"""

from __future__ import annotations

import re

from gate.text.late_pattern import late_pattern

_GAP = r"[ ./()\u00a0-]"
_CODE = late_pattern(r"\+?[A-Z0-9(][A-Z0-9 ./()\u00a0-]{7,40}")
_GAPS = late_pattern(_GAP)
_FEWEST_FIGURES = 6  # of a code that may be written with other gaps
_FINISHED = (
    r"\b(?:finish\w*|came|come|coming|plac(?:e[sd]?|ing)|rank(?:s|ed|ing)?|end(?:s|ed)?(?: up)?"
    r"|is|was|stands?|sits?|lies) (?:in )?(?:the )?"
)
_HTTP_NAMES = (
    "bad gateway|not found|internal server|service unavailable|gateway time-?out|forbidden"
    "|unauthori[sz]ed|too many requests|bad request|conflict|status|response|errors?"
)
# Of a text in its plain form (lower case, "3rd" for "third"): what else states it.
_FORMS = (
    (
        late_pattern(r"(?P<a>\d{1,3})[-: ](?P<b>\d{1,3})"),
        r"(?<![\d.,:/-]){a}(?: ?[-:] ?| to | zu ){b}(?![\d:/-]|[.,]\d)",
    ),
    (
        late_pattern(r"(?P<a>\d{1,3})/(?P<b>\d{1,3})(?: mmhg)?"),
        r"(?<![\d.,/]){a}(?: ?/ ?| over | zu | sur | sobre ){b}(?![\d/]|[.,]\d)",
    ),
    (
        late_pattern(r"(?:in )?(?P<a>\d{1,2}(?:st|nd|rd|th)) (?:place|position|rank)"),
        _FINISHED + r"{a}(?=[.,;:!)]|\Z| (?:in|with|on|at|behind|overall|after|and|from|for)\b)",
    ),
    (late_pattern(r"v(?P<a>\d+\.\d+\.\d+)"), r"(?<![\w.]){a}(?!\w|\.\d)"),
    (late_pattern(r"port (?P<a>\d{2,5})"), r"(?<=[\w\]]):{a}(?![\d:])"),
    (
        late_pattern(r"(?:http |status |error |code )+(?P<a>[1-5]\d\d)"),
        rf"\b(?:http|status|error|code|response)(?: \w+)? {{a}}\b|\b{{a}} (?:{_HTTP_NAMES})\b",
    ),
)


def compile_other_forms(phrase: str, plain: str) -> tuple[re.Pattern[str], ...]:
    """Patterns that find a phrase in another form, in texts in lower case. `plain` is the phrase as
    it stands in such a text.
    """
    patterns = []
    for form, other in _FORMS:
        if found := form.fullmatch(plain):
            for name, part in found.groupdict().items():
                other = other.replace(f"{{{name}}}", part)
            patterns.append(re.compile(other))
    signs = _GAPS.sub("", phrase).lstrip("+").lower()
    if (
        _CODE.fullmatch(phrase)
        and signs.isalnum()
        and sum(map(str.isdecimal, signs)) >= _FEWEST_FIGURES
    ):
        written = rf"{_GAP}{{0,2}}".join(signs)
        patterns.append(re.compile(rf"(?<![^\W_]){written}(?![^\W_]|[.,]\d)"))
    return tuple(patterns)
