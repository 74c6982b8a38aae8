"""Work on a dataset: cases are proposed, without personal data or duplicates, approved by people,
and counted.
"""
