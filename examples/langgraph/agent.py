"""A LangGraph agent: the graph calls a model, the model calls tools, until it has an answer.

The graph, the tools and the messages are LangGraph's own. The chat model is a fake one that goes by
rules: it calls the tool that the question needs and answers with what the tool says. Put a real
chat model with `bind_tools` in its place, and the rest stays.
"""

import re
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

ORDERS = {"W10": "delivered", "W11": "on its way"}
PRICES = {"lamp": 40, "chair": 120}


@tool
def read_order(order_id: str) -> str:
    """State of an order."""
    return f"Order {order_id} is {ORDERS.get(order_id, 'unknown')}."


@tool
def read_price(article: str) -> str:
    """Price of an article."""
    if article not in PRICES:
        raise ValueError(f"there is no article {article}")
    return f"The {article} costs {PRICES[article]} EUR."


TOOLS = [read_order, read_price]


class ModelByRules(BaseChatModel):
    """Calls one tool, then repeats what it said."""

    @property
    def _llm_type(self) -> str:
        return "rules"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=reply(messages[-1]))])


def reply(last: BaseMessage) -> AIMessage:
    text = str(last.content)
    if isinstance(last, ToolMessage):
        failed = last.status == "error"
        return AIMessage("I could not find this article." if failed else text)
    if order := re.search(r"\bW\d+\b", text):
        return ask_tool("read_order", {"order_id": order[0]})
    if price := re.search(r"(\w+) costs?\b|price of (?:a|the) (\w+)", text):
        return ask_tool("read_price", {"article": price[1] or price[2]})
    return AIMessage("I answer questions about orders and prices.")


def ask_tool(name: str, arguments: dict[str, str]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "call-1"}])


def call_model(state: MessagesState) -> dict[str, list[BaseMessage]]:
    return {"messages": [ModelByRules().invoke(state["messages"])]}


builder = StateGraph(MessagesState)
builder.add_node("model", call_model)
builder.add_node("tools", ToolNode(TOOLS, handle_tool_errors=True))
builder.add_edge(START, "model")
builder.add_conditional_edges("model", tools_condition)
builder.add_edge("tools", "model")
graph = builder.compile()


def answer(question: str) -> dict[str, Any]:
    """The final state. Agent Gate reads answer, tool calls and results from its messages."""
    return graph.invoke({"messages": [HumanMessage(question)]})
