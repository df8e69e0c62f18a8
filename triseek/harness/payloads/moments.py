"""Hook events by their names, which agents spell alike but for case and dashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triseek.model.hook_event import Moment

_MOMENTS: dict[str, Moment] = {
    "pretooluse": "before",
    "posttooluse": "after",
    "posttoolusefailure": "after",
    "sessionstart": "start",
    "sessionend": "end",
    "precompact": "compact",
    "postcompact": "compact",
    "userpromptsubmit": "prompt",
    "subagentstart": "subagent",
    "subagentstop": "subagent",
    "contextchanged": "changed",
    # Gemini CLI
    "beforetool": "before",
    "aftertool": "after",
    "precompress": "compact",
    "beforeagent": "prompt",
    # Cursor
    "beforereadfile": "before",
    "beforeshellexecution": "before",
    "beforemcpexecution": "before",
    "aftershellexecution": "after",
    "aftermcpexecution": "after",
    "afterfileedit": "after",
    "beforesubmitprompt": "prompt",
    # What `memo-observe --event` took besides
    "read": "after",
    "edit": "after",
    "write": "after",
}


def moment(event: str) -> Moment:
    """The moment an event means; "other" for one that means nothing here."""
    return _MOMENTS.get(plain(event), "other")


def plain(event: str) -> str:
    """An event's name without what agents spell differently."""
    return event.strip().lower().replace("-", "").replace("_", "")
