"""Calls the functions of zoekt-mcp's runtime and prints what they return, as JSON.

Run as a program, with the file of the functions as argument and the server in `ZOEKT_API_URL`.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import Any

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": "needle"}),
    ("search", {"query": "needle", "limit": 2, "context_lines": 0}),
    ("search", {"query": "common", "limit": 1, "context_lines": 1}),
    ("search", {"query": "r:alpha needle -f:txt"}),
    ("search", {"query": "nothinghere"}),
    ("search", {"query": "type:repo common"}),
    ("search", {"query": "r:beta"}),
    ("search", {"query": "needle case:"}),
    ("search", {"query": "("}),
    ("search_symbols", {"query": "helper"}),
    ("search_symbols", {"query": "sym:needle", "limit": 1}),
    ("fetch_content", {"repo": "alpha", "path": "main.go", "start_line": 5, "end_line": 8}),
    ("fetch_content", {"repo": "alpha", "path": "tool.py", "start_line": 1, "end_line": 3}),
    ("fetch_content", {"repo": "alpha", "path": "tool.py", "start_line": 9, "end_line": 9}),
    ("fetch_content", {"repo": "beta", "path": "wide.txt", "start_line": 1, "end_line": 1}),
    ("fetch_content", {"repo": "alpha", "path": "absent", "start_line": 1, "end_line": 1}),
    ("fetch_content", {"repo": "absent", "path": "main.go", "start_line": 1, "end_line": 1}),
    ("fetch_content", {"repo": "alpha", "path": "main.go", "start_line": 0, "end_line": 1}),
    ("list_dir", {"repo": "alpha"}),
    ("list_dir", {"repo": "alpha", "path": "deep", "depth": 1}),
    ("list_dir", {"repo": "alpha", "path": "absent"}),
    ("list_repos", {}),
)


def main(file: str) -> None:
    """Make the calls; an error is returned as its type and message."""
    spec = importlib.util.spec_from_file_location("zoekt_tools", file)
    assert spec is not None
    assert spec.loader is not None
    functions = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(functions)
    results: list[object] = []
    for name, arguments in CALLS:
        try:
            results.append(getattr(functions, name)(**arguments))
        except Exception as error:  # noqa: BLE001 - what it raises is compared, too
            results.append([type(error).__name__, str(error)])
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1])
