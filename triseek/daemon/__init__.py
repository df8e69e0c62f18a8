"""The process that stays: sockets, background work."""
