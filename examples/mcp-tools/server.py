"""An MCP server with two tools, on standard input and output."""

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

STOCK = {"lamp": 12, "chair": 0}
server = MCPServer("stock")


@server.tool()
def count_stock(article: str) -> int:
    """How many pieces of an article are in stock."""
    if article not in STOCK:
        raise ToolError(f"there is no article {article}")
    return STOCK[article]


@server.tool()
def reserve(article: str, pieces: int) -> str:
    """Sets pieces of an article aside."""
    if pieces > STOCK.get(article, 0):
        raise ToolError(f"only {STOCK.get(article, 0)} pieces of {article}")
    return f"{pieces} pieces of {article} are reserved"


if __name__ == "__main__":
    server.run()
