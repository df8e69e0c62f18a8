"""Imports what agents keep of conversations on disk: finds it, cleans it, writes it."""
