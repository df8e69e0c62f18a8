"""The page: a web server for one user on this machine."""
