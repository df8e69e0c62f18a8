"""The file system: roots, the walk, ignore rules, text and file events."""
