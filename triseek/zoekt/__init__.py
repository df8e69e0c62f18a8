"""Client of hosts that run Zoekt: one, or several that are searched at once."""
