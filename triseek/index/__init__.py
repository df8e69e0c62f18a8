"""The trigram index: build, update, merge, read."""
