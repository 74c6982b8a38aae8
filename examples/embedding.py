"""An embedding of your own for the grader semantic_similarity: texts in, one vector each out.

gate.yml: `semantic_similarity: {embed: "./examples/embedding.py:by_words"}`. This one counts words;
yours would ask your embedding model. The same text must always get the same vector.
"""

import re
from collections.abc import Sequence
from zlib import crc32

PLACES = 256


def by_words(texts: Sequence[str]) -> list[list[float]]:
    """How often each word comes, every word at one of 256 places; the last one is never empty."""
    vectors = []
    for text in texts:
        vector = [0.0] * PLACES + [1e-6]
        for word in re.findall(r"\w+", text.casefold()):
            vector[crc32(word.encode("utf-8", "surrogatepass")) % PLACES] += 1
        vectors.append(vector)
    return vectors
