"""Scripts as an agent writes them, one for each kind of task."""
