"""What other tools wrote, read as it lies there, and its rows as trials.

Reading what nobody trusts: `files` (plain files, JSON, JSON Lines), `json_parts` (long JSON item by
item), `tables` (CSV and rows), `zips`, `findings` (all that is wrong, told at once).
Making trials of it: `trials`, `moments`, `plain_values`, `names` (metrics, suites), `case_ids`,
`instance_ids` (SWE-bench), `conversations` (messages as an answer), `blame` (whose failure).
`quoted` has published results. A package has what one tool needs, or a few that are alike:
`scored_rows` is for exports of rows with scores (`langfuse`, Braintrust), `tau` for both benchmarks
of that name, `trec` for BEIR, too. How a format is recognised, and its options: gate/importers.
"""
