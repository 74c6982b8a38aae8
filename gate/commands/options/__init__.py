"""The options of the commands: declared, parsed, and those that readers of results share."""
