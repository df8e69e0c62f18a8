"""Real agents from npm with a model that does as a script says: no account, no network."""
