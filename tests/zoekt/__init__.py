"""The client of hosts that run Zoekt."""
