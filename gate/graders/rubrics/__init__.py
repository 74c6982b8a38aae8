"""Rubrics for a judge model: the built-in ones, their prompts, and how votes become scores."""
