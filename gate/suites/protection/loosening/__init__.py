"""What a pull request makes easier for itself to pass, one sentence each (docs/semantics.md 6)."""
