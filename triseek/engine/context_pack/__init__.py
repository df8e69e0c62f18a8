"""A context pack: the few files and lines to start a task from."""
