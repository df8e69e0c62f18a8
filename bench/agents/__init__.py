"""The MCP server as an agent meets it: its first reply, its answers beside rg's, its memory."""
