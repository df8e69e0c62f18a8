"""What a real Zoekt answers."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

LOAD_S = 30.0


def form(url: str, query: str) -> str | None:
    """Return the query as the server prints it; None if it lists repositories instead.

    Raises:
        Refused: The server does not understand it.
    """
    words = urllib.parse.urlencode({"q": query, "format": "json", "num": "1"})
    answer = _json(urllib.request.Request(f"{url}/search?{words}"))
    return str(answer["result"]["Query"]) if "result" in answer else None


def files(url: str, query: str, **options: Any) -> list[dict[str, Any]]:
    """Return all files that the server finds, with their matching lines.

    Raises:
        Refused: The server does not understand the query.
    """
    wanted = {"MaxDocDisplayCount": 100_000, "MaxMatchDisplayCount": 1_000_000, **options}
    wanted |= {"ShardMaxMatchCount": 10_000_000, "TotalMaxMatchCount": 10_000_000}
    body = json.dumps({"Q": query, "Opts": wanted}).encode()
    until = time.monotonic() + LOAD_S
    while True:
        request = urllib.request.Request(
            f"{url}/api/search", body, {"Content-Type": "application/json"}
        )
        result = _json(request)["Result"]
        if not result["Crashes"]:
            return result["Files"] or []
        assert time.monotonic() < until, "the server has not loaded its indexes"
        time.sleep(0.1)  # it says that it is ready before it has


class Refused(Exception):
    """The server's message about a query."""


def _json(request: urllib.request.Request) -> Any:
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        text = error.read().decode("utf-8", "replace").strip()
        raise Refused(json.loads(text)["Error"] if text.startswith("{") else text) from None
