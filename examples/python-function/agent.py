"""The smallest agent there is: a function from a question to a text. Its model is a rule."""

GREETINGS = ("hello", "good morning", "hi")


def answer(question: str) -> str:
    text = question.lower()
    if text.startswith(GREETINGS):
        return "greeting"
    return "question" if text.endswith("?") else "complaint" if "broken" in text else "other"
