"""Workflows over code: prebuilt scripts, and scripts that agents write, run in a box."""
