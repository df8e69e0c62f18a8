"""The answers of the memory tools as text, short, for a model.

Ids stand as `memory_forget` takes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TEXT_MAX = 16_000
"""Characters of the drawers of one answer together; each has an equal share."""
SHARE_MIN = 300
ESSENTIALS_MAX = 5
ESSENTIAL_IMPORTANCE = 0.5
"""Above it somebody has said that a drawer is important."""


def stored_lines(
    _tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of an answer to a write."""
    yield f"{answer['status']} {answer['drawer_id']} in palace {answer['palace']}"


def status_lines(
    tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of an answer to memory_forget or memory_restore."""
    drawer, palace = answer["drawer_id"], answer["palace"]
    if answer["status"] == "not_found":
        what = "deleted drawer" if tool == "memory_restore" else "drawer"
        where = f"palace {palace} has" if palace else "this project has no palace, and so"
        yield f"not found: {where} no {what} {drawer}"
        return
    undo = "; memory_restore brings it back for 30 days" if answer["status"] == "deleted" else ""
    yield f"{answer['status']} {drawer} in palace {palace}{undo}"


def recall_lines(
    tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the results, best first, then what is always worth knowing."""
    results = answer["results"]
    if "hint" in answer:
        yield answer["hint"]
        return
    if results:
        yield f"{len(results)} drawer(s) of palace {answer['palace']}, best first:"
    else:
        yield f"Palace {answer['palace']} has no drawer for this. {_way_on(tool, arguments)}"
    yield from _drawers(results)
    yield from context_lines(answer["context"])


def context_lines(context: Mapping[str, Any]) -> Iterator[str]:
    """Yield the identity, and the first of the drawers that were said to be important."""
    if context["identity"]:
        yield f"Always: {_inset(context['identity'])}"
    important = (
        drawer for drawer in context["essentials"] if drawer["importance"] > ESSENTIAL_IMPORTANCE
    )
    for _, drawer in zip(range(ESSENTIALS_MAX), important, strict=False):
        yield f"Important [{drawer['drawer_id']}]: {_inset(drawer['content'])}"


def list_lines(
    _tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the drawers of a list."""
    if "hint" in answer:
        yield answer["hint"]
        return
    if not answer["drawers"]:
        yield f"Palace {answer['palace']} has no such drawer."
    yield from _drawers(answer["drawers"])
    if "next_offset" in answer:
        yield f"There are more: offset {answer['next_offset']}."


def created_lines(
    _tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of an answer to palace_create."""
    more = ", and keeps what it has" if answer["status"] == "exists" else ""
    yield f"palace {answer['palace_id']} {answer['status']}{more}"


def palace_lines(
    _tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the names of the palaces."""
    yield from answer["palaces"] or ["There is no palace yet: memory_remember begins one."]


def info_lines(
    _tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of an answer to palace_info."""
    if "hint" in answer:
        yield answer["hint"]
        return
    about = f": {answer['description']}" if answer["description"] else ""
    yield f"palace {answer['name']}{about}"
    yield f"{answer['drawer_count']:,} drawer(s), {answer['triple_count']:,} fact(s) that hold"
    yield f"in {answer['data_dir']}"


def asserted_lines(
    _tool: str, arguments: Mapping[str, Any], _answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of an answer to kg_assert."""
    yield f"asserted: {arguments['subject']} | {arguments['predicate']} | {arguments['object']}"


def fact_lines(
    _tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a line for each fact."""
    if "hint" in answer:
        yield answer["hint"]
    elif not answer["triples"]:
        yield f"No fact of {answer['subject']}."
    for triple in answer["triples"]:
        known = [f"since {triple['valid_from']}"]
        if triple["valid_to"] is not None:
            known.append(f"until {triple['valid_to']}")
        if triple["confidence"] < 1:
            known.append(f"confidence {triple['confidence']:.2g}")
        if triple["provenance"]:
            known.append(f"from {triple['provenance']}")
        fact = f"{triple['subject']} | {triple['predicate']} | {triple['object']}"
        yield f"{fact} ({', '.join(known)})"
    if "truncated" in answer:
        yield "There are more facts than are listed."


def retracted_lines(
    _tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of an answer to kg_retract."""
    yield f"retracted {answer['retracted']} fact(s)" if answer["retracted"] else "no such fact held"


def _drawers(drawers: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield two lines or more for each drawer; all share `TEXT_MAX` characters."""
    share = max(TEXT_MAX // max(len(drawers), 1), SHARE_MIN)
    for drawer in drawers:
        facts = [drawer["room"], drawer["created_at"][:10], *drawer["tags"]]
        if "score" in drawer:
            facts.append(f"score {drawer['score']:.2f}")
        yield f"[{drawer['drawer_id']}] {', '.join(facts)}"
        text = drawer["content"]
        rest = len(text) - share
        more = f"… ({rest:,} more characters; ask for fewer drawers)" if rest > 0 else ""
        yield f"  {_inset(text[:share])}{more}"


def _inset(text: str) -> str:
    """Return a text whose further lines are inset, so that none looks like a line of ours."""
    return "\n  ".join(text.splitlines())


def _way_on(tool: str, arguments: Mapping[str, Any]) -> str:
    if any(arguments.get(name) for name in ("room", "tag", "since")):
        return "Leave out room, tag and since."
    if tool == "memory_recall":
        return "Try other words, or memory_recall_deep."
    return "Try other words, or memory_list."
