"""Search over what was said: a ranking of sessions or messages, and its index."""
