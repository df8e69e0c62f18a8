"""Compiled loops over plain arrays. They use no Python objects; only `fetch` opens files."""
