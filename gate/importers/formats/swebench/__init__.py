"""Results of SWE-bench's harness and of its leaderboard."""
