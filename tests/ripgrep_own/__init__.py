"""ripgrep's own integration tests, run with triseek in the place of rg."""
