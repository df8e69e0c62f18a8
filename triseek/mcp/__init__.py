"""The MCP server: the service's tools for agents, on the protocol's SDK."""
