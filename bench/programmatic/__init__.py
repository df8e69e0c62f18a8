"""Workflows beside single tools, and beside grep and read: calls, tokens and what is found."""
