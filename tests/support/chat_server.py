"""A loopback OpenAI-compatible server that misbehaves on request; counts what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Reply = tuple[int, dict[str, str], object]


def answer(text: str) -> dict[str, object]:
    """A whole chat completion body."""
    return {
        "id": "x",
        "object": "chat.completion",
        "model": "stub-model",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


class ChatServer:
    """`reply(question, nth)`: (status, headers, body) for the nth time (from 0) it is asked.
    `read`: what of the messages is the question.
    """

    def __init__(
        self,
        reply: Callable[[str, int], Reply | str],
        delay_s: float = 0.0,
        read: Callable[[list[dict[str, str]]], str] = lambda messages: messages[-1]["content"],
    ) -> None:
        self.asked: dict[str, int] = {}
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                question = read(body["messages"])
                with server._lock:
                    nth = server.asked.get(question, 0)
                    server.asked[question] = nth + 1
                if delay_s:
                    time.sleep(delay_s)
                found = reply(question, nth)
                if isinstance(found, str):
                    found = (200, {}, answer(found))
                status, headers, data = found
                payload = data if isinstance(data, bytes) else json.dumps(data).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 128  # who does not fit in connects a second later

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def calls(self) -> int:
        return sum(self.asked.values())

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
