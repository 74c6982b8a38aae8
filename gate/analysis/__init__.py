"""Numbers from tables: estimates of a run, pairing of two, missing calls, the pool, case lists."""
