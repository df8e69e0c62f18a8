"""What the page shows of the history: a timeline, searches, conversations page by page."""
