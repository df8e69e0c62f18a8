"""What agents ask of the history tools.

The docstring of a class is its tool's description, the one under a field that argument's. Names,
defaults and bounds are those of the contract; values outside the bounds are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from triseek.model.tool import STRICT

if TYPE_CHECKING:
    from collections.abc import Mapping

ObservationType: TypeAlias = Literal[
    "decision", "bugfix", "feature", "refactor", "discovery", "change"
]
OrderBy: TypeAlias = Literal["relevance", "date_desc", "date_asc"]
Format: TypeAlias = Literal["index", "full"]
By: TypeAlias = Literal["session", "message", "observation"]

BOUNDS: Mapping[str, tuple[int, int | None]] = {
    "limit": (1, 100),
    "offset": (0, None),
    "get_recent_context.limit": (1, 10),
    "get_timeline_by_query.limit": (1, 20),
    "depth_before": (0, 50),
    "depth_after": (0, 50),
    "ttl_days": (0, 36_500),
}
"""The least and the greatest value of whole numbers, by argument or by tool and argument."""
CONTRACT = frozenset((
    "search_observations", "search_sessions", "search_user_prompts", "find_by_concept",
    "find_by_file", "find_by_type", "get_recent_context", "get_context_timeline",
    "get_timeline_by_query",
))  # fmt: skip
"""The tools whose schemas list greatest values and defaults. The others have arguments of the same
names, so that theirs are left out; they are enforced all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DateRange:
    """A span of time; both ends belong to it."""

    __pydantic_config__: ClassVar = STRICT

    start: str | float = ""
    """ISO date or time, or Unix milliseconds."""
    end: str | float = ""
    """Likewise; a date alone means its last moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paged:
    """Which records are listed, and which page of them."""

    __pydantic_config__: ClassVar = STRICT

    project: str = ""
    """Only this project: its name, or its root folder."""
    dateRange: DateRange = DateRange()  # noqa: N815 - the contract's name
    """Only what is from this time; both ends belong to it."""
    limit: int = 20
    """Most results."""
    offset: int = 0
    """Results to skip: the `next_offset` of the page before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters(Paged):
    """What all searches of the contract take."""

    __pydantic_config__: ClassVar = STRICT

    format: Format = "index"
    """index: titles and dates; full: all details."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Filters):
    """What full-text searches take."""

    __pydantic_config__: ClassVar = STRICT

    query: str
    """Words, or FTS5 syntax: AND, OR, NOT, "phrase", column:word, prefix*."""
    orderBy: OrderBy = "relevance"  # noqa: N815 - the contract's name
    """The order of the results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Find(Filters):
    """What look-ups take."""

    __pydantic_config__: ClassVar = STRICT

    orderBy: OrderBy = "date_desc"  # noqa: N815 - the contract's name
    """The order of the results; relevance is date_desc."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How much of a timeline is shown."""

    __pydantic_config__: ClassVar = STRICT

    depth_before: int = 10
    """Records before the anchor."""
    depth_after: int = 10
    """Records after it."""
    project: str = ""
    """Only this project: its name, or its root folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorOrQuery(Window):
    """What a timeline is around."""

    __pydantic_config__: ClassVar = STRICT

    anchor: int | str = ""
    """As that of get_context_timeline."""
    query: str = ""
    """As that of get_timeline_by_query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What an observation has beside its text."""

    __pydantic_config__: ClassVar = STRICT

    title: str = ""
    """One line; by default the beginning of the text."""
    type: ObservationType = "discovery"
    """What kind of observation it is."""
    concepts: tuple[str, ...] = ()
    """Tags."""
    files: tuple[str, ...] = ()
    """Paths of files that it is about."""
    project: str = ""
    """Its project; by default the one of the agent's folder."""
    pin: bool = False
    """Whether sessions start with it."""
    ttl_days: int = 0
    """Days after which it is hidden; 0: never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchObservationsRequest(Search):
    """Search what was done and learned; index first, full for few."""

    __pydantic_config__: ClassVar = STRICT

    query: str
    """Words or FTS5: AND, OR, NOT, "phrase", title:word, prefix*."""
    type: tuple[ObservationType, ...] = ()
    """Any of these."""
    concepts: tuple[str, ...] = ()
    """Any of these."""
    files: tuple[str, ...] = ()
    """Parts of paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSessionsRequest(Search):
    """Search summaries of sessions: requests, results, lessons."""

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchUserPromptsRequest(Search):
    """Search what the user said, in all sessions."""

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class FindByConceptRequest(Find):
    """List observations by concept.

    discovery, problem-solution, what-changed, how-it-works, pattern, gotcha, change.
    """

    __pydantic_config__: ClassVar = STRICT

    concept: str
    """Any word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindByFileRequest(Find):
    """List observations and sessions about a file."""

    __pydantic_config__: ClassVar = STRICT

    filePath: str  # noqa: N815 - the contract's name
    """Or part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindByTypeRequest(Find):
    """List observations of one type or several."""

    __pydantic_config__: ClassVar = STRICT

    type: tuple[ObservationType, ...]
    """One or several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRecentContextRequest:
    """Show the last sessions of a project, newest last."""

    __pydantic_config__: ClassVar = STRICT

    project: str = ""
    """Default: this."""
    limit: int = 3
    """Sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetContextTimelineRequest(Window):
    """Show observations, sessions and prompts around a moment."""

    __pydantic_config__: ClassVar = STRICT

    anchor: int | str
    """Observation ID, "S123" (session), ISO time or URI."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTimelineByQueryRequest(Window):
    """Show what happened around the best match."""

    __pydantic_config__: ClassVar = STRICT

    query: str
    """What to find."""
    mode: Literal["auto", "interactive"] = "auto"
    """interactive: list matches."""
    limit: int = 5
    """Matches listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySearchRequest(Paged):
    """Find what was said or done, assistants' words too."""

    __pydantic_config__: ClassVar = STRICT

    query: str
    """Words."""
    by: By = "observation"
    """What is listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRequest(AnchorOrQuery):
    """Show what happened around an anchor or a query's match."""

    __pydantic_config__: ClassVar = STRICT


@dataclass(frozen=True, slots=True, kw_only=True)
class GetObservationsRequest:
    """Show records with all their details, by IDs."""

    __pydantic_config__: ClassVar = STRICT

    ids: tuple[int | str, ...]
    """Or claude-mem:// URIs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberRequest(Memory):
    """Keep a decision, finding or gotcha for later sessions."""

    __pydantic_config__: ClassVar = STRICT

    text: str
    """What to keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupersedeRequest:
    """Replace an observation that is no longer true."""

    __pydantic_config__: ClassVar = STRICT

    id: int
    """The old one."""
    text: str
    """What holds now."""
    title: str = ""
    """One line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinRequest:
    """Pin an observation to the start of sessions."""

    __pydantic_config__: ClassVar = STRICT

    id: int
    """Which."""
    on: bool = True
    """false: unpin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRequest:
    """Remove observations, prompts or sessions for good."""

    __pydantic_config__: ClassVar = STRICT

    ids: tuple[int | str, ...]
    """IDs or URIs."""
    dry_run: bool = False
    """Only count."""
