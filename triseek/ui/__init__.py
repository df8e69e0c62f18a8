"""The page: one server for one person, of this machine."""
