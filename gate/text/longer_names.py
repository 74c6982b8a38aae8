"""Longer names and words that hold a phrase and mean something else: "Georgia O'Keeffe", "New
Mexico", "Marie Curie University", "non-smoking".
"""

from __future__ import annotations

import re
from functools import lru_cache

# What is named after somebody or some place, and is neither.
_NAMED_AFTER = (
    r"Times|Post|Journal|Herald|Tribune|Inquirer|Gazette|Chronicle|Examiner|Philharmonic|Symphony"
    r"|Agreement|Accords?|Protocol|Treaty|Convention|Declaration|Wall|Monument|Memorial|Center|Centre"
    r"|Prize|Award|Medal|Fellowship|Scholarship|Foundation|Street|St|Avenue|Ave|Road|Boulevard|Bridge"
)
_OF_PEOPLE = (
    r"University|College|Institute|School|Academy|Hospital|Airport|Museum|Library|Station|Square"
    r"|Park|Stadium|Arena|Theatre|Theater|Hall|Lecture|Highway"
)
_SEATS = (
    r"Bank|University|Gulf|Sea|Bay|Treaty|Duke|Duchess|Earl|Prince|Princess|Merchant|Tower|Strait"
    r"|Archbishop|Bishop|Battle|Bard|Count|Baron|Church"
)
# Places of the same name with another word in front.
_NEW = "York Mexico Jersey England Zealand Delhi Orleans Hampshire Guinea Caledonia Haven Brunswick"
_SIDES = {
    "South": "Sudan Africa Korea Carolina Dakota America Georgia Ossetia Yemen",
    "North": "Korea Carolina Dakota America Macedonia Yemen",
    "West": "Virginia Africa Germany Bengal",
    "East": "Timor Africa Germany",
    "Northern": "Ireland Cyprus Macedonia",
    "Central": "America Asia",
    "Latin": "America",
    "Equatorial": "Guinea",
    "British": "Columbia Guiana",
    "French": "Guiana Polynesia",
    "Inner": "Mongolia",
    "Baja": "California",
    "Monty": "Python",
    "Jack": "London",
    "Irving": "Berlin",
    "Isaiah": "Berlin",
    "Anatole": "France",
    "Whitney": "Houston",
    "Denzel": "Washington",
    "Joe": "Montana",
    "Hannah": "Montana",
    "Lake": "Victoria Superior Ontario Michigan Constance Geneva",
    "Queen": "Victoria",
    "Captain": "America",
    "Papua New": "Guinea",
}
_BEFORE = {place: ["New"] for place in _NEW.split()}
for _word, _places in _SIDES.items():
    for _place in _places.split():
        _BEFORE.setdefault(_place, []).append(_word)
_AFTER = {
    "Mexico": "City",
    "Guatemala": "City",
    "Panama": "City|Canal",
    "Kuwait": "City",
    "Guinea": "Bissau|Pig",
    "Kansas": "City",
    "Oklahoma": "City",
    "Jersey": "City",
    "Iowa": "City",
    "Salt Lake": "City",
    "Suez": "Canal",
    "Amazon": "River|Rainforest|Basin",
    "Indiana": "Jones",
    "Tennessee": "Williams",
    "Niagara": "County",
}
_GIVEN = (  # places that are people's names too
    "Georgia Paris Jordan Austin Chelsea Sydney Florence Dallas Victoria Charlotte Madison Brooklyn"
    " Virginia Houston Savannah Orlando Denver Alexandria Milan Troy Vienna Kent Chester Adelaide"
    " Dakota Carolina Montana Israel India Kenya Asia Chad Santiago Sofia Lourdes Phoenix Verona"
    " Catalina Cheyenne Carson Kingston London Devon Aurora"
)
_GIVEN_NAMES = frozenset(_GIVEN.split())
_PLACES_BESIDE = (  # after the place: its state, and what it has
    r"Tech|State|City|County|University|College|Airport|River|River|Bay|Beach|Harbou?r|Valley|Station"
    r"|Texas|France|Germany|Italy|Australia|Canada|England|Ontario|Illinois|Ohio|Florida|Colorado"
    r"|Arizona|Austria|Bulgaria|Chile|USA|US|UK|TX|GA|IL|FL|NC|WI|NY|AZ|CO|Is|Was|Has|And|Or|In|To"
    r"|The|For|With|On|At|From|January|February|March|April|May|June|July|August|September|October"
    r"|November|December|Office|Marathon|Opera|Olympics|Metro|Street|Monday|Tuesday|Wednesday"
    r"|Thursday|Friday|Saturday|Sunday|Summit|Conference|Region|Area|Division|Team"
)
_TIED = (  # non-smoking, state-of-the-art
    r"\b(?:(?:non|anti|un|quasi|pseudo|semi)[-\u2010\u2011]"
    r"|\w+[-\u2011](?:of|in|to|the|and)[-\u2011](?:the[-\u2011])?)"
)
_CAPITALISED = r"[A-Z](?:['\u2019.]|[a-z])[\w'\u2019]*"


@lru_cache(maxsize=4096)
def _longer(phrase: str) -> re.Pattern[str] | None:
    words = phrase.split()
    if not words or not words[0][0].isalpha():
        return None
    name = r"[\s_*]+".join(map(re.escape, words))
    if words[0].islower():
        return re.compile(rf"{_TIED}{name}(?!\w)", re.IGNORECASE)
    if not all(word[0].isupper() for word in words) or phrase.isupper():
        return None
    after = [_NAMED_AFTER]
    if len(words) > 1:
        after.append(_OF_PEOPLE)
    if phrase in _AFTER:
        after.append(_AFTER[phrase])
    forms = [
        rf"\b(?:{_SEATS})\s+of\s+(?:the\s+)?{name}",
        rf"(?<!\w){name}[\s-]+(?:{'|'.join(after)})",
    ]
    if phrase in _BEFORE:
        forms.append(rf"\b(?:{'|'.join(_BEFORE[phrase])})[\s-]+{name}")
    if phrase in _GIVEN_NAMES:
        forms.append(
            rf"(?<!\w){name} (?!(?:{_PLACES_BESIDE})\b)[A-Z](?:['\u2019.]|[a-z])[\w'\u2019]*"
        )
    return re.compile(rf"(?:{'|'.join(forms)})(?!\w)")


def find_longer(phrase: str, text: str) -> re.Pattern[str] | None:
    """The pattern of the longer names of `phrase`, both as they are written, where the text has
    one of them.
    """
    pattern = _longer(phrase)
    return pattern if pattern and pattern.search(text) else None
