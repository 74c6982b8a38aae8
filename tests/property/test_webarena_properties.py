"""WebArena's rules and importer on what nobody would send: long, deep, of the wrong type."""

import json
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.errors import UsageError
from gate.files.json_schema import mismatches
from gate.graders.webarena_rules.evaluation import evaluate
from gate.graders.webarena_rules.recorded import read_recorded
from gate.graders.webarena_rules.task import checks_of, faults_of
from gate.graders.webarena_rules.tokens import stands_alone
from gate.importers.webarena import WebArenaResults
from gate.store.trial_row_schema import schema
from gate.store.trial_rows import row_of
from tests.support.paths import DATA

LONG = 5_000_000  # characters; of an address a tenth of that
EXAMPLES = DATA / "imports" / "webarena"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
TEXT = st.text(max_size=12) | st.sampled_from(["last", "N/A", "http://[", "__MAP__", " |OR| "])
WANTED = st.fixed_dictionaries(
    {}, optional={"exact_match": TEXT | JSON, "must_include": st.lists(TEXT, max_size=3) | JSON}
)
TARGET = st.fixed_dictionaries(
    {"url": TEXT, "locator": TEXT | st.just("document.title"), "required_contents": WANTED | JSON}
)
EVAL = st.fixed_dictionaries(
    {"eval_types": st.lists(st.sampled_from(["string_match", "url_match", "program_html"]) | JSON)},
    optional={
        "reference_answers": JSON
        | st.fixed_dictionaries(
            {},
            optional={
                "exact_match": TEXT,
                "must_include": st.lists(TEXT, max_size=3),
                "fuzzy_match": st.just("N/A") | st.lists(TEXT, max_size=2),
            },
        ),
        "reference_url": TEXT | JSON,
        "url_note": st.just("GOLD in PRED") | JSON,
        "program_html": st.lists(TARGET, max_size=3) | JSON,
        "string_note": TEXT | JSON,
    },
)
STATE = st.dictionaries(
    st.sampled_from(["final_url", "final_html", "locator_results", "pages"]),
    TEXT | JSON | st.dictionaries(st.sampled_from(["0", "1", "http://a"]) | TEXT, TEXT | JSON),
)


@given(written=EVAL | JSON, answer=TEXT, state=STATE)
def test_any_task_and_any_record_come_to_a_score_or_to_a_sentence(written, answer, state):
    faults = list(faults_of(written))
    assert all(isinstance(one, str) and one for one in faults)
    if faults:
        return
    with suppress(ValueError):
        found = evaluate(checks_of(written), read_recorded(answer, state))
        assert found.score in (0.0, 1.0, None)
        assert (found.score is None) is (not found.wrong and bool(found.lacking or found.open))


@given(text=st.text(alphabet="5a .,:;-'\"()$n`t\n…é", max_size=30), sign=st.characters())
def test_a_word_of_one_sign_is_in_the_text_and_white_space_sets_it_apart(text, sign):
    if stands_alone(sign, text):
        assert sign in text
    if sign.isalnum():
        assert stands_alone(sign, f"{text} {sign}")
        assert not stands_alone(sign, f"x{sign}")


@pytest.mark.parametrize(
    "unit", ["0", "-0", "5.", "5'", ",,,", "0.)", "--0'", "'", "x ", "<div>", "?a=/"]
)
def test_a_long_answer_address_or_page_is_judged_in_the_time_of_reading_it(unit):
    """Anything that looks back or ahead without bound would take hours here."""
    text = unit * (LONG // len(unit))
    written = {
        "eval_types": ["string_match", "url_match", "program_html"],
        "reference_answers": {"must_include": ["0"]},
        "reference_url": "http://a.example/f?x=2",
        "program_html": [
            {"url": "last", "locator": "", "required_contents": {"must_include": ["&lt;q&gt;"]}}
        ],
    }
    found = evaluate(
        checks_of(written),
        read_recorded(text, {"final_url": text[: LONG // 10], "final_html": text}),
    )
    assert found.score == 0.0
    assert all(len(code) < 200 for code in found.wrong)


RECORDS = st.fixed_dictionaries(
    {"task_id": st.integers(-1, 6) | JSON, "answer": TEXT | JSON},
    optional={
        **dict.fromkeys(
            ("success", "error", "round", "steps", "usage", "state", "started_at"), JSON
        ),
        "final_url": TEXT | JSON,
        "locator_results": st.dictionaries(st.sampled_from("01x"), TEXT | JSON),
    },
)


@settings(max_examples=60)
@given(records=st.lists(RECORDS | JSON, max_size=3), cut=st.integers(0, 30))
def test_records_are_refused_in_words_or_every_trial_of_them_is_a_row(records, cut):
    with tempfile.TemporaryDirectory() as name:
        text = "\n".join(json.dumps(one) for one in records)
        file = Path(name) / "answers.jsonl"
        file.write_text(text[: len(text) - cut] if cut < 10 else text)
        assert_rows(file, tasks=str(EXAMPLES / "tasks.json"), sites={"shopping": "http://s"})


@settings(max_examples=50)
@given(
    content=st.binary(max_size=200) | JSON.map(lambda data: json.dumps(data).encode()),
    file=st.sampled_from(["render_0.html", "config.json", "json_dump.json", "a.log"]),
)
def test_any_bytes_in_a_file_of_a_result_folder_are_refused_in_words_or_read(content, file):
    with tempfile.TemporaryDirectory() as name:
        render = (EXAMPLES / "run" / "render_0.html").read_bytes()
        (Path(name) / "render_0.html").write_bytes(render)
        (Path(name) / file).write_bytes(content)
        assert_rows(Path(name), tasks=str(EXAMPLES / "tasks.json"))


@settings(max_examples=50)
@given(content=st.binary(max_size=100) | JSON.map(lambda data: json.dumps(data).encode()))
def test_any_bytes_in_the_summary_of_an_episode_are_refused_in_words_or_read(content):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "2026-05-12_14-30-52_a_on_webarena.1_2"
        folder.mkdir()
        (folder / "summary_info.json").write_bytes(content)
        assert_rows(Path(name))


def assert_rows(path, **options):
    with suppress(UsageError):
        found = WebArenaResults(**options).read(path)
        rows = [row_of(one, cost_usd=None, on_agent_error={}, specs={}) for one in found.trials()]
        assert not [wrong for row in rows for wrong in mismatches(schema(), row)]
