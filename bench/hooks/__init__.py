"""What a hook costs an agent: `python -m bench hooks`."""
