"""Words of direction with their opposites, and negations, in each language that is known: one table
for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """`pairs` work both ways; of a word with two opposites the first pair that has it counts.
    `negations`: word -> what stands there when it is taken out. `yes_no`: words that open an
    answer; with `pausing` they do so before a comma or an end alone, since they mean "not" too.
    `common`: words by which a text is known to be of this language.
    """

    code: str
    yes_no: Pair
    pairs: tuple[Pair, ...]
    negations: Mapping[str, str]
    common: frozenset[str]
    pausing: bool = False
    not_opening: str = ""  # what may not follow the word that opens an answer
    elided: str = ""  # a negation that is written together with its verb


def _endings(pairs: Iterable[Pair], *endings: str) -> Iterator[Pair]:
    """Each pair with each ending on both of its words."""
    return ((one + end, other + end) for one, other in pairs for end in endings)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = Language(
    code="en",
    yes_no=("yes", "no"),
    not_opening=r"\s+(?:one|longer|more|less|fewer)\b",
    common=_words(
        "the a an of and is in to it its was by for with that this are were be as on at from not"
        " than has have had did does there we i you plus"
    ),
    negations={
        "cannot": "can",
        "can't": "can",
        "won't": "will",
        "nothing": "something",
        "nobody": "somebody",
        "no one": "somebody",
        "none": "some",
        "nowhere": "somewhere",
        "neither": "either",
        "nor": "or",
        "not": "",
        "never": "",
        "no longer": "still",
        "no": "a",  # before a noun: "there is no plan"
    },
    pairs=(
        *(("yes", "no"), ("true", "false"), ("correct", "incorrect"), ("at least", "at most")),
        *(("rose", "fell"), ("rise", "fall"), ("rises", "falls"), ("risen", "fallen")),
        *(("rising", "falling"), ("increase", "decrease"), ("increases", "decreases")),
        *(("increased", "decreased"), ("increasing", "decreasing"), ("increase in", "decrease in")),
        *(("grew", "shrank"), ("grow", "shrink"), ("grows", "shrinks"), ("grown", "shrunk")),
        *(("growing", "shrinking"), ("growth", "decline"), ("gained", "lost"), ("gain", "loss")),
        *(("climbed", "dropped"), ("soared", "plunged")),
        *(("went up", "went down"), ("goes up", "goes down"), ("up by", "down by")),
        *(("grew by", "declined by"), ("improved", "worsened"), ("improves", "worsens")),
        *(("upward", "downward"), ("upwards", "downwards"), ("positive", "negative")),
        *(("more", "less"), ("more", "fewer"), ("most", "least"), ("most", "fewest")),
        *(("higher", "lower"), ("highest", "lowest"), ("larger", "smaller")),
        *(("largest", "smallest"), ("bigger", "smaller"), ("biggest", "smallest")),
        *(("greater", "smaller"), ("greatest", "smallest"), ("longer", "shorter")),
        *(("longest", "shortest"), ("faster", "slower"), ("fastest", "slowest")),
        *(("quicker", "slower"), ("quickest", "slowest"), ("earlier", "later")),
        *(("earliest", "latest"), ("better", "worse"), ("best", "worst"), ("cheaper", "dearer")),
        *(("stronger", "weaker"), ("busier", "quieter"), ("older", "newer"), ("oldest", "newest")),
        *(("warmer", "colder"), ("above", "below"), ("over", "under"), ("before", "after")),
        *(("maximum", "minimum"), ("ahead of", "behind"), ("exceeds", "falls short of")),
        *(("exceeded", "fell short of"), ("more than", "less than"), ("more than", "fewer than")),
        *(("more than", "up to"), ("inside", "outside"), ("included", "excluded")),
        *(("includes", "excludes"), ("include", "exclude"), ("always", "never")),
        *(("allowed", "forbidden"), ("accepted", "refused"), ("doubled", "halved")),
    ),
)
GERMAN = Language(
    code="de",
    yes_no=("ja", "nein"),
    common=_words(
        "der die das den dem des und ist in im um auf von vom mit für zu zum war waren wurde sind"
        " als ein eine einen hat haben sich es wir er sie an am bei nur auch prozent gegenüber"
    ),
    negations={
        "nicht mehr": "noch",
        "nicht": "",
        "nie": "",
        "niemals": "",
        "nichts": "etwas",
        "niemand": "jemand",
        "nirgends": "irgendwo",
        **{f"kein{end}": f"ein{end}" for end in ("", "e", "en", "em", "er", "es")},
    },
    pairs=(
        *(("ja", "nein"), ("wahr", "falsch"), ("richtig", "falsch")),
        *(("mindestens", "höchstens"), ("mehr", "weniger"), ("meisten", "wenigsten")),
        *(("stieg", "fiel"), ("stiegen", "fielen"), ("steigt", "fällt"), ("steigt", "sinkt")),
        *(("steigen", "fallen"), ("steigen", "sinken"), ("gestiegen", "gefallen")),
        *(("gestiegen", "gesunken"), ("stieg", "sank"), ("stiegen", "sanken")),
        *(("steigend", "fallend"), ("steigende", "fallende"), ("steigenden", "fallenden")),
        *(("wuchs", "schrumpfte"), ("wuchsen", "schrumpften"), ("wächst", "schrumpft")),
        *(("gewachsen", "geschrumpft"), ("wachstum", "rückgang"), ("anstieg", "rückgang")),
        *(("erhöhte", "senkte"), ("erhöhten", "senkten"), ("erhöht", "gesenkt")),
        *(("erhöhung", "senkung"), ("zugenommen", "abgenommen"), ("zunahme", "abnahme")),
        *(("nahm zu", "nahm ab"), ("nahmen zu", "nahmen ab"), ("nimmt zu", "nimmt ab")),
        *(("legte zu", "gab nach"), ("legten zu", "gaben nach"), ("zuwachs", "verlust")),
        *(("gewinn", "verlust"), ("verbessert", "verschlechtert")),
        *(("verbesserte", "verschlechterte"), ("aufwärts", "abwärts"), ("über", "unter")),
        *(("oberhalb", "unterhalb"), ("vor", "nach"), ("maximum", "minimum")),
        *(("maximal", "minimal"), ("innerhalb", "außerhalb"), ("immer", "nie")),
        *(("erlaubt", "verboten"), ("verdoppelt", "halbiert"), ("verdoppelte", "halbierte")),
        *(("überschreitet", "unterschreitet"), ("überschritt", "unterschritt")),
        *(("teurer", "billiger"), ("teurer", "günstiger"), ("früher", "später")),
        *_endings(
            (
                *(("höher", "niedriger"), ("höher", "tiefer"), ("größer", "kleiner")),
                *(("länger", "kürzer"), ("schneller", "langsamer"), ("besser", "schlechter")),
                *(("stärker", "schwächer"), ("älter", "neuer"), ("wärmer", "kälter")),
                *(("positiv", "negativ"),),
            ),
            *("", "e", "en", "er", "es", "em"),
        ),
        *_endings(
            (
                *(("höchst", "niedrigst"), ("größt", "kleinst"), ("längst", "kürzest")),
                *(("schnellst", "langsamst"), ("best", "schlechtest"), ("stärkst", "schwächst")),
                *(("frühest", "spätest"), ("ältest", "neuest")),
            ),
            *("e", "en", "er", "es", "em"),
        ),
    ),
)
FRENCH = Language(
    code="fr",
    yes_no=("oui", "non"),
    elided=r"n['’]",
    common=_words(
        "le la les l un une des du de et est en à au aux par pour que qui avec dans sur sont été"
        " a ont il elle ce cette son sa ses nous on pas ne c d pourcent cent"
    ),
    negations={
        "ne": "",
        "pas": "",
        "jamais": "",
        "rien": "quelque chose",
        "aucun": "un",
        "aucune": "une",
        "nulle part": "quelque part",
        "ni": "ou",
    },
    pairs=(
        *(("oui", "non"), ("vrai", "faux"), ("vraie", "fausse"), ("au moins", "au plus")),
        *(("correct", "incorrect"), ("correcte", "incorrecte"), ("plus", "moins")),
        *(("plus tôt", "plus tard"), ("plus que", "moins que")),
        *(("hausse", "baisse"), ("hausses", "baisses"), ("augmente", "diminue")),
        *(("augmente", "baisse"), ("augmentent", "diminuent"), ("augmentait", "diminuait")),
        *(("augmenta", "diminua"), ("augmenter", "diminuer"), ("augmentation", "diminution")),
        *(("croissance", "recul"), ("croît", "décroît"), ("progresse", "recule")),
        *(("progression", "régression"), ("améliore", "dégrade"), ("gain", "perte")),
        *(("gains", "pertes"), ("au-dessus", "au-dessous"), ("au-dessus", "en dessous")),
        *(("avant", "après"), ("maximum", "minimum"), ("mieux", "pire"), ("toujours", "jamais")),
        *(("dépasse", "n'atteint pas"), ("croissant", "décroissant")),
        *_endings((("positif", "négatif"), ("autorisé", "interdit")), "", "s"),
        *_endings((("positive", "négative"), ("autorisée", "interdite")), "", "s"),
        *(("inclus", "exclu"), ("incluse", "exclue"), ("doublé", "réduit de moitié")),
        *_endings(
            (
                *(("augmenté", "diminué"), ("augmenté", "baissé"), ("progressé", "reculé")),
                *(("monté", "descendu"), ("gagné", "perdu"), ("amélioré", "dégradé")),
                *(("supérieur", "inférieur"), ("grimpé", "chuté")),
            ),
            *("", "e", "s", "es"),
        ),
        *(("meilleur", "pire"), ("meilleure", "pire"), ("meilleurs", "pires")),
    ),
)
SPANISH = Language(
    code="es",
    yes_no=("sí", "no"),
    pausing=True,
    common=_words(
        "el la los las un una de del y es en a al por para que con se su sus fue son ha han lo le"
        " como está ciento este esta entre no"
    ),
    negations={
        "ya no": "todavía",
        "no": "",
        "nunca": "",
        "jamás": "",
        "nada": "algo",
        "nadie": "alguien",
        "ningún": "algún",
        "ninguno": "alguno",
        "ninguna": "alguna",
        "tampoco": "también",
        "ni": "o",
    },
    pairs=(
        *(("sí", "no"), ("verdadero", "falso"), ("cierto", "falso"), ("correcto", "incorrecto")),
        *(("al menos", "como máximo"), ("como mínimo", "como máximo"), ("más", "menos")),
        *(("por lo menos", "como máximo"), ("subió", "bajó"), ("subieron", "bajaron")),
        *(("subió", "cayó"), ("subieron", "cayeron"), ("sube", "baja"), ("suben", "bajan")),
        *(("subido", "bajado"), ("subido", "caído"), ("subida", "bajada"), ("subir", "bajar")),
        *(("aumentó", "disminuyó"), ("aumentaron", "disminuyeron"), ("aumenta", "disminuye")),
        *(("aumentan", "disminuyen"), ("aumentado", "disminuido"), ("aumento", "disminución")),
        *(("aumentar", "disminuir"), ("aumento", "descenso"), ("incremento", "descenso")),
        *(("incrementó", "redujo"), ("incrementaron", "redujeron"), ("aumentó", "descendió")),
        *(("creció", "decreció"), ("crecieron", "decrecieron"), ("crece", "decrece")),
        *(("crecido", "decrecido"), ("crecimiento", "caída"), ("ganó", "perdió")),
        *(("ganaron", "perdieron"), ("ganancia", "pérdida"), ("ganancias", "pérdidas")),
        *(("mejoró", "empeoró"), ("mejora", "empeora"), ("mejor", "peor"), ("mejores", "peores")),
        *_endings((("mayor", "menor"), ("superior", "inferior")), "", "es"),
        *(("por encima", "por debajo"), ("encima de", "debajo de"), ("antes", "después")),
        *(("temprano", "tarde"), ("dentro", "fuera"), ("siempre", "nunca")),
        *(("supera", "no alcanza"), ("superó", "no alcanzó"), ("duplicó", "redujo a la mitad")),
        *_endings(
            (
                *(("positiv", "negativ"), ("permitid", "prohibid"), ("incluid", "excluid")),
                *(("máxim", "mínim"),),
            ),
            *("o", "a", "os", "as"),
        ),
        *(("creciente", "decreciente"), ("crecientes", "decrecientes")),
    ),
)
# The first of those that fit a text equally well is taken.
LANGUAGES = (ENGLISH, GERMAN, FRENCH, SPANISH)
