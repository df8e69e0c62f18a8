"""Comparisons with the real Zoekt: its answers are the reference."""
