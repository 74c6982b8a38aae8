"""What every importer builds trials with: names, ids, scores, and whose fault a failure is."""
