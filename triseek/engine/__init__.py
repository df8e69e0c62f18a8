"""The engine: search, freshness, ranking and context packs for one repository."""
