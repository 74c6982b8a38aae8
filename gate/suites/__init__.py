"""What is to be run: gate.yml, datasets, suites as code, and what a pull request may not move."""
