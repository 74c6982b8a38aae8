"""The numbers that a text states, each once: value, unit, sign, and how exactly it is stated."""
