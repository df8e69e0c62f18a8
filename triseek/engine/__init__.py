"""One repository, ready to answer."""
