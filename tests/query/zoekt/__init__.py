"""Tests of Zoekt's query language."""
