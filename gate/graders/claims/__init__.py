"""What an answer claims, and whether its sources say so: numbers, names, dates, quotes."""
