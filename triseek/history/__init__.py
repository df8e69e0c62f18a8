"""The history wing: what was done, said and learned in conversations with agents."""
