"""How often the verdict is wrong where nothing changed, from recorded rounds."""
