"""Globs, ignore rules, file types and the scope of a search."""
