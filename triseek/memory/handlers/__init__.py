"""Handlers of the memory tools."""
