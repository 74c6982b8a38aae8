"""What of a variable's value is secret: passwords of addresses, fields of connection strings and of
JSON, credentials of headers, keys that have a form of their own. Pure.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from urllib.parse import unquote

from gate.records import Json
from gate.text.late_pattern import late_pattern

MOST = 100_000  # characters of a value that are looked at

_SECRETS = (
    *("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CRED"),
    "WEBHOOK",
)
_SECRET_ENDS = (*_SECRETS, *(f"{word}S" for word in _SECRETS))  # of a word of the name
_SECRET_WORDS = frozenset(
    (
        *("PASS", "PAT", "AUTHORIZATION", "DSN", "JWT", "PWD", "PW", "BEARER", "COOKIE", "SALT"),
        *("PSK", "SIG", "SIGNATURE", "SAS", "OTP"),
    )
)
_ABOUT = frozenset(  # the last word of the name of what is told about a secret, and is none
    (
        *("FILE", "PATH", "DIR", "NAME", "ID", "URL", "URI", "HOST", "PORT", "TYPE", "KIND"),
        *("LIMIT", "LENGTH", "SIZE", "TTL", "AGE", "EXPIRY", "EXPIRES", "COUNT", "ENV", "VAR"),
        *("HEADER", "PREFIX", "REGION", "VERSION", "ALG", "ALGORITHM", "USER", "USERNAME"),
        *("ENABLED", "TIMEOUT", "MODE", "METHOD", "STORE", "SOCK", "PROVIDER", "BACKEND"),
        *("ENDPOINT", "SCOPE", "AUDIENCE", "ISSUER", "DOMAIN"),
    )
)
_SECRET_ADDRESS = frozenset(("WEBHOOK", "WEBHOOKS", "DSN"))
_CONNECTING = frozenset(  # a word of the name of what may hold a password among other things
    (
        *("URL", "URI", "ADDRESS", "CONN", "CONNECTION", "CONNSTR", "DATABASE", "DB", "JDBC"),
        *("ODBC", "REDIS", "MONGO", "MONGODB", "AMQP", "RABBITMQ", "BROKER", "CELERY", "SMTP"),
        *("LDAP", "HEADER", "HEADERS", "OPTS", "OPTIONS", "ARGS", "CONFIG", "KUBECONFIG", "JSON"),
        *("PROXY", "REMOTE", "INDEX", "REGISTRY", "ENDPOINT", "STORAGE"),
    )
)
_WORD = late_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")

_SEVERAL = late_pattern(r"[\w.+/=~-]{12,}(?:[\s,;]+[\w.+/=~-]{12,})+")  # keys in turn
_ADDRESS = late_pattern(
    r"[A-Za-z][A-Za-z0-9+.-]{0,30}://(?P<user>[^\s/@:\"'?#]{0,300})"
    r"(?::(?P<password>[^\s/\"'?#]{0,500}))?@(?=[\w\[.%(-])"
)
_FIELD = late_pattern(
    r"(?:^|(?<=[?&;,\s{\"'-]))(?P<name>[A-Za-z][\w.-]{1,40})[\"']?\s{0,3}[=:]\s{0,3}"
    r"(?:\"(?P<quoted>[^\"]{1,1000})\"|'(?P<single>[^']{1,1000})'|(?P<bare>[^\s&;,\"'{}\[\]]{1,1000}))"
)
_SCHEME = late_pattern(
    r"(?i)\b(?P<kind>basic|bearer)(?:\s|%20|\+){1,3}(?P<given>[A-Za-z0-9+/=_.~%-]{6,2000})"
)

_ORDINARY = late_pattern(
    r"[a-z]{1,8}|[A-Z][a-z]{0,7}|[A-Z]{1,8}"  # a word
    r"|[+-]?\d{1,7}|\d{1,4}(?:[.:,/ T_-]\d{1,3}){1,5}(?::\d{1,5})?Z?"  # a number, date, version
    r"|https?://[^\s@?#]*"
    r"|\$\{?\w+\}?|<[^<>]*>|\{\{[^{}]*\}\}"  # nothing was put in
    r"|(.)\1*"
)
_FILE = late_pattern(
    r"(?:(?:~|\.\.?)/|/(?:app|bin|builds?|cache|certs?|config|data|dev|etc|github|home|keys|lib|mnt"
    r"|opt|private|proc|root|run|secrets|srv|tmp|Users|usr|var|vault|work|workspace)/"
    r"|[A-Za-z]:[\\/])[\w.@+ \\/-]*"
)
_LONGER = late_pattern(  # what stands where no key is needed, and users that are told apart by none
    "postgresql|administrator|development|production|undefined|placeholder|localhost|anonymous"
    "|change[-_]?me|not[-_]?(needed|set|used|required)|(sk-)?no[-_]key([-_](required|needed))?"
    "|lm-studio|(your-|your_)?api[-_]?key|x-(oauth-basic|token-auth|access-token)",
    re.IGNORECASE,
)
_LONGEST = 20  # characters that it can match


def words_of(name: str) -> list[str]:
    """`slackWebhook_URL2` -> SLACK, WEBHOOK, URL."""
    words = [word.upper().rstrip("0123456789") for word in _WORD.split(name)]
    return [word for word in words if word]


def looks_secret(name: str) -> bool:
    """Whether the value of a variable or field of this name is one."""
    words = words_of(name)
    if not words or name in ("PWD", "OLDPWD") or "PUBLIC" in words:
        return False
    if words[-1] == "AUTH" or ("ACCESS" in words and words[-2:] == ["KEY", "ID"]):
        return True
    if words[-1] in _ABOUT and _SECRET_ADDRESS.isdisjoint(words):
        return False
    return not _SECRET_WORDS.isdisjoint(words) or any(map(_ends_secretly, words))


def _ends_secretly(word: str) -> bool:
    return word.endswith(_SECRET_ENDS)


def holds_connections(name: str) -> bool:
    """Whether passwords may stand among other things in a variable of this name."""
    return not _CONNECTING.isdisjoint(words_of(name))


def is_ordinary(value: str) -> bool:
    """A word, a number, a path, a plain address: to mask it would blot out reports and hide
    nothing.
    """
    if _ORDINARY.fullmatch(value):
        return True
    if ("/" in value or "\\" in value) and _FILE.fullmatch(value):
        return True
    return len(value) <= _LONGEST and _LONGER.fullmatch(value) is not None


def list_secrets(value: str) -> Iterator[str]:
    """The secrets in the value of a variable that is secret by its name: the value itself and its
    parts.
    """
    yield value
    yield value.strip().strip("\"'")
    yield from re.split(r"[\s,;]+", value) if _SEVERAL.fullmatch(value) else ()
    if "://" in value:  # an address may be secret by its path
        path = value.partition("://")[2].partition("/")[2]
        yield from (path, path.rpartition("/")[2])
        yield from (unquote(found["user"]) for found in _ADDRESS.finditer(value))  # Sentry's DSN
    yield _decode_text(value)
    yield from list_secret_parts(value)


def list_secret_parts(value: str) -> Iterator[str]:
    """What is secret within a value, whatever its variable is called."""
    value = value[:MOST]
    for text in filter(None, (value, _decode_text(value))):
        yield from list_address_secrets(text if "://" in text else f"any://{text}")
        yield from list_known_keys(text)
        yield from list_header_secrets(text)
        for match in _FIELD.finditer(text):
            if looks_secret(match["name"]):
                given = match["quoted"] or match["single"] or match["bare"]
                yield from (given, unquote(given))
        if text.lstrip()[:1] == "{":
            yield from _list_json_secrets(text)


def without_passwords(text: str) -> str:
    """An error's text, whose addresses may have users and passwords that no variable holds."""
    if "@" not in text or "://" not in text:
        return text
    return _ADDRESS.sub(lambda found: f"{found[0].partition('://')[0]}://***@", text)


def list_address_secrets(value: str) -> Iterator[str]:
    """Passwords, alone and as the pair that an Authorization header has, and tokens that stand for
    a user.
    """
    for match in _ADDRESS.finditer(value):
        user, password = match["user"], match["password"] or ""
        for name, word in {(user, password), (unquote(user), unquote(password))}:
            yield word
            if name and word:
                yield f"{name}:{word}"
            if len(name) >= 16:
                yield name


def list_known_keys(value: str) -> Iterator[str]:
    """Keys that are known by their form."""
    from gate.text.sensitive import SECRETS, find_sensitive

    matches = find_sensitive(value[:MOST], SECRETS)
    yield from (one.value for one in matches if one.kind != "password")


def list_header_secrets(value: str) -> Iterator[str]:
    """`Basic` and `Bearer` credentials, of the former also what they encode."""
    for match in _SCHEME.finditer(value):
        given = unquote(match["given"])
        pair = _decode_text(given)
        if match["kind"].lower() == "basic" and ":" in pair:
            yield from (given, pair, pair.partition(":")[2])
        elif match["kind"].lower() == "bearer" and any(map(str.isdigit, given)):
            yield given


def _list_json_secrets(value: str) -> Iterator[str]:
    try:
        yield from _fields(json.loads(value))
    except (ValueError, RecursionError):
        return


def _fields(data: Json) -> Iterator[str]:
    if isinstance(data, list):
        for item in data:
            yield from _fields(item)
    elif isinstance(data, dict):
        for key, item in data.items():
            if isinstance(item, str) and looks_secret(str(key)):
                pair = _decode_text(item)
                yield from (item, pair, pair.partition(":")[2])
            else:
                yield from _fields(item)


def _decode_text(value: str) -> str:
    """What base64 stands for, where that is text of ASCII; else nothing."""
    compact = "".join(value.split()).translate(str.maketrans("-_", "+/"))
    if len(compact) < 8 or not re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", compact):
        return ""
    try:
        decoded = base64.b64decode(compact + "=" * (-len(compact) % 4)).decode("ascii")
    except (ValueError, binascii.Error):
        return ""
    plain = decoded.replace("\n", "").replace("\r", "").replace("\t", "")
    return decoded if plain.isprintable() else ""
