"""Searching: choosing a backend, running it and limiting its results."""
