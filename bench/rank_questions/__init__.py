"""Questions with one right file, made from repositories without looking at the ranking."""
