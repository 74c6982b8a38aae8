"""What a pull request may not move: the base branch's rules, and what this branch makes easier."""
