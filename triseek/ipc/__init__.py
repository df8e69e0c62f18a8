"""Communication between clients and the daemon. This package is on the fast path: keep it light."""
