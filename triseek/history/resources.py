"""The addresses of records as resources: `claude-mem://observation/{id}` and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.errors import InvalidQuery
from triseek.history import digest, references
from triseek.history.handlers import memory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.store.sqlite import Database

TEMPLATES: Mapping[str, str] = {
    "observation": f"{references.URI}observation/{{id}}",
    "session": f"{references.URI}session/{{id}}",
    "session-summary": f"{references.URI}session-summary/{{id}}",
    "user-prompt": f"{references.URI}user-prompt/{{id}}",
}
"""URI templates (RFC 6570) by the names of what they address."""
SCHEME = references.URI
MIME_TYPE = "text/markdown"


def resource(database: Database, uri: str) -> str:
    """Return the record at an address in the full format.

    Raises:
        InvalidQuery: It is no address of a record, or there is no such record.
        StateUnwritable, StateCorrupt, Busy: The database cannot be read.
    """
    if not uri.startswith(references.URI):
        raise InvalidQuery(f"{uri[:100]!r} is no address of a record")
    reference = references.parse(uri)
    with database.read() as connection:
        answer = memory.records_of(connection, [(uri, reference)])
    if answer["missing"]:
        raise InvalidQuery(f"{uri[:200]} not found", tool_step="Search for it.")
    return "\n".join(digest.record_lines("", {}, answer))
