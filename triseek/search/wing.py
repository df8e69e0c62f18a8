"""Declaration of the search wing."""

from triseek.model.tool import Wing
from triseek.search.context import SearchContext
from triseek.search.tools import TOOLS

WING = Wing(toolset="search", tools=TOOLS, context=SearchContext)
