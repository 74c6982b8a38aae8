"""What a shell completes with the script of `gate completion`."""

import os
import subprocess
import sys
from argparse import Namespace

import pytest

from gate.commands.completion import run
from gate.commands.options.all import COMMANDS
from gate.errors import UsageError

# Each line on standard input is what was typed so far; one line of suggestions is printed for each.
ASK = """
while IFS= read -r typed; do
  COMP_WORDS=($typed); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
  _shtab_gate gate "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
  echo "${COMPREPLY[@]}"
done
"""


def script(shell, capsys):
    assert run(Namespace(shell=shell), {}) == 0
    return capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="bash is a shell of POSIX")
def test_bash_completes_commands_options_values_and_files(capsys, tmp_path):
    (tmp_path / "mine.yml").touch()
    (tmp_path / "results").mkdir()
    asked = {
        "gate ba": "baseline",
        "gate baseline s": "save show",
        "gate run --bas": "--base-url --baseline",
        "gate run --stop e": "early",
        "gate run --config mi": "mine.yml",
        "gate run --out r": "results",
        "gate run --out mi": "",
    }
    code = script("bash", capsys) + ASK
    done = subprocess.run(
        ["bash", "-c", code],
        input="".join(f"{typed}\n" for typed in asked),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert dict(zip(asked, done.stdout.splitlines(), strict=True)) == asked


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_know_every_command(shell, capsys):
    written = script(shell, capsys)
    assert [name for name in COMMANDS if name not in written] == []


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    with pytest.raises(UsageError, match="`pip install shtab`, or with pipx `pipx inject"):
        run(Namespace(shell="bash"), {})
