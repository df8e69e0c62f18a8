"""triseek's Zoekt-compatible server beside zoekt-webserver: same trees, same requests, by HTTP."""
