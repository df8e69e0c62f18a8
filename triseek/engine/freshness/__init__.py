"""Find what changed since the index was written, by a sweep or from file-system events."""
