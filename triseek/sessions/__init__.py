"""Sessions of work: their logs, snapshots and packs, and the tools and verbs for them."""
