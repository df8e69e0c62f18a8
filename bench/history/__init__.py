"""What a search of conversations finds, and what importing them takes, beside deja-vu."""
