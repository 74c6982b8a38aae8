"""What graders of a value from 0 to 1 share."""
