"""The backends that answer a search: indexed, scan, ripgrep."""
