"""Ranked lists and relevance judgements as TREC, pytrec_eval and BEIR write them."""
