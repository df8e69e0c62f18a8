"""The memo against agents that are made up, and an oracle that knows what each has in view."""
