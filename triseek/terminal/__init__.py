"""Helpers shared by the commands of all wings: options, exit statuses, reports, the pager."""
