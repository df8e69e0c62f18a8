"""The nouns of the program: requests, results and the verb table. Standard library only."""
