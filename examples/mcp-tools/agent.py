"""An agent with the tools of an MCP server: it starts the server, calls its tools, and answers.

Server, client and protocol are those of the package `mcp`. In place of a language model, a rule
reads the question and chooses the tools. The agent reports each call with its result as a step.
"""

import os
import re
import sys
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

SERVER = StdioServerParameters(
    command=sys.executable,
    args=[str(Path(__file__).with_name("server.py"))],
    env=dict(os.environ),  # by default the server sees few variables, PYTHONPATH is not among them
)


CONNECTED: list[Client] = []


async def connect() -> Client:
    """Starts the server at the first question. gate.yml has `concurrency: 1`: one event loop."""
    if not CONNECTED:
        CONNECTED.append(await Client(SERVER).__aenter__())
    return CONNECTED[0]


async def call(client: Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A step: the call, and its result or error."""
    result = await client.call_tool(name, arguments)
    text = "".join(part.text for part in result.content)
    return {"name": name, "arguments": arguments, "error" if result.is_error else "result": text}


async def answer(question: str) -> dict[str, Any]:
    article = re.findall(r"lamp|chair|sofa", question)[0]
    pieces = re.search(r"\d+", question)
    client = await connect()
    steps = [await call(client, "count_stock", {"article": article})]
    if pieces and "result" in steps[0]:
        wanted = {"article": article, "pieces": int(pieces[0])}
        steps.append(await call(client, "reserve", wanted))
    return {"answer": describe(article, steps[-1]), "steps": steps}


def describe(article: str, last: dict[str, Any]) -> str:
    if "error" in last:
        return f"That failed: {last['error']}"
    if last["name"] == "reserve":
        return f"Done: {last['result']}."
    return f"There are {last['result']} pieces of {article} in stock."
