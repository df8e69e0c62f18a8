"""Search of one or several local repositories by Zoekt's query language."""
