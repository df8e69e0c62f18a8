"""Analysis of shell commands: which files they read or may write."""
