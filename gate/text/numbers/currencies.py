"""Which spellings mean one currency: "$" is "USD" or "CAD", "EUR" is "€"."""

from __future__ import annotations

_DOLLARS = frozenset(("USD", "AUD", "CAD", "HKD", "NZD", "SGD", "TWD", "MXN", "ARS", "CLP", "COP"))
_US_DOLLARS = frozenset(("USD",))
_PLAIN_DOLLARS = frozenset(("$", "＄", "﹩", "dollar", "dollars"))
_POUNDS = frozenset(("GBP", "EGP"))
_RUPEES = frozenset(("INR", "PKR", "LKR"))
_CODES: dict[str, frozenset[str]] = {
    **dict.fromkeys((*_PLAIN_DOLLARS, "bucks"), _DOLLARS),
    **dict.fromkeys(("US$", "us dollars", "u.s. dollars", "american dollars"), _US_DOLLARS),
    **dict.fromkeys(("A$", "AU$", "australian dollars"), frozenset(("AUD",))),
    **dict.fromkeys(("C$", "CA$", "canadian dollars"), frozenset(("CAD",))),
    **dict.fromkeys(("HK$", "hong kong dollars"), frozenset(("HKD",))),
    **dict.fromkeys(("NZ$", "new zealand dollars"), frozenset(("NZD",))),
    **dict.fromkeys(("S$", "SG$", "singapore dollars"), frozenset(("SGD",))),
    **dict.fromkeys(("R$", "reais"), frozenset(("BRL",))),
    **dict.fromkeys(("€", "euro", "euros"), frozenset(("EUR",))),
    **dict.fromkeys(("£", "￡", "pound", "pounds"), _POUNDS),
    **dict.fromkeys(("british pounds", "pounds sterling"), frozenset(("GBP",))),
    **dict.fromkeys(("swiss francs", "francs", "franken"), frozenset(("CHF",))),
    **dict.fromkeys(("pesos", "mexican pesos"), frozenset(("MXN", "ARS", "CLP", "COP", "PHP"))),
    **dict.fromkeys(("indian rupees",), frozenset(("INR",))),
    **dict.fromkeys(("japanese yen",), frozenset(("JPY",))),
    **dict.fromkeys(("yuan", "renminbi", "RMB"), frozenset(("CNY",))),
    **dict.fromkeys(("zloty", "zlotys"), frozenset(("PLN",))),
    **dict.fromkeys(("kronor", "swedish kronor"), frozenset(("SEK",))),
    **dict.fromkeys(("kroner",), frozenset(("NOK", "DKK"))),
    **dict.fromkeys(("rand",), frozenset(("ZAR",))),
    **dict.fromkeys(("rubles", "roubles"), frozenset(("RUB",))),
    **dict.fromkeys(("¥", "￥"), frozenset(("JPY", "CNY"))),
    "yen": frozenset(("JPY",)),
    **dict.fromkeys(("cent", "cents", "ct", "cts", "\u00a2"), _DOLLARS | {"EUR"}),
    **dict.fromkeys(
        ("euro cent", "euro cents", "eurocent", "centimes", "c\u00e9ntimos"), frozenset(("EUR",))
    ),
    **dict.fromkeys(("p", "pence", "penny"), frozenset(("GBP",))),
    **dict.fromkeys(("Rs", "₨", "rupee", "rupees"), _RUPEES),
    "₹": frozenset(("INR",)),
    "₩": frozenset(("KRW",)),
    "₽": frozenset(("RUB",)),
    "₺": frozenset(("TRY",)),
    "₴": frozenset(("UAH",)),
    "₦": frozenset(("NGN",)),
    "₱": frozenset(("PHP",)),
    "₫": frozenset(("VND",)),
    "₪": frozenset(("ILS",)),
    "฿": frozenset(("THB",)),
}


def currencies(unit: str, *, expected: bool = False) -> frozenset[str]:
    """The ISO codes that the unit of a number may stand for; a unit without one is its own.
    `expected`: of what a case asks for, "$" are US dollars.
    """
    if expected and unit in _PLAIN_DOLLARS:
        return _US_DOLLARS
    unit = " ".join(unit.split())
    return _CODES.get(unit) or _CODES.get(unit.lower()) or frozenset((unit,))
