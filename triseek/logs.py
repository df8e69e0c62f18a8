"""Logging, set up once per process role; nothing else attaches handlers."""
