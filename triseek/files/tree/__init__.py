"""The files of a tree: the walk, ignore rules, decoding and git."""
