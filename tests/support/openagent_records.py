"""A record of an OpenAgent session and its header."""

RECORD = {
    "suite": "dialogue",
    "task_id": "t1",
    "category": "format",
    "round": 1,
    "attempt": 1,
    "ok": True,
    "latency_ms": 12.5,
    "total_tokens": 7,
    "prompt_tokens": 4,
    "completion_tokens": 3,
    "response_status": 200,
    "api_error": None,
    "parse_error": None,
    "validation_errors": [],
    "response_text": "Hello.",
    "evidence": {},
    "extra": {},
}
META = {"session_id": "20260512-143052-1a2b3c4d", "model": "m/1", "base_url": "http://h:1"}
