"""Queries of the history database, each in one read transaction of the caller's."""
