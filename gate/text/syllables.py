"""Syllables of a word, counted by its spelling: one for each vowel sound that the letters show.

An approximation, as every count without a dictionary. The rules were set by the words of
test_syllables.py, of which a few are still off by one; on other words it misses more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from gate.text.late_pattern import late_pattern

Language = Literal["en", "de", "fr", "es", "it", "nl"]

_PARTS = late_pattern("['’\\-‐‑]")

# Letters that sound as one vowel; longer groups first, `u` after q is none in any language.
_VOWELS: Mapping[Language, re.Pattern[str]] = {
    "en": late_pattern("[aeiouy]+"),
    "de": late_pattern("ei|ai|ey|ay|eu|äu|au|ie|aa|ee|oo|[aeiouyäöüéèàê]"),
    "fr": late_pattern("é|[aeiouyàâäèêëîïôöùûüœæ]+"),
    "es": late_pattern("[iuüy]*[aeoáéíóú][iuüy]?(?![aeoáéíóú])|[iuüy]*[aeoáéíóú]|[iuüy]+"),
    "it": late_pattern("[iu]*[aeoàèéìíòóùú][iu]?(?![aeoàèéìíòóùú])|[iu]*[aeoàèéìíòóùú]|[iu]+"),
    "nl": late_pattern(
        "aai|ooi|oei|eeu|ieu|aa|ee|oo|uu|ij|ei|ui|ou|au|oe|eu|ie|[aeiouyéèëïöüáóúí]"
    ),
}
# Endings that are written and not spoken.
_SILENT: Mapping[str, re.Pattern[str]] = {
    # make, makes, walked; but ta-ble, chan-ges, ad-ded; and inside a word: state-ment
    "en": late_pattern(
        "(?<![^aeiouy]l)e$|(?<=[^aeiouyscxzghl])es$|(?<=[aeiouy]l)es$|(?<=[^aeiouytd])(?<!dr)ed$"
        "|(?<=[^aeiouyl])e(?=(?:ly|ments?|ful|less|ness)$)"
    ),
    "fr": late_pattern("es?$"),  # table, tables; é is another letter
}
# Where letters that stand together are two vowels.
_APART: Mapping[str, re.Pattern[str]] = {
    # me-di-a, ac-tu-al, in-flu-ence, vid-e-o, be-ing, qui-et, sci-ence, pay-er, i-de-a; and pris-m
    "en": late_pattern(
        "(?<=[^aeiouycstgxln])i(?=[aou])|(?<=[^gqaeiou])u(?=a|en)|e(?=o(?:$|[rgl]))"
        "|(?<=[aeiouy])(?=ings?$)|(?<=[^aeiouy])i(?=et)|(?<=sc)i(?=en)"
        "|(?<=[aeiou])y(?=[aeou])|(?<=[aeiouy][^aeiouy])e(?=a$)|(?<=s)(?=m$)"
    ),
    "fr": late_pattern("(?<=[^aeiouy][lr])i(?=[aeéo])"),  # cli-ent
}


def count_syllables(word: str, language: Language) -> int:
    """At least one; a word with hyphens or apostrophes has the sum of its parts."""
    if word.isalpha():
        return _count_part(word.lower(), language)
    parts = (part for part in _PARTS.split(word.lower()) if len(part) > 1)
    return sum(_count_part(part, language) for part in parts) or 1


@lru_cache(maxsize=20_000)
def _count_part(part: str, language: Language) -> int:
    part = part[:100].replace("qu", "q")
    spoken = _SILENT[language].sub("", part) if language in _SILENT else part
    count = len(_VOWELS[language].findall(spoken))
    if language in _APART:
        count += len(_APART[language].findall(part))
    return max(1, count)
