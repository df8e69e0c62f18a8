"""Bytes on disk: columns, tables, segments, the manifest. Knows nothing of search."""
