"""Numbers about the index, to look at and to export."""
