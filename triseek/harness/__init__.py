"""What coding agents say to us."""
