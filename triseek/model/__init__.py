"""Data types used by all packages: requests, results, declarations. Standard library only."""
