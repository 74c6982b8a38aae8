"""What a task requires at its end: the checked `eval` of its configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gate.graders.webarena_rules.urls import ALTERNATIVES
from gate.records import CheckedJson, Json
from gate.text.shortening import shorten

STRING, URL, PAGE = "string_match", "url_match", "program_html"
NOT_ACHIEVABLE = "N/A"
URL_NOTE = "GOLD in PRED"  # the only rule for addresses that there is
LAST = "last"  # the page where the run ended
SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia")
_PLACEHOLDERS = {site: f"__{site.upper()}__" for site in SITES}
_MOST = 1_000  # targets, references: far more than any task has


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The references for the answer, in the order of the task, which matters (N/A)."""

    order: tuple[str, ...]
    exact: str = ""
    includes: tuple[str, ...] = ()
    fuzzy: tuple[str, ...] = ()  # (N/A,): the task cannot be done


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A page and a place on it. `exact` None: each of `includes`, or one of its alternatives, must
    be there.
    """

    url: str
    locator: str
    exact: str | None = None
    includes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """The parts to check. `parts`: which of the three kinds count, in order."""

    parts: tuple[str, ...]
    answers: Answers | None = None
    url: str = ""
    targets: tuple[Target, ...] = ()
    reason: str = ""  # why a task cannot be done


def checks_of(written: CheckedJson) -> Checks:
    """The checks in a written `eval`. Raises ValueError with every fault, in one sentence."""
    faults = list(faults_of(written))
    if faults:
        raise ValueError("; ".join(faults[:5]))
    parts = tuple(written["eval_types"])
    return Checks(
        parts=parts,
        answers=_answers(written["reference_answers"]) if STRING in parts else None,
        url=written["reference_url"] if URL in parts else "",
        targets=tuple(map(_target, written["program_html"])) if PAGE in parts else (),
        reason=written.get("string_note") or "",
    )


def with_sites(value: Json, sites: Mapping[str, str]) -> Json:
    """The value with every `__SHOPPING__` replaced by the address of `shopping` in `sites`, without
    a slash at its end.
    """
    if isinstance(value, str):
        for site, address in sites.items():
            value = value.replace(_PLACEHOLDERS.get(site, site), address.rstrip("/"))
        return value
    if isinstance(value, list):
        return [with_sites(item, sites) for item in value]
    if isinstance(value, dict):
        return {key: with_sites(item, sites) for key, item in value.items()}
    return value


def open_sites(text: str) -> tuple[str, ...]:
    """The sites whose address is a placeholder in the text."""
    return tuple(site for site in SITES if _PLACEHOLDERS[site] in text)


def faults_of(written: CheckedJson) -> Iterator[str]:
    """One sentence for each fault of an `eval`: the original would fail on it, or accept
    anything.
    """
    if not isinstance(written, dict):
        yield "eval: no object"
        return
    parts = written.get("eval_types")
    if not isinstance(parts, list) or not 0 < len(parts) < 10:
        yield f"eval.eval_types: no list of {STRING}, {URL}, {PAGE}"
        return
    for part in parts:
        if not isinstance(part, str) or part not in _FAULTS:
            yield f"eval.eval_types: '{_short(part)}' is none of {STRING}, {URL}, {PAGE}"
        else:
            yield from _FAULTS[part](written)


def _answer_faults(written: Mapping[str, Json]) -> Iterator[str]:
    given = written.get("reference_answers")
    where = "eval.reference_answers"
    if not isinstance(given, dict) or not given:
        yield f"{where}: no object with exact_match, must_include or fuzzy_match"
        return
    for name, value in given.items():
        if name == "exact_match":
            if not isinstance(value, str):
                yield f"{where}.{name}: no text"
        elif name not in ("must_include", "fuzzy_match"):
            yield f"{where}: '{_short(name)}' is an unknown comparison"
        elif not _texts(value) and (name, value) != ("fuzzy_match", NOT_ACHIEVABLE):
            yield f"{where}.{name}: no list of texts"
    if given.get("fuzzy_match") == NOT_ACHIEVABLE and not isinstance(
        written.get("string_note", ""), (str, type(None))
    ):
        yield "eval.string_note: no text"


def _url_faults(written: Mapping[str, Json]) -> Iterator[str]:
    url = written.get("reference_url")
    if not isinstance(url, str) or not all(one.strip("/ ") for one in url.split(ALTERNATIVES)):
        yield "eval.reference_url: no address, so any page would pass"
    if written.get("url_note", URL_NOTE) != URL_NOTE:
        yield f"eval.url_note: '{_short(written['url_note'])}' is an unknown rule"


def _page_faults(written: Mapping[str, Json]) -> Iterator[str]:
    targets = written.get("program_html")
    if not isinstance(targets, list) or not 0 < len(targets) <= _MOST:
        yield "eval.program_html: no list of targets"
        return
    for n, target in enumerate(targets):
        where = f"eval.program_html[{n}]"
        if not isinstance(target, dict):
            yield f"{where}: no object"
            continue
        yield from _target_faults(target, where)


def _target_faults(target: Mapping[str, Json], where: str) -> Iterator[str]:
    if not isinstance(target.get("url"), str) or not target["url"]:
        yield f"{where}.url: must be an address, `{LAST}` or func:..."
    locator = target.get("locator")
    is_known = isinstance(locator, str) and (
        not locator.strip() or locator.startswith(("document.", "[...document.", "func:"))
    )
    if not is_known:
        yield f"{where}.locator: '{_short(locator)}' is of an unknown kind"
    wanted = target.get("required_contents")
    if not isinstance(wanted, dict):
        yield f"{where}.required_contents: no object"
    elif "exact_match" in wanted:
        if not isinstance(wanted["exact_match"], str):
            yield f"{where}.required_contents.exact_match: no text"
    elif not _texts(wanted.get("must_include")):
        yield f"{where}.required_contents: neither exact_match nor must_include with a list"


_FAULTS = {STRING: _answer_faults, URL: _url_faults, PAGE: _page_faults}


def _answers(given: Mapping[str, CheckedJson]) -> Answers:
    fuzzy = given.get("fuzzy_match", ())
    return Answers(
        order=tuple(given),
        exact=given.get("exact_match", ""),
        includes=tuple(given.get("must_include", ())),
        fuzzy=(fuzzy,) if isinstance(fuzzy, str) else tuple(fuzzy),
    )


def _target(target: Mapping[str, CheckedJson]) -> Target:
    wanted = target["required_contents"]
    return Target(
        url=target["url"],
        locator=target["locator"],
        exact=wanted.get("exact_match"),
        includes=() if "exact_match" in wanted else tuple(wanted["must_include"]),
    )


def _texts(value: Json) -> bool:
    return (
        isinstance(value, list)
        and 0 < len(value) <= _MOST
        and all(isinstance(one, str) for one in value)
    )


def _short(value: Json) -> str:
    return shorten(str(value), 60)
