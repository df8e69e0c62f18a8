"""Answers that only a history of tool events has: fix, how, blame, friction."""
