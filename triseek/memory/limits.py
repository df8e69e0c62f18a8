"""Defaults and limits that declarations of tools have, too. Light: an agent's pipe imports it."""

IMPORTANCE = 0.5
"""Of a drawer whose importance was not said."""
TOP_MAX = 100
"""The most hits of a recall."""
