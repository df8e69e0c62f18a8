"""How much of what the second half of a session needed the resume payload held."""
