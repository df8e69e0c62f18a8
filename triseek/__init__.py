"""triseek: local-first code search for coding agents and the people who work with them."""

__version__ = "0.1.0"
