"""Reports of pydantic-evals."""
