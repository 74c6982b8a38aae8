"""Arrays in, numbers out; numpy only, and a generator is an argument."""
