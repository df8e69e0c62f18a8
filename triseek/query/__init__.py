"""What is asked: patterns, formulas, scopes and plans. Knows nothing of disks."""
