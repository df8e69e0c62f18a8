"""The memory by HTTP: its REST interface, its feed of events, and the server of both."""
