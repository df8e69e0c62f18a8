"""The history tools, as agents are offered them."""

from __future__ import annotations

from functools import partial

from triseek.history import digest, requests, results
from triseek.history.handlers import memory, searches, timelines
from triseek.model.tool import Tool

_LISTED = "total next_offset observations"


def _tool(name: str, title: str, **more: object) -> Tool:
    return Tool(name=name, title=title, toolset="history", kind=name, **more)  # type: ignore[arg-type]


_list = partial(_tool, results=(results.ObservationsAnswer,), digest=digest.list_lines)
_timeline = partial(
    _tool,
    results=(results.TimelineAnswer, results.NoMatchAnswer, results.MatchesAnswer),
    digest=digest.timeline_lines,
)
_write = partial(
    _tool,
    results=(results.KeptAnswer,),
    listed="id title uri action",
    digest=digest.kept_lines,
    read_only=False,
)

TOOLS: tuple[Tool, ...] = (
    _list(
        "search_observations", "What was done and learned",
        request=requests.SearchObservationsRequest, listed=_LISTED,
        answer=searches.search_observations,
    ),
    _list(
        "search_sessions", "Earlier sessions",
        request=requests.SearchSessionsRequest, results=(results.SessionsAnswer,),
        listed="total next_offset sessions", answer=searches.search_sessions,
    ),
    _list(
        "search_user_prompts", "What the user said",
        request=requests.SearchUserPromptsRequest, results=(results.PromptsAnswer,),
        listed="total next_offset prompts", answer=searches.search_user_prompts,
    ),
    _list(
        "find_by_concept", "Observations with a concept",
        request=requests.FindByConceptRequest, listed=_LISTED, answer=searches.find_by_concept,
    ),
    _list(
        "find_by_file", "History of a file",
        request=requests.FindByFileRequest, results=(results.FileAnswer,),
        listed=f"{_LISTED} sessions", answer=searches.find_by_file,
    ),
    _list(
        "find_by_type", "Observations of a type",
        request=requests.FindByTypeRequest, listed=_LISTED, answer=searches.find_by_type,
    ),
    _tool(
        "get_recent_context", "Last sessions",
        request=requests.GetRecentContextRequest, results=(results.RecentContextAnswer,),
        listed="project sessions", answer=timelines.get_recent_context,
        digest=digest.recent_lines,
    ),
    _timeline(
        "get_context_timeline", "What happened around a moment",
        request=requests.GetContextTimelineRequest, results=(results.TimelineAnswer,),
        listed="anchor items", answer=timelines.get_context_timeline,
    ),
    _timeline(
        "get_timeline_by_query", "What happened around a match",
        request=requests.GetTimelineByQueryRequest, listed="anchor items matches",
        answer=timelines.get_timeline_by_query,
    ),
    _list(
        "memory_search", "What was said or done",
        request=requests.MemorySearchRequest,
        results=(results.ObservationsAnswer, results.RecallAnswer),
        listed=f"{_LISTED} results", answer=memory.memory_search,
    ),
    _timeline(
        "timeline", "Timeline", request=requests.TimelineRequest, listed="anchor items",
        answer=timelines.timeline_,
    ),
    _tool(
        "get_observations", "Records with all details",
        request=requests.GetObservationsRequest, results=(results.RecordsAnswer,),
        listed="observations sessions prompts missing", answer=memory.get_observations,
        digest=digest.record_lines,
    ),
    _write(
        "remember", "Keep for later sessions",
        request=requests.RememberRequest, answer=memory.remember,
    ),
    _write(
        "supersede", "Replace an observation",
        request=requests.SupersedeRequest, answer=memory.supersede,
    ),
    _write("pin", "Pin an observation", request=requests.PinRequest, answer=memory.pin),
    _tool(
        "forget", "Forget for good",
        request=requests.ForgetRequest, results=(results.ForgottenAnswer,),
        listed="sessions messages events observations dry_run", answer=memory.forget,
        digest=digest.forgotten_lines, read_only=False, destructive=True,
    ),
)  # fmt: skip
"""In the order in which they are listed."""
