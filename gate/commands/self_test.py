"""`gate --self-test`: is this installation complete? Asks only the bundled sample agent."""

from __future__ import annotations

import argparse
import locale
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import BinaryIO

from gate import __version__, plugins
from gate.agents.http_client.tls import make_tls_context
from gate.commands.schema import SCHEMAS
from gate.files.json_schema_messages import explain
from gate.files.rows import DatasetSource
from gate.records import Report
from gate.records.codec import schema_of
from gate.registry import Registry
from gate.run.execute import execute
from gate.run.grade import make_graders
from gate.run.options import Host, RunOptions
from gate.suites.cases.dataset import check
from gate.suites.config.load import load_bundled_suites
from gate.text.escaping import plain

OUR_FAULT = 70
SIGNS = "ä ✓ 日本"
_CONFIG = """version: 1
agent: {{type: sample, options: {{{options}}}}}
suites: [{{name: analytics, dataset: {dataset}, graders: [facts], rounds: 2}}]
"""


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints one line for each check; returns 0 if all pass, else 70."""
    print(f"gate {__version__}, Python {sys.version.split()[0]} on {sys.platform}")
    broken = 0
    for name, look in _CHECKS.items():
        try:
            result = look(env)
        except Exception as error:  # whatever is broken, the other checks are made
            broken += 1
            print(plain(f"FAILED  {name}: {error!r:.300}"))
        else:
            print(plain(f"ok      {name}: {result}"))
    return OUR_FAULT if broken else 0


def _plugins(env: Mapping[str, str]) -> str:
    registries = [value for value in vars(plugins).values() if isinstance(value, Registry)]
    for registry in registries:
        for name in registry.names():
            schema_of(registry.get_class(name))
    return ", ".join(f"{registry.kind} {len(registry.names())}" for registry in registries)


def _schemas(env: Mapping[str, str]) -> str:
    for make in SCHEMAS.values():
        explain(make(), {})
    return ", ".join(SCHEMAS)


def _datasets(env: Mapping[str, str]) -> str:
    return ", ".join(_count_bundled_cases())


def _count_bundled_cases() -> Iterator[str]:
    for suite in load_bundled_suites():
        path = Path(suite.dataset)
        source = DatasetSource(name=path.name, open=partial(_open_binary, path))
        yield f"{suite.name} {check(source, make_graders(suite.graders, Path())).cases} cases"


def _open_binary(path: Path) -> BinaryIO:
    return path.open("rb")


def _check_writing(env: Mapping[str, str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ä.txt"
        path.write_text(SIGNS, encoding="utf-8")
        if path.read_text(encoding="utf-8") != SIGNS:
            raise OSError(f"{folder} does not store files correctly")
        return str(Path(folder).parent)


def _text(env: Mapping[str, str]) -> str:
    names = sys.getfilesystemencoding(), locale.getpreferredencoding(do_setlocale=False)
    if any(name.lower().replace("-", "") != "utf8" for name in names):
        raise UnicodeError(f"{' and '.join(names)}, not UTF-8: set LANG=C.UTF-8")
    return names[0]


def _certificates(env: Mapping[str, str]) -> str:
    authorities = len(make_tls_context(env).get_ca_certs())
    if not authorities:
        raise OSError("no certificate authority is known")
    return f"{authorities} authorities"


def _verdict(env: Mapping[str, str]) -> str:
    """The sample agent measured, then itself and a worse one against those rounds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = _run_bundled_suite(folder, "", "none")
        same = _run_bundled_suite(folder, "", str(first[1]))[0]
        worse = _run_bundled_suite(folder, "top_k: 1, stale: true", str(first[1]))[0]
    outcomes = first[0].outcome, same.outcome, worse.outcome
    if outcomes != ("no_baseline", "pass", "fail"):
        raise AssertionError(f"judged {', '.join(outcomes)} instead of no_baseline, pass, fail")
    return f"{same.calls.made} calls pass, {worse.calls.made} calls to a worse agent fail"


def _run_bundled_suite(folder: Path, options: str, baseline: str) -> tuple[Report, Path]:
    dataset = next(suite.dataset for suite in load_bundled_suites() if suite.name == "analytics")
    config = folder / "gate.yml"
    config.write_text(_CONFIG.format(options=options, dataset=dataset), encoding="utf-8")
    request = RunOptions(
        config=str(config), baseline=baseline, out=str(folder), sample=24, quiet=True
    )
    outcome = execute(request, Host(env={}))
    return outcome.report, outcome.session_dir


_CHECKS: Mapping[str, Callable[[Mapping[str, str]], str]] = {
    "plug-ins": _plugins,
    "schemas": _schemas,
    "bundled datasets": _datasets,
    "writing": _check_writing,
    "text": _text,
    "certificates": _certificates,
    "sample agent, judged": _verdict,
}
