"""One module per kind of engine."""
