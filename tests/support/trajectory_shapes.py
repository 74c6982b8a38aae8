"""Files of one conversation in the shapes that several frameworks give it."""

SHAPES = {
    "openai_chat_messages": "openai",
    "openai_chat_completions": "openai",
    "openai_chat_legacy_function_call": "openai",
    "openai_responses": "openai_responses",
    "anthropic_messages": "anthropic",
    "langchain_model_dump": "langchain",
    "langchain_messages_to_dict": "langchain",
    "langchain_lc_constructor": "langchain",
    "otel_genai_otlp": "otel",
}
WITHOUT = {
    # Messages have no usage; a tool message has no flag for an error, its text tells it.
    "openai_chat_messages": {"usage", "errors"},
    # Answers of the model only: what the tools said is in the requests.
    "openai_chat_completions": {"results", "errors"},
    "openai_responses": {"results", "errors"},
}
SHORT = "openai_chat_legacy_function_call"  # the first call alone
