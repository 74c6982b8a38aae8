"""THUDM AgentBench: eight environments, and one score that weighs them."""
