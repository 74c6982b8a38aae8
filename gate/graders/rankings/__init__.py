"""The quality of a ranking, case by case."""
