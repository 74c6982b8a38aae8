"""Rules for an agent's answer and calls, and what breaks them."""
