"""Ordering of results, and detection of lines that define what was searched for."""
