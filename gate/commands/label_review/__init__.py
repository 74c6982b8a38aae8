"""People check the judge: a rotating sample of answers, a form to rate them, and reading the
labels.
"""
