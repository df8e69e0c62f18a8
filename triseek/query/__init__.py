"""Parsed queries: patterns, formulas, scopes and plans. Does no file access."""
