"""From arguments to exit codes and sentences; whole commands are tested in e2e."""

import signal
from contextlib import chdir, redirect_stderr, redirect_stdout

import pytest

from gate import __version__, cli
from gate.commands.options.all import COMMANDS
from tests.support.stored_session import store


@pytest.fixture(autouse=True)
def _signals():
    """`run` installs handlers; the next test must not meet them."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_no_command_shows_the_help_and_is_a_usage_error(capsys):
    assert cli.run([], {}) == 2
    said = capsys.readouterr().out
    assert all(f"    {command} " in said.replace("\n", " ") for command in COMMANDS)


def test_version(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.run(["--version"], {})
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"gate {__version__}\n"


def test_help_names_the_variable_of_a_key_and_never_its_value(capsys, monkeypatch):
    monkeypatch.setenv("OPENAGENT_PROVIDER_KEY", "hunter2hunter2")
    with pytest.raises(SystemExit):
        cli.run(["run", "--help"], {"OPENAGENT_PROVIDER_KEY": "hunter2hunter2"})
    said = capsys.readouterr().out
    assert "OPENAGENT_PROVIDER_KEY" in said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["frob"], "argument COMMAND: 'frob' is unknown - known: run, "),
        (["run", "--rounds", "0"], "'0' is not a whole number from 1 to 10000"),
        (["run", "--rounds", "two"], "'two' is not a whole number from 1 to 10000"),
        (["plan", "--rounds", "10001"], "'10001' is not a whole number from 1 to 10000"),
        (["run", "--sample", "0"], "'0' is not a whole number from 1 on"),
        (["run", "--timeout", "-1"], "'-1' is not a number above 0"),
        (["run", "--budget-usd", "nan"], "'nan' is not a number above 0"),
        (["run", "--timeout", "inf"], "'inf' is not a number above 0"),
        (["run", "--shard", "4/3"], "'4/3' is not I/N"),
        (["run", "--shard", "0/3"], "'0/3' is not I/N"),
        (["rnu"], "argument COMMAND: 'rnu' is unknown - did you mean 'run'?"),
        (["run", "--roundz", "3"], "--roundz: unknown option - did you mean '--rounds'?"),
        (["run", "--formt=json"], "--formt: unknown option - did you mean '--format'?"),
        (["baseline", "sav"], "argument ACTION: 'sav' is unknown - did you mean 'save'?"),
        (["run", "extra"], "extra: unknown argument"),
        (["run", "--stop", "late"], "'late' is unknown - known: early, off"),
        (["merge"], "required: SESSION, --out"),
        (["baseline"], "required: ACTION"),
        (["baseline", "accept"], "required: --reason"),
    ],
)
def test_wrong_arguments_are_one_sentence_and_2(argv, said, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.run(argv, {})
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.startswith("gate: ")
    assert error.count("\n") == 1
    assert "see `gate" in error


def test_an_error_of_the_user_is_a_sentence_with_its_exit_code(capsys, tmp_path):
    missing = tmp_path / "no\x1b[31mwhere"
    assert cli.run(["report", str(missing)], {}) == 2
    error = capsys.readouterr().err
    assert error.startswith("gate: ")
    assert "not a session folder" in error
    assert "\x1b" not in error


def test_verbose_shows_where_an_error_comes_from(capsys, tmp_path):
    assert cli.run(["report", str(tmp_path), "--verbose"], {}) == 2
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert error.splitlines()[-1].startswith("gate: ")


def test_several_problems_are_a_line_each(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gate.yml").write_text("version: 1\nagnet: {}\nsuites: []\n")
    assert cli.run(["validate"], {}) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("gate.yml:") for line in lines)


def test_what_a_users_own_code_raises_is_told_without_secrets(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def run_task(self, task, **asked): pass\n"
        "    def load_tasks(self): raise ValueError('\\x1b[31mno: sk-Ab3dE5gH7jK9\\n::error::x')\n"
    )
    (tmp_path / "gate.yml").write_text(
        "version: 1\nagent: {type: sample}\nsuites: [{name: s, suite: './mine.py:Mine'}]\n"
    )
    assert cli.run(["validate"], {"MY_API_KEY": "sk-Ab3dE5gH7jK9"}) == 2
    error = capsys.readouterr().err
    assert "load_tasks() raised ValueError: ␛[31mno: ***" in error
    assert "Ab3dE5" not in error
    assert not any(line.startswith("::") for line in error.splitlines())
    assert "\x1b" not in error


class Full:
    """A place that nothing can be written to."""

    encoding = "utf-8"

    def __init__(self, error):
        self.error = error

    def write(self, text):
        raise self.error

    def flush(self):
        pass

    def isatty(self):
        return False


DISK = OSError(28, "No space left on device")


@pytest.mark.parametrize(("error", "code"), [(DISK, 6), (BrokenPipeError(), 0)])
def test_what_was_asked_for_cannot_be_written(error, code, capsys):
    with redirect_stdout(Full(error)):
        assert cli.run(["schema", "case"], {}) == code
    assert ("No space left" in capsys.readouterr().err) is (code == 6)


@pytest.mark.parametrize("error", [DISK, BrokenPipeError()])
def test_a_dead_output_changes_no_verdict_unless_nobody_is_told(error, capsys, tmp_path):
    before, after = (store(tmp_path / x, {"a": [True], "b": [x == "b"]}) for x in "ab")
    asked = ["compare", str(before), str(after)]
    with chdir(tmp_path):
        code = cli.run(asked, {})
        with redirect_stdout(Full(error)):
            assert cli.run(asked, {}) == code
            assert f"cannot be written: {'No space' if error is DISK else 'the reader'}" in (
                capsys.readouterr().err
            )
            with redirect_stderr(Full(error)):
                assert cli.run(asked, {}) == 6
                assert cli.run([*asked, "--out", "told"], {}) == code


def test_a_bug_of_ours_is_70_and_says_so(capsys):
    with redirect_stdout(Full(ZeroDivisionError("a bug"))):
        assert cli.run(["schema", "case"], {}) == 70
    error = capsys.readouterr().err
    assert "ZeroDivisionError: a bug" in error
    assert "this is a bug of Agent Gate" in error
