"""Zoekt's query language: parsed, simplified, and written again as text."""
