"""What other tools wrote, read as it lies there, and its rows as trials.

A package has what one tool needs, or a few that are alike: `scored_rows` is for exports of rows
with scores (`langfuse`, Braintrust), `tau` for both benchmarks of that name, `trec` for BEIR, too.
Files that nobody trusts are opened by gate/files, trials are built by gate/importers/trials. How a
format is recognised, and its options: gate/importers.
"""
