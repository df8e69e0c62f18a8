"""Code shared by the HTTP servers for clients on this machine: addresses and access checks."""
