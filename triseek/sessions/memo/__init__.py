"""What an agent has been shown of files, and so need not read again."""
