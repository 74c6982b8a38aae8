"""What a command may cost before and beside its work, in counts that are the same on every machine:
modules that are loaded, Python functions that are called, JSON texts, bytes and files that are read
or written. tests/e2e/test_cost.py measures them on a plain run: an agent behind `openai`, a suite
with the graders `facts` and `retrieval`, no baseline, no terminal; benchmarks/cost.py prints them.
A bound stands 5 to 10 % above what was measured: who raises one says why, here and in CHANGELOG.md.
"""

MOST_MODULES = {  # of all packages
    "at the first request of a run": 385,  # measured: 368, 6 of them for orjson
    "of a run": 630,  # 608: the list of sessions is four of them
    "of validate": 505,  # 473: the odds of noise at a limit take numpy and the newest session
    "of validate, own project": 610,  # 579
    "of --version": 142,  # 133
}
MOST_OF_OURS = {
    "at the first request of a run": 204,  # 198: what a dataset expects is a module of its own
    # 301: options, budget and spending are modules of their own, and parts of report.html
    # 321: what cases and metrics have in common, and the list of sessions; the interval after an
    # early end
    "of a run": 334,
    "of validate": 202,  # 189
    "of validate, own project": 300,  # 284
    "of --version": 22,  # 21: options that several commands share are a module of their own
}
MOST_CALLS = {
    "to tell the verdict": 28_500,  # 26,600, nearly all of rich: without --quiet
    # 183,600: lists of one value, parsers that suggest names, fields of records for keys of cases
    "of validate": 185_000,
    "of validate, own project": 375_000,  # 355,400: its baselines, and limits at which noise counts
    "of --version": 15_500,  # 14,400
}
# Of `facts` and `hallucination` without a verifier, of one answer of benchmarks/offline_text.py:
# 2 KB with 25 numbers, about a context of 2 KB.
MOST_CALLS_OF_AN_ANSWER = 3_500  # 3,300
# The kinds of work of tests/support/counted.py. A further trial, by the graders of the suite:
MOST_OF_A_TRIAL = {
    "contains": {
        "calls": 500,  # measured: 472
        "encodings": 4.25,  # 4.03: the case, the request, the row, its texts in report.html
        "decodings": 5.3,  # 5.0: the case twice, the reply, the row twice (reports, its page)
        "opens": 0.18,  # 0.16: the dataset at each of up to twenty looks; a small run has few
        "written": 2_350,  # 2,239
        "blocks": 40,  # 34 to 37: report.html packs 128 cases at once
    },
    "facts, retrieval": {
        "calls": 610,  # 578
        "encodings": 4.25,  # 4.03
        "decodings": 5.3,  # 5.0
        "opens": 0.18,  # 0.16
        "written": 2_820,  # 2,680: a row of round 1 has what its dataset expects
        "blocks": 75,  # 63 to 70, by when memory is collected: report.html packs 128 cases at once
    },
}
MOST_BESIDE_TRIALS = {  # of a run with `facts, retrieval`
    # 244,500: the grammar of numbers is compiled, and what a first run could catch is computed
    "calls": 258_000,
    # 177: what the looks of a run of 20 cases write, which the reading of the dataset at each look
    # hid as long as it was counted as the trials'.
    "encodings": 186,
    "decodings": 3,  # 2
    # 46.8: the script of report.html is ten files, that of the list of sessions four more
    "opens": 50,
    # 275,000: the script and charts of report.html, 20 cases in plain HTML, and the list of
    # sessions, which needs nothing else (30 kB)
    "written": 292_000,
    "blocks": 222_000,  # 220,100: the list of sessions, the anchor, keys in messages
}
# A further case of tests/support/import_files.py, reports and all; of TREC it has 100 documents.
MOST_CALLS_OF_AN_IMPORTED_CASE = {
    "junit": 230,  # measured: 219: its spreads and what was expected are in report.html
    "trec": 1_130,  # measured: 1,076
    "promptfoo": 615,  # measured: 586: what is expected, for the page without scripts
    "openagent": 390,  # measured: 370
    "otel": 550,  # measured: 514
}
NOT_BEFORE_THE_FIRST_REQUEST = (
    *("numpy", "jinja2", "jsonschema", "requests", "urllib3", "http.client", "asyncio", "email"),
    *("rich", "xml", "zipfile", "ssl", "importlib.metadata"),
    *("gate.agents.sample_agent", "gate.agents.judges.judge_panel", "gate.agents.server_logs"),
    *("gate.graders.rubrics", "gate.graders.safety_rules", "gate.report", "gate.importers"),
)
# `requests` speaks to GitHub only: without its token nobody is asked.
NOT_AT_THE_END = (
    *("jinja2", "jsonschema", "requests", "urllib3", "http.client", "asyncio", "email"),
    *("rich", "xml", "zipfile", "ssl", "importlib.metadata", "numpy.ma"),
    *("gate.agents.sample_agent", "gate.agents.judges.judge_panel", "gate.agents.server_logs"),
    *("gate.graders.rubrics", "gate.graders.safety_rules", "gate.importers"),
)

# An import stands in a function only where it is listed here: what it loads (and all below it) is
# not needed by a plain run before its first request, or never (docs/decisions/0007).
LATE = {
    "gate.agents.http_client.session": ("gate.agents.http_client.tls",),
    "gate.agents.http_client.reply": ("email.utils", "http"),
    "gate.agents.traces.detecting": ("gate.agents.traces.openagent_lines",),
    "gate.agents.traces.reading": (
        "gate.agents.traces.anthropic",
        "gate.agents.traces.building",
        "gate.agents.traces.langchain",
        "gate.agents.traces.openagent",
        "gate.agents.traces.openai_chat",
        "gate.agents.traces.openai_responses",
        "gate.agents.traces.otel",
    ),
    "gate.analysis.metrics.k_rounds": ("gate.stats.change_k_rounds",),
    "gate.cli": (
        "gate.files.env_file",
        "gate.run.untrusted",
        "gate.text.credentials",
        "gate.text.redaction",
        "gate.text.secret_names",
        "traceback",
    ),
    "gate.commands.action": ("gate.run.importing.run",),
    "gate.commands.grade": ("gate.run.cluster.grading",),
    "gate.commands.options.judging": ("gate.records", "gate.text.suggestions"),
    "gate.commands.run": ("gate.report.debugging", "gate.run.debug", "gate.run.dry_run"),
    "gate.commands.validate": (
        "gate.commands.limit_odds",
        "gate.run.budget",
        "gate.suites.cases.sent_keys",
    ),
    "gate.files.json_schema": ("gate.files.json_schema_messages",),
    "gate.files.rows": ("gate.files.csv_rows", "gate.files.openagent_yaml"),
    "gate.graders.facts": (
        "gate.text.numbers.agreement",
        "gate.text.numbers.expected_numbers",
        "gate.text.wording",
    ),
    "gate.graders.similarity.embedding": ("gate.user_code.calling",),
    "gate.graders.user_code.make": ("gate.graders.user_code.grader",),
    "gate.run.apply_options": ("gate.run.check_case_keys",),
    "gate.run.accepted_changes": (
        "gate.github.acceptance",
        "gate.github.remote_repository",
    ),
    "gate.github.remote_repository": ("gate.github.release_anchor",),
    "gate.report.announce": ("gate.report.console",),
    "gate.run.execute": (
        "gate.agents.judges.judge_panel",
        "gate.run.changed_defaults",
        "gate.run.cluster.pool",
        "gate.run.joined_parts",
        "gate.run.stages",
    ),
    "gate.run.control_baseline": ("gate.store.baseline.schema",),
    "gate.run.judge": (
        "gate.graders.trajectories.reference",
        "gate.run.release_evidence.write",
    ),
    "gate.run.judge_labels": (
        "gate.analysis.agreement",
        "gate.graders.rubrics.built_in",
        "gate.graders.rubrics.rubric",
    ),
    "gate.run.progress": ("gate.run.progress_bar",),
    "gate.run.record_answers": (
        "gate.agents.recordings.answers",
        "gate.agents.recordings.run_end",
    ),
    "gate.run.rules_for_event": (
        "gate.github.inputs",
        "gate.github.releases",
        "gate.github.remote_repository",
        "gate.run.untrusted",
        "gate.suites.protection.workflow_file",
    ),
    "gate.run.setup": ("gate.store.baseline.find",),
    "gate.store.baseline.find": (
        "gate.analysis.pooling",
        "gate.store.baseline.answers",
        "gate.store.baseline.file",
        "gate.store.baseline.schema",
    ),
    "gate.store.baseline.sources.repo": ("gate.store.baseline.file",),
    "gate.store.trial_rows": (
        "gate.graders.safety_rules.leaks",
        "gate.graders.safety_rules.violations",
    ),
    "gate.store.session_check": ("gate.store.trial_row_schema",),
    "gate.suites.config.check_judge": ("gate.agents.wire.template",),
    "gate.suites.config.lint": ("statistics",),
    "gate.suites.config.overrides": ("gate.agents.http_client.route",),
    "gate.suites.protection.rules": (
        "gate.suites.code",
        "gate.suites.protection.loosening.loosened",
    ),
    "gate.text.credentials": ("gate.text.sensitive",),
    "gate.text.numbers.agreement": ("gate.text.numbers.currencies",),
    "gate.text.numbers.page": (
        "gate.text.markdown_tables",
        "gate.text.numbers.agreement",
        "gate.text.numbers.amounts",
        "gate.text.numbers.foreign_words",
        "gate.text.numbers.heads",
        "gate.text.numbers.respectively",
        "gate.text.numbers.scanning",
        "gate.text.numbers.shares",
        "gate.text.numbers.words",
    ),
    "gate.text.numbers.scanning": ("gate.text.numbers.languages", "gate.text.numbers.latex"),
    "gate.text.suggestions": ("difflib",),
    "gate.user_code.patterns": ("gate.user_code.calling",),
    "gate.user_code.processes": ("gate.user_code.process",),
    "gate.report.session_page.page": ("gate.report.session_page.trends",),
    "gate.verdict.conclude": (
        "gate.analysis.agreement",
        "gate.store.baseline.pool",
        "gate.verdict.anchor",
        "gate.verdict.causes",
        "gate.verdict.planning.plan",
    ),
    "gate.verdict.run_history": ("gate.store.history",),
}
