"""The only place that says pass: tables, gates and rules in, a Verdict out."""
