"""The MCP server: offers the tools to agents, built on the MCP SDK."""
