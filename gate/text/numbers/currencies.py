"""Which spellings mean one currency: "$" is "USD" or "CAD", "EUR" is "€"."""

from __future__ import annotations

_DOLLARS = frozenset(("USD", "AUD", "CAD", "HKD", "NZD", "SGD", "TWD", "MXN", "ARS", "CLP", "COP"))
_POUNDS = frozenset(("GBP", "EGP"))
_RUPEES = frozenset(("INR", "PKR", "LKR"))
_CODES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("$", "＄", "﹩", "dollar", "dollars"), _DOLLARS),
    **dict.fromkeys(("US$",), frozenset(("USD",))),
    **dict.fromkeys(("A$", "AU$"), frozenset(("AUD",))),
    **dict.fromkeys(("C$", "CA$"), frozenset(("CAD",))),
    **dict.fromkeys(("HK$",), frozenset(("HKD",))),
    **dict.fromkeys(("NZ$",), frozenset(("NZD",))),
    **dict.fromkeys(("S$",), frozenset(("SGD",))),
    **dict.fromkeys(("R$",), frozenset(("BRL",))),
    **dict.fromkeys(("€", "euro", "euros"), frozenset(("EUR",))),
    **dict.fromkeys(("£", "￡", "pound", "pounds"), _POUNDS),
    **dict.fromkeys(("¥", "￥"), frozenset(("JPY", "CNY"))),
    "yen": frozenset(("JPY",)),
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


def currencies(unit: str) -> frozenset[str]:
    """The ISO codes that the unit of a number may stand for; a unit without one is its own."""
    return _CODES.get(unit) or _CODES.get(unit.lower()) or frozenset((unit,))
