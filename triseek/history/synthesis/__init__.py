"""Observations and summaries that are derived from a conversation's events by rules."""
