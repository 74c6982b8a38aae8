"""What is kept on disk: sessions, the baseline file and where baselines are found."""
