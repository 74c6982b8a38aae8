"""What every importer builds trials with: names, ids, values, conversations, published scores,
and whose fault a failure is.
"""
