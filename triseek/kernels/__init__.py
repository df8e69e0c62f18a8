"""Compiled loops over plain arrays: they know no Python objects and, but for fetch, no files."""
