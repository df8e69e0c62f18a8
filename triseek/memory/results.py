"""What the memory tools answer: the contract's objects, and what is added to them."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

from triseek.model.tool import ADDED


class StoredAnswer(TypedDict):
    """A drawer was written."""

    drawer_id: str
    """Its UUID."""
    palace: str
    """The palace it is in."""
    status: Literal["stored", "updated"]
    """`updated`: by `memory_update`."""


class RecalledDrawer(TypedDict):
    """A drawer that answers a query."""

    drawer_id: str
    """Its UUID."""
    content: str
    """Its text, verbatim but for secrets."""
    score: float
    """0 to 1; compares within one answer only."""
    layer: int
    """2 of `memory_recall`, 3 of `memory_recall_deep`."""
    tags: list[str]
    """As they were passed."""
    importance: float
    """0 to 1."""
    room: Annotated[str, ADDED]
    """As its name was written first."""
    created_at: Annotated[str, ADDED]
    """RFC 3339, UTC."""


class EssentialDrawer(TypedDict):
    """One of the most important drawers."""

    drawer_id: str
    content: str
    """Its beginning; an ellipsis stands for the rest."""
    importance: float
    room: str


class RecallContext(TypedDict):
    """What is always worth knowing of a palace, whatever the query."""

    identity: str
    """What is said of the project before everything else; "" if nothing is."""
    essentials: list[EssentialDrawer]
    """The most important drawers that are not among the results."""


class RecallAnswer(TypedDict):
    """The drawers that answer a query."""

    palace: str
    """The palace; "" if this project has none yet."""
    query: str
    """The query."""
    results: list[RecalledDrawer]
    """Best first, only what answers the query: each with `drawer_id`, `content`, `score` (0 to 1),
    `layer` (2; 3 of `memory_recall_deep`), `tags`, `importance`; *added*: `room`, `created_at`."""
    context: Annotated[RecallContext, ADDED]
    """Beside the ranking: `identity` of the project, and `essentials`, the most important
    drawers that are not among the results, in short."""
    hint: Annotated[NotRequired[str], ADDED]
    """Why there is nothing, if there is nothing."""


class CreatedAnswer(TypedDict):
    """A palace is there."""

    palace_id: str
    """Its name."""
    status: Literal["created", "exists"]
    """`exists`: it was there, and keeps all that it has."""


class PalacesAnswer(TypedDict):
    """The palaces of this machine."""

    palaces: list[str]
    """Their names, in order."""


class AssertedAnswer(TypedDict):
    """A fact was written."""

    status: Literal["asserted"]
    """Always `asserted`."""


class TripleRecord(TypedDict):
    """A fact with the time in which it held."""

    subject: str
    predicate: str
    object: str
    valid_from: str
    """RFC 3339, UTC."""
    valid_to: str | None
    """Likewise; None if it holds still."""
    confidence: float
    provenance: str | None


class FactsAnswer(TypedDict):
    """The facts of a subject."""

    subject: str
    """The subject."""
    triples: list[TripleRecord]
    """In the order in which they began: each with `subject`, `predicate`, `object`, `valid_from`,
    `valid_to` (null: it holds still), `confidence`, `provenance`."""
    truncated: Annotated[NotRequired[bool], ADDED]
    """There are more than are listed."""
    hint: Annotated[NotRequired[str], ADDED]
    """Why there is nothing, if there is nothing."""


class ListedDrawer(TypedDict):
    """A drawer of a list."""

    drawer_id: str
    content: str
    importance: float
    tags: list[str]
    created_at: str
    """RFC 3339, UTC."""
    room: Annotated[str, ADDED]


class DrawersAnswer(TypedDict):
    """The drawers of a palace."""

    palace: str
    """The palace; "" if this project has none yet."""
    drawers: list[ListedDrawer]
    """Most important first, then in the order of writing: each with `drawer_id`, `content`,
    `importance`, `tags`, `created_at`; *added*: `room`."""
    next_offset: Annotated[NotRequired[int], ADDED]
    """The `offset` of the next page, if there is one."""
    hint: Annotated[NotRequired[str], ADDED]
    """Why there is nothing, if there is nothing."""


ForgottenStatus: TypeAlias = Literal["deleted", "purged", "restored", "not_found"]


class ForgottenAnswer(TypedDict):
    """A drawer was deleted, or brought back."""

    status: ForgottenStatus
    """`purged`: for good; `not_found`: this palace has no such drawer, or none to bring back."""
    drawer_id: str
    """Its UUID."""
    palace: str
    """The palace."""


class InfoAnswer(TypedDict):
    """A palace and its size."""

    id: str
    """Its name; "" if this project has none yet."""
    name: str
    """Likewise."""
    drawer_count: int
    """Without deleted ones."""
    data_dir: str
    """The folder of the database of all palaces."""
    triple_count: Annotated[int, ADDED]
    """Facts that hold now."""
    description: Annotated[str, ADDED]
    """As it was passed; "" if none was."""
    hint: Annotated[NotRequired[str], ADDED]
    """Why there is nothing, if there is nothing."""


class RetractedAnswer(TypedDict):
    """Facts were ended."""

    status: Literal["retracted", "not_found"]
    """`not_found`: none held."""
    retracted: int
    """How many."""
