"""The catalog of capabilities: workflows, functions for scripts, ways to run them."""
