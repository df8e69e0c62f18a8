"""The memo on recorded workdays of agents: what it spares them, and whether it was ever wrong."""
