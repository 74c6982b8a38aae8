"""What promptfoo writes and reads: results of an eval, and configurations with their tests."""
