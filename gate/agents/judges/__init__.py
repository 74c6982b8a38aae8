"""Asking the judge and the verifier: threads, deadlines, tries, money and a cache, so that graders
stay pure (gate/plugins.py, ModelGrader).
"""
