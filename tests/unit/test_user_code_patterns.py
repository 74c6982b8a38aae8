"""Searches for patterns end, whatever the pattern and the text; and find what `re` finds."""



