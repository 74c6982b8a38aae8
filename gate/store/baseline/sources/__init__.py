"""Where baselines are kept, one source a file; each file registers itself."""
