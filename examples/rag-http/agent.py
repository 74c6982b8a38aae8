"""A RAG agent behind HTTP: it searches the pages of a shop and answers from the best one.

`POST /ask {"question": ...}` gives `{"answer": {"text": ...}, "documents": [{"id": ...}, ...]}`.
In place of a language model, a rule picks the sentence that shares most words with the question, so
the answers are the same each time and nothing has to be paid.
"""

import json
import os
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = {
    "shipping": "Delivery takes 3 days. Express delivery costs 9 EUR and takes 1 day.",
    "returns": "You may return shoes for 30 days. The refund arrives within 5 days.",
    "gift-cards": "A gift card is valid for 24 months. A gift card cannot be paid out.",
    "repairs": "A repair takes 2 weeks. Repairs are free for 2 years.",
}
NO_MEANING = {"a", "the", "is", "are", "for", "how", "what", "does", "do", "i", "may", "can", "my"}


def find_words(text: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"[a-z]+", text.lower())} - NO_MEANING


def count_shared(question: str, text: str) -> int:
    return len(find_words(question) & find_words(text))


def search(question: str, top_k: int = 2) -> list[dict[str, object]]:
    """The `top_k` pages that share most words with the question, best first."""
    scored = [(count_shared(question, text), name) for name, text in PAGES.items()]
    best = sorted(scored, key=lambda one: -one[0])[:top_k]
    return [{"id": name, "score": score, "text": PAGES[name]} for score, name in best if score]


def generate(question: str, documents: list[dict[str, object]]) -> str:
    """What a language model would write: here, the sentence that fits best."""
    sentences = [one for found in documents for one in re.split(r"(?<=\.) ", str(found["text"]))]
    return max(sentences, key=lambda one: count_shared(question, one), default="I do not know.")


class Agent(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["question"]
        documents = search(question)
        answer = {"answer": {"text": generate(question, documents)}, "documents": documents}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """One line a request is too much."""


if __name__ == "__main__":
    port = int(os.environ.get("PORT", "8750"))
    ThreadingHTTPServer(("127.0.0.1", port), Agent).serve_forever()
