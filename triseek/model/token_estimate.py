"""Estimates of the tokens that a language model takes for a text; no other module has its own.

No tokenizer is used: each model has its own, and an estimate has to cost nothing. Source code
takes about one token for 3.5 bytes, prose and JSON about one for 4.
"""

from __future__ import annotations

import json

TEXT_BYTES_PER_TOKEN = 4


def of_text(text: str) -> int:
    """Return the tokens of prose, Markdown or JSON: bytes in UTF-8 / 4, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // TEXT_BYTES_PER_TOKEN)


def of_json(document: object) -> int:
    """Return the tokens of a document in compact JSON."""
    return of_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def of_source(size: int) -> int:
    """Return the tokens of `size` bytes of source code: bytes / 3.5, rounded up."""
    return (2 * size + 6) // 7


def of_source_text(text: str) -> int:
    """Return the tokens of source code as text."""
    return of_source(len(text.encode("utf-8", "surrogatepass")))
