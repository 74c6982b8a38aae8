"""One grader a file; a folder for each body of rules that several share."""
