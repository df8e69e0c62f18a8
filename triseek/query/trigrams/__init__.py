"""Trigrams and literals of a pattern, which the index and the kernels can search for."""
