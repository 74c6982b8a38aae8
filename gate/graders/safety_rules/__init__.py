"""What an agent must not do: rules over its answer and its calls, and what breaks them."""
