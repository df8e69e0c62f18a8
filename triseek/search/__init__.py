"""The search wing: searches for agents, and the answers that conversations were given."""
