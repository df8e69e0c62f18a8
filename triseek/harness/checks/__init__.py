"""What `triseek doctor` looks at, a subject a module."""
