"""What this machine gives: processes, threads, clocks, standard streams, and too little of them."""
