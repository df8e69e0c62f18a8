"""Edits to the configuration files of agents; all of them can be undone."""
