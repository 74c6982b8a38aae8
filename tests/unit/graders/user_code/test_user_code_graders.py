"""Graders of the user's: what they are, that their scores cross whole, and what goes wrong."""

import json
import re

import pytest

from gate.errors import GraderFailure, UsageError
from gate.graders.user_code.make import make_grader, manner_of, option_faults
from gate.records import (
    Case,
    CheckedEvidence,
    Document,
    OwnVerdict,
    PluginSpec,
    Reply,
    Response,
    Score,
    ToolCall,
    Usage,
    Violation,
)
from gate.run.grade import grade_attempt, make_graders
from gate.user_code.processes import PROCESSES

CODE = '''
import asyncio, json, os, re, sys, time
from dataclasses import dataclass, field
import numpy as np
from gate.errors import GraderFailure
from gate.records import (
    CheckedEvidence, Document, MetricSpec, OwnVerdict, Question, Score, ToolCall, Violation
)

@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A grader whose `do` tells what it does."""

    do: str = "plain"
    pass_at: float = 0.5
    words: tuple[str, ...] = ()

    keys = {"wanted": {"type": "string"}}
    needs = ("wanted",)
    abouts = {"own.value": "how near"}

    def metrics(self):
        return (
            MetricSpec(name="own.value", column="own.value", description="nearness"),
            MetricSpec(name="own.count", column="own.count", low=1, high=None, unit="points"),
        )

    def digest_text(self):
        return f"own {self.do}"

    def case_faults(self, keys):
        if keys.get("wanted") == "odd":
            yield "wanted: 'odd' is odd"
        if keys.get("wanted") == "crash":
            raise LookupError("no rule")
        if keys.get("wanted") == "leave":
            os._exit(0)

    def grade(self, case, response):
        return globals()[f"do_{self.do}"](self, case, response)

def do_plain(own, case, response):
    hit = case.keys["wanted"] in (response.answer or "")
    return Score(values={"own.value": float(hit), "own.count": 2}, passed=hit, reason="as told")
def do_echo(own, case, response):
    return Score(values={}, reason=json.dumps([repr(case), repr(response)]))
def do_numpy(own, case, response):
    values = {np.str_("own.value"): np.float32(0.25), "own.count": np.int64(3)}
    return Score(values=values, passed=np.bool_(True), failures=[np.str_("code")])
def do_whole(own, case, response):
    return Score(
        values={"own.value": None, "own.count": 1e9}, passed=False, failures=("a:1", "b"),
        reason="why \\u2603 \\ud83d", uncertainty=0.25,
        violations=(Violation(rule="r", detail="d", severity="low", step=3, excerpt="x"),),
        evidence=CheckedEvidence(
            verdict="incomplete", declared=("a",), observed=(), missing=("b",), notes=("n",)
        ),
    )
def do_unscored(own, case, response): return Score(unscored="no opinion")
def do_own_failure(own, case, response): raise GraderFailure("no model here")
def do_low(own, case, response): return Score(values={"own.value": -0.1})
def do_high(own, case, response): return Score(values={"own.value": 1.5})
def do_few(own, case, response): return Score(values={"own.count": 0})
def do_unknown(own, case, response): return Score(values={"other.metric": 1.0})
def do_nan(own, case, response): return Score(values={"own.value": float("nan")})
def do_inf(own, case, response): return Score(values={"own.count": float("inf")})
def do_huge(own, case, response): return Score(values={"own.count": 10**400})
def do_text(own, case, response): return Score(values={"own.value": "much"})
def do_none(own, case, response): return None
def do_dict(own, case, response): return {"values": {"own.value": 1.0}}
def do_odd_sureness(own, case, response): return Score(values={}, uncertainty="very")
def do_odd_violation(own, case, response): return Score(values={}, violations=("bad",))
def do_object(own, case, response): return Score(values={"own.value": object()})
def do_raise(own, case, response): raise ValueError("no\\nluck")
def do_exit(own, case, response): sys.exit(0)
def do_leave(own, case, response): os._exit(0)
def do_sleep(own, case, response): time.sleep(30)
def do_held(own, case, response): re.match("(a+)+$", "a" * 40 + "b")
def do_big(own, case, response): return Score(values={}, reason="x" * 21_000_000)
def do_print(own, case, response):
    print('{"exit_code": 0}')
    return Score(values={"own.value": 1.0})
async def do_coroutine(own, case, response): return Score(values={})

@dataclass(frozen=True, slots=True, kw_only=True)
class Asking(Own):
    role = "verifier"
    partly_offline = True

    def questions(self, case, response):
        if self.do == "nothing": return ()
        if self.do == "odd": return ("what?",)
        return [Question(role="verifier", name="near", instructions="i", material=response.answer,
                         schema={"type": "object"})]

    def read(self, case, response, replies):
        if self.do == "boom": raise LookupError("no reply")
        data = [[vote.data for vote in given] for given in replies]
        return Score(values={"own.value": data[0][0]["near"]}, reason=str(data))

class NoDataclass:
    keys, needs = {}, ()

@dataclass(frozen=True)
class NoMetrics:
    keys = {}
    needs = ()
    def metrics(self): return ("own.value",)
    def grade(self, case, response): return Score(values={})

@dataclass(frozen=True)
class Crashing(Own):
    def metrics(self): return 1 / 0

@dataclass(frozen=True)
class Leaving(Own):
    def metrics(self): os._exit(7)

def function(case, response): return 1.0
'''
CASE = Case(id="a", input="q", keys={"wanted": "sun"})
ANSWER = Response(answer="the sun")


@pytest.fixture(scope="module", autouse=True)
def _no_user_code_left_running():
    """One process for all tests of this file, as for all graders of a run."""
    yield
    PROCESSES.end()


@pytest.fixture(autouse=True)
def _whoever_comes_next_finds_no_dead_or_late_one(request):
    yield
    if re.search(r"\[(leave|sleep|held|Leaving)|always_ends", request.node.name):
        PROCESSES.end()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    (folder / "own.py").write_text(CODE, encoding="utf-8")
    return folder


@pytest.fixture
def grader(folder):
    def make(do="plain", cls="Own", **options):
        spec = PluginSpec(name=f"./own.py:{cls}", options={"do": do, **options})
        return make_grader(spec, folder)

    return make


@pytest.fixture
def score(grader):
    return lambda do, case=CASE, response=ANSWER: grader(do).grade(case, response)


@pytest.fixture
def unscored(score):
    def why(do):
        with pytest.raises(GraderFailure) as caught:
            score(do)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return why


# -------------------------------------------------------------------------------- what it is


def test_what_it_says_of_itself_crosses_whole(grader):
    made = grader()
    assert (made.keys, made.needs) == ({"wanted": {"type": "string"}}, ("wanted",))
    value, count = made.metrics()
    assert (value.column, value.description, value.low, value.high) == (
        "own.value",
        "nearness",
        0,
        1,
    )
    assert (count.low, count.high, count.unit) == (1, None, "points")
    assert (made.digest_text(), made.decides, made.abouts) == (
        *("own plain", True),
        {"own.value": "how near"},
    )
    assert not hasattr(made, "questions")
    asking = grader(cls="Asking")
    assert (asking.role, hasattr(asking, "read")) == ("verifier", True)


def test_what_can_be_told_before_it_is_made(folder):
    found = manner_of("./own.py:Asking", folder)
    assert (found.role, found.partly_offline, found.knows_modes) == ("verifier", True, False)


def test_its_options_are_checked(folder):
    def faults(cls, **options):
        return option_faults(PluginSpec(name=f"./own.py:{cls}", options=options), folder)

    assert faults("Own", do="plain", pass_at=0.7, words=["a"]) == []
    (wrong,) = faults("Own", pass_at="high")
    assert wrong.startswith("./own.py:Own.pass_at: ")
    assert faults("Own", passat=1)
    (none,) = faults("NoDataclass")
    assert none == (
        "'./own.py:NoDataclass' is not a grader: a dataclass with keys, needs, metrics, grade "
        "(metrics, grade missing)"
    )
    (function,) = faults("function")
    assert "is not a grader" in function


@pytest.mark.parametrize(
    ("cls", "said"),
    [
        ("Gone", r"\./own\.py has no 'Gone'"),
        ("NoMetrics", r"'\./own\.py:NoMetrics': metrics\(\) must return MetricSpecs"),
        ("Crashing", r"own\.py:\d+: does not load: ZeroDivisionError"),
        ("Leaving", "its process ended with exit status 7 while it was loading"),
    ],
)
def test_one_that_cannot_be_made_says_why(folder, cls, said):
    with pytest.raises(UsageError, match=said):
        make_grader(PluginSpec(name=f"./own.py:{cls}", options={}), folder)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("fine", []),
        ("odd", ["wanted: 'odd' is odd"]),
        ("crash", [r"the check of './own.py:Own' failed: LookupError: no rule (own.py:N)"]),
        (
            "leave",
            [
                "the check of './own.py:Own' failed: the grader's process ended with exit status 0 "
                "while it judged"
            ],
        ),
    ],
)
def test_the_keys_of_a_case_are_checked_by_it(grader, wanted, told):
    found = [re.sub(r"py:\d+", "py:N", one) for one in grader().case_faults({"wanted": wanted})]
    assert found == told


# ------------------------------------------------------------------------------- its scores


def test_a_score_crosses_whole(score):
    plain = score("plain")
    assert plain == Score(
        values={"own.value": 1.0, "own.count": 2.0}, passed=True, reason="as told"
    )
    assert score("plain", response=Response(answer="rain")).passed is False
    assert score("whole") == Score(
        values={"own.value": None, "own.count": 1e9},
        passed=False,
        failures=("a:1", "b"),
        reason="why \N{SNOWMAN} \ud83d",
        uncertainty=0.25,
        violations=(Violation(rule="r", detail="d", severity="low", step=3, excerpt="x"),),
        evidence=CheckedEvidence(
            verdict="incomplete", declared=("a",), observed=(), missing=("b",), notes=("n",)
        ),
    )
    assert score("unscored") == Score(unscored="no opinion")


def test_numbers_of_numpy_are_plain_ones(score):
    found = score("numpy")
    assert found == Score(
        values={"own.value": 0.25, "own.count": 3.0}, passed=True, failures=("code",)
    )
    kinds = {type(value) for value in (*found.values.values(), *found.values, found.passed)}
    assert kinds == {float, str, bool}


def test_the_case_and_the_answer_cross_whole(score):
    case = Case(
        **{"id": "ä\ud83d", "input": {"messages": [1, None]}, "category": "c", "tags": ("t",)},
        keys={"wanted": "sun", "nested": {"a": [1.5, "x"]}},
    )
    response = Response(
        answer="the sun",
        model="m",
        retrieved=(Document(id="d", score=0.5, text="T"),),
        steps=(ToolCall(name="search", arguments={"q": [1]}),),
        state={"user": {"id": 7}},
        usage=Usage(input_tokens=3, output_tokens=4),
        own_verdict=OwnVerdict(passed=False, failures=("a",)),
        latency_ms=12.5,
    )
    for answered in (response, Response(answer=""), Response(answer="", retrieved=(), steps=())):
        told = json.loads(score("echo", case, answered).reason)
        assert told == [repr(case), repr(answered)]


def test_what_it_prints_stays_off_our_output(score, capfd):
    assert score("print").values == {"own.value": 1.0}
    PROCESSES.end()
    assert capfd.readouterr() == ("", "")


# --------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("do", "said"),
    [
        ("own_failure", r"^no model here \(own\.py:\d+\)$"),
        ("low", r"^the grader gave -0\.1 for own\.value, which must be from 0 to 1$"),
        ("high", r"^the grader gave 1\.5 for own\.value, which must be from 0 to 1$"),
        ("few", r"^the grader gave 0 for own\.count, which must be from 1 to inf$"),
        ("unknown", "^the grader gave a value for other.metric, not in its metrics"),
        ("nan", "^the grader returned nan for own.value$"),
        ("inf", "^the grader returned inf for own.count$"),
        ("huge", "OverflowError: int too large to convert to float"),
        ("text", "ValueError: could not convert string to float: 'much'"),
        ("object", "TypeError: "),
        ("none", "^the grader returned NoneType, not a Score$"),
        ("dict", "^the grader returned dict, not a Score$"),
        ("coroutine", "^the grader returned coroutine, not a Score$"),
        ("odd_sureness", "the grader's score is malformed: "),
        ("odd_violation", "the grader's score is malformed: "),
        ("raise", r"^ValueError: no luck \(own\.py:\d+\)$"),
        ("exit", r"^SystemExit: 0 \(own\.py:\d+\)$"),
        ("leave", "^the grader's process ended with exit status 0 while it judged$"),
        ("big", "^the grader returned more than 20 MB$"),
    ],
)
def test_what_goes_wrong_leaves_the_answer_unscored_with_its_reason(unscored, do, said):
    assert re.search(said, unscored(do))


@pytest.mark.parametrize("do", ["sleep", "held"])
def test_one_that_does_not_return_is_unscored_and_the_next_is_judged(grader, do):
    PROCESSES.begin({}, lambda line: None)
    hangs, plain = grader(do), grader("plain")
    PROCESSES.allow(0.3)
    with pytest.raises(GraderFailure, match=r"^the grader did not return within 0\.3 s$"):
        hangs.grade(CASE, ANSWER)
    assert plain.grade(CASE, ANSWER).passed is True
    PROCESSES.begin({}, lambda line: None)


def test_one_that_always_ends_its_process_is_unscored_to_the_end(unscored):
    assert "exit status 0" in unscored("leave")
    assert "died 3 times without an answer in between" in unscored("leave")


# --------------------------------------------------------------------------- asking a model


def test_one_that_asks_a_model_puts_questions_and_reads_votes(grader):
    made = grader("plain", "Asking")
    (question,) = made.questions(CASE, ANSWER)
    assert (question.role, question.name, question.material) == ("verifier", "near", "the sun")
    vote = Reply(data={"near": 0.5}, model="m", usage=Usage(input_tokens=1), calls=1)
    silent = Reply(data=None, failure="it was out", cause="unreachable")
    found = made.read(CASE, ANSWER, [(vote, silent)])
    assert found.values == {"own.value": 0.5}
    assert found.reason == "[[{'near': 0.5}, None]]"
    assert grader("nothing", "Asking").questions(CASE, ANSWER) == ()


def test_a_try_is_graded_with_the_models_votes(folder):
    spec = PluginSpec(name="./own.py:Asking", options={})
    graders = make_graders([spec], folder)
    asked = []

    def ask(case, questions):
        asked.extend(questions)
        return [(Reply(data={"near": 0.75}, calls=1),)]

    attempt = grade_attempt(CASE, ANSWER, graders, ask)
    assert [one.material for one in asked] == ["the sun"]
    assert attempt.scores["Asking"].values == {"own.value": 0.75}


def test_questions_that_are_none_are_unscored(grader):
    with pytest.raises(GraderFailure, match=r"^the grader's questions.. must return Questions"):
        grader("odd", "Asking").questions(CASE, ANSWER)


@pytest.mark.parametrize(
    ("do", "said"),
    [("boom", r"^LookupError: no reply \(own\.py:\d+\)$"), ("plain", "^TypeError: 'NoneType'")],
)
def test_one_that_fails_on_the_votes_is_unscored(grader, do, said):
    made = grader(do, "Asking")
    with pytest.raises(GraderFailure, match=said):
        made.read(CASE, ANSWER, [(Reply(data=None, failure="out"),)])


SAYS = """
from dataclasses import dataclass
from gate.records import MetricSpec, Score

@dataclass(frozen=True, slots=True, kw_only=True)
class Odd:
    keys = {KEYS}
    needs = {NEEDS}
    def metrics(self):
        return (MetricSpec(name={NAME!r}, column="odd", {MORE}),)
    def grade(self, case, response):
        return Score(values={{"odd": None}})
"""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"KEYS": {"k": {"type": "nonsense"}}}, "keys: 'k': 'nonsense' is not one of"),
        ({"KEYS": {"k": 5}}, "keys: 'k': not a JSON Schema"),
        ({"KEYS": {"k": {"pattern": "("}}}, "keys: 'k': '(' is not a valid"),
        ({"KEYS": {"k": {"$ref": "#/nowhere"}}}, "keys: 'k': '#/nowhere' does not exist"),
        ({"KEYS": {"k": {"$ref": "#"}}}, "keys: 'k': its references are endless"),
        ({"NEEDS": ([1],)}, "needs: [1] is not a key of a case"),
        ({"MORE": "per='zzz'"}, "per: there is no column 'zzz'"),
        ({"MORE": "low=5.0, high=1.0"}, "low 5 is not below high 1"),
        ({"NAME": "a.b\nc"}, "its name is dimension.metric, without blanks"),
    ],
)
def test_what_a_grader_says_of_itself_is_looked_at(tmp_path, said, told):
    usual = {"KEYS": {}, "NEEDS": (), "NAME": "a.odd", "MORE": ""}
    (tmp_path / "odd.py").write_text(SAYS.format(**{**usual, **said}))
    with pytest.raises(UsageError, match=re.escape(told)):
        make_grader(PluginSpec(name="./odd.py:Odd"), tmp_path)


def test_an_error_of_the_agent_is_the_worst_of_a_scale(tmp_path):
    usual = {"KEYS": {}, "NEEDS": (), "NAME": "a.odd", "MORE": "low=1.0, high=5.0"}
    (tmp_path / "odd.py").write_text(SAYS.format(**usual))
    (metric,) = make_grader(PluginSpec(name="./odd.py:Odd"), tmp_path).metrics()
    assert metric.on_agent_error == 1.0
