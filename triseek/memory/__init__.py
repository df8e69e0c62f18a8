"""The memory wing: facts of a project that outlive sessions, in palaces."""
