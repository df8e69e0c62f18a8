"""Definitions, references and outlines of files, from their syntax trees."""
