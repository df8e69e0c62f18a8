"""A server that answers as Zoekt does, over local indexes."""
