"""What is to be run: gate.yml, datasets, and what a pull request may not move."""
