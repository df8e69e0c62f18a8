"""Results as text, colour or JSON."""
