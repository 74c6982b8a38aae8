"""How user code is found, which files count as the checkout's, and the line where it goes wrong."""

import hashlib
import json
import py_compile
import subprocess
import sys
import venv

import pytest

from gate.errors import UsageError
from gate.user_code.hashes import CHANGED
from gate.user_code.loading import Workspace
from gate.user_code.process import CodeDied
from tests.support.paths import ROOT
from tests.support.user_code import coded, coding

GATE = ROOT


@pytest.fixture
def code(tmp_path):
    with coding(tmp_path) as make:
        yield make


def write(folder, **files):
    """`a__b_py` is a/b.py."""
    for name, content in files.items():
        file = folder / name.replace("__", "/").replace("_py", ".py")
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(content)


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


# ------------------------------------------------------------------------------------ what is there


def test_a_file_is_loaded_once_however_it_is_written(code):
    made = code("class Own:\n    def __call__(self, x): return str(id(type(self)))\nown = Own()\n")
    assert made.call("./code.py:own") == made.call("code.py:own")


def test_a_module_is_found_beside_the_config(code, tmp_path):
    write(tmp_path, gate_test_own_module_py="def value(x): return '7'\n")
    assert code().call("gate_test_own_module:value") == "7"


def test_a_module_of_a_package_is_known_to_it(code, tmp_path):
    write(
        tmp_path,
        own_e__inner_py="def value(x): return '7'\n",
        own_e__outer_py="import own_e.inner\ndef same(x): return own_e.inner.value(x)\n",
    )
    made = code()
    assert made.call("own_e.inner:value") == "7"
    assert made.call("own_e.outer:same") == "7"


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("./no.py:f", "not found"),
        ("./code.py:g", "'./code.py:g': ./code.py has no 'g'"),
        ("./code.py:number", "'./code.py:number' cannot be called"),
        ("no_such_module_here:f", "cannot import no_such_module_here: No module named"),
    ],
)
def test_what_is_not_there_is_told(code, spec, told):
    with pytest.raises(UsageError) as caught:
        code("number = 1\n").load(spec)
    assert told in str(caught.value)
    assert spec in str(caught.value)


# ------------------------------------------------------------------------------- what does not load

SEGFAULT = "import ctypes\n\nctypes.string_at(0)\n"
BROKEN = {
    "syntax": ("x = 1\ndef f(:\n", "code.py:2: does not load: SyntaxError: invalid syntax"),
    "null byte": ("x = '\0'\n", "does not load: SyntaxError: source code "),
    "division": ("\n1 / 0\n", "code.py:2: does not load: ZeroDivisionError: division by zero"),
    "exit in a function": (
        "import sys\ndef leave():\n    sys.exit(0)\nleave()\n",
        "code.py:3: does not load: SystemExit: 0",
    ),
    "interrupt": ("raise KeyboardInterrupt\n", "code.py:1: does not load: KeyboardInterrupt"),
    "missing import": (
        "import os\nimport no_such_thing\n",
        "code.py:2: does not load: ModuleNotFoundError: No module named 'no_such_thing'",
    ),
    "beside": (
        "import lonely\n",
        "No module named 'lonely' - install it, or name it as module:attribute to import files ",
    ),
    "exit of the process": (
        "import os\nx = 1\nos._exit(0)\n",
        "code.py:3: its process ended with exit status 0 while it was loading",
    ),
    "signal": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
        "code.py:2: its process was killed by SIGKILL while it was loading",
    ),
    "segfault": (SEGFAULT, "code.py:3: its process was killed by SIGSEGV while it was loading"),
    "closed": ("import os\nos.closerange(0, 1024)\n", "its process ended with exit status"),
    "deep": ("def f(): f()\nf()\n", "code.py:1: does not load: RecursionError"),
    "odd error": (
        "class E(Exception):\n    def __str__(self): raise self\nraise E\n",
        "code.py:3: does not load: E: ",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_does_not_load_says_so_with_file_and_line(code, kind):
    content, told = BROKEN[kind]
    with pytest.raises(UsageError) as caught:
        code(content).load("f")
    assert str(caught.value).startswith("'./code.py:f': ")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_line_is_that_of_the_file_that_is_at_fault(code, tmp_path):
    write(tmp_path, own_pkg__deep_py="x = 1\n1 / 0\n", own_top_py="import own_pkg.deep\n")
    with pytest.raises(UsageError, match=r"'own_top:f': own_pkg/deep\.py:2: does not load: Zero"):
        code().load("own_top:f")


def test_an_endless_loop_ends_with_its_line(code):
    with pytest.raises(UsageError) as caught:
        code("x = 0\nwhile True:\n    x += 1\n", load_s=0.3).load("f")
    found = str(caught.value)
    assert found.startswith("'./code.py:f': did not load within 0.3 s - it hangs at code.py:")
    assert found.endswith((":2", ":3"))


def test_a_pattern_that_never_ends_while_it_is_loaded_ends_with_its_line(code):
    """Nothing else can run in that process meanwhile."""
    content = "import re\n\nre.match('(a+)+$', 'a' * 40 + 'b')\n"
    with pytest.raises(UsageError, match=r"did not load within 0\.3 s - it hangs at code\.py:3$"):
        code(content, load_s=0.3).load("f")


def test_what_loads_after_what_did_not_is_unharmed(code, tmp_path):
    write(tmp_path, bad_py="import os\nos._exit(1)\n", worse_py="1 / 0\n")
    made = code("def f(x): return 'fine'\n")
    for spec in ("./bad.py:f", "./worse.py:f", "./bad.py:f"):
        with pytest.raises(UsageError):
            made.load(spec)
    assert made.call("f") == "fine"


# ------------------------------------------------------------------------------------- the checkout


def test_files_of_the_checkout_are_told_with_their_hashes(tmp_path):
    top, other = "import own_h.inner\ndef f(x): return 'ok'\n", "x = 1\n"
    write(tmp_path, own_g_py=top, own_h__inner_py=other, own_h____init___py="", unused_py="")
    (tmp_path / "own_h" / "__init__.py").write_text("")
    with coded(tmp_path, judges=True) as made:
        assert made.call("own_g:f") == "ok"
        told = made.process.files()
    assert told == {
        "own_g:f": {
            "own_g.py": sha(top),
            "own_h/__init__.py": sha(""),
            "own_h/inner.py": sha(other),
        }
    }


def test_a_package_that_takes_a_modules_place_is_told(tmp_path):
    """Python prefers `checks/__init__.py` to `checks.py`: it is what is noted, being what runs."""
    write(tmp_path, own_checks_py="def f(x): return 'as reviewed'\n")
    (tmp_path / "own_checks").mkdir()
    (tmp_path / "own_checks" / "__init__.py").write_text("def f(x): return 'planted'\n")
    with coded(tmp_path, judges=True) as made:
        assert made.call("own_checks:f") == "planted"
        assert list(made.process.files()["own_checks:f"]) == ["own_checks/__init__.py"]


@pytest.mark.parametrize("spec", ["./own_a.py:f", "own_b:f", "own_c.inner:f", "own_d:f"])
def test_a_compiled_file_beside_the_source_is_never_run(code, tmp_path, spec):
    """It can be committed, and marked as not to be compared with the source, which is hashed."""
    for name in ("own_a.py", "own_b.py", "own_c/inner.py", "own_d/__init__.py"):
        source = tmp_path / name
        source.parent.mkdir(exist_ok=True)
        source.write_text("def f(x):\n    return 'planted'\n")
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(source), invalidation_mode=unchecked)
        source.write_text("def f(x):\n    return 'as hashed'\n")
    made = code(judges=True)
    assert made.call(spec) == "as hashed"
    digests = list(made.process.files()[spec].values())
    assert digests == [sha("def f(x):\n    return 'as hashed'\n")]


def test_a_compiled_file_without_a_source_is_told(code, tmp_path):
    (tmp_path / "source.py").write_text("def f(x): return 'compiled'\n")
    py_compile.compile(str(tmp_path / "source.py"), cfile=str(tmp_path / "own_bare.pyc"))
    made = code(judges=True)
    assert made.call("own_bare:f") == "compiled"
    assert list(made.process.files()["own_bare:f"]) == ["own_bare.pyc"]


@pytest.mark.parametrize("judges", [True, False])
def test_nothing_is_left_in_the_checkout(code, tmp_path, judges):
    """What is compiled could hold a key that stands in the source."""
    write(tmp_path, own_x_py="import own_y\ndef f(x): return 'ok'\n", own_y_py="")
    made = code("def f(x): return 'ok'\n", judges=judges)
    assert [made.call(spec) for spec in ("own_x:f", "./code.py:f")] == ["ok", "ok"]
    assert {path.name for path in tmp_path.iterdir()} == {"own_x.py", "own_y.py", "code.py"}


@pytest.mark.parametrize("judges", [True, False])
def test_numpy_in_the_checkout_never_takes_the_place_of_the_installed_one(code, tmp_path, judges):
    write(tmp_path, numpy_py="raise SystemExit('planted')\n")
    made = code("import numpy\ndef f(x): return str(numpy.zeros(2).sum())\n", judges=judges)
    assert made.call("f") == "0.0"
    write(tmp_path, own_n_py="import numpy\ndef f(x): return str(numpy.ones(2).sum())\n")
    assert made.call("own_n:f") == "2.0"


@pytest.mark.parametrize(("judges", "whose"), [(True, "installed"), (False, "own")])
def test_installed_packages_come_first_for_what_judges(tmp_path, monkeypatch, judges, whose):
    write(tmp_path, lib__gate_test_pkg_py="def f(x): return 'installed'\n")
    write(tmp_path, mine__gate_test_pkg_py="def f(x): return 'own'\n")
    write(tmp_path, mine__start_py="import gate_test_pkg\nf = gate_test_pkg.f\n")
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    with coded(tmp_path / "mine", judges=judges) as made:
        assert made.call("start:f") == whose


def test_what_counts_as_the_checkout(tmp_path, monkeypatch):
    write(tmp_path, own_py="", submodule__theirs_py="", plain__deep__also_py="", editable__x_py="")
    for folder in (tmp_path, tmp_path / "submodule", tmp_path / "editable"):
        (folder / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "editable"))
    monkeypatch.syspath_prepend(str(tmp_path / "plain"))
    space = Workspace(tmp_path / "sub")
    assert space.holds(str(tmp_path / "own.py"))
    assert space.holds(str(tmp_path / "plain" / "deep" / "also.py"))
    assert space.holds(str(tmp_path / "submodule" / "theirs.py"))
    assert not space.holds(str(tmp_path / "editable" / "x.py")), "another repository, installed"
    assert not space.holds(str(tmp_path.parent / "x.py"))
    assert not space.holds("<string>")
    assert space.name_of(str(tmp_path / "own.py")) == "../own.py"


def test_an_environment_inside_the_checkout_is_not_the_checkouts(tmp_path):
    (tmp_path / ".git").mkdir()
    venv.create(tmp_path / ".venv", symlinks=True, with_pip=False)
    ask = (
        "import json, sys; sys.path[:0] = json.loads(sys.argv[2]); "
        "from gate.user_code.loading import Workspace; from pathlib import Path; "
        "import sysconfig; space = Workspace(Path(sys.argv[1])); "
        "print(space.holds(sysconfig.get_path('purelib') + '/theirs.py'), "
        "space.holds(sys.argv[1] + '/own.py'))"
    )
    paths = json.dumps([str(GATE), *sys.path])
    words = [str(tmp_path / ".venv" / "bin" / "python"), "-c", ask, str(tmp_path), paths]
    found = subprocess.run(words, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "True"]


def test_a_file_that_changes_between_two_processes_is_told(code):
    made = code("import os\ndef f(x): os._exit(0)\ndef g(x): return 'g'\n", judges=True)
    assert made.call("g") == "g"
    (first,) = made.process.files()["./code.py:g"].values()
    (made.root / "code.py").write_text("import os\ndef f(x): os._exit(0)\ndef g(x): return 'h'\n")
    with pytest.raises(CodeDied):
        made.call("f")
    assert made.call("g") == "h"
    assert first != CHANGED
    assert made.process.files()["./code.py:g"] == {"code.py": CHANGED}


def test_files_of_a_process_that_is_gone_are_known(code, tmp_path):
    own = "import os\ndef f(x):\n    import gate_test_late\n    return ''\ndef g(x): os._exit(0)\n"
    write(tmp_path, gate_test_own_h_py=own, gate_test_late_py="x = 1\n")
    made = code(judges=True)
    made.call("gate_test_own_h:f")
    with pytest.raises(CodeDied):
        made.call("gate_test_own_h:g")
    assert "gate_test_late.py" in made.process.files()["gate_test_own_h:f"]


def test_a_checkout_without_git_reaches_up_to_the_folder_around_it(tmp_path):
    inner = tmp_path / "checkout" / "eval"
    inner.mkdir(parents=True)
    workspace = Workspace(inner, tmp_path / "checkout")
    assert workspace.holds(str(tmp_path / "checkout" / "shared" / "help.py"))
    assert not workspace.holds(str(tmp_path / "elsewhere" / "help.py"))
    assert not Workspace(inner).holds(str(tmp_path / "checkout" / "help.py"))


def test_a_path_of_a_repository_around_the_checkout_is_not_installed_in_it(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "app" / ".git").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    workspace = Workspace(tmp_path / "app")
    assert workspace.holds(str(tmp_path / "app" / "checks.py"))
