"""What no honest run exceeds, or is called: other stored data are refused before they are used."""

EVIDENCE = "evidence"  # the folder of a release's evidence in its session, and so no suite's name
MOST_CASES = 100_000_000  # of a suite
MOST_ROUNDS = 10_000  # of a suite in one run
LONGEST_S = 604_800.0  # of a time-out: a week; clocks of the system end at 24 days
MOST_DAYS = 36_500  # a hundred years
LARGEST = 1e60  # of a measured number: its fourth power, the noise of a variance, is still a float
