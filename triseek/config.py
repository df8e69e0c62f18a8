"""Settings: defaults < file < environment < flags, frozen once read."""
