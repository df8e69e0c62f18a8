"""Recall over conversations beside deja: who finds the session that answers a question."""
