"""Modules of users that do what no module should, by role, each with the ends that are acceptable.

Three tables. LOADING: whole modules that do not load. ACTS: single calls, several of which share
one process, each with a case of its own. WHOLE: what touches the whole process, one run each.
`hostile_runs` says how they are run, and what each word for an end means.
"""

from __future__ import annotations

from dataclasses import dataclass

ANSWERED = ("answered",)
FAILED = ("agent_error",)
EITHER = ("answered", "agent_error")
UNSCORED = ("unscored",)
INVALID = ("run_record_invalid",)
BLAMED = "  # to blame"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """A module that cannot be used: exit 2, which names its file, and its line where one is to
    blame: the one that says so. `commands`: what is tried on it.
    """

    role: str
    code: str
    commands: tuple[str, ...] = ("run",)

    @property
    def line(self) -> int | None:
        lines = self.code.splitlines()
        return next((n for n, one in enumerate(lines, 1) if one.endswith(BLAMED)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """The body of one call and the acceptable ends of its trial."""

    code: str
    ends: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Acts of one role that share a process. With `paced` calls are made one at a time, each after
    an honest one, because some of them end their process.
    """

    role: str
    acts: dict[str, Act]
    paced: bool = False
    command: str = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A module that does its worst to the whole process. `ends`: acceptable ends of the trial of
    each of its `cases` (none: whatever they are); `codes`: acceptable exit codes.
    """

    role: str
    code: str
    codes: tuple[int, ...]
    ends: tuple[str, ...] = ()
    command: str = "run"
    cases: int = 2
    files: tuple[tuple[str, str], ...] = ()


# ------------------------------------------------------------------------ modules that do not load

_ANSWER = "\ndef answer(case):\n    return 'yes'\n"
_SCORE = """
    def metrics(self):
        return (MetricSpec(name="correctness.mine", column="mine"),)
    def grade(self, case, response):
        return Score(values={"mine": 1.0}, passed=True)
"""
_GRADER = f"""import os, sys, time
from dataclasses import dataclass
from gate.records import MetricSpec, Score

@dataclass(frozen=True, slots=True, kw_only=True)
class Mine:
    keys = {{}}
    needs = ()
{_SCORE}"""
_TASKS = """
    def run_task(self, task, round_index, attempt, base_url, model, provider_key, timeout_s):
        return {"ok": True, "response_text": "yes"}
"""


LOADING: dict[str, Loading] = {
    # -- an agent
    "an agent that is no Python": Loading(
        role="agent",
        code=_ANSWER + "def broken(:  # to blame\n",
        commands=("validate",),
    ),
    "an agent that divides by zero": Loading(
        role="agent", code="\n1 / 0  # to blame" + _ANSWER, commands=("run", "action")
    ),
    "an agent that imports what is not there": Loading(
        role="agent",
        code="import not_to_be_found  # to blame" + _ANSWER,
    ),
    "an agent that exits with 0": Loading(
        role="agent",
        code="import sys\nsys.exit(0)  # to blame" + _ANSWER,
        commands=("run", "validate"),
    ),
    "an agent that exits with a text": Loading(
        role="agent",
        code="import sys\nsys.exit('all is well')  # to blame" + _ANSWER,
        commands=("validate",),
    ),
    "an agent that is interrupted": Loading(
        role="agent",
        code="raise KeyboardInterrupt  # to blame" + _ANSWER,
    ),
    "an agent that raises a BaseException that cannot be told": Loading(
        role="agent",
        code="class Odd(BaseException):\n    def __str__(self):\n        raise SystemExit(0)\n"
        "    __repr__ = __str__\nraise Odd  # to blame" + _ANSWER,
    ),
    "an agent that ends its process": Loading(
        role="agent",
        code="import os\nos._exit(0)" + _ANSWER,
        commands=("run", "action"),
    ),
    "an agent that kills its process": Loading(
        role="agent",
        code="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)" + _ANSWER,
        commands=("validate",),
    ),
    "an agent that crashes its process": Loading(
        role="agent", code="import ctypes\nctypes.string_at(0)" + _ANSWER, commands=("validate",)
    ),
    "an agent that becomes another program": Loading(
        role="agent",
        code="import os\nos.execv('/bin/true', ['true'])" + _ANSWER,
        commands=("validate",),
    ),
    "an agent that never finishes loading": Loading(
        role="agent",
        code="import time\ntime.sleep(10**9)" + _ANSWER,
        commands=("run",),
    ),
    "an agent that loads in an endless loop and ignores signals": Loading(
        role="agent",
        code="import signal\nfor one in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):\n"
        "    signal.signal(one, signal.SIG_IGN)\nwhile True: pass" + _ANSWER,
    ),
    "an agent that holds the interpreter while it loads": Loading(
        role="agent",
        code="import re\nre.match('(a+)+$', 'a' * 40 + 'b')" + _ANSWER,
        commands=("validate",),
    ),
    "an agent that closes everything and divides by zero": Loading(
        role="agent", code="import os\nos.closerange(0, 256)\n1 / 0" + _ANSWER
    ),
    "an agent whose module has no such name and exits when asked": Loading(
        role="agent",
        code="def __getattr__(name):\n    raise SystemExit(0)  # to blame\n",
        commands=("validate",),
    ),
    "an agent that says much and then exits": Loading(
        role="agent",
        code="import sys\nfor _ in range(200):\n    print('x' * 10**5)\nsys.exit(0)  # to blame"
        + _ANSWER,
    ),
    # -- a grader
    "a grader that exits at import": Loading(
        role="grader",
        code="raise SystemExit(0)  # to blame\n" + _GRADER,
        commands=("run", "compare", "action"),
    ),
    "a grader that ends its process at import": Loading(
        role="grader",
        code="import os\nos._exit(0)\n" + _GRADER,
        commands=("compare", "import"),
    ),
    "a grader that is no dataclass": Loading(
        role="grader",
        code="class Mine:\n    pass\n",
        commands=("validate",),
    ),
    "a grader that is no class": Loading(
        role="grader",
        code="def Mine():\n    raise SystemExit(0)\n",
        commands=("validate",),
    ),
    "a grader that is no Python": Loading(
        role="grader",
        code=_GRADER + "\nclass (:  # to blame\n",
        commands=("import",),
    ),
    "a grader that never finishes loading": Loading(
        role="grader",
        code="import time\ntime.sleep(10**9)\n" + _GRADER,
        commands=("import",),
    ),
    "a grader whose __post_init__ exits": Loading(
        role="grader",
        code="from dataclasses import dataclass\nfrom gate.records import MetricSpec, Score\n"
        "@dataclass(frozen=True, slots=True, kw_only=True)\nclass Mine:\n    keys = {}\n"
        "    needs = ()\n    def __post_init__(self):\n        raise SystemExit(0)  # to blame\n"
        + _SCORE,
    ),
    "a grader whose metrics() raises": Loading(
        role="grader",
        code=_GRADER + "    def metrics(self):\n        1 / 0  # to blame\n",
        commands=("compare",),
    ),
    "a grader whose metrics() are none": Loading(
        role="grader",
        code=_GRADER + "    def metrics(self):\n        return 7\n",
        commands=("validate",),
    ),
    "a grader whose keys exit": Loading(
        role="grader",
        code=_GRADER
        + "    @property\n    def keys(self):\n        raise SystemExit(0)  # to blame\n",
    ),
    "a grader whose keys end the process": Loading(
        role="grader",
        code=_GRADER + "    @property\n    def keys(self):\n        os._exit(0)\n",
        commands=("validate",),
    ),
    "a grader whose needs never end": Loading(
        role="grader",
        code=_GRADER + "    @property\n    def needs(self):\n        time.sleep(10**9)\n",
        commands=("validate",),
    ),
    "a grader whose check of cases never ends": Loading(
        role="grader",
        code=_GRADER
        + "    def case_faults(self, keys):\n        time.sleep(10**9)\n        yield\n",
        commands=("validate",),
    ),
    # -- the others
    "a retriever whose class exits": Loading(
        role="retriever",
        code="class search:\n    def __init__(self):\n        raise SystemExit(0)  # to blame\n"
        "    def invoke(self, question):\n        return ['d1']\n",
        commands=("validate",),
    ),
    "a judge that divides by zero": Loading(
        role="judge",
        code="1 / 0  # to blame" + _ANSWER,
    ),
    "a judge that ends its process": Loading(
        role="judge",
        code="import os\nos._exit(0)" + _ANSWER,
        commands=("validate",),
    ),
    "an embedding that exits": Loading(
        role="embed",
        code="import sys\nsys.exit(0)  # to blame\ndef embed(texts):\n    return [[1.0]]\n",
        commands=("compare",),
    ),
    "a suite whose load_tasks exits": Loading(
        role="suite",
        code="class Mine:\n    def load_tasks(self):\n        raise SystemExit(0)  # to blame\n"
        + _TASKS,
    ),
    "a suite whose load_tasks ends the process": Loading(
        role="suite",
        code="import os\nclass Mine:\n    def load_tasks(self):\n        os._exit(0)\n" + _TASKS,
        commands=("validate",),
    ),
    "a suite whose load_tasks never ends": Loading(
        role="suite",
        code="import time\nclass Mine:\n    def load_tasks(self):\n        time.sleep(10**9)\n"
        + _TASKS,
        commands=("validate",),
    ),
    "a suite whose tasks never end": Loading(
        role="suite",
        code="import itertools, time\nclass Mine:\n    def load_tasks(self):\n"
        "        for n in itertools.count():\n            time.sleep(0.001)\n"
        "            yield {'id': str(n)}\n" + _TASKS,
    ),
    "a suite with a task whose id exits": Loading(
        role="suite",
        code="class Task:\n    @property\n    def id(self):\n        raise SystemExit(0)\n"
        "class Mine:\n    def load_tasks(self):\n        return [Task()]\n" + _TASKS,
        commands=("validate",),
    ),
    "a control agent that divides by zero": Loading(
        role="control",
        code="1 / 0  # to blame" + _ANSWER,
        commands=("validate",),
    ),
    "a control agent that ends its process": Loading(
        role="control",
        code="import os\nos._exit(0)" + _ANSWER,
    ),
}

# ------------------------------------------------------------------------------------ single calls
# Of an agent: `act(case)`; what it returns is the answer, and "yes" is right.

RAISES = {
    "exits with 0": Act(code="def act(case):\n    sys.exit(0)", ends=FAILED),
    "exits with a text": Act(code="def act(case):\n    sys.exit('all is well')", ends=FAILED),
    "is interrupted": Act(code="def act(case):\n    raise KeyboardInterrupt", ends=FAILED),
    "raises GeneratorExit": Act(code="def act(case):\n    raise GeneratorExit", ends=FAILED),
    "raises StopIteration": Act(code="def act(case):\n    raise StopIteration", ends=FAILED),
    "raises CancelledError": Act(
        code="def act(case):\n    raise asyncio.CancelledError", ends=FAILED
    ),
    "raises what cannot be told": Act(
        code="class Odd(BaseException):\n    def __str__(self):\n        raise SystemExit(0)\n"
        "    __repr__ = __str__\ndef act(case):\n    raise Odd",
        ends=FAILED,
    ),
    "raises what takes for ever to tell": Act(
        code="class Odd(Exception):\n    def __str__(self):\n        time.sleep(10**9)\n"
        "    __repr__ = __str__\ndef act(case):\n    raise Odd",
        ends=FAILED,
    ),
    "raises an exit with an odd code": Act(
        code="class Odd(SystemExit):\n    code = property(lambda self: 1 / 0)\n"
        "def act(case):\n    raise Odd(0)",
        ends=FAILED,
    ),
    "raises a group of exits": Act(
        code="def act(case):\n"
        "    raise BaseExceptionGroup('two', [SystemExit(0), KeyboardInterrupt()])",
        ends=FAILED,
    ),
    "recurses for ever": Act(code="def act(case):\n    return act(case)", ends=FAILED),
    "exits in a coroutine": Act(code="async def act(case):\n    sys.exit(0)", ends=FAILED),
    "is interrupted in a coroutine": Act(
        code="async def act(case):\n    raise KeyboardInterrupt", ends=FAILED
    ),
    "stops its event loop": Act(
        code="async def act(case):\n    asyncio.get_running_loop().stop()\n"
        "    await asyncio.sleep(3600)",
        ends=FAILED,
    ),
    "exits in a generator": Act(
        code="def act(case):\n    def inner():\n        yield sys.exit(0)\n"
        "    return next(inner())",
        ends=FAILED,
    ),
    "exits in a thread": Act(
        code="def act(case):\n    one = threading.Thread(target=sys.exit, args=(0,))\n"
        "    one.start()\n    one.join()\n    return 'yes'",
        ends=ANSWERED,
    ),
    "exits when it is thrown away": Act(
        code="class Odd:\n    def __del__(self):\n        sys.stderr = sys.__stderr__\n"
        "        raise SystemExit(0)\ndef act(case):\n    Odd()\n    return 'yes'",
        ends=ANSWERED,
    ),
}

ODD_ANSWERS = {
    "answers with a generator": Act(code="def act(case):\n    yield 'yes'", ends=FAILED),
    "answers with bytes": Act(code="def act(case):\n    return b'yes'", ends=FAILED),
    "answers with no number": Act(
        code="def act(case):\n    return {'answer': float('nan')}", ends=(*EITHER, "wrong")
    ),
    "answers with infinite usage": Act(
        code="def act(case):\n    return {'answer': 'yes', 'usage': {'prompt_tokens': 1e999}}",
        ends=EITHER,
    ),
    "answers with half a character": Act(
        code="def act(case):\n    return {'answer': 'yes \\ud800', 'x\\udfff': '\\ud800'}",
        ends=(*EITHER, "wrong"),
    ),
    "answers with control characters": Act(
        code="def act(case):\n    return '\\x00\\x1b[2J\\r\\n::set-output name=outcome::pass'",
        ends=("wrong", "agent_error"),
    ),
    "answers with a million nested lists": Act(
        code="def act(case):\n    found = []\n    for _ in range(10**6):\n        found = [found]\n"
        "    return {'answer': 'yes', 'context': found}",
        ends=FAILED,
    ),
    "answers with itself": Act(
        code="def act(case):\n    found = {}\n    found['answer'] = found\n    return found",
        ends=FAILED,
    ),
    "answers with an object that cannot be looked at": Act(
        code="class Odd:\n    def __getattribute__(self, name):\n        raise SystemExit(0)\n"
        "    __str__ = __repr__ = __eq__ = __len__ = __bool__ = __iter__ = __hash__ = (\n"
        "        lambda self, *given: os._exit(0))\n"
        "def act(case):\n    return {'answer': 'yes', 'context': Odd()}",
        ends=FAILED,
    ),
    "answers with a model whose dump exits": Act(
        code="class Odd:\n    def model_dump(self, **given):\n        sys.exit(0)\n"
        "def act(case):\n    return Odd()",
        ends=FAILED,
    ),
    "answers with a dict whose keys raise": Act(
        code="class Odd(dict):\n    def keys(self):\n        raise SystemExit(0)\n"
        "    items = __iter__ = get = __getitem__ = __contains__ = __len__ = keys\n"
        "def act(case):\n    return Odd(answer='yes')",
        ends=EITHER,
    ),
    "answers with a text that equals everything": Act(
        code="class Odd(str):\n    __eq__ = lambda self, other: True\n    __hash__ = str.__hash__\n"
        "    strip = casefold = lower = lambda self, *given: self\n"
        "def act(case):\n    return Odd('no')",
        ends=("wrong", "agent_error"),
    ),
    "answers with 100 MB": Act(
        code="def act(case):\n    return 'yes' * (33 * 10**6)", ends=("agent_error", "wrong")
    ),
}

MEDDLES = {
    "prints in every way": Act(
        code="def act(case):\n    print('HOSTILE'); sys.__stdout__.write('HOSTILE\\n')\n"
        "    sys.__stdout__.flush(); os.write(1, b'HOSTILE\\n')\n"
        "    libc = ctypes.CDLL(None); libc.puts(b'HOSTILE'); libc.fflush(None)\n"
        "    subprocess.run(['echo', 'HOSTILE'], check=True)\n"
        "    atexit.register(os.write, 1, b'HOSTILE\\n')\n    return 'yes'",
        ends=ANSWERED,
    ),
    "prints 20 MB": Act(
        code="def act(case):\n    for _ in range(200):\n        print('x' * 10**5)\n"
        "    return 'yes'",
        ends=ANSWERED,
    ),
    "looks for the secrets of the job": Act(
        code="def act(case):\n    found = [name for name in os.environ if name.startswith(\n"
        "        ('INPUT_', 'ACTIONS_')) or name in ('GITHUB_TOKEN', 'GH_TOKEN')]\n"
        "    return ' '.join(found) or 'yes'",
        ends=ANSWERED,
    ),
    "changes what it was asked": Act(
        code="def act(case):\n    case['expected_answer'] = 'no'\n    return 'no'", ends=("wrong",)
    ),
    "changes its folder": Act(
        code="def act(case):\n    os.chdir('/')\n    return 'yes'", ends=ANSWERED
    ),
    "empties the environment": Act(
        code="def act(case):\n    for name in {*os.environ} - {'HOSTILE_RUN'}:\n"
        "        del os.environ[name]\n    return 'yes'",
        ends=ANSWERED,
    ),
    "collects no garbage": Act(
        code="def act(case):\n    gc.disable()\n    gc.collect()\n    return 'yes'",
        ends=ANSWERED,
    ),
    "lets no socket wait": Act(
        code="def act(case):\n    socket.setdefaulttimeout(1e-9)\n    return 'yes'", ends=ANSWERED
    ),
    "turns faults on": Act(
        code="def act(case):\n    faulthandler.enable()\n    faulthandler.dump_traceback()\n"
        "    return 'yes'",
        ends=ANSWERED,
    ),
    "speaks another language": Act(
        code="def act(case):\n    locale.setlocale(locale.LC_ALL, 'C')\n    return 'yes'",
        ends=ANSWERED,
    ),
    "lets nobody read new files": Act(
        code="def act(case):\n    os.umask(0o777)\n    return 'yes'", ends=ANSWERED
    ),
    "leaves a thread that never ends": Act(
        code="def act(case):\n    threading.Thread(target=time.sleep, args=(10**6,)).start()\n"
        "    return 'yes'",
        ends=ANSWERED,
    ),
    "leaves children with open pipes": Act(
        code="def act(case):\n    for _ in range(4):\n"
        "        subprocess.Popen(['sleep', '600'], close_fds=False)\n    return 'yes'",
        ends=ANSWERED,
    ),
    "leaves a daemon": Act(
        code="def act(case):\n    subprocess.Popen(['sleep', '600'], close_fds=False,\n"
        "                     start_new_session=True)\n    return 'yes'",
        ends=ANSWERED,
    ),
    "forks without end, as far as allowed": Act(
        code="def act(case):\n    for _ in range(64):\n        if os.fork() == 0:\n"
        "            time.sleep(600)\n            os._exit(0)\n    return 'yes'",
        ends=ANSWERED,
    ),
    "forks, and both return": Act(
        code="def act(case):\n    os.fork()\n    return 'yes'", ends=EITHER
    ),
}

DIES = {
    "ends its process": Act(code="def act(case):\n    os._exit(0)", ends=FAILED),
    "aborts": Act(code="def act(case):\n    os.abort()", ends=FAILED),
    "kills its process": Act(
        code="def act(case):\n    os.kill(os.getpid(), signal.SIGKILL)", ends=FAILED
    ),
    "crashes its process": Act(code="def act(case):\n    ctypes.string_at(0)", ends=FAILED),
    "ends its process in a thread": Act(
        code="def act(case):\n    threading.Thread(target=os._exit, args=(0,)).start()\n"
        "    time.sleep(600)",
        ends=FAILED,
    ),
    "ends its process in a coroutine": Act(
        code="async def act(case):\n    await asyncio.sleep(0)\n    os._exit(0)", ends=FAILED
    ),
    "ends its process when something is thrown away": Act(
        code="class Odd:\n    def __del__(self):\n        os._exit(0)\n"
        "def act(case):\n    Odd()\n    return 'yes'",
        ends=FAILED,
    ),
    "terminates its process": Act(
        code="def act(case):\n    os.kill(os.getpid(), signal.SIGTERM)\n    time.sleep(600)",
        ends=FAILED,
    ),
    "interrupts its process": Act(
        code="def act(case):\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(0.3)\n"
        "    return 'yes'",
        ends=EITHER,
    ),
}

DIES_ODDLY = {
    "stops its process": Act(
        code="def act(case):\n    os.kill(os.getpid(), signal.SIGSTOP)\n    time.sleep(600)",
        ends=FAILED,
    ),
    "becomes another program": Act(
        code="def act(case):\n    os.execv('/bin/true', ['true'])", ends=FAILED
    ),
    "closes every descriptor": Act(
        code="def act(case):\n    os.closerange(0, 256)\n    return 'yes'", ends=EITHER
    ),
    "closes every descriptor above 2": Act(
        code="def act(case):\n    os.closerange(3, 256)\n    return 'yes'", ends=EITHER
    ),
    "writes into every descriptor": Act(
        code="def act(case):\n    for one in range(3, 40):\n        try:\n"
        "            os.set_blocking(one, False)\n"
        "            os.write(one, b'{\"answer\"\\n' * 9)\n"
        "        except OSError:\n            pass\n    return 'yes'",
        ends=EITHER,
    ),
    "reads every descriptor": Act(
        code="def act(case):\n    for one in (0, *range(3, 40)):\n        try:\n"
        "            os.set_blocking(one, False)\n            os.read(one, 10**6)\n"
        "        except OSError:\n            pass\n    return 'yes'",
        ends=EITHER,
    ),
    "sets an alarm": Act(
        code="def act(case):\n    signal.setitimer(signal.ITIMER_REAL, 0.1)\n    time.sleep(600)",
        ends=FAILED,
    ),
    "takes more memory than it may": Act(
        code="def act(case):\n    resource.setrlimit(resource.RLIMIT_AS, (4 * 10**9,) * 2)\n"
        "    return 'yes' * len(bytearray(6 * 10**9))",
        ends=FAILED,
    ),
    "overflows the stack": Act(
        code="def act(case):\n    sys.setrecursionlimit(10**8)\n    inner = []\n"
        "    for _ in range(10**6):\n        inner = [inner]\n    return repr(inner)",
        ends=FAILED,
    ),
}

HANGS = {
    "sleeps": Act(code="def act(case):\n    time.sleep(10**9)", ends=FAILED),
    "spins": Act(code="def act(case):\n    while True: pass", ends=FAILED),
    "sleeps in a coroutine": Act(code="async def act(case):\n    time.sleep(10**9)", ends=FAILED),
}

HANGS_ODDLY = {
    "refuses to be cancelled": Act(
        code="async def act(case):\n    while True:\n        try:\n"
        "            await asyncio.sleep(3600)\n        except asyncio.CancelledError:\n"
        "            pass",
        ends=FAILED,
    ),
    "waits for itself": Act(
        code="def act(case):\n    one = threading.Lock()\n    one.acquire()\n    one.acquire()",
        ends=FAILED,
    ),
    "holds the interpreter": Act(
        code="def act(case):\n    re.match('(a+)+$', 'a' * 40 + 'b')", ends=FAILED
    ),
    "reads standard input to its end": Act(
        code="def act(case):\n    sys.stdin.read()\n    return 'yes'", ends=EITHER
    ),
}

# Of a grader: `act(case, response)`; its metric is between 0 and 1.

SCORES = {
    "exits": Act(code="def act(case, response):\n    sys.exit(0)", ends=UNSCORED),
    "is interrupted": Act(
        code="def act(case, response):\n    raise KeyboardInterrupt", ends=UNSCORED
    ),
    "raises what cannot be told": Act(
        code="class Odd(BaseException):\n    def __str__(self):\n        raise SystemExit(0)\n"
        "    __repr__ = __str__\ndef act(case, response):\n    raise Odd",
        ends=UNSCORED,
    ),
    "recurses for ever": Act(
        code="def act(case, response):\n    return act(case, response)", ends=UNSCORED
    ),
    "scores more than the most": Act(
        code="def act(case, response):\n    return Score(values={'mine': 2.0}, passed=True)",
        ends=UNSCORED,
    ),
    "scores less than the least": Act(
        code="def act(case, response):\n    return Score(values={'mine': -1e300}, passed=True)",
        ends=UNSCORED,
    ),
    "scores no number": Act(
        code="def act(case, response):\n    return Score(values={'mine': math.nan}, passed=True)",
        ends=UNSCORED,
    ),
    "scores infinity": Act(
        code="def act(case, response):\n    return Score(values={'mine': math.inf}, passed=True)",
        ends=UNSCORED,
    ),
    "scores a number that no float holds": Act(
        code="def act(case, response):\n    return Score(values={'mine': 10**400}, passed=True)",
        ends=UNSCORED,
    ),
    "scores a text": Act(
        code="def act(case, response):\n    return Score(values={'mine': 'good'}, passed=True)",
        ends=UNSCORED,
    ),
    "scores another metric": Act(
        code="def act(case, response):\n    return Score(values={'other': 1.0}, passed=True)",
        ends=("unscored", "answered"),
    ),
    "passes with an object that exits": Act(
        code="class Odd:\n    def __bool__(self):\n        sys.exit(0)\n"
        "def act(case, response):\n    return Score(values={'mine': 1.0}, passed=Odd())",
        ends=UNSCORED,
    ),
    "gives codes and reasons that are none": Act(
        code="def act(case, response):\n"
        "    return Score(values={'mine': 0.0}, passed=False, failures=(object(), 7), reason=b'x')",
        ends=("unscored", "wrong"),
    ),
    "gives a score of its own kind": Act(
        code="class Odd(Score):\n    def __getattribute__(self, name):\n        sys.exit(0)\n"
        "def act(case, response):\n    return Odd(values={'mine': 1.0}, passed=True)",
        ends=UNSCORED,
    ),
    "gives nothing": Act(code="def act(case, response):\n    return None", ends=UNSCORED),
    "gives a number": Act(code="def act(case, response):\n    return 1.0", ends=UNSCORED),
    "gives a coroutine": Act(
        code="async def act(case, response):\n    return Score(values={'mine': 1.0})", ends=UNSCORED
    ),
    "changes the answer for the next one": Act(
        code="def act(case, response):\n    object.__setattr__(response, 'answer', 'changed')\n"
        "    case.keys.clear() if hasattr(case.keys, 'clear') else None\n"
        "    return Score(values={'mine': 1.0}, passed=True)",
        ends=("answered", "unscored"),
    ),
    "prints in every way": Act(
        code="def act(case, response):\n    print('HOSTILE'); os.write(1, b'HOSTILE\\n')\n"
        "    subprocess.run(['echo', 'HOSTILE'], check=True)\n"
        "    return Score(values={'mine': 1.0}, passed=True)",
        ends=ANSWERED,
    ),
}

GRADER_DIES = {
    "ends its process": Act(code="def act(case, response):\n    os._exit(0)", ends=UNSCORED),
    "kills its process": Act(
        code="def act(case, response):\n    os.kill(os.getpid(), signal.SIGKILL)", ends=UNSCORED
    ),
    "crashes its process": Act(
        code="def act(case, response):\n    ctypes.string_at(0)", ends=UNSCORED
    ),
    "ends its process in a thread": Act(
        code="def act(case, response):\n    threading.Thread(target=os._exit, args=(0,)).start()\n"
        "    time.sleep(600)",
        ends=UNSCORED,
    ),
    "closes every descriptor": Act(
        code="def act(case, response):\n    os.closerange(0, 256)\n"
        "    return Score(values={'mine': 1.0}, passed=True)",
        ends=("answered", "unscored"),
    ),
}

GRADER_HANGS = {
    "sleeps": Act(code="def act(case, response):\n    time.sleep(10**9)", ends=UNSCORED),
    "spins": Act(code="def act(case, response):\n    while True: pass", ends=UNSCORED),
    "holds the interpreter": Act(
        code="def act(case, response):\n    re.match('(a+)+$', 'a' * 40 + 'b')", ends=UNSCORED
    ),
}

REGRADES = {name: GRADER_DIES[name] for name in ("ends its process", "closes every descriptor")}

# Of a retriever: `act(question)`, a judge: `act(case)`, an embedding: `act(texts)`, a suite as
# code: `act(task)`.

RETRIEVES = {
    "exits": Act(code="def act(question):\n    sys.exit(0)", ends=FAILED),
    "ends its process": Act(code="def act(question):\n    os._exit(0)", ends=FAILED),
    "sleeps": Act(code="def act(question):\n    time.sleep(10**9)", ends=FAILED),
    "finds without end": Act(
        code="def act(question):\n    while True:\n        time.sleep(0.001)\n        yield 'd1'",
        ends=FAILED,
    ),
    "finds objects that exit": Act(
        code="class Odd:\n    def __getattr__(self, name):\n        sys.exit(0)\n"
        "def act(question):\n    return [Odd()]",
        ends=FAILED,
    ),
}

JUDGES = {
    "exits": Act(code="def act(case):\n    sys.exit(0)", ends=UNSCORED),
    "ends its process": Act(code="def act(case):\n    os._exit(0)", ends=UNSCORED),
    "sleeps": Act(code="def act(case):\n    time.sleep(10**9)", ends=UNSCORED),
    "says nothing of use": Act(code="def act(case):\n    return 'HOSTILE'", ends=UNSCORED),
    "gives an object that exits": Act(
        code="class Odd:\n    def model_dump(self, **given):\n        sys.exit(0)\n"
        "def act(case):\n    return Odd()",
        ends=UNSCORED,
    ),
    "gives points beyond the scale": Act(
        code="def act(case):\n    return {'good': {'reason': 'r', 'score': 10**400},\n"
        "            'addressed_judge': False, 'canary': 'none'}",
        ends=UNSCORED,
    ),
}

EMBEDS = {
    "exits": Act(code="def act(texts):\n    sys.exit(0)", ends=UNSCORED),
    "ends its process": Act(code="def act(texts):\n    os._exit(0)", ends=UNSCORED),
    "sleeps": Act(code="def act(texts):\n    time.sleep(10**9)", ends=UNSCORED),
    "gives no numbers": Act(
        code="def act(texts):\n    return [[float('nan'), 1.0]]", ends=UNSCORED
    ),
    "gives numbers without end": Act(
        code="def act(texts):\n    def inner():\n        while True:\n"
        "            time.sleep(0.001)\n"
        "            yield 1.0\n    return [inner()]",
        ends=UNSCORED,
    ),
}

RUNS_TASKS = {
    "exits": Act(
        code="def act(task):\n    sys.exit(0)", ends=("agent_error", "run_record_invalid")
    ),
    "ends its process": Act(code="def act(task):\n    os._exit(0)", ends=INVALID),
    "crashes its process": Act(code="def act(task):\n    ctypes.string_at(0)", ends=INVALID),
    "sleeps": Act(code="def act(task):\n    time.sleep(10**9)", ends=FAILED),
    "gives nothing": Act(code="def act(task):\n    return None", ends=INVALID),
    "gives a record that exits": Act(
        code="class Odd:\n    def __getattr__(self, name):\n        sys.exit(0)\n"
        "def act(task):\n    return Odd()",
        ends=("run_record_invalid", "agent_error"),
    ),
    "passes with an object that equals everything": Act(
        code="class Odd:\n    __eq__ = lambda self, other: True\n    __bool__ = lambda self: True\n"
        "    __hash__ = None\ndef act(task):\n    return {'ok': Odd(), 'response_text': 'yes'}",
        ends=INVALID,
    ),
}

CONTROLS = {
    "ends its process": DIES["ends its process"],
    "exits with 0": RAISES["exits with 0"],
    "sleeps": HANGS["sleeps"],
}

BATCHES: dict[str, Batch] = {
    "an agent raises": Batch(role="agent", acts=RAISES),
    "an agent answers oddly": Batch(role="agent", acts=ODD_ANSWERS),
    "an agent meddles": Batch(role="agent", acts=MEDDLES, paced=True),
    "an agent dies": Batch(role="agent", acts=DIES, paced=True),
    "an agent dies oddly": Batch(role="agent", acts=DIES_ODDLY, paced=True),
    "an agent hangs": Batch(role="agent", acts=HANGS, paced=True),
    "an agent hangs oddly": Batch(role="agent", acts=HANGS_ODDLY, paced=True),
    "a grader scores oddly": Batch(role="grader", acts=SCORES),
    "a grader dies": Batch(role="grader", acts=GRADER_DIES, paced=True),
    "a grader hangs": Batch(role="grader", acts=GRADER_HANGS, paced=True),
    "a retriever": Batch(role="retriever", acts=RETRIEVES, paced=True),
    "a judge": Batch(role="judge", acts=JUDGES, paced=True),
    "an embedding": Batch(role="embed", acts=EMBEDS, paced=True),
    "a suite as code": Batch(role="suite", acts=RUNS_TASKS, paced=True),
    "a control agent": Batch(role="control", acts=CONTROLS, paced=True),
    "imported answers, graded again": Batch(
        role="regrade", acts=REGRADES, paced=True, command="import"
    ),
}

# ------------------------------------------------------------------- what touches a whole process

_WRONG = "\ndef answer(case):\n    return 'no'\n"
_TOLD = (0, 1, 3, 4, 5, 6)

WHOLE: dict[str, Whole] = {
    "an agent whose process dies in every call": Whole(
        role="agent", code="import os\ndef answer(case):\n    os._exit(0)\n", codes=(6,), cases=5
    ),
    "a grader whose process dies in every call": Whole(
        role="grader",
        code=_GRADER + "    def grade(self, case, response):\n        os._exit(0)\n",
        codes=(1, 6),
        cases=5,
    ),
    "an agent whose process dies a little later": Whole(
        role="agent",
        code="import os, threading, time\nthreading.Timer(0.3, os._exit, (0,)).start()\n"
        "def answer(case):\n    time.sleep(0.2)\n    return 'yes'\n",
        codes=(0, 1, 6),
        cases=4,
    ),
    "an agent that prints until it is ended, and then": Whole(
        role="agent",
        code="import atexit, os, subprocess, threading, time\n"
        "def say():\n    for _ in range(10**4):\n        print('HOSTILE', flush=True)\n"
        "        time.sleep(0.01)\nthreading.Thread(target=say).start()\natexit.register(say)\n"
        "subprocess.Popen('for n in 1 2 3 4 5 6 7 8; do echo HOSTILE; sleep 0.3; done',\n"
        "                 shell=True, start_new_session=True)" + _WRONG,
        codes=(1,),
        ends=("wrong",),
        command="run as text",
    ),
    "an agent whose call ends its process, told as text": Whole(
        role="agent",
        code="import os\ndef answer(case):\n    if case['id'] == 'c0':\n        os._exit(0)\n"
        "    return 'yes'\n",
        codes=(1,),
        command="run as text",
    ),
    "an agent that ends oddly": Whole(
        role="agent",
        code="import atexit, os, threading, time\natexit.register(os._exit, 0)\n"
        "atexit.register(time.sleep, 10**9)\natexit.register(print, 'HOSTILE', flush=True)\n"
        "threading.Thread(target=time.sleep, args=(10**6,)).start()" + _WRONG,
        codes=(1,),
        ends=("wrong",),
    ),
    "an agent that ignores signals and never returns": Whole(
        role="agent",
        code="import signal, time\nfor one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n"
        "    signal.signal(one, signal.SIG_IGN)\ndef answer(case):\n    while True:\n"
        "        time.sleep(1)\n",
        codes=(1, 6),
        ends=FAILED,
    ),
    "an agent that closes its streams": Whole(
        role="agent",
        code="import os, sys\nsys.stdout.close()\nsys.stdin.close()\n"
        "sys.stdout = sys.stderr = None\n"
        "sys.__stdout__ = sys.__stderr__ = None\nos.close(1)\nos.close(2)" + _WRONG,
        codes=(1, 2, 6),
        ends=("wrong", "agent_error", "nothing"),
    ),
    "an agent that turns its streams elsewhere": Whole(
        role="agent",
        code="import os\nnull = os.open('/dev/null', os.O_RDWR)\n"
        "for one in (0, 1, 2):\n    os.dup2(null, one)" + _WRONG,
        codes=(1, 2, 6),
        ends=("wrong", "agent_error", "nothing"),
    ),
    "an agent that judges itself": Whole(
        role="agent",
        code="import builtins, json, sys, time, types\nimport gate.run.grade, gate.records\n"
        "evil = types.ModuleType('gate.verdict')\nevil.decide = lambda *a, **k: 'pass'\n"
        "evil.__getattr__ = lambda name: evil.decide\n"
        "for name in [one for one in sys.modules if one.startswith('gate.verdict')]:\n"
        "    sys.modules[name] = evil\nsys.modules['gate.verdict'] = evil\n"
        "gate.run.grade.grade_attempt = lambda *a, **k: 'pass'\n"
        "gate.run.grade._passed = lambda *a: True\n"
        'json.dumps = lambda *a, **k: \'{"outcome": "pass", "passed": true}\'\n'
        "time.time = time.monotonic = time.perf_counter = lambda: 0.0\n"
        "builtins.open = lambda *a, **k: 1 / 0\nbuiltins.isinstance = lambda *a: True" + _WRONG,
        codes=(1, 2, 6),
        ends=("wrong", "agent_error", "nothing"),
    ),
    "an agent that allows no recursion": Whole(
        role="agent",
        code="import sys\ndef answer(case):\n    sys.setrecursionlimit(30)\n    return 'no'\n",
        codes=(1, 6),
    ),
    "an agent that traces everything": Whole(
        role="agent",
        code="import sys, threading\ndef trace(*given):\n    raise SystemExit(0)\n"
        "threading.settrace(trace)\nthreading.setprofile(trace)\nsys.settrace(trace)" + _WRONG,
        codes=(1, 2, 6),
    ),
    "an agent to whom warnings are errors": Whole(
        role="agent",
        code="import warnings\nwarnings.simplefilter('error')\nwarnings.showwarning = exit"
        + _WRONG,
        codes=(1,),
        ends=("wrong",),
    ),
    "an agent that gives its process few descriptors": Whole(
        role="agent",
        code="import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))" + _WRONG,
        codes=(1, 2, 6),
    ),
    "an agent that terminates the gate": Whole(
        role="agent",
        code="import os, signal, time\ndef answer(case):\n"
        "    os.kill(int(os.environ['HOSTILE_GATE']), signal.SIGTERM)\n    time.sleep(600)\n",
        codes=(143,),
    ),
    "an agent that interrupts the gate": Whole(
        role="agent",
        code="import os, signal, time\ndef answer(case):\n"
        "    os.kill(int(os.environ['HOSTILE_GATE']), signal.SIGINT)\n    time.sleep(600)\n",
        codes=(130,),
    ),
    "an agent that kills the gate": Whole(  # cannot be kept from it; but that is no verdict
        role="agent",
        code="import os, signal, time\ndef answer(case):\n"
        "    os.kill(int(os.environ['HOSTILE_GATE']), signal.SIGKILL)\n    time.sleep(600)\n",
        codes=(-9,),
    ),
    "an agent that terminates its group": Whole(
        role="agent",
        code="import os, signal, time\ndef answer(case):\n    os.killpg(0, signal.SIGTERM)\n"
        "    time.sleep(600)\n",
        codes=(143, 1, 6),
    ),
    "an agent beside modules that exit": Whole(
        role="agent",
        code=_ANSWER,
        codes=(0,),
        ends=ANSWERED,
        files=tuple(
            (f"{name}.py", "import os\nos._exit(0)\n")
            for name in ("numpy", "yaml", "requests", "jinja2", "rich", "gate", "sitecustomize")
        ),
    ),
    "a grader beside modules that exit": Whole(
        role="grader",
        code=_GRADER,
        codes=(0,),
        ends=ANSWERED,
        files=(
            *((f"{name}.py", "import os\nos._exit(0)\n") for name in ("numpy", "jinja2", "json")),
        ),
    ),
    "a pattern that never ends": Whole(
        role="regex", code="(a+)+$", codes=(1, 3, 5, 6), ends=UNSCORED, cases=1
    ),
    "an agent that ends its process in a call": Whole(
        role="agent",
        code="import os\ndef answer(case):\n    if case['id'] == 'c0':\n        os._exit(0)\n"
        "    return 'yes'\n",
        codes=(1,),
        command="action",
    ),
    "an agent that looks for the token of the action": Whole(
        role="agent",
        code="import os\ndef answer(case):\n    found = [os.environ]\n    one = os.getpid()\n"
        "    seen = str(dict(os.environ))\n    while one > 1:\n        try:\n"
        "            seen += open(f'/proc/{one}/environ').read()\n"
        "            one = int(open(f'/proc/{one}/stat').read().rpartition(')')[2].split()[1])\n"
        "        except OSError:\n            break\n"
        "    return 'no' if 'ghs_' 'token' in seen else 'yes'\n",
        codes=(0,),
        ends=ANSWERED,
        command="action",
    ),
    "an agent that writes the outputs of the action": Whole(
        role="agent",
        code="import os, sys\ndef answer(case):\n    print('::error::HOSTILE')\n"
        "    print('::set-output name=outcome::pass')\n    sys.exit(0)\n",
        codes=(1,),
        ends=FAILED,
        command="action",
    ),
    "a grader that ends its process when answers are imported": Whole(
        role="regrade",
        code=_GRADER + "    def grade(self, case, response):\n        os._exit(0)\n",
        codes=(1, 3, 5, 6),
        cases=5,
        command="import",
    ),
    "a grader that prints while sessions are compared": Whole(
        role="grader",
        code="import atexit, os\nprint('HOSTILE')\nos.write(1, b'HOSTILE\\n')\n"
        "atexit.register(os._exit, 0)\n" + _GRADER,
        codes=(0,),
        command="compare",
    ),
}
