"""Trajectories of mini-SWE-agent."""
