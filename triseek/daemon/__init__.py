"""The daemon process: sockets and background work."""
