"""report.html: the page from top to bottom, its list of cases, sentences as HTML."""
