"""Consolidation of drawers that destroys nothing: duplicates, keywords of rooms, the forgotten."""
