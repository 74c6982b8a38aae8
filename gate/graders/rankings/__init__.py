"""What a ranking is worth, case by case."""
