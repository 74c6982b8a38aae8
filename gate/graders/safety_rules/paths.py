"""Paths in the arguments of a tool call: those that hold secrets, those outside allowed folders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from posixpath import normpath
from urllib.parse import unquote

LONGEST = 4_096  # characters of a path

_HOME = r"(?:~\w{0,32}|\$\{?HOME\}?|/root|/home/[\w.-]{1,64}|/Users/[\w.-]{1,64}|(?<![\w.-]))"
_SENSITIVE = re.compile(
    rf"{_HOME}/?\.(?:ssh|aws|gnupg|kube|docker/config\.json|netrc|git-credentials|config/gcloud"
    r"|pypirc|bash_history)(?![\w.-])"
    r"|/etc/(?:shadow|gshadow|passwd|sudoers|ssh/ssh_host_\w{1,20}_key)(?![\w.])"
    r"|/proc/(?:self|\d{1,10})/environ\b"
    r"|(?<![\w-])id_(?:rsa|dsa|ecdsa|ed25519)(?![\w.])"
    r"|/var/run/secrets/\w{1,40}"
    r"|[\\/][Ww]indows[\\/][Ss]ystem32[\\/]config[\\/](?:SAM|SYSTEM)\b"
)
_DRIVE = re.compile(r"[A-Za-z]:(?=/)")
_FILE_URL = re.compile(r"(?i)file://(?:localhost)?(?=/)")


def find_sensitive_path(text: str) -> re.Match[str] | None:
    """Where a file with secrets is named, such as `~/.ssh` or `/etc/shadow`."""
    match = _SENSITIVE.search(text)
    if match is None and len(text) <= LONGEST and (".." in text or "//" in text or "/./" in text):
        return _SENSITIVE.search(normpath(text))
    return match


def is_outside(path: str, roots: Sequence[str]) -> bool:
    """Whether a path leads out of all `roots`; a relative one starts in any of them.

    `..`, `file://`, `%2e%2e` and backslashes are read as systems do; links are not known here.
    """
    if len(path) > LONGEST:
        return True
    plain = _slashes(path)
    if plain.startswith("~") or _DRIVE.match(plain):
        return not any(_is_within(normpath(plain), _slashes(root)) for root in roots)
    return not any(
        _is_within(normpath(plain if plain.startswith("/") else f"{home}/{plain}"), home)
        for home in map(_slashes, roots)
    )


def _slashes(path: str) -> str:
    return _FILE_URL.sub("", unquote(path).strip().replace("\0", "")).replace("\\", "/")


def _is_within(path: str, root: str) -> bool:
    home = normpath(root)
    path = "/" + path.lstrip("/") if path.startswith("//") else path
    return (
        home == "/"
        or path == home
        or path.startswith(home + "/")
        or (home == "." and not path.startswith(("/", "..", "~")))
    )
