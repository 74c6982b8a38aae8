"""What no honest run exceeds: stored data beyond it are refused before they are used."""

MOST_CASES = 100_000_000  # of a suite
MOST_ROUNDS = 10_000  # of a suite in one run
LARGEST = 1e60  # of a measured number: its fourth power, the noise of a variance, is still a float
