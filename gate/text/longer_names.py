"""Longer names and words that hold a phrase and mean something else: "Georgia O'Keeffe", "New
Mexico", "Marie Curie Actions", "Schleswig-Holstein", "non-smoking".
"""

from __future__ import annotations

from gate.text.late_pattern import late_pattern

_WINDOW = 48  # characters on each side that are read
# What is named after somebody or some place, and is neither.
_NAMED_AFTER_WORDS = (
    "Times Post Journal Herald Tribune Inquirer Gazette Chronicle Examiner Philharmonic Symphony"
    " Agreement Accord Accords Protocol Treaty Convention Declaration Wall Monument Memorial Center"
    " Centre Prize Award Medal Fellowship Scholarship Foundation Street St Avenue Ave Road"
    " Arena Stadium Museum Theatre Theater Hall Square Tower Institute Lecture Highway"
    " Boulevard Bridge United Rovers Wanderers Albion Hotspur House Group Actions Programme Program"
)
_NAMED_AFTER = frozenset(_NAMED_AFTER_WORDS.split())
# After "Marie Curie" one of these begins something else, or tells what she is.
_ROLE_WORDS = (
    "CEO CFO CTO COO President Director Chair Chairman Chairwoman Minister Prof Professor Dr"
    " Spokesman Spokeswoman Spokesperson Secretary Manager Head Chief Editor Inc Ltd LLC GmbH AG"
    " SE Corp Corporation Co Company plc PLC SA Jr Sr II III IV CF FC And Or In To The For With"
    " On At From By Is Was Has He She It They We You His Her January February March April May"
    " June July August September October November December"
)
_ROLES = frozenset(_ROLE_WORDS.split())
_NO_TEAM_WORDS = (
    "Books Foods Motors Airlines Airways Industries Technologies Systems Records Studios Pictures"
    " Holdings Pharmaceuticals Bros Services Solutions Labs Laboratories Hotels Stores Tablets"
    " Charles James Thomas Jules"
)
_NO_TEAMS = frozenset(_NO_TEAM_WORDS.split())
_SEAT_WORDS = (
    "Bank University Gulf Sea Bay Treaty Duke Duchess Earl Prince Princess Merchant Tower Strait"
    " Archbishop Bishop Battle Bard Count Baron Church Universität Vertrag Schlacht Herzog Prinz"
    " Erzbischof Bischof"
)
_SEATS = frozenset(_SEAT_WORDS.split())
# "the Republic of Ireland" is Ireland; "the Book of Kells" is no Kells.
_SAME_WORDS = (
    "City State Republic Kingdom Province County Town Region Canton Island Islands Commonwealth"
    " Municipality Village Government President Mayor Minister Ministry King Queen Governor Port"
    " District Principality Duchy Ville Ciudad Provincia Reino República République People Roi"
    " Rey Presidente Presidenta Président Présidente Ministre Ministro Maire Alcalde"
    " Gouvernement Gobierno"
)
_SAME = frozenset(_SAME_WORDS.split())
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
    "Bruno": "Mars",
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
for _word, _named in _SIDES.items():
    for _place in _named.split():
        _BEFORE.setdefault(_place, []).append(_word)
_AFTER = {
    **dict.fromkeys(("Guatemala", "Kuwait", "Kansas", "Oklahoma", "Jersey", "Iowa"), ("City",)),
    **{"Mexico": ("City",), "Panama": ("City", "Canal", "hat"), "Guinea": ("Bissau", "Pig", "pig")},
    **{"Salt Lake": ("City",), "Suez": ("Canal",), "Niagara": ("County",), "Indiana": ("Jones",)},
    "Amazon": ("River", "Rainforest", "Basin", "river", "rainforest", "basin"),
    **{"Tennessee": ("Williams",), "Stockholm": ("syndrome",), "Brussels": ("sprouts", "sprout")},
    **{"Oxford": ("comma",), "Boston": ("terrier",), "Bermuda": ("shorts", "triangle", "Triangle")},
}
_GIVEN = (  # places that are people's names too
    "Georgia Paris Jordan Austin Chelsea Sydney Florence Dallas Victoria Charlotte Madison"
    " Brooklyn Virginia Houston Savannah Orlando Denver Alexandria Milan Troy Vienna Kent"
    " Chester Adelaide Dakota Carolina Montana Israel India Kenya Asia Chad Santiago Sofia"
    " Lourdes Phoenix Verona Catalina Cheyenne Carson Kingston London Devon Aurora"
)
_GIVEN_NAMES = frozenset(_GIVEN.split())
_PLACES_BESIDE_WORDS = (  # after the place: its state, and what it has
    "Tech State City County University College Airport River Bay Beach Harbor Harbour Valley"
    " Station Texas France Germany Italy Australia Canada England Ontario Illinois Ohio Florida"
    " Colorado Arizona Austria Bulgaria Chile USA US UK TX GA IL FL NC WI NY AZ CO Is Was Has"
    " And Or In To The For With On At From January February March April May June July August"
    " September Octobe November December Office Marathon Opera Olympics Metro Street Monday"
    " Tuesday Wednesday Thursday Friday Saturday Sunday Summit Conference Region Area Division"
    " Team"
)
_PLACES_BESIDE = frozenset(_PLACES_BESIDE_WORDS.split())
_HYPHENS = ("-", "\u2010", "\u2011")
_HYPHEN = "[-\u2010\u2011]"
_CAPITAL = "[A-Z\u00c0-\u00de]"
# "Parkinson-Krankheit": a German noun after a name, that tells what it is about.
_ABOUT = late_pattern(
    r"(?i:\w*(?:krankheit|erkrankung|syndrom|therapie|behandlung|patient|einnahme|dosis|tablette"
    r"|region|büro|team|kunde|nutzer|version|server|daten|flug|reise|aktie|chef|konzern|mitarbeiter"
    r"|standort|filiale|werk|code|datei|konto|karte|anwendung|entwickler|besuch|raum|zeit)"
    r"(?:e?[ns]{0,2}))(?!\w)"
)
_NON = rf"\b(?:non|anti|un|quasi|pseudo|semi|ex|pre){_HYPHEN}\Z"  # non-smoking
_NON_OR_NAME = late_pattern(rf"{_NON}|\b{_CAPITAL}\w*{_HYPHEN}\Z")
_TIED = late_pattern(rf"(?i:{_NON}|\w{_HYPHEN}(?:of|in|to|the|and){_HYPHEN}(?:the{_HYPHEN})?\Z)")
_TIES = late_pattern(rf"{_HYPHEN}(?:(?:of|to|the|and){_HYPHEN}|(?:free|less|proof|like)(?!\w))")
_OF = late_pattern(
    rf"(?:(?P<inside>[\w,] |['\u2019])|\b)(?P<what>{_CAPITAL}\w*)\s+"
    r"(?:of|of the|(?P<german>von)|de|de la|del|des|di|do|da|d['\u2019]) ?\Z"
)
_WORD = late_pattern(r"\w[\w'\u2019.]*")
_SUBTITLE = late_pattern(rf":(?: {_CAPITAL}[\w'\u2019]+){{1,5}}(?:[.,;!?)]|\Z)")
_COMMON_NAMES = (  # whose words mean something else where they are written small
    "Labour Turkey Apple China Polish May March Mars Java Python Orange Shell Target Gap Jordan"
    " Chile Hungary Bath Reading Nice Mobile Cork Essen Rust Go Swift Ruby Spark Slack Zoom"
    " Teams Word Excel Windows Access Oracle Meta Signal Square Stripe Chrome Edge Opera Mercury"
    " Will Mark Bill Rose Grace Hope Sage Bush Rice Brown Green White Black Young Cook Baker"
    " Smith Wood Stone Wolf Fox Page Brook Lily Jasmine Ford Dodge Subway Amazon Galaxy Prime"
    " Echo Nest Kindle Notion Box Dash Flask Express React Angular US IT WHO AIDS AM PM IN OR ME"
    " OK HI MA PA CAN ACT ALL ARM ART ATM BIT CAT COP END FAR FIT GAS ICE LED MAC NOW OFF ONE"
    " OUT PIN RAM RED SAD SAP SIX TEN USE VAN WAR WAS WIN"
)
_COMMON = frozenset(_COMMON_NAMES.split())
_ENDS = ("free", "less", "proof")


def without_longer(phrase: str, text: str) -> str:
    """The text with " ; " where `phrase` is a part of a longer name or word, both as they are
    written.
    """
    if not phrase[:1].isalpha():
        return text
    if phrase in _COMMON and not text.islower():
        others = {phrase.lower(), phrase.title()} - {phrase}
        text = _cut(text, sorted(place for other in others for place in _places(other, text)))
    words = phrase.split()
    if words[0].islower():
        lower = text.lower()
        found = _places(phrase.lower(), lower) if len(lower) == len(text) else []
        places = [place for place in found if _is_tied(phrase, lower, *place)]
    elif not phrase.isupper() and words[-1][0].isupper():
        found = _places(phrase, text)
        if len(words) > 1:
            found = sorted(found + _places("-".join(words), text))
        places = [place for place in found if _is_part(phrase, text, *place)]
    else:
        return text
    return _cut(text, places) if places else text


def _cut(text: str, places: list[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in places:
        pieces.append(text[at:start])
        at = end
    return " ; ".join((*pieces, text[at:]))


def _places(written: str, text: str) -> list[tuple[int, int]]:
    places = []
    at = text.find(written)
    while at >= 0:
        end = at + len(written)
        if not (at and text[at - 1].isalnum()) and not text[end : end + 1].isalnum():
            places.append((at, end))
        at = text.find(written, end)
    return places


def _is_part(phrase: str, text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
    return _follows(phrase, before) or _goes_on(phrase, before, after)


def _is_tied(phrase: str, text: str, start: int, end: int) -> bool:
    """ "non-smoking", "state-of-the-art", "gluten-free"."""
    if text[start - 1 : start] in _HYPHENS and start:
        before = text[max(0, start - _WINDOW) : start]
        return phrase in _ENDS or _TIED.search(before) is not None
    return text[end : end + 1] in _HYPHENS and " " not in phrase and bool(_TIES.match(text, end))


def _follows(phrase: str, before: str) -> bool:
    """Whether a longer name has begun: "Schleswig-", "New ", "the University of "."""
    if before[-1:] in _HYPHENS:
        return _NON_OR_NAME.search(before) is not None
    if phrase in _BEFORE and f" {before}".endswith(tuple(f" {word} " for word in _BEFORE[phrase])):
        return True
    found = _OF.search(before) if before[-1:] in (" ", "'", "\u2019") else None
    if found is None or found["what"] in _SAME:
        return False
    return found["what"] in _SEATS or (found["inside"] is not None and not found["german"])


def _goes_on(phrase: str, before: str, after: str) -> bool:
    """Whether it goes on: "-Lorenz", " Post", " Actions", ": Silksong"."""
    if after[:1] in _HYPHENS:
        return after[1:2].isupper() and not _ABOUT.match(after, 1)
    if after[:1] == ":" and " " in phrase:
        return before[-1:] == " " and bool(_SUBTITLE.match(after)) and before[-2:-1].isalpha()
    found = _WORD.match(after, 1) if after[:1].isspace() else None
    if found is None:
        return False
    word = found[0].rstrip(".")
    if word in _NAMED_AFTER or word in _AFTER.get(phrase, ()):
        return True
    if not word[0].isupper() or len(word) < 2 or not (word[1].islower() or word[1] in "'\u2019."):
        return False
    if " " in phrase:
        return not (
            word in _ROLES
            or word.endswith("day")
            or after[found.end() : found.end() + 1] in ("=", ":")
        )
    if word in _PLACES_BESIDE:
        return after.startswith(" University Press")
    a_team = (
        word not in _NO_TEAMS and word[-1] == "s" and word[-2] not in "siu" and word[1:].islower()
    )
    return phrase in _GIVEN_NAMES or (
        a_team and not after[found.end() + 1 : found.end() + 2].isupper()
    )
