"""What a real Zoekt answers."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any


def form(url: str, query: str) -> str | None:
    """Return the query as the server prints it; None if it lists repositories instead.

    Raises:
        Refused: The server does not understand it.
    """
    words = urllib.parse.urlencode({"q": query, "format": "json", "num": "1"})
    answer = _json(urllib.request.Request(f"{url}/search?{words}"))
    return str(answer["result"]["Query"]) if "result" in answer else None


def files(url: str, query: str) -> list[dict[str, Any]]:
    """Return all files that the server finds, with their matching lines.

    Raises:
        Refused: The server does not understand the query.
        Crashed: The server failed to search some of its indexes.
    """
    most = 10_000_000
    wanted = {
        "MaxDocDisplayCount": most, "MaxMatchDisplayCount": most,
        "ShardMaxMatchCount": most, "TotalMaxMatchCount": most,
    }  # fmt: skip
    body = json.dumps({"Q": query, "Opts": wanted}).encode()
    request = urllib.request.Request(
        f"{url}/api/search", body, {"Content-Type": "application/json"}
    )
    result = _json(request)["Result"]
    if result["Crashes"]:
        raise Crashed
    return result["Files"] or []


class Crashed(Exception):
    """Indexes that are not loaded yet, or whose search failed."""


class Refused(Exception):
    """The server's message about a query."""


def _json(request: urllib.request.Request) -> Any:
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        text = error.read().decode("utf-8", "replace").strip()
        raise Refused(json.loads(text)["Error"] if text.startswith("{") else text) from None
