"""The cluster: `triseek cluster`, the repositories of hosts that run Zoekt."""
