"""promptfoo's configurations as cases: prompts, variables, files, assertions."""

import json
from functools import partial

import pytest

from gate.errors import InvalidInput, UsageError
from gate.graders.regex import Regex
from gate.records import Case, Response
from tests.support.importing import read_results
from tests.support.in_process import gate

read = partial(read_results, "promptfoo")

CONFIG = {"prompts": ["Q: {{q}}"], "providers": ["echo"]}


def written(folder, **config):
    path = folder / "promptfooconfig.json"
    path.write_text(json.dumps({**CONFIG, **config}))
    return path


def cases(folder, **config):
    return list(read(written(folder, **config)).cases())


def keys(folder, *assertions, **test):
    (case,) = cases(folder, tests=[{"vars": {"q": "a", "n": 7}, "assert": [*assertions], **test}])
    return {key: value for key, value in case.keys.items() if key != "metadata"}


def faults(folder, **config):
    with pytest.raises(InvalidInput) as caught:
        read(written(folder, **config))
    return str(caught.value).replace(f"{folder.as_posix()}/", "")


def passes(grader, answer, **found):
    case = Case(id="c", input="q", keys=found)
    return grader.grade(case, Response(answer=answer)).passed


def test_a_configuration_has_cases_and_no_results(tmp_path):
    found = read(written(tmp_path, tests=[{"vars": {"q": "a"}}]))
    assert found.suites == {}
    assert [(one.input, one.id.partition(" ")[0]) for one in found.cases()] == [("Q: a", "a")]
    assert list(found.cases()) == list(found.cases())


@pytest.mark.parametrize(
    ("assertion", "expected"),
    [
        ({"type": "equals", "value": "{{n}}!"}, {"expected_answer": "7!"}),
        ({"type": "contains", "value": "b"}, {"contains": ["b"]}),
        ({"type": "contains-all", "value": 'b, "c, d"'}, {"contains": ["b", "c, d"]}),
        ({"type": "icontains-all", "value": ["b", "c"]}, {"patterns": ["(?i)b", "(?i)c"]}),
        ({"type": "is-json", "value": {"type": "object"}}, {"json_schema": {"type": "object"}}),
        ({"type": "is-json"}, {"json_schema": {"title": "any JSON"}}),
        ({"type": "llm-rubric", "value": "is kind"}, {"rubric": "is kind"}),
    ],
)
def test_assertions_with_an_equal_are_keys(tmp_path, assertion, expected):
    assert keys(tmp_path, assertion) == expected


@pytest.mark.parametrize(
    ("assertion", "good", "bad"),
    [
        ({"type": "regex", "value": "^b+$"}, "bb", "abb"),
        ({"type": "not-regex", "value": "b|c"}, "a\na", "a\nc"),
        ({"type": "contains-any", "value": ["b.", "c"]}, "xc", "bx"),
        ({"type": "icontains-any", "value": ["B", "c"]}, "b", "a"),
        ({"type": "not-contains", "value": "b."}, "bb", "a\nb.c"),
        ({"type": "not-icontains", "value": "B"}, "a", "xbx"),
        ({"type": "not-contains-all", "value": ["b", "c"]}, "only b", "c and b"),
        ({"type": "not-contains-any", "value": ["b", "c"]}, "a", "a c"),
        ({"type": "starts-with", "value": "b."}, "b.c", "bxc"),
        ({"type": "not-equals", "value": "b"}, "b ", "b"),
    ],
)
def test_patterns_pass_what_promptfoo_passes(tmp_path, assertion, good, bad):
    found = keys(tmp_path, assertion)
    assert passes(Regex(key="patterns"), good, **found) is True
    assert passes(Regex(key="patterns"), bad, **found) is False


def test_texts_pass_what_promptfoo_passes(tmp_path):
    found = keys(
        tmp_path, {"type": "icontains", "value": "Ab"}, {"type": "icontains", "value": "c"}
    )
    grader = Regex(key="patterns")
    assert (passes(grader, "xC aB", **found), passes(grader, "ab", **found)) == (True, False)


def test_the_graders_that_are_named_can_be_pasted_into_gate_yml(tmp_path):
    every = [
        {"type": kind, "value": value}
        for kind, value in (
            *(("equals", "b"), ("contains", "b"), ("icontains", "b"), ("regex", "b")),
            *(("is-json", {"type": "object"}), ("llm-rubric", "is kind")),
        )
    ]
    found = read(written(tmp_path, tests=[{"vars": {"q": "a"}, "assert": every}]))
    (line,) = (
        note for note in found.notes if note.startswith("add this to the suite in gate.yml: ")
    )
    (tmp_path / "gate.yml").write_text(
        "version: 1\njudge: {type: openai, model: m, base_url: http://127.0.0.1:9/v1}\n"
        f"suites:\n  - name: s\n    dataset: cases.jsonl\n    {line.partition(': ')[2]}\n"
    )
    (tmp_path / "cases.jsonl").write_text(
        "".join(json.dumps({"id": one.id, "input": one.input, **one.keys}) for one in found.cases())
    )
    done = gate(tmp_path, "validate")
    assert done.returncode == 0, done.stderr


def test_what_has_no_equal_is_counted_and_told(tmp_path):
    left = [
        {"type": "javascript", "value": "true"},
        {"type": "latency", "threshold": 5},
        {"type": "regex", "value": "(?<name>x)("},
        {"type": "contains", "value": "{{ q | upper }}"},
        {"type": "equals", "value": "file://x.txt"},
        {"type": "assert-set", "assert": []},
        "nonsense",
    ]
    found = read(written(tmp_path, tests=[{"vars": {"q": "a"}, "assert": left}]))
    (case,) = found.cases()
    assert sum(case.keys["metadata"]["not_mapped"].values()) == len(left)
    assert "7 assertions have no equivalent in Agent Gate" in " ".join(found.notes)
    some = keys(tmp_path, {"type": "contains", "value": "b"}, threshold=0.5)
    assert some == {}, "below a threshold some may fail"


def test_a_key_that_a_case_lacks_is_null(tmp_path):
    tests = [
        {"vars": {"q": "a"}, "assert": [{"type": "equals", "value": "x"}]},
        {"vars": {"q": "b"}},
    ]
    assert [one.keys["expected_answer"] for one in cases(tmp_path, tests=tests)] == ["x", None]


def test_default_test_lists_and_scenarios_are_expanded(tmp_path):
    default = {"vars": {"tone": "kind"}, "assert": [{"type": "contains", "value": "{{tone}}"}]}
    found = cases(
        tmp_path,
        defaultTest=default,
        tests=[{"vars": {"q": ["a", "b"], "n": ["1", "2"]}}],
        scenarios=[{"config": [{"vars": {"q": "c"}}, {"vars": {"q": "d"}}], "tests": [{}]}],
    )
    assert [one.input for one in found] == ["Q: a", "Q: a", "Q: b", "Q: b", "Q: c", "Q: d"]
    assert {one.keys["contains"][0] for one in found} == {"kind"}
    off = {"vars": {"q": "a"}, "options": {"disableDefaultAsserts": True}}
    (case,) = cases(tmp_path, defaultTest=default, tests=[off])
    assert "contains" not in case.keys


def test_messages_stay_messages(tmp_path):
    raw = '[{"role": "user", "content": "{{q}}"}]'
    (case,) = cases(tmp_path, prompts=[raw], tests=[{"vars": {"q": 'say "x"'}}])
    assert case.input == [{"role": "user", "content": 'say "x"'}]


def test_a_prompt_is_taken_by_number_or_label(tmp_path):
    (tmp_path / "p.txt").write_text("One {{q}}\n---\nTwo {{q}}\n")
    prompts = ["file://p.txt", {"raw": "Three {{q}}", "label": "third"}]
    path = written(tmp_path, prompts=prompts, tests=[{"vars": {"q": "a"}}])
    inputs = [next(iter(read(path, prompt=one).cases())).input for one in ("", "2", "third")]
    assert inputs == ["One a", "Two a", "Three a"]
    with pytest.raises(UsageError, match="choose one of 1 "):
        read(path, prompt="4")


def test_files_beside_it_are_read(tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t/a.csv").write_text(
        'q,__expected,__expected2,__description,__metadata:category\n"a, b",contains: x,y,one,c\n'
    )
    (tmp_path / "t/b.jsonl").write_text('{"vars": {"q": "file://t/q.txt"}, "assert": []}\n')
    (tmp_path / "t/c.yaml").write_text("- vars: {q: c}\n  description: three\n")
    (tmp_path / "t/q.txt").write_text("long question\n")
    found = read(written(tmp_path, tests=["file://t/*.csv", "t/b.jsonl", {"path": "t/c.yaml"}]))
    listed = list(found.cases())
    assert [one.input for one in listed] == ["Q: a, b", "Q: long question", "Q: c"]
    assert (listed[0].id, listed[0].category) == ("one", "c")
    assert (listed[0].keys["contains"], listed[0].keys["expected_answer"]) == (["x"], "y")
    assert len(found.files) == 5


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("file://../out.csv", "is outside the configuration's folder"),
        ("file:///etc/passwd", "is outside the configuration's folder"),
        ("t\\..\\x.csv", "is outside the configuration's folder"),
        ("file://linked.csv", "symbolic links are not followed"),
        ("file://link/x.csv", "symbolic links are"),
        ("https://h/x.csv", "remote files are not fetched"),
        ("file://make.py", "code and workbooks are"),
        ("file://none*.csv", "no file matches"),
        ("file://none.csv", "No such file"),
    ],
)
def test_references_that_lead_elsewhere_are_refused(tmp_path, reference, told):
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "x.csv").write_text("q\na\n")
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "linked.csv").symlink_to(outside / "x.csv")
    assert told in faults(tmp_path, tests=[reference])


def test_what_is_wrong_with_tests_is_told_at_once(tmp_path):
    (tmp_path / "t.csv").write_text("q,n\na\n")
    tests = [7, "t.csv", {"vars": {"q": "b"}, "assert": [{"$ref": "#/nowhere"}]}]
    text = faults(tmp_path, tests=tests)
    assert "tests[0]: a test must be a mapping" in text
    assert "t.csv:2: 1 cells, but the header row has 2" in text
    assert "'#/nowhere': not found" in text
    assert "has template code" in faults(
        tmp_path, prompts=["{% for x in q %}{{x}}{% endfor %}"], tests=[{"vars": {"q": "a"}}]
    )
    assert "has no test - write one" in faults(tmp_path, tests=[])
    (tmp_path / "empty.txt").write_text(" \n")
    assert "has no prompt" in faults(tmp_path, prompts=["file://empty.txt"], tests=[tests[2]])


def test_a_large_file_is_refused_unread(tmp_path):
    with (tmp_path / "big.csv").open("wb") as file:
        file.truncate((64 << 20) + 1)
    assert "larger than 64 MB" in faults(tmp_path, tests=["big.csv"])
