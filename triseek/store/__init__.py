"""On-disk data: columns, tables, segments, the manifest. Independent of search."""
