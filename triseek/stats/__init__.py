"""Statistics of the index, to look at and to export."""
