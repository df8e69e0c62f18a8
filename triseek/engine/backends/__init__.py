"""The roads a search can take: indexed, scan, ripgrep."""
