"""The form of gate.yml: spellings, keys of later versions, variables, secrets."""

from typing import Any

import pytest

from gate.files import yaml as yamlfile
from gate.files.json_schema import mismatches
from gate.plugins import AGENTS, GRADERS
from gate.suites.config.check import check_document
from gate.suites.config.json_schema import FORMS, schema
from gate.suites.config.variables import fill_in

SUITE = "suites: [{name: a, dataset: a.jsonl, graders: [facts]}]\n"


def check(text: str, **env: str) -> tuple[dict[str, Any], list[str]]:
    data, problems = check_document(yamlfile.parse(text.encode(), "gate.yml"), env)
    return data, [str(problem) for problem in problems]


def told(text: str, **env: str) -> list[str]:
    return check(text, **env)[1]


def test_what_is_broken_is_left_out_and_the_rest_is_kept() -> None:
    data, problems = check(
        "suites:\n"
        "  - {name: a, dataset: a.jsonl, graders: [facts], rouns: 3}\n"
        "  - {name: b, dataset: 3, graders: [facts]}\n"
        "budget: {usd: -1}\n"
        "policy: {eror: fail}\n"
    )
    assert data == {
        "suites": [{"name": "a", "dataset": "a.jsonl", "graders": [{"facts": {}}]}, None],
        "policy": {},
    }
    assert len(problems) == 4


def test_a_suite_that_is_nearly_a_bundled_one_and_a_class_without_a_name() -> None:
    assert told("suites: [{name: dialog, graders: [facts]}]") == [
        "gate.yml:1: suites[0]: 'dataset' is missing, and no bundled suite has this name - did you "
        "mean 'dialogue'?"
    ]
    assert told("suites: [{name: a, suite: ./a.py}]") == [
        "gate.yml:1: suites[0].suite: does not name a class - write ./my_suite.py:MySuite"
    ]


@pytest.mark.parametrize(
    "spelling", ["facts", "{facts: {}}", "{facts: null}", "{facts: }", "facts: {}"]
)
def test_spellings_of_a_grader(spelling: str) -> None:
    data, problems = check(f"suites: [{{name: a, dataset: d, graders: [{spelling}]}}]")
    assert problems == []
    assert data["suites"][0]["graders"] == [{"facts": {}}]


@pytest.mark.parametrize(
    ("grader", "message"),
    [
        ("fatcs", "graders[0]: unknown grader 'fatcs' - did you mean 'facts'?"),
        ("{fatcs: {}}", "graders[0]: unknown grader 'fatcs' - did you mean 'facts'?"),
        ("{facts: {}, retrieval: {}}", "graders[0]: a grader is its name, or its name with"),
        ("{}", "graders[0]: a grader is its name, or its name with"),
        ("3", "graders[0]: 3 is not a mapping"),
        ("{retrieval: {kk: [1]}}", "graders[0].retrieval.kk: unknown key"),
        ("{retrieval: {k: 1}}", "graders[0].retrieval.k: 1 is not a list"),
        ("{retrieval: 5}", "graders[0].retrieval: 5 is not "),
    ],
)
def test_graders_that_cannot_be(grader: str, message: str) -> None:
    found = told(f"suites: [{{name: a, dataset: d, graders: [{grader}]}}]")
    assert found[0].startswith(f"gate.yml:1: suites[0].{message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "suites: [{name: my questions, dataset: d, graders: [facts]}]",
            "suites[0].name: 'my questions' is not a name for a suite - use at most 200 letters, "
            "digits, '.', '_' and '-', no blanks, a letter or digit first, and no .json, .jsonl, "
            ".md, .html, .xml or .lock at the end",
        ),
        (
            "suites: [{name: a, dataset: d, graders: [facts], sample: {push: most}}]",
            "suites[0].sample.push: 'most' is not a whole number or all",
        ),
        (
            "regression: {tolerance: '5'}",
            "regression.tolerance: '5' is not a percentage such as 5%, or a number without quotes",
        ),
        (
            "quarantine: [{case: a, owner: b, until: tomorrow}]",
            "quarantine[0].until: 'tomorrow' is not a date - write YYYY-MM-DD",
        ),
    ],
)
def test_a_form_is_told_in_words(text: str, message: str) -> None:
    assert told(text) == [f"gate.yml:1: {message}"]


def test_every_pattern_of_a_value_has_its_words() -> None:
    def patterns(part: object) -> set[str]:
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        own = part.get("pattern") if isinstance(part, dict) else None
        return set[str]().union([own] if isinstance(own, str) else (), *map(patterns, inner))

    # Those of graders, classes and addresses are told by their place.
    assert patterns(schema()) - FORMS.keys() == {":", r"^https?://\S+$(?!\n)"}


@pytest.mark.parametrize("key", ["gates", "policy", "agent"])
def test_a_key_with_nothing_below_it_says_what_to_do(key: str) -> None:
    nothing = "nothing is written here - fill it in or remove it"
    assert told(f"{key}:\n") == [f"gate.yml:1: {key}: null is not a mapping: {nothing}"]


def test_a_gate_that_is_a_number_shows_how_a_limit_is_written() -> None:
    write = "0.9 is not a mapping - write {min: 0.9}, or {max: 0.9} where lower is better"
    assert told("gates: {a.b: 0.9}") == [f"gate.yml:1: gates.a.b: {write}"]
    suite = "suites: [{name: a, dataset: d, graders: [facts], gates: {a.b: 0.9}}]"
    assert told(suite) == [f"gate.yml:1: suites[0].gates.a.b: {write}"]
    assert told("gates: {a.b: yes please}") == [
        "gate.yml:1: gates.a.b: 'yes please' is not a mapping"
    ]


def test_keys_of_another_type_are_one_problem_of_the_type() -> None:
    wrong = "{type: openai, url: u, body: {}, response: {answer: a}, headers: {a: b}}"
    assert told(f"agent: {wrong}") == [
        "gate.yml:1: agent.type: 'openai' has no body, headers, response, url - did you mean "
        "'http'?"
    ]
    (judge,) = told("judge: {type: http, base_url: b, options: {}}")
    assert judge == (
        "gate.yml:1: judge.type: 'http' has no base_url, options - did you mean 'anthropic' or "
        "'openai'?"
    )


def test_one_foreign_key_or_keys_of_no_type_are_told_one_by_one() -> None:
    (problem,) = told("agent: {type: openai, base_url: b, model: m, body: {}}")
    assert problem.startswith("gate.yml:1: agent.body: unknown key")
    problems = told("agent: {type: openai, base_url: b, model: m, body: {}, bdy: {}}")
    assert len(problems) == 2


@pytest.mark.parametrize("value", ["off", "'off'", "false"])
def test_off_is_off_however_it_is_written(value: str) -> None:
    assert told(f"regression: {{stop: {value}}}") == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("regression: {alpha: 0}", "regression.alpha"),
        ("regression: {alpha: .nan}", "regression.alpha"),
        ("regression: {power: 1}", "regression.power"),
        ("regression: {tolerance: -0.1}", "regression.tolerance"),
        ("regression: {tolerance: 5 percent}", "regression.tolerance"),
        ("regression: {max_removed: 2}", "regression.max_removed"),
        ("regression: {metrics: {a.b: {tolerence: 1}}}", "regression.metrics.a.b.tolerence"),
        ("gates: {a.b: {min: true}}", "gates.a.b.min"),
        ("gates: {a.b: {min: '1'}}", "gates.a.b.min"),
        ("gates: {a.b: {level: error}}", "gates.a.b.level"),
        ("gates: {a.b: 0.8}", "gates.a.b"),
        ("suites: []", "suites"),
        ("suites: [{name: a/b, dataset: d, graders: [facts]}]", "suites[0].name"),
        ("suites: [{name: .., dataset: d, graders: [facts]}]", "suites[0].name"),
        ("suites: [{name: a, dataset: '', graders: [facts]}]", "suites[0].dataset"),
        ("suites: [{name: a, dataset: d, graders: []}]", "suites[0].graders"),
        ("suites: [{name: a, dataset: d, graders: [facts], rounds: 0}]", "suites[0].rounds"),
        ("suites: [{name: a, dataset: d, graders: [facts], version: 1.5}]", "suites[0].version"),
        (
            "suites: [{name: a, dataset: d, graders: [facts], sample: {push: none}}]",
            "suites[0].sample.push",
        ),
        ("suites: [{name: a, graders: [facts]}]", "suites[0]"),
        ("pricing: {m: {input: -1, output: 1}}", "pricing.m.input"),
        ("pricing: {m: {input: 1}}", "pricing.m"),
        ("budget: {calls: 1.5}", "budget.calls"),
        ("policy: {error: ignore}", "policy.error"),
        ("protect: no", "protect"),
        ("quarantine: [{case: a, owner: b}]", "quarantine[0]"),
        ("quarantine: [{case: a, owner: b, until: tomorrow}]", "quarantine[0].until"),
        ("baseline: {keep_rounds: 0}", "baseline.keep_rounds"),
        ("report: {pdf: true}", "report.pdf"),
        ("agent: {model: x}", "agent"),
        ("agent: {type: openagent, timeout: 3}", "agent.timeout"),
        ("version: 2", "version"),
    ],
)
def test_values_that_do_not_fit(text: str, place: str) -> None:
    found = told(text)
    assert len(found) == 1
    assert found[0].startswith(f"gate.yml:1: {place}: ")


def test_only_the_chosen_agent_type_is_told_about() -> None:
    assert told("agent: {type: openagent, timeout_s: soon}") == [
        "gate.yml:1: agent.timeout_s: 'soon' is not a number"
    ]


@pytest.mark.parametrize("name", ["command", "openagent", "sample", "replay"])
def test_a_judge_is_asked_by_a_protocol_that_carries_instructions(name: str) -> None:
    for section in ("judge", "verifier"):
        (message,) = told(f"{section}: {{type: {name}}}")
        start = f"gate.yml:1: {section}.type: '{name}' is not one of "
        assert message.startswith(start + "anthropic, http, openai, python")


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ("votes: 3, min_agreement: 0.8, labels: l.jsonl, budget_usd: 0.5, cache: c.jsonl", ""),
        ("require_different_judge: true, concurrency: 2, timeout_s: 5", ""),
        ("votes: 0", "judge.votes: 0 must be at least 1"),
        ("votes: 1.5", "judge.votes: 1.5 is not a whole number"),
        ("min_agreement: 1.1", "judge.min_agreement: 1.1 must be at most 1"),
        ("budget_usd: 0", "judge.budget_usd: 0 must be more than 0"),
        ("cache: 1", "judge.cache: 1 is not a string"),
        ("cashe: c", "judge.cashe: unknown key - did you mean 'cache'?"),
    ],
)
def test_keys_of_a_judge(keys: str, wrong: str) -> None:
    expected = [f"gate.yml:1: {wrong}"] if wrong else []
    assert told(f"judge: {{type: openai, base_url: 'http://x', {keys}}}") == expected


@pytest.mark.parametrize("key", ["votes: 3", "min_agreement: 0.8", "labels: l.jsonl"])
def test_what_people_label_is_the_judge_and_not_the_verifier(key: str) -> None:
    (message,) = told(f"verifier: {{type: openai, base_url: 'http://x', {key}}}")
    assert f"verifier.{key.partition(':')[0]}: unknown key" in message


def test_variables_in_agent_and_judge() -> None:
    data, problems = check(
        "agent: {type: openagent, base_url: '${URL}/v1', model: '${MODEL:-small}', "
        "timeout_s: '${T}', concurrency: '${N:-8}', options: {seed: '${SEED}', text: 'a${SEED}'}}\n"
        "judge: {type: anthropic, model: '$${NOT_ONE}'}\nverifier: {type: http, url: '${URL}'}\n",
        URL="http://x",
        T="2.5",
        SEED="7",
    )
    assert problems == []
    assert data["agent"] == {
        "type": "openagent",
        "base_url": "http://x/v1",
        "model": "small",
        "timeout_s": 2.5,
        "concurrency": 8,
        "options": {"seed": 7, "text": "a7"},
    }
    assert data["judge"]["model"] == "${NOT_ONE}"
    assert data["verifier"]["url"] == "http://x"


def test_a_text_stays_text_although_it_looks_like_a_number() -> None:
    data, problems = check("agent: {type: openagent, model: '${MODEL}'}", MODEL="4")
    assert (data["agent"]["model"], problems) == ("4", [])


def test_a_variable_that_is_not_set() -> None:
    assert told("agent:\n  type: openagent\n  base_url: ${URL}\n") == [
        "gate.yml:3: agent.base_url: the environment variable URL is not set - set it, or write "
        "${URL:-default}"
    ]
    assert told("agent: {type: openagent, model: '${M:-}', base_url: '${U:-http://x}'}", U="") == []


def test_a_variable_elsewhere_is_an_error() -> None:
    assert told("report: {dir: '${HOME}'}") == [
        "gate.yml:1: report.dir: environment variables are expanded only under agent and "
        "judge - write the value itself"
    ]
    data, problems = check("report: {dir: 'a$${HOME}'}")
    assert (data["report"]["dir"], problems) == ("a${HOME}", [])


def test_the_address_of_the_page_keeps_its_variables_until_the_run_ends() -> None:
    written = "https://o.github.io/r/${GITHUB_RUN_ID}/${PART:-all}/$${X}/report.html"
    data, problems = check(f"report: {{url: '{written}'}}", GITHUB_RUN_ID="12")
    assert (data["report"]["url"], problems) == (written, [])
    assert fill_in(written, {"GITHUB_RUN_ID": "12"}) == (
        "https://o.github.io/r/12/all/${X}/report.html"
    )
    assert fill_in(written, {}) == fill_in(written, {"GITHUB_RUN_ID": ""}) == ""


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("javascript:alert(1)", "is no address - begin with https://"),
        ("${HOST}/x", "is no address"),
        ("https://a b", "without blanks"),
        ("https://x/${DEPLOY_TOKEN}", "DEPLOY_TOKEN may be a secret"),
        ("https://x/${INPUT_CONFIG}", "INPUT_CONFIG may be a secret"),
    ],
)
def test_an_address_that_is_none_or_holds_a_secret(url: str, message: str) -> None:
    (problem,) = told(f"report: {{url: '{url}'}}")
    assert problem.startswith("gate.yml:1: report.url: ")
    assert message in problem


@pytest.mark.parametrize(
    "keys",
    [
        "api_key: {secret}",
        "api_key: not-even-key-like",
        "api_key_env: {secret}",
        "api_key_env: 0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "headers: {{Authorization: Bearer {secret}}}",
        "headers: {{X-Api-Key: '{secret}'}}",
        "model: '${{M:-{secret}}}'",
        "options: {{user: {secret}}}",
    ],
)
def test_a_key_in_the_file_is_an_error_and_never_shown(keys: str) -> None:
    secret = "sk-Zx81kPq93LmN4vRt"
    found = told(f"agent: {{type: http, url: 'http://x', {keys.format(secret=secret)}}}\n")
    assert any("key must not be in the file" in one or "not the API key" in one for one in found)
    assert secret not in "\n".join(found)


def test_a_name_and_a_variable_are_no_key_in_the_file() -> None:
    assert told("agent: {type: openagent, api_key_env: OPENAGENT_PROVIDER_KEY}") == []
    found = told(
        "agent: {type: http, url: 'http://x', headers: {Authorization: 'Bearer ${T}'}}",
        T="sk-123456789",
    )
    assert not any("key" in one.partition(": agent")[2] for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "agent: {type: openagent, timeout_s: '${T}'}",
        "agent: {type: openagent, timeout_s: [['${T}']]}",
        "agent: {type: '${T}'}",
        "agent: {type: openagent, options: '${T}'}",
    ],
)
def test_what_a_variable_holds_is_never_shown(text: str) -> None:
    found = told(text, T="sesame")
    assert found
    assert "sesame" not in "\n".join(found)
    assert "not shown" in found[0]


def test_the_schema_is_one_and_closed_everywhere() -> None:
    whole = schema()
    assert mismatches({"$ref": "https://json-schema.org/draft/2020-12/schema"}, whole) == []
    opened = list(_open_objects(whole, "$"))
    assert opened == []


def test_the_schema_takes_every_spelling_that_the_file_may_have() -> None:
    data = {
        "version": 1,
        "agent": {"type": "openagent"},
        "suites": [{"name": "a", "dataset": "d", "graders": ["facts", "./x.py:Y", "m.n:Z"]}],
    }
    assert mismatches(schema(), data) == []
    data["suites"] = [{"name": "a", "dataset": "d", "graders": [{"facts": None}, {"./x:Y": {}}]}]
    assert mismatches(schema(), data) == []
    data["suites"] = [{"name": "a", "dataset": "d", "graders": ["fatcs"]}]
    assert mismatches(schema(), data)


def test_every_plugin_is_in_the_schema() -> None:
    whole = schema()
    assert set(whole["$defs"]["agent"]["properties"]["type"]["enum"]) == set(AGENTS)
    assert set(whole["$defs"]["grader"]["else"]["properties"]) == set(GRADERS)


def _open_objects(part: Any, path: str) -> list[str]:
    """Paths of mappings with named keys that take others too; the parts of an if/then are closed by
    their `then`.
    """
    if isinstance(part, list):
        return [p for i, item in enumerate(part) for p in _open_objects(item, f"{path}[{i}]")]
    if not isinstance(part, dict):
        return []
    named = isinstance(part.get("properties"), dict) and part.get("type") == "object"
    here = [path] if named and "additionalProperties" not in part and "then" not in part else []
    return here + [p for key, item in part.items() for p in _open_objects(item, f"{path}.{key}")]


@pytest.mark.parametrize("section", ["agent", "judge", "verifier", "retriever"])
@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("concurrency: 0", "must be at least 1"),  # nobody would ever be asked
        ("timeout_s: -4", "must be more than 0"),
        ("requests_per_minute: 0", "must be more than 0"),
    ],
)
def test_nobody_is_asked_by_no_worker_in_no_time(section: str, key: str, wrong: str) -> None:
    of_type = {"retriever": "http, url: 'http://x'"}.get(section, "openai, base_url: 'http://x'")
    (message,) = told(f"{section}: {{type: {of_type}, {key}}}")
    assert message.startswith(f"gate.yml:1: {section}.{key.partition(':')[0]}: ")
    assert message.endswith(wrong)
