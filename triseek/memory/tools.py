"""The table of the memory tools: the contract's ten, then those that are added."""

from __future__ import annotations

from functools import partial

from triseek.memory import digest, requests, results
from triseek.memory.handlers import drawers, facts, palaces
from triseek.model.tool import Tool


def _tool(name: str, title: str, **more: object) -> Tool:
    return Tool(name=name, title=title, toolset="memory", kind=name, **more)  # type: ignore[arg-type]


_write = partial(_tool, read_only=False)
_recall = partial(
    _tool,
    results=(results.RecallAnswer,),
    listed="palace query results context",
    digest=digest.recall_lines,
)
_stored = partial(
    _write,
    results=(results.StoredAnswer,),
    listed="drawer_id palace status",
    digest=digest.stored_lines,
)
_status = partial(
    _write,
    results=(results.ForgottenAnswer,),
    listed="status drawer_id palace",
    digest=digest.status_lines,
)

TOOLS: tuple[Tool, ...] = (
    _stored(
        "memory_remember", "Remember a fact",
        request=requests.MemoryRememberRequest, answer=drawers.remember, idempotent=False,
    ),
    _recall(
        "memory_recall", "Recall facts",
        request=requests.MemoryRecallRequest, answer=drawers.recall,
    ),
    _recall(
        "memory_recall_deep", "Recall more facts",
        request=requests.MemoryRecallDeepRequest, answer=drawers.recall_deep,
    ),
    _write(
        "palace_create", "Create a palace",
        request=requests.PalaceCreateRequest, results=(results.CreatedAnswer,),
        listed="palace_id status", answer=palaces.create, digest=digest.created_lines,
    ),
    _tool(
        "palace_list", "All palaces",
        request=requests.PalaceListRequest, results=(results.PalacesAnswer,),
        listed="palaces", answer=palaces.listed, digest=digest.palace_lines,
    ),
    _write(
        "kg_assert", "Assert a fact of the graph",
        request=requests.KgAssertRequest, results=(results.AssertedAnswer,), listed="status",
        answer=facts.assert_fact, digest=digest.asserted_lines, idempotent=False,
    ),
    _tool(
        "kg_query", "Facts of a subject",
        request=requests.KgQueryRequest, results=(results.FactsAnswer,),
        listed="subject triples", answer=facts.query, digest=digest.fact_lines,
    ),
    _tool(
        "memory_list", "Drawers of a palace",
        request=requests.MemoryListRequest, results=(results.DrawersAnswer,),
        listed="palace drawers next_offset", answer=drawers.listed, digest=digest.list_lines,
    ),
    _status(
        "memory_forget", "Delete a drawer",
        request=requests.MemoryForgetRequest, answer=drawers.forget, destructive=True,
    ),
    _tool(
        "palace_info", "A palace's size",
        request=requests.PalaceInfoRequest, results=(results.InfoAnswer,),
        listed="id name drawer_count data_dir", answer=palaces.info, digest=digest.info_lines,
    ),
    _stored(
        "memory_update", "Replace a drawer's text",
        request=requests.MemoryUpdateRequest, answer=drawers.update,
    ),
    _status(
        "memory_restore", "Bring a drawer back",
        request=requests.MemoryRestoreRequest, answer=drawers.restore,
    ),
    _write(
        "kg_retract", "End facts of the graph",
        request=requests.KgRetractRequest, results=(results.RetractedAnswer,),
        listed="status retracted", answer=facts.retract, digest=digest.retracted_lines,
    ),
)  # fmt: skip
"""In the order in which they are listed."""
