"""Frames between a client and the daemon. Light: this package is on the fast path."""
