"""File-system events of a tree."""
