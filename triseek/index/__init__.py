"""The trigram index: build, update, read."""
