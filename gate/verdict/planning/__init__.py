"""What a suite of this size can detect, and how many cases it would take."""
