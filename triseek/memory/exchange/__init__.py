"""Memories as files: the export of this memory, and what other programs have kept."""
