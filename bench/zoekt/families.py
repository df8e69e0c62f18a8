"""What is asked: one query a family, as clients of Zoekt ask it."""

from __future__ import annotations

from typing import Any, NamedTuple

CAPPED: dict[str, Any] = {
    "MaxDocDisplayCount": 50,
    "MaxMatchDisplayCount": 500,
    "NumContextLines": 1,
    "ChunkMatches": True,
    "MaxWallTime": 20_000_000_000,
}
"""Options of a client that shows a page of results."""
UNLIMITED: dict[str, Any] = {"ChunkMatches": True, "MaxWallTime": 60_000_000_000}
"""Options of a client that wants everything; Zoekt stops at its own limits."""


class Family(NamedTuple):
    """A kind of query, with one of it."""

    name: str
    query: str
    is_bounded: bool = True
    """Whether all matches are few enough to be asked for without limits."""


LINUX = (
    Family("rare word", "e1000_check_phy_reset_block"),
    Family("word in some files", "napi_schedule_prep"),
    Family("common word", "struct", is_bounded=False),
    Family("common word, case ignored", "return case:no", is_bounded=False),
    Family("no match", "qzxv_never_written"),
    Family("regex with a literal", r"kmalloc\(sizeof\(\*[a-z]+\)"),
    Family("regex, short literals", r"\bif_[a-z]{3}_up\b"),
    Family("and", "napi_enable dev_kfree_skb"),
    Family("or", "napi_schedule_prep or netif_napi_add_tx"),
    Family("and, not", "napi_enable -f:intel"),
    Family("file and content", "f:mlx5 kzalloc"),
    Family("file name", "f:ethtool"),
    Family("language", "lang:asm ENTRY_CFI", is_bounded=True),
    Family("case ignored", "NAPI_SCHEDULE_PREP case:no"),
    Family("symbol", "sym:napi_schedule_prep"),
    Family("phrase", '"out of memory"'),
)
"""Of one repository."""
MANY = (
    *LINUX,
    Family("one of many repositories", "r:golang func", is_bounded=False),
    Family("in all repositories", "deprecated", is_bounded=False),
    Family("language of many repositories", "lang:java synchronized", is_bounded=False),
)
"""Of several repositories."""
LISTS = (
    Family("list all repositories", ""),
    Family("list repositories by name", "r:linux"),
    Family("list repositories by content", "napi_schedule_prep"),
)
"""Asked of `/api/list`."""
