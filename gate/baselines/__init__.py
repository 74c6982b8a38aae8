"""One baseline source a file."""
