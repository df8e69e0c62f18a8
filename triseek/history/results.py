"""What the history tools answer, field by field.

The docstring under a field is what the reference page says of it. A field that may be missing is
`NotRequired`.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

Action: TypeAlias = Literal["remembered", "known", "superseded", "pinned", "unpinned"]


class Page(TypedDict):
    """What every list begins with."""

    total: int
    """Records that match, on all pages."""
    next_offset: NotRequired[int]
    """The offset of the next page, if there is one."""
    timezone: str
    """Of all dates, such as `UTC+02:00`."""
    interpreted: NotRequired[str]
    """How the query was understood, if that is not as it was written."""
    partial: NotRequired[bool]
    """true if no record has all words, and these have some."""


class ObservationRecord(TypedDict):
    """One observation; all but the first fields only in the full format."""

    id: int
    type: str
    """decision, bugfix, feature, refactor, discovery or change."""
    title: str
    date: str
    """`YYYY-MM-DD HH:MM`."""
    uri: str
    """`claude-mem://observation/{id}`."""
    time_ms: int
    """Unix time in milliseconds."""
    score: NotRequired[float]
    """Relevance from 0 to 1 among all matches of a search."""
    freshness: NotRequired[str]
    """Whether its evidence still holds: FRESH, MOVED, STALE or GONE."""
    superseded_by: NotRequired[int]
    """The observation that replaced it."""
    subtitle: NotRequired[str]
    narrative: NotRequired[str]
    text: NotRequired[str]
    facts: NotRequired[list[str]]
    concepts: NotRequired[list[str]]
    files: NotRequired[list[str]]
    """Read or modified, sorted."""
    project: NotRequired[str]
    session: NotRequired[str]
    """The session's id at its agent."""
    pinned: NotRequired[bool]


class SessionRecord(TypedDict):
    """One session; all but the first fields only in the full format."""

    id: str
    """The session's id at its agent."""
    summary: NotRequired[int]
    """The number N of its summary, which anchors name as `SN`."""
    request: str
    date: str
    uri: str
    """`claude-mem://session/{id}`."""
    time_ms: int
    agent: str
    score: NotRequired[float]
    completed: NotRequired[str]
    learned: NotRequired[str]
    investigated: NotRequired[str]
    next_steps: NotRequired[str]
    notes: NotRequired[str]
    files: NotRequired[list[str]]
    project: NotRequired[str]


class PromptRecord(TypedDict):
    """One prompt of a user."""

    id: int
    number: int
    """In its session, from 1."""
    text: str
    """In the index format the first 160 characters."""
    date: str
    uri: str
    """`claude-mem://user-prompt/{id}`."""
    time_ms: int
    score: NotRequired[float]
    session: str
    """The session's id at its agent."""


class ObservationsAnswer(Page):
    """Observations."""

    format: Literal["index", "full"]
    observations: list[ObservationRecord]


class SessionsAnswer(Page):
    """Sessions."""

    format: Literal["index", "full"]
    sessions: list[SessionRecord]


class PromptsAnswer(Page):
    """Prompts."""

    format: Literal["index", "full"]
    prompts: list[PromptRecord]


class FileAnswer(Page):
    """Observations and sessions about a file; `total` counts both."""

    format: Literal["index", "full"]
    observations: list[ObservationRecord]
    sessions: list[SessionRecord]


class RecalledRecord(TypedDict):
    """A session or a message that was found by what was said."""

    session: str
    """The session's id at its agent."""
    agent: str
    title: str
    """The agent's title of the session, or its first prompt."""
    date: str
    uri: str
    time_ms: int
    score: float
    """From 0 to 1."""
    message: int
    """The id of the best message."""
    role: str
    """Who said it: user, assistant or summary."""
    excerpt: str
    """The part of it that matches."""
    copies: NotRequired[int]
    """Other sessions, mostly forks, that have the same message."""


class RecallAnswer(Page):
    """Sessions or messages, best first."""

    by: Literal["session", "message"]
    results: list[RecalledRecord]


class RecentSession(TypedDict):
    """A session of the recent context."""

    id: str
    status: Literal["summary", "active", "completed", "failed"]
    """`summary` if it has one."""
    prompt_number: int
    request: str
    completed: str
    learned: str
    next_steps: str
    files_read: list[str]
    files_edited: list[str]
    observations: list[str]
    """Titles."""
    date: str


class RecentContextAnswer(TypedDict):
    """The last sessions of a project, oldest first."""

    project: str
    sessions: list[RecentSession]
    timezone: str


class TimelineItem(TypedDict):
    """A record on a timeline."""

    kind: Literal["observation", "session", "prompt"]
    id: int
    title: str
    type: str
    """Of an observation; otherwise empty."""
    number: int
    """Of a prompt in its session; otherwise 0."""
    tokens: int
    """Estimate for an observation's narrative; otherwise 0."""
    day: str
    """`YYYY-MM-DD`."""
    time: str
    """`HH:MM`."""
    time_ms: int
    is_anchor: bool
    freshness: NotRequired[str]


class TimelineAnswer(TypedDict):
    """The records around an anchor, in the order of time."""

    anchor: str
    """As it was asked for, or `Observation #ID - TITLE`."""
    query: NotRequired[str]
    before: int
    after: int
    items: list[TimelineItem]
    timezone: str
    date: str
    """Of the anchor."""
    interpreted: NotRequired[str]
    partial: NotRequired[bool]


class NoMatchAnswer(TypedDict):
    """No observation matches, so that there is no anchor."""

    no_match: str
    """The query."""


class MatchesAnswer(Page):
    """The observations that match best, for a choice of the anchor."""

    matches: list[ObservationRecord]


class RecordsAnswer(TypedDict):
    """Records with all details, in the order in which they were asked for."""

    observations: list[ObservationRecord]
    sessions: list[SessionRecord]
    prompts: list[PromptRecord]
    missing: list[str]
    """What was asked for and is not there."""
    timezone: str


class KeptAnswer(TypedDict):
    """An observation was written or changed."""

    id: int
    title: str
    uri: str
    action: Action
    """`known`: it had been remembered before."""
    replaced: NotRequired[int]
    """The observation that it replaces."""


class ForgottenAnswer(TypedDict):
    """What was removed for good, or would be: counts."""

    sessions: int
    messages: int
    events: int
    """Uses of tools."""
    observations: int
    dry_run: bool
