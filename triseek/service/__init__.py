"""The whole application without a transport."""
