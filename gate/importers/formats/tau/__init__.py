"""tau-bench and tau2-bench: tasks that a simulated user brings, several trials each."""
