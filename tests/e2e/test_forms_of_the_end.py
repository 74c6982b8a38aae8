"""`--format` of run, compare, merge and report: the same forms under the same names."""

import json

import pytest

from gate.commands.options.all import parse
from tests.support.chat_server import ChatServer
from tests.support.in_process import gate, run_session
from tests.support.yes_project import right, write_project, wrong_on


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with a session that passes, one that fails and the two shards of a third."""
    folder = tmp_path_factory.mktemp("forms")
    with ChatServer(right) as server:
        write_project(folder, server.url)
        was = run_session(folder, "--baseline", "none", "--stop", "off")
    with ChatServer(wrong_on(*range(8))) as server:
        write_project(folder, server.url)
        now = run_session(folder, "--baseline", str(was), "--stop", "off", code=1)
        shards = [
            str(
                run_session(folder, "--baseline", "none", "--shard", f"{n}/2", "--out", f"shard{n}")
            )
            for n in (1, 2)
        ]
    commands = {
        "compare": ["compare", str(was), str(now)],
        "merge": ["merge", *shards, "--baseline", str(was), "--out", "joined"],
        "report": ["report", str(now)],
    }
    return folder, commands


@pytest.mark.parametrize("command", ["compare", "merge", "report"])
@pytest.mark.parametrize("form", ["plain", "text", "rich", "json", "github", "markdown"])
def test_each_command_knows_each_form(project, command, form):
    folder, commands = project
    ended = gate(folder, *commands[command], "--format", form)
    assert ended.returncode == (0 if command == "report" else 1), ended.stderr
    if form == "json":
        assert json.loads(ended.stdout)["outcome"] == "fail"
    elif form in ("github", "markdown"):
        assert ended.stdout.startswith("# ❌ Fail: 8 of ")
    else:
        assert ended.stdout.startswith("FAIL  8 of ")
        assert "\n    expected  yes\n    before    yes\n    now       no\n" in ended.stdout
        assert "\nFAIL: " in ended.stdout
        assert "\x1b" not in ended.stdout, "this is no terminal"


@pytest.mark.parametrize(
    "command", ["run", "compare was now", "merge shards --out joined", "report latest"]
)
def test_a_form_that_nobody_knows_is_refused_with_those_that_are(capsys, command):
    with pytest.raises(SystemExit) as ended:
        parse([*command.split(), "--format", "xml"])
    assert ended.value.code == 2
    assert (
        "argument --format: 'xml' is unknown - known: plain, rich, json, github"
        f"; see `gate {command.split()[0]} --help`"
    ) in capsys.readouterr().err


def test_report_without_a_form_names_what_it_wrote(project):
    folder, commands = project
    written = gate(folder, *commands["report"]).stdout.splitlines()
    assert [line.rpartition("/")[2] for line in written][:1] == ["summary.json"]
