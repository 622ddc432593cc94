"""What assistants may ask (MCP): tools that read a customer's data from the API, over HTTP and over stdio.

Like the console, the package has no other access to data than the API, through the client package. The library `mcp` is
loaded with the first request or with `kontor mcp`, never before.
"""

from kontor.assistants.routes import make_routes

__all__ = ["make_routes"]
