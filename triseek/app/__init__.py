"""The application: all wings, and one way to call their tools."""
