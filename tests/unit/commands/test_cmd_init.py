"""`gate init`: files that can be used as they are, and none of the user's overwritten."""

import json
import re
import shlex
from argparse import Namespace
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import ClassVar

import pytest

from gate.commands import validate
from gate.commands.init import FILES, render_files, run
from gate.commands.new_project.wanted_agent import OPTIONS, ask_user, choose_agent
from gate.commands.new_project.workflows import ACTIONS
from gate.errors import UsageError
from gate.files import yaml as yamlfile
from tests.support.git_repository import git
from tests.support.loopback import listening
from tests.support.paths import ROOT


def init(folder: Path, *, force: bool = False) -> int:
    return run(Namespace(dir=str(folder), force=force), {})


def test_every_file_is_written_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "project"
    assert init(folder) == 0
    out = capsys.readouterr().out
    for path in FILES:
        assert (folder / path).is_file()
        assert f"wrote {(folder / path).as_posix()}" in out


def test_what_it_writes_validates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    init(tmp_path)
    capsys.readouterr()
    config = str(tmp_path / "gate.yml")
    assert validate.run(Namespace(config=config, suite=None), {}) == 0
    assert "warning" not in capsys.readouterr().out


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    (tmp_path / "gate.yml").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"^gate\.yml: already there - use `gate init --force`"):
        init(tmp_path)
    assert (tmp_path / "gate.yml").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "datasets").exists()
    assert init(tmp_path, force=True) == 0
    assert (tmp_path / "gate.yml").read_text(encoding="utf-8") != "mine"


def test_all_files_that_are_there_are_named(tmp_path: Path) -> None:
    init(tmp_path)
    with pytest.raises(UsageError) as caught:
        init(tmp_path)
    assert all(path in str(caught.value) for path in FILES)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "datasets").write_text("a file, not a folder", encoding="utf-8")
    with pytest.raises(UsageError, match="datasets is not a folder"):
        init(tmp_path)


def test_the_workflows_are_yaml_with_every_reference_filled_in() -> None:
    for path, text in render_files().items():
        assert "<" not in re.sub(r"#.*", "", text), path
        if ".github" in path:
            data = yamlfile.parse(text.encode(), path).data
            steps = [step for job in data["jobs"].values() for step in job["steps"]]
            used = {step["uses"].split("@")[0] for step in steps}
            assert used <= {*ACTIONS, "agent-gate/agent-gate"}


def test_the_workflows_name_each_other() -> None:
    """The baseline's artifact is looked for among the runs of the workflow that makes it."""
    files = render_files()
    name = ".github/workflows/gate-baseline.yml"
    assert name in files
    assert "baseline-workflow: gate-baseline.yml" in files[".github/workflows/gate.yml"]
    assert "name: gate-baseline\n" in files[name]


def test_the_gate_runs_in_a_merge_queue_too() -> None:
    """A queue waits for ever for a required check whose workflow lacks the trigger."""
    own = ROOT / ".github" / "workflows" / "gate.yml"
    for text in (render_files()[".github/workflows/gate.yml"], own.read_text(encoding="utf-8")):
        triggers = yamlfile.parse(text.encode(), "gate.yml").data["on"]
        assert {"pull_request", "merge_group"} <= set(triggers)


def test_leaving_forks_to_their_workflows_does_not_skip_the_merge_queue() -> None:
    """A job that its `if` skips counts as passed."""
    only_own = "if: github.event_name != 'pull_request' || github.event.pull_request.head.repo."
    documented = ROOT / "docs" / "github.md"
    for text in (
        render_files()[".github/workflows/gate.yml"],
        documented.read_text(encoding="utf-8"),
    ):
        assert only_own in text


def test_the_baseline_may_read_what_was_accepted_on_the_merged_pull_request() -> None:
    own = ROOT / ".github" / "workflows" / "baseline.yml"
    shipped = render_files()[".github/workflows/gate-baseline.yml"]
    for text in (shipped, own.read_text(encoding="utf-8")):
        job = yamlfile.parse(text.encode(), "baseline.yml").data["jobs"]["measure"]
        assert job["permissions"]["pull-requests"] == "read"


def test_main_is_measured_in_one_job_and_judged_in_another() -> None:
    own = ROOT / ".github" / "workflows" / "baseline.yml"
    shipped = render_files()[".github/workflows/gate-baseline.yml"]
    for text in (shipped, own.read_text(encoding="utf-8")):
        jobs = yamlfile.parse(text.encode(), "baseline.yml").data["jobs"]
        assert jobs["verdict"]["needs"] == "measure"
        assert jobs["verdict"]["permissions"]["issues"] == "write"
        assert "issues" not in jobs["measure"]["permissions"]
        (judged,) = [
            s["with"]["args"] for s in jobs["verdict"]["steps"] if "args" in s.get("with", {})
        ]
        assert judged == "baseline verdict main-session"


def test_the_first_dataset_has_enough_cases_to_be_compared() -> None:
    cases = [json.loads(line) for line in render_files()["datasets/first.jsonl"].splitlines()]
    assert len(cases) >= 5


def test_a_repository_has_its_base_branch_written_down(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "-q", "-b", "it's#1")
    init(tmp_path / "new")
    assert "The base branch is it's#1" in capsys.readouterr().out
    written = yamlfile.parse((tmp_path / "new" / "gate.yml").read_bytes(), "gate.yml").data
    assert written["baseline"] == {"branch": "it's#1"}
    workflow = (tmp_path / ".github/workflows/gate-baseline.yml").read_bytes()
    pushes = yamlfile.parse(workflow, "x").data["on"]["push"]
    assert pushes["branches"] == ["it's#1"]
    assert "  branch:" not in render_files()["gate.yml"]
    assert "branches: [main]" in render_files()[".github/workflows/gate-baseline.yml"]


OWN = {"agent": "openai", "base_url": "http://127.0.0.1:9", "model": "m"}


def start(folder: Path, read=None, **options: object) -> int:
    return run(Namespace(dir=str(folder), force=False, **options), {}, read)


def test_a_project_for_an_own_agent_is_written_though_the_agent_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start(tmp_path, **OWN, template="tools") == 0
    out = capsys.readouterr().out
    assert "The agent did not answer: http://127.0.0.1:9 refused the connection" in out
    config = yamlfile.parse((tmp_path / "gate.yml").read_bytes(), "gate.yml").data
    assert config["agent"] == {"type": "openai", "base_url": "http://127.0.0.1:9", "model": "m"}
    assert config["suites"][0]["graders"] == ["facts", "tool_calls"]
    first = (tmp_path / "gate.yml").read_text().splitlines()[0]
    named = first.partition("$schema=")[2]
    assert json.loads((tmp_path / named).read_text())["title"] == "gate.yml of Agent Gate"
    told = "datasets/questions.yaml: no question is filled in yet: write them in .*questions.yaml "
    with pytest.raises(Exception, match=told):
        validate.run(Namespace(config=str(tmp_path / "gate.yml"), suite=None), {})


def test_a_form_whose_status_alone_was_deleted_is_refused_with_its_lines(tmp_path: Path) -> None:
    start(tmp_path, **OWN, template="tools")
    form = tmp_path / "datasets" / "questions.yaml"
    lines = form.read_text("utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if "status: proposed" not in line)
    form.write_text(text.replace('"..."', '"Why?"', 1), encoding="utf-8")
    with pytest.raises(Exception, match="still says") as caught:
        validate.run(Namespace(config=str(tmp_path / "gate.yml"), suite=None), {})
    told = str(caught.value).splitlines()
    assert len(told) == 3
    assert re.search(
        r'questions.yaml:\d+: input: still says "\.\.\." - write the .*7 cases', told[2]
    )
    assert "expected_facts: still says" in told[0]
    assert "expected_tool_calls: still says" in told[1]


def test_the_user_is_asked_and_may_take_what_is_proposed(tmp_path: Path) -> None:
    answers = iter(["http", "http://127.0.0.1:9/ask", "", "rag"])
    asked = []

    def read(words: str) -> str:
        asked.append(words)
        return next(answers)

    start(tmp_path / "own", read)
    assert len(asked) == 4
    text = (tmp_path / "own" / "gate.yml").read_text("utf-8")
    config = yamlfile.parse(text.encode(), "gate.yml").data
    assert config["agent"] == {"type": "http", "url": "http://127.0.0.1:9/ask"}
    assert '  # body: {question: "{{input}}"}\n  # response: {answer: answer}\n' in text
    assert config["suites"][0]["graders"] == ["facts"], "nobody saw documents, or texts of them"
    start(tmp_path / "sample", lambda words: "")
    config = yamlfile.parse((tmp_path / "sample" / "gate.yml").read_bytes(), "gate.yml").data
    assert config["agent"] == {"type": "sample"}


def test_the_question_is_announced_beside_what_a_pipe_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start(tmp_path / "own", **OWN)
    out, err = capsys.readouterr()
    assert err == "Asking the agent one question (up to 60 s) ...\n"
    assert "Asking" not in out
    start(tmp_path / "sample")
    assert capsys.readouterr().err == ""


class Chat(BaseHTTPRequestHandler):
    """OpenAI's protocol: offers MODELS, and answers with the model and the question."""

    MODELS: ClassVar[tuple[str, ...]] = ("only",)

    def do_GET(self) -> None:
        self._send({"data": [{"id": name} for name in self.MODELS]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = f"{body['model']} was asked {body['messages'][-1]['content']}"
        self._send({"choices": [{"message": {"role": "assistant", "content": said}}]})

    def _send(self, data: object) -> None:
        sent = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        pass


class ChatOfTwo(Chat):
    MODELS: ClassVar[tuple[str, ...]] = ("one", "two")


def test_the_only_model_that_is_offered_is_taken_and_the_users_question_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "faq.csv").write_text("question,answer\nHow long?,30 days\n", encoding="utf-8")
    source = ["csv", str(tmp_path / "faq.csv")]
    with listening(Chat) as url:
        start(tmp_path / "new", agent="openai", base_url=url, source=source)
    out = capsys.readouterr().out
    assert "The agent offers one model, only: gate.yml names it." in out
    assert "only was asked How long?" in out
    config = yamlfile.parse((tmp_path / "new" / "gate.yml").read_bytes(), "gate.yml").data
    assert config["agent"]["model"] == "only"


def test_of_several_models_the_line_to_fill_in_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening(ChatOfTwo) as url:
        start(tmp_path, agent="openai", base_url=url)
    out = capsys.readouterr().out
    told = re.search(r"gate\.yml:(\d+): write the name .* my-model \(it offers one, two\)", out)
    assert told
    lines = (tmp_path / "gate.yml").read_text("utf-8").splitlines()
    assert lines[int(told[1]) - 1] == "  model: my-model"


def asked_in_turn(*answers: str) -> tuple[list[str], Callable[[str], str]]:
    given, asked = iter(answers), list[str]()

    def read(words: str) -> str:
        asked.append(words)
        return next(given)

    return asked, read


def test_a_slip_is_asked_again_and_never_taken_for_the_sample_agent(tmp_path: Path) -> None:
    answers = ("opnai", "OpenAI", "http://127.0.0.1:9", "m", "sk-1", "MYK", "rga", "rag")
    asked, read = asked_in_turn(*answers)
    start(tmp_path, read)
    assert asked[1].startswith("There is no 'opnai' - did you mean 'openai'?\nYour agent (")
    assert asked[5].startswith("This is not the name of a variable")
    assert "sk-1" not in "".join(asked)
    assert asked[7].startswith("There is no 'rga' - did you mean 'rag'?\nWhat it does (")
    config = yamlfile.parse((tmp_path / "gate.yml").read_bytes(), "gate.yml").data
    assert config["agent"] == {**_OPTIONS, "api_key_env": "MYK"}
    assert asking_step(tmp_path, GATE_YML)["env"] == {"MYK": "${{ secrets.MYK }}"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("127.0.0.1:8103", "http://127.0.0.1:8103"),
        ("localhost:8103/ask", "http://localhost:8103/ask"),
        ("bot.example.test/ask", "https://bot.example.test/ask"),
        ("ftp://bot.example.test", "http://host:port or https://host"),
    ],
)
def test_an_address_without_its_scheme_is_refused_at_once(
    tmp_path: Path, written: str, meant: str
) -> None:
    with pytest.raises(UsageError, match=f"^--base-url: not an address - write {meant}$"):
        start(tmp_path, agent="http", base_url=written)
    assert not any(tmp_path.iterdir())
    asked, read = asked_in_turn("http", written, "http://127.0.0.1:9/ask", "", "")
    start(tmp_path, read)
    assert asked[2].startswith(f"This is not an address - write {meant}.\nIts address [")


def test_an_address_that_a_variable_completes_is_taken_as_it_is(tmp_path: Path) -> None:
    start(tmp_path, agent="http", base_url="${AGENT}/ask")
    config = yamlfile.parse((tmp_path / "gate.yml").read_bytes(), "gate.yml").data
    assert config["agent"]["url"] == "${AGENT}/ask"


@pytest.mark.parametrize(
    ("kind", "proposed", "address"),
    [
        ("anthropic", "https://api.anthropic.com", None),
        ("openagent", "http://127.0.0.1:14000", "http://127.0.0.1:14000"),
        ("openai", "http://127.0.0.1:8000", "http://127.0.0.1:8000"),
    ],
)
def test_a_protocol_with_an_address_of_its_own_keeps_it(
    kind: str, proposed: str, address: str | None
) -> None:
    given = dict.fromkeys(("agent", *OPTIONS, "template"))
    wanted = choose_agent({**given, "agent": kind}, imported=False)
    assert wanted is not None
    assert wanted.options.get("base_url") == address
    asked, read = asked_in_turn(kind, "", "m", "", "")
    ask_user(read)
    assert asked[1] == f"Its address [{proposed}]: "
    other = choose_agent({**given, "agent": kind, "base_url": "http://a"}, imported=False)
    assert other is not None
    assert other.options["base_url"] == "http://a"


@pytest.mark.parametrize("answers", [(), ("http",), ("http", "http://127.0.0.1:9", "", "ragg")])
def test_an_input_that_ends_before_the_last_question_writes_nothing(
    tmp_path: Path, answers: tuple[str, ...]
) -> None:
    left = iter(answers)

    def read(words: str) -> str:
        for answer in left:
            return answer
        raise EOFError

    with pytest.raises(UsageError, match="the input ended before the last question"):
        start(tmp_path, read)
    assert not any(tmp_path.iterdir())


_OPTIONS = {"type": "openai", "base_url": "http://127.0.0.1:9", "model": "m"}


def test_a_function_that_is_not_there_yet_is_written(tmp_path: Path) -> None:
    asked, read = asked_in_turn("python", "", "")
    start(tmp_path, read)
    assert asked[1] == "The function, as ./file.py:name [Enter: gate_agent.py is written for you]: "
    adapter = (tmp_path / "gate_agent.py").read_text("utf-8")
    names: dict[str, Callable[[str], str]] = {}
    exec(compile(adapter, "gate_agent.py", "exec"), names)
    with pytest.raises(RuntimeError, match="call your agent in the function ask"):
        names["ask"]("Why?")
    assert "langgraph" not in adapter.lower()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"agent": "openai", "callable": "./a.py:f"}, "--callable: an agent of type openai has no"),
        ({"agent": "python", "base_url": "http://a"}, "--base-url: an agent of type python has no"),
        ({"callable": "./a.py:f", "base_url": "http://a"}, "--base-url: an agent of type python"),
        ({"agent": "http", "program": "x"}, r"--command: .* with --agent \(command\)"),
        ({"agent": "sample", "model": "m"}, "--model: an agent of type sample has no"),
        ({"agent": "sample", "template": "rag"}, "--template: is for an agent of yours"),
        ({"agent": "sample", "source": ["csv", "x.csv"]}, "--from: is for an agent of yours"),
        ({"agent": "http", "template": "langgraph"}, "--template langgraph: is for --agent python"),
        ({"pages": True, "agent": "http"}, "--pages: writes one workflow and nothing else"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(
    tmp_path: Path, options: dict[str, object], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        start(tmp_path, **options)
    assert not any(tmp_path.iterdir())


def test_langgraph_gets_a_file_that_asks_the_graph(tmp_path: Path) -> None:
    start(tmp_path, template="langgraph")
    adapter = (tmp_path / "gate_agent.py").read_text()
    compile(adapter, "gate_agent.py", "exec")
    config = yamlfile.parse((tmp_path / "gate.yml").read_bytes(), "gate.yml").data
    assert config["agent"] == {"type": "python", "callable": "./gate_agent.py:ask"}


def test_questions_of_a_csv_file_become_the_first_suite(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faq.csv").write_text("question;answer\nHow long?;30 days\nHow much?;9\n")
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "a.py").write_text("def ask(question):\n    return question\n")
    monkeypatch.chdir(tmp_path)
    agent = {"callable": "./a.py:ask", "source": ["csv", "faq.csv"]}
    start(Path("a b"), **agent)
    assert capsys.readouterr().out.splitlines()[-1] == "Next: `cd 'a b' && gate run`."
    monkeypatch.chdir(tmp_path / "a b")
    run(Namespace(dir=None, force=True, **{**agent, "source": ["csv", "../faq.csv"]}), {})
    assert capsys.readouterr().out.splitlines()[-1] == "Next: `gate run`."
    config = str(tmp_path / "a b" / "gate.yml")
    assert validate.run(Namespace(config=config, suite=None), {}) == 0


def test_documents_of_a_csv_file_are_graded(tmp_path: Path) -> None:
    (tmp_path / "faq.csv").write_text("question,relevant_doc_ids\nHow long?,kb-1\n")
    (tmp_path / "a.py").write_text(
        "def ask(question):\n    return {'answer': '', 'retrieved': []}\n"
    )
    source = ["csv", str(tmp_path / "faq.csv")]
    run(Namespace(dir=str(tmp_path), force=False, callable="./a.py:ask", source=source), {})
    config = yamlfile.parse((tmp_path / "gate.yml").read_bytes(), "gate.yml").data
    assert config["suites"][0]["graders"] == [{"retrieval": {"k": [1, 3, 5]}}]
    assert validate.run(Namespace(config=str(tmp_path / "gate.yml"), suite=None), {}) == 0


@pytest.mark.parametrize(
    ("options", "repair"),
    [
        (OWN, "start the agent at http://127.0.0.1:9, or correct `agent` in gate.yml"),
        ({**OWN, "api_key_env": "NO_SUCH_KEY"}, "set NO_SUCH_KEY to the agent's key"),
        ({"program": "no-such-program"}, "correct the agent, or `agent` in gate.yml"),
    ],
)
def test_an_agent_that_did_not_answer_is_to_be_repaired_before_the_run(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, object],
    repair: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    start(Path("new"), **options)
    told = capsys.readouterr().out.splitlines()[-1]
    assert told == (
        f"Next: {repair}, write your questions into new/datasets/questions.yaml, then "
        "`cd new && gate doctor`, and `gate run` once that finds nothing to do."
    )


def test_the_provider_of_promptfoo_is_the_agent_unless_another_is_named(tmp_path: Path) -> None:
    file = tmp_path / "promptfooconfig.yaml"
    test = "{vars: {question: Why?}, assert: [{type: equals, value: x}]}"
    file.write_text(f"prompts: ['{{{{question}}}}']\nproviders: [openai:gpt-5]\ntests: [{test}]\n")
    source = ["promptfoo", str(file)]
    start(tmp_path / "theirs", source=source)
    start(tmp_path / "own", source=source, **OWN)
    told = {}
    for name in ("theirs", "own"):
        content = (tmp_path / name / "gate.yml").read_bytes()
        told[name] = yamlfile.parse(content, "gate.yml").data["agent"]
    assert told["own"] == {"type": "openai", "base_url": "http://127.0.0.1:9", "model": "m"}
    assert told["theirs"] == {
        "type": "openai",
        "base_url": "https://api.openai.com",
        "model": "gpt-5",
        "api_key_env": "OPENAI_API_KEY",
    }


def test_results_are_ignored_once(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log", encoding="utf-8")
    init(tmp_path)
    assert (tmp_path / ".gitignore").read_text() == "*.log\nresults/\n"
    init(tmp_path, force=True)
    assert (tmp_path / ".gitignore").read_text() == "*.log\nresults/\n"


def test_line_ends_stay_and_the_file_with_the_keys_is_ignored_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / ".gitignore"
    file.write_bytes(b"*.log\r\n\xff\r\ndist")
    start(tmp_path, env_file=str(tmp_path / ".env"))
    assert file.read_bytes() == b"*.log\r\n\xff\r\ndist\r\nresults/\r\n.env\r\n"
    assert "added results/ and .env to " in capsys.readouterr().out
    start(tmp_path / "new", env_file=str(tmp_path / ".env"))
    assert (tmp_path / "new" / ".gitignore").read_bytes() == b"results/\n", "it lies elsewhere"


def test_the_workflow_of_pages_is_written_alone_and_is_the_example(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Namespace(dir=str(tmp_path), force=False, pages=True), {}) == 0
    (written,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert written.name == "gate-pages.yml"
    assert written.read_text("utf-8") == (ROOT / "examples" / "pages.yml").read_text("utf-8")
    assert "can be read by everybody" in capsys.readouterr().out
    assert written.relative_to(tmp_path).as_posix() not in render_files()


GATE_YML, BASELINE_YML = ".github/workflows/gate.yml", ".github/workflows/gate-baseline.yml"


def steps_of(folder: Path, path: str, job: str) -> list[dict[str, object]]:
    data = yamlfile.parse((folder / path).read_bytes(), path).data
    return list(data["jobs"][job]["steps"])


def asking_step(folder: Path, path: str) -> dict[str, object]:
    job = "gate" if path == GATE_YML else "measure"
    (step,) = [step for step in steps_of(folder, path, job) if step.get("id") == "gate"]
    return step


def test_the_key_that_gate_yml_names_reaches_each_step_that_asks_the_agent(tmp_path: Path) -> None:
    start(tmp_path / "own", **OWN, api_key_env="MYK")
    for path in (GATE_YML, BASELINE_YML):
        assert asking_step(tmp_path / "own", path)["env"] == {"MYK": "${{ secrets.MYK }}"}
        assert "MY_API_KEY" not in (tmp_path / "own" / path).read_text("utf-8")
    start(tmp_path / "without", **OWN)
    for path in (GATE_YML, BASELINE_YML):
        assert "env" not in asking_step(tmp_path / "without", path)
        assert "#   MY_API_KEY: ${{ secrets" in (tmp_path / "without" / path).read_text("utf-8")


@pytest.mark.parametrize("key", ["sk-0123456789", "MY KEY", "1KEY", "${{ x }}"])
def test_a_key_in_place_of_the_name_of_its_variable_is_refused_and_not_shown(
    tmp_path: Path, key: str
) -> None:
    with pytest.raises(UsageError, match="--api-key-env: is not the name of a variable") as caught:
        start(tmp_path, **OWN, api_key_env=key)
    assert key not in str(caught.value)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("inside", ["pkg", "apps/a bot"])
def test_workflows_of_a_subfolder_lie_where_github_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], inside: str
) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    folder = tmp_path / inside
    init(folder)
    out = capsys.readouterr().out
    assert not (folder / ".github").exists()
    assert f"wrote {(tmp_path / GATE_YML).as_posix()}" in out
    assert f"run the gate in {inside} (`working-directory`)" in out
    for path in (GATE_YML, BASELINE_YML):
        given = asking_step(tmp_path, path)["with"]
        assert (given["working-directory"], given["config"]) == (inside, "gate.yml")
    steps = steps_of(tmp_path, BASELINE_YML, "measure")
    (saved,) = [step["with"]["args"] for step in steps if "args" in step.get("with", {})]
    assert shlex.split(saved)[:4] == ["baseline", "save", "--config", f"{inside}/gate.yml"]
    uploads = [step["with"] for step in steps if "name" in step.get("with", {})]
    (stored,) = [one["path"] for one in uploads if one["name"] == "gate-baseline"]
    assert stored == f"{inside}/baselines/"
    (judged,) = [
        step["with"]["args"]
        for step in steps_of(tmp_path, BASELINE_YML, "verdict")
        if "args" in step.get("with", {})
    ]
    assert shlex.split(judged)[2:] == ["--config", f"{inside}/gate.yml", "main-session"]


def init_two(top: Path, first: str, second: str) -> None:
    git(top, "init", "-q", "-b", "main")
    start(top / first, **OWN)
    start(top / second, **OWN, api_key_env="MYK")


def read_workflows(top: Path) -> dict[str, str]:
    found = (top / ".github" / "workflows").iterdir()
    return {path.name: path.read_text("utf-8") for path in found}


def test_a_second_project_of_a_repository_has_workflows_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    start(tmp_path / "bot1", **OWN)
    first = read_workflows(tmp_path)
    capsys.readouterr()
    start(tmp_path / "bots" / "no 2", **OWN, api_key_env="MYK")
    both = read_workflows(tmp_path)
    names = {"gate-bots-no-2.yml", "gate-baseline-bots-no-2.yml"}
    assert both.keys() == {*first, *names}
    assert {name: both[name] for name in first} == first
    assert "belong to another project" in capsys.readouterr().out
    config = yamlfile.parse((tmp_path / "bots/no 2/gate.yml").read_bytes(), "gate.yml").data
    assert config["baseline"]["artifact"] == "gate-baseline-bots-no-2"
    workflow = yamlfile.parse(both["gate-bots-no-2.yml"].encode(), "x").data
    (asked,) = [s for s in workflow["jobs"]["gate-bots-no-2"]["steps"] if s.get("id") == "gate"]
    assert asked["with"] == {
        "working-directory": "bots/no 2",
        "config": "gate.yml",
        "comment-id": "bots-no-2",
        "comment-title": "bots-no-2",
        "baseline-workflow": "gate-baseline-bots-no-2.yml",
    }
    assert asked["env"] == {"MYK": "${{ secrets.MYK }}"}


def find_values(data: object, key: str) -> set[object]:
    """What stands under the key, at any depth."""
    if isinstance(data, list):
        return {value for item in data for value in find_values(item, key)}
    if not isinstance(data, dict):
        return set()
    found = {value for name, value in data.items() if name == key and isinstance(value, str)}
    return found | {value for item in data.values() for value in find_values(item, key)}


def test_two_projects_of_a_repository_share_no_name_that_must_be_one_projects(
    tmp_path: Path,
) -> None:
    init_two(tmp_path, "bot1", "bot2")
    texts = read_workflows(tmp_path)
    for file in ("gate", "gate-baseline"):
        one, two = (
            yamlfile.parse(texts[f"{file}{end}.yml"].encode(), "x").data for end in ("", "-bot2")
        )
        for key in ("name", "working-directory", "baseline-workflow"):
            assert not find_values(one, key) & find_values(two, key), (file, key)
        groups = [data["concurrency"]["group"] for data in (one, two)]
        assert groups[0] != groups[1] or "github.workflow" in groups[0]
        assert find_values(two, "comment-id") == {"bot2"}
    uploads = find_values(
        yamlfile.parse(texts["gate-baseline-bot2.yml"].encode(), "x").data, "name"
    )
    assert uploads == {"gate-baseline-bot2", "gate-main-session-bot2"}
    assert "|| github.sha }}-bot2\n" in texts["gate-bot2.yml"]
    assert not any("<-project>" in text or "<comment>" in text for text in texts.values())


def test_force_in_the_second_project_leaves_the_first_ones_workflows_alone(tmp_path: Path) -> None:
    init_two(tmp_path, "bot1", "bot2")
    before = read_workflows(tmp_path)
    with pytest.raises(UsageError, match=r"gate-bot2\.yml.*: already there - use `gate init"):
        start(tmp_path / "bot2", **OWN)
    (tmp_path / ".github" / "workflows" / "gate-bot2.yml").unlink()
    run(Namespace(dir=str(tmp_path / "bot2"), force=True, **OWN, api_key_env="MYK"), {})
    assert read_workflows(tmp_path) == before
    run(Namespace(dir=str(tmp_path / "bot1"), force=True, **OWN), {})
    assert read_workflows(tmp_path) == before


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ("a/b", "a-b", "a-b"),
        ("bot", "baseline", "baseline-2"),
        ("bot", "gate", "gate-2"),
        ("bot", "\u5e97", "project"),
        ("bot", ".", "project"),
        (".", "bot", "bot"),
    ],
)
def test_the_name_of_a_second_project_is_free(
    tmp_path: Path, first: str, second: str, name: str
) -> None:
    init_two(tmp_path, first, second)
    written = read_workflows(tmp_path)
    assert len(written) == 5
    assert f"comment-id: {name}\n" in written[f"gate-{name}.yml"]


def test_a_name_that_a_third_project_has_is_not_taken_again(tmp_path: Path) -> None:
    init_two(tmp_path, "bot", "a/b")
    start(tmp_path / "a-b", **OWN)
    written = read_workflows(tmp_path)
    assert "working-directory: a/b\n" in written["gate-a-b.yml"]
    assert "working-directory: a-b\n" in written["gate-a-b-2.yml"]


def test_workflows_with_a_job_for_each_project_are_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    start(tmp_path / "bot1", **OWN)
    file = tmp_path / GATE_YML
    step = "      - uses: agent-gate/agent-gate@v0\n        with: {config: bot2/gate.yml}\n"
    file.write_text(file.read_text("utf-8") + step, encoding="utf-8")
    before = read_workflows(tmp_path)
    run(Namespace(dir=str(tmp_path / "bot2"), force=True, **OWN), {})
    assert read_workflows(tmp_path) == before
    assert "have a job for this project already" in capsys.readouterr().out
    assert (tmp_path / "bot2" / "gate.yml").is_file()


@pytest.mark.parametrize("content", ["on: push\njobs: {a: {steps: [{run: ls}]}}\n", "a: [", "[]"])
def test_a_workflow_that_is_none_of_ours_is_no_project_of_a_subfolder(
    tmp_path: Path, content: str
) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / GATE_YML).parent.mkdir(parents=True)
    (tmp_path / GATE_YML).write_text(content)
    with pytest.raises(UsageError, match=r"gate\.yml: already there"):
        start(tmp_path, **OWN)
    run(Namespace(dir=str(tmp_path / "bot"), force=True, **OWN), {})
    assert (tmp_path / GATE_YML).read_text() == content
    assert "gate-bot.yml" in read_workflows(tmp_path)


@pytest.mark.parametrize(
    ("options", "before"),
    [
        ({"callable": "./a.py:ask"}, "# - run: pip install"),
        ({"program": "python agent.py"}, "# - run: pip install"),
        (OWN, "# Start your agent here: the next step asks it at http://127.0.0.1:9."),
        ({"agent": "http", "base_url": "http://localhost:9/ask"}, "# Start your agent here"),
        ({"agent": "openai", "base_url": "http://[::1]:9", "model": "m"}, "# Start your agent"),
        ({}, ""),
        ({"agent": "openai", "base_url": "https://127.0.0.1.example.test", "model": "m"}, ""),
    ],
    ids=["python", "command", "loopback", "localhost", "IPv6", "sample", "remote"],
)
def test_an_agent_on_the_machine_of_the_job_is_asked_there(
    tmp_path: Path, options: dict[str, str], before: str
) -> None:
    (tmp_path / "a.py").write_text("def ask(question):\n    return question\n", encoding="utf-8")
    start(tmp_path, **options)
    for path in (GATE_YML, BASELINE_YML):
        action = "agent-gate/agent-gate/native" if before else "agent-gate/agent-gate"
        assert str(asking_step(tmp_path, path)["uses"]).split("@")[0] == action
        text = (tmp_path / path).read_text("utf-8")
        assert before in text.partition("- id: gate")[0]
        others = [step["uses"] for step in steps_of(tmp_path, BASELINE_YML, "verdict")]
        assert not [one for one in others if "/native" in str(one)]
