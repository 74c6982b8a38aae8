"""Logs of Inspect (inspect-ai): archives `.eval`, files `.json`, folders of either."""
