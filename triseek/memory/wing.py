"""Declaration of the memory wing: facts of a project that outlive sessions."""

from triseek.model.tool import Wing

WING = Wing(toolset="memory", tools=(), context=lambda host: host, is_default=False)
