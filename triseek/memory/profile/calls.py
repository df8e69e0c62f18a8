"""The ten tools of the contract: arguments in, result objects out.

An argument of the wrong type counts as missing, and unknown arguments are ignored, as in the
contract's server.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest, TriseekError
from triseek.memory.profile.messages import INTERNAL_ERROR, SHOWN_MAX, RpcError, compact
from triseek.model.moment import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.memory.drawers import Drawer
    from triseek.memory.service import Memory, Recalled

NIL = "00000000-0000-0000-0000-000000000000"
"""The drawer id of L0, which is not a drawer."""
TOP_K = 10
LISTED = 50
QUERY_MAX = 100_000
"""Characters of a query: as many as a drawer holds."""
_log = logging.getLogger(__name__)


class Calls:
    """Calls tools on a memory. Thread-safe."""

    def __init__(self, memory: Memory, default_palace: str = "") -> None:
        """Open nothing yet. default_palace: Of calls that name none; "" if each must name one."""
        self.memory = memory
        self._default_palace = default_palace
        self._is_open = False

    def begin(self) -> None:
        """Make the default palace if it does not exist. What fails is logged; calls try again."""
        try:
            self._open()
        except TriseekError as error:
            _log.warning("the palace %s cannot be made: %s", self._default_palace, error.message)

    def _open(self) -> None:
        if self._default_palace and not self._is_open:
            self.memory.create(self._default_palace)
            self._is_open = True

    def call(self, params: Mapping[str, object]) -> dict[str, object]:
        """Return the result of `tools/call`.

        Raises:
            RpcError: There is no such tool, an argument is missing, or the tool failed.
        """
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise RpcError(INTERNAL_ERROR, "tools/call: missing 'name'")
        if name not in _TOOLS:
            raise RpcError(INTERNAL_ERROR, f"unknown tool: {name[:SHOWN_MAX]}")
        text = self._result(name, arguments if isinstance(arguments, dict) else {})
        return {"content": [{"type": "text", "text": text}]}

    def _result(self, tool: str, arguments: Mapping[str, object]) -> str:
        begun = time.monotonic()
        _log.debug("%s is called", tool)
        try:
            self._open()
            return compact(_TOOLS[tool](self, _Arguments(tool, arguments, self._default_palace)))
        except TriseekError as error:
            if not isinstance(error, InvalidRequest):
                _log.warning("%s failed: %s", tool, error.message)
            raise RpcError(INTERNAL_ERROR, f"{tool}: {_with_step(error)}") from error
        except RpcError:
            raise
        except Exception as error:
            _log.exception("%s failed", tool)
            reason = f"{type(error).__name__}: {error}"
            raise RpcError(INTERNAL_ERROR, f"{tool}: a bug: {reason[:SHOWN_MAX]}") from error
        finally:
            _log.debug("%s took %.1f ms", tool, (time.monotonic() - begun) * 1000)


class _Arguments:
    """The arguments of one call."""

    def __init__(self, tool: str, values: Mapping[str, object], default_palace: str) -> None:
        self._tool = tool
        self._values = values
        self._default_palace = default_palace

    @property
    def palace(self) -> str:
        name = self.text("palace", self._default_palace)
        if not name and not isinstance(self._values.get("palace"), str):
            reason = "missing 'palace' (no --palace default configured)"
            raise RpcError(INTERNAL_ERROR, f"{self._tool}: {reason}")
        return name

    def required(self, name: str) -> str:
        value = self._values.get(name)
        if not isinstance(value, str):
            raise RpcError(INTERNAL_ERROR, f"{self._tool}: missing '{name}'")
        return value

    def text(self, name: str, default: str = "") -> str:
        value = self._values.get(name)
        return value if isinstance(value, str) else default

    def texts(self, name: str) -> list[str]:
        """Return the items of a list that are text."""
        value = self._values.get(name)
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

    def count(self, name: str, default: int) -> int:
        """Return a whole number from 0 on; anything else counts as missing."""
        value = self._values.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        return default

    def share(self, name: str, default: float) -> float:
        """Return a number bounded to 0 to 1; anything else counts as missing."""
        value = self._values.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return min(max(value, 0), 1)  # before it becomes a float: an integer may be too large
        return default


def _remember(calls: Calls, arguments: _Arguments) -> dict[str, object]:
    from triseek.memory.drawers import Draft

    palace = arguments.palace
    draft = Draft(
        text=arguments.required("text"), room=arguments.text("room"), tags=arguments.texts("tags")
    )
    drawer = calls.memory.remember(palace, draft)
    return {"drawer_id": drawer.uuid, "palace": palace, "status": "stored"}


def _recall(calls: Calls, arguments: _Arguments, *, deep: bool = False) -> dict[str, object]:
    palace, query = arguments.palace, arguments.required("query")
    if len(query) > QUERY_MAX:
        raise InvalidRequest(
            f"the query has {len(query):,} characters; at most {QUERY_MAX:,} are read"
        )
    recalled = calls.memory.recall(palace, query, arguments.count("top_k", TOP_K), deep=deep)
    return {"palace": palace, "query": query, "results": _rows(recalled, 3 if deep else 2)}


def _recall_deep(calls: Calls, arguments: _Arguments) -> dict[str, object]:
    return _recall(calls, arguments, deep=True)


def _list(calls: Calls, arguments: _Arguments) -> dict[str, object]:
    palace = arguments.palace
    drawers = calls.memory.listed(
        palace,
        room=arguments.text("room"),
        tag=arguments.text("tag"),
        limit=arguments.count("limit", LISTED),
    )
    return {"palace": palace, "drawers": [_listed_row(drawer) for drawer in drawers]}


def _forget(calls: Calls, arguments: _Arguments) -> dict[str, object]:
    palace, drawer = arguments.palace, arguments.required("drawer_id")
    status = "deleted" if calls.memory.forget(palace, drawer) else "not_found"
    return {"status": status, "drawer_id": drawer, "palace": palace}


def _create(calls: Calls, arguments: _Arguments) -> dict[str, object]:
    name = arguments.required("name")
    is_new = calls.memory.create(name, arguments.text("description"))
    return {"palace_id": name, "status": "created" if is_new else "exists"}


def _palaces(calls: Calls, _: _Arguments) -> dict[str, object]:
    return {"palaces": calls.memory.palaces()}


def _info(calls: Calls, arguments: _Arguments) -> dict[str, object]:
    info = calls.memory.info(arguments.palace)
    return {
        "id": info.name,
        "name": info.name,
        "drawer_count": info.drawers,
        "data_dir": calls.memory.folder,
    }


def _assert(calls: Calls, arguments: _Arguments) -> dict[str, object]:
    palace = arguments.palace
    fact = (
        arguments.required("subject"),
        arguments.required("predicate"),
        arguments.required("object"),
    )
    calls.memory.assert_fact(
        palace,
        fact,
        confidence=arguments.share("confidence", 1.0),
        provenance=arguments.text("provenance"),
    )
    return {"status": "asserted"}


def _query(calls: Calls, arguments: _Arguments) -> dict[str, object]:
    from triseek.memory.graph import record

    palace, subject = arguments.palace, arguments.required("subject")
    triples = calls.memory.facts(palace, subject)
    return {"subject": subject, "triples": [record(triple) for triple in triples]}


_TOOLS: dict[str, Callable[[Calls, _Arguments], dict[str, object]]] = {
    "memory_remember": _remember,
    "memory_recall": _recall,
    "memory_recall_deep": _recall_deep,
    "palace_create": _create,
    "palace_list": _palaces,
    "kg_assert": _assert,
    "kg_query": _query,
    "memory_list": _list,
    "memory_forget": _forget,
    "palace_info": _info,
}


def _rows(recalled: Recalled, layer: int) -> list[dict[str, object]]:
    """Return the ranked rows, then L0 and L1, which are there whatever the query."""
    rows = [_recalled_row(hit.drawer, round(hit.score, 4), layer) for hit in recalled.hits]
    if recalled.identity:
        rows.append({
            "drawer_id": NIL, "content": recalled.identity, "score": 0.0, "layer": 0, "tags": [],
            "importance": 1.0,
        })  # fmt: skip
    ranked = {hit.drawer.id for hit in recalled.hits}
    rows += [
        _recalled_row(drawer, 0.0, 1) for drawer in recalled.essentials if drawer.id not in ranked
    ]
    return rows


def _recalled_row(drawer: Drawer, score: float, layer: int) -> dict[str, object]:
    return {
        "drawer_id": drawer.uuid,
        "content": drawer.text,
        "score": score,
        "layer": layer,
        "tags": list(drawer.tags),
        "importance": drawer.importance,
    }


def _listed_row(drawer: Drawer) -> dict[str, object]:
    return {
        "drawer_id": drawer.uuid,
        "content": drawer.text,
        "importance": drawer.importance,
        "tags": list(drawer.tags),
        "created_at": rfc3339(drawer.created_ms),
    }


def _with_step(error: TriseekError) -> str:
    """Return an error's message with what the caller can do."""
    message, step = error.message.rstrip(), error.tool_step or error.next_step
    if not step:
        return message
    return f"{message}{'' if message.endswith(('.', '!', '?')) else '.'} {step}"
