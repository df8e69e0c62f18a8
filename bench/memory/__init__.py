"""Measures the memory: quality of recall, speed, vectors, the graph."""
