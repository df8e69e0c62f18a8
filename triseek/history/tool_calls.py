"""The command line's calls of the tools' handlers, with answers as JSON and as text."""

from __future__ import annotations

import dataclasses
import os
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, cast, get_args

from triseek.errors import InvalidQuery, InvalidRequest
from triseek.history import digest, lookup, references, requests
from triseek.history.context import HistoryContext
from triseek.history.handlers import memory, searches, timelines
from triseek.model.call import Call
from triseek.model.plain_text import encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from triseek.history.requests import ObservationType
    from triseek.history.service import History

    Lines = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Iterable[str]]

_ADDRESS = "claude-mem://session/"


@dataclasses.dataclass(frozen=True, slots=True)
class _Host:
    """The history of this process, seen from a folder."""

    root: str
    history: History

    def daemon_service(self, _toolset: str) -> History:
        return self.history


def timeline(
    history: History, root: str, around: str, project: str, before: int, after: int
) -> dict[str, Any]:
    """Return the records around an anchor, a query's best match, or now.

    around: What `references.parse` takes, the id of a conversation or its beginning, else a query;
        "" for the newest records.

    Raises:
        InvalidQuery: An argument is out of its bounds.
    """
    anchor = _anchor(history, around) if around.strip() else _now()
    request = requests.TimelineRequest(
        anchor=anchor, query="" if anchor else around, project=project,
        depth_before=before, depth_after=after,
    )  # fmt: skip
    return _called(history, root, "timeline", timelines.timeline_, request, digest.timeline_lines)


def observations(
    history: History,
    root: str,
    query: str,
    project: str,
    since_ms: int,
    limit: int,
    agent: str = "",
) -> dict[str, Any]:
    """Return the observations that match a query. Raises InvalidQuery as `timeline`."""
    request = requests.SearchObservationsRequest(
        query=query, project=project, limit=limit,
        dateRange=requests.DateRange(start=since_ms or ""),
    )  # fmt: skip
    handler = partial(searches.search_observations, agent=agent)
    return _called(history, root, "search_observations", handler, request, _one_page)


def record(history: History, root: str, name: str) -> dict[str, Any]:
    """Return a record with all details, by what `references.parse` takes. Raises as that."""
    request = requests.GetObservationsRequest(ids=(name,))
    return _called(
        history, root, "get_observations", memory.get_observations, request, digest.record_lines
    )


def remember(
    history: History,
    root: str,
    text: str,
    *,
    title: str,
    type_: str,
    concepts: tuple[str, ...],
    files: tuple[str, ...],
    project: str,
    pin: bool,
) -> dict[str, Any]:
    """Write an observation. Raises InvalidRequest for an unknown type, and as `memory.remember`."""
    types = get_args(requests.ObservationType)
    if type_ not in types:
        raise InvalidRequest(f"no type {type_!r:.40}", next_step=f"Types are {', '.join(types)}.")
    request = requests.RememberRequest(
        text=text, title=title, type=cast("ObservationType", type_), concepts=concepts,
        files=files, project=project, pin=pin,
    )  # fmt: skip
    return _called(history, root, "remember", memory.remember, request, digest.kept_lines)


def supersede(history: History, root: str, old: int, text: str, title: str) -> dict[str, Any]:
    """Replace an observation. Raises as `memory.supersede`."""
    request = requests.SupersedeRequest(id=old, text=text, title=title)
    return _called(history, root, "supersede", memory.supersede, request, digest.kept_lines)


def pin(history: History, root: str, number: int, *, on: bool) -> dict[str, Any]:
    """Pin an observation or unpin it. Raises as `memory.pin`."""
    request = requests.PinRequest(id=number, on=on)
    return _called(history, root, "pin", memory.pin, request, digest.kept_lines)


def _called(
    history: History,
    root: str,
    tool: str,
    handler: Callable[[HistoryContext, Any, Call], Any],
    request: Any,  # noqa: ANN401 - the tool's
    lines: Lines,
) -> dict[str, Any]:
    """Call a handler; return its answer, and the text that an agent gets of it."""
    if not os.path.isabs(root):  # noqa: PTH117
        raise InvalidRequest("root has to be an absolute path")
    context = HistoryContext(_Host(root, history))
    try:
        answer = handler(context, request, Call())
    except InvalidQuery as error:
        # Its next step is about patterns of code; the tool's own one says what to do here, too.
        raise InvalidRequest(str(error), next_step=error.tool_step) from error
    answer = encodable(answer)
    return {"answer": answer, "text": "\n".join(lines(tool, dataclasses.asdict(request), answer))}


def _one_page(tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterable[str]:
    """Return the text of a list for the command line, which has no pages."""
    page = {name: value for name, value in answer.items() if name != "next_offset"}
    return digest.list_lines(tool, arguments, page)


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _anchor(history: History, text: str) -> str:
    """Return what names the record that a text means; "" if it is a query."""
    try:
        references.parse(text)
    except InvalidQuery:
        pass
    else:
        return text
    if len(text.split()) > 1:
        return ""
    try:
        with history.database.read() as connection:
            number = lookup.find(connection, text)
            row = lookup.session(connection, number)
    except InvalidRequest:
        return ""
    return f"{_ADDRESS}{row['session']}" if row else ""
