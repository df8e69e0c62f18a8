"""Vectors of drawers: who makes them, how they are kept, how the nearest are searched."""
