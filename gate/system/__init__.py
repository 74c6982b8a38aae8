"""What the machine gives: processes, threads, clocks, standard streams, limits."""
