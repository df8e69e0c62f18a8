"""Reads what a person asked, by rule: which prompts ask for something, what they forbid or decide.

The rules look at words, and no model is asked. So they err on the side of keeping: a sentence is
rather listed once too often than lost, and a prompt counts as asking for something unless all of it
is a greeting, an assent or a "go on".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE_MAX = 200
"""Characters of a prompt's first line that become a session's goal."""

_IDLE_MAX = 80
_PHRASES = (
    r"hi+|hello|hey|hallo|yo|there|good (?:morning|evening|afternoon|day)|(?:are )?you there",
    r"thanks?(?: a lot| so much| very much)?|thank you(?: so much| very much)?|thx|ty|cheers|danke",
    r"ok(?:ay)?|k|kk|cool|great|nice|perfect|awesome|excellent|fine|super|wow|good|lgtm|done",
    r"(?:good|nice|great) (?:job|work|one)|well done|(?:sounds|looks) (?:good|great|fine|right)",
    r"yes|yep|yeah|yup|y|ja|jo|sure|of course|exactly|(?:that'?s )?(?:right|correct)|agreed",
    r"please|pls|plz|bitte|continue|go(?: on| ahead| for it)?|proceed|carry on|keep going|next",
    r"(?:mach )?weiter|do (?:it|that|so)|try again|got it|understood|i see|all ?right",
    r"and|so|now|then|hm+|ah|oh",
)
_IDLE = re.compile(rf"(?:(?:{'|'.join(_PHRASES)})(?![\w'’])[\s,.!?…;:()-]*)+")
_SYMBOLS = re.compile(r"[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]")
_OF_PROGRAM = (
    "system-reminder", "task-notification", "command-name", "command-message", "command-args",
    "local-command-stdout", "local-command-stderr", "local-command-caveat", "bash-input",
    "bash-stdout", "bash-stderr", "user-prompt-submit-hook", "ide_opened_file", "ide_selection",
    "environment_context", "user_instructions", "turn_aborted", "subagent_notification",
)  # fmt: skip
_BLOCK = re.compile(rf"(?s)<({'|'.join(_OF_PROGRAM)})\b[^>]*>.*?(?:</\1>|\Z)")
_SLASH = re.compile(r"/([a-z][\w:.-]*)(?:\s+(.*))?", re.DOTALL | re.IGNORECASE)
_OWN_SLASHES = frozenset(
    (
        "triseek", "compact", "clear", "new", "reset", "model", "config", "mcp", "help", "resume",
        "login", "logout", "agents", "hooks", "memory", "permissions", "status", "cost", "exit",
        "quit", "rename", "export", "theme", "output-style",
    )
)  # fmt: skip
"""Commands of agents' programs whose words are for the program."""
_SLASH_WORDS_MIN = 3
_RESUME = re.compile(r"(?:\$triseek\b|Call session_resume of the MCP server triseek\b)")
_DECIDES = re.compile(
    r"""\b(?:
        do\ not | don['’]?t | does\ not | doesn['’]?t | did\ not | never | not | no | nothing | none
      | cannot | can['’]?t | won['’]?t | shouldn['’]?t | mustn['’]?t | aren['’]?t | isn['’]?t
      | must | should | shall | has\ to | have\ to | needs?\ to | required? | always | ensure
      | make\ sure | only | just | keep | stays? | leave | preserve | untouched | as\ is
      | instead | insted | rather | over | use | prefer | stick | without | except | unless | avoid
      | skip | ignore | exclude | refuse | stop | undo | revert | exempt | mandatory | forbidden
      | at\ most | at\ least | max(?:imum)? | min(?:imum)? | below | above | before | first
      | changed\ my\ mind | actually | careful | out\ of\ scope | belongs | goes | is\ fine | is\ ok
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_FIRMLY = re.compile(
    r"\b(?:do not|don['’]?t|never|must|mustn['’]?t|only|keep|leave|instead|insted|without|not|no"
    r"|always|undo|revert|stop|refuse|avoid|shouldn['’]?t|cannot|can['’]?t|changed my mind)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)")
_ABBREVIATED = re.compile(
    r"(?i)(\b(?:e\.g|i\.e|esp|etc|incl|excl|vs|approx|resp|z\.b|bzw)\.)(?=\s)"
)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_PASTED = re.compile(
    r"\s{2,}\S|\t|Traceback |E  |FAILED |PASSED |ERROR\b|WARN|INFO\b|DEBUG\b|at \S+[.(]|Caused by|"
    r"\d{4}-\d\d-\d\d[T ]|\d\d:\d\d[: ]|\[|#\d+ |\$ |> |\||\+|---|@@|diff |npm |"
    r"\w*(?:Error|Exception)\b|\S+:\d+(?::\d+)?[: ]|\d+ \|"
)
"""Lines that programs print."""
_RUN_MIN, _RUN_KEPT = 7, 3


def is_for_program(text: str) -> bool:
    """Whether a prompt is addressed to the agent's program: `/clear`, `!ls`, a notification."""
    rest = said(text)
    if not rest or rest.startswith("!") or _RESUME.match(rest) is not None:
        return True
    slash = _SLASH.fullmatch(rest)
    if slash is None:
        return False
    words = (slash[2] or "").split()
    return slash[1].lower() in _OWN_SLASHES or len(words) < _SLASH_WORDS_MIN


def is_idle(text: str) -> bool:
    """Whether all of a prompt is a greeting, an assent or a "go on"."""
    plain = _SYMBOLS.sub("", said(text)).strip().lower()
    return len(plain) <= _IDLE_MAX and (not plain or _IDLE.fullmatch(plain) is not None)


def is_request(text: str) -> bool:
    """Whether a prompt asks for something by itself."""
    return not is_for_program(text) and not is_idle(text)


def said(text: str) -> str:
    """Return a prompt without what the agent's program has put into it."""
    return _BLOCK.sub("", text).strip()


def title(text: str) -> str:
    """Return the first line of a request, as a session's goal; "" for no request."""
    lines = said(text).splitlines() if is_request(text) else []
    return next((line.strip() for line in lines if line.strip()), "")[:TITLE_MAX]


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences that a person wrote; lines that look pasted are left out."""
    lines = said(text).splitlines()
    pasted = _pasted(lines)
    for line, is_pasted in zip(lines, pasted, strict=True):
        if not is_pasted:
            marked = _ABBREVIATED.sub("\\1\0", line.replace("\0", "").strip())
            yield from (part.replace("\0", "") for part in _SENTENCE_END.split(marked) if part)


def decisions(text: str, *, firm: bool = False) -> list[str]:
    """Return the sentences that forbid or decide something. firm: only those that surely do."""
    rule = _FIRMLY if firm else _DECIDES
    return [sentence for sentence in sentences(text) if rule.search(sentence)]


def shortened(text: str) -> str:
    """Return a prompt in which long runs of pasted lines are cut to their ends."""
    lines = said(text).splitlines()
    pasted = [*_pasted(lines), False]
    kept: list[str] = []
    start = 0
    for number, is_pasted in enumerate(pasted):
        if is_pasted:
            continue
        run = lines[start:number]
        if len(run) >= _RUN_MIN:
            count = len(run) - 2 * _RUN_KEPT + 1
            mark = f"[{count} pasted lines left out]"
            run = [*run[: _RUN_KEPT - 1], mark, *run[-_RUN_KEPT:]]
        kept += [*run, *lines[number : number + 1]]
        start = number + 1
    return "\n".join(kept)


def _pasted(lines: list[str]) -> list[bool]:
    """Whether each line looks pasted: in a fence, or one of several that programs print."""
    in_fence = False
    marks = []
    for line in lines:
        is_fence = _FENCE.match(line) is not None
        marks.append(in_fence or is_fence or _PASTED.match(line) is not None)
        in_fence ^= is_fence
    return [
        mark and (_in_run(marks, number) or _FENCE.match(lines[number]) is not None)
        for number, mark in enumerate(marks)
    ]


def _in_run(marks: list[bool], number: int) -> bool:
    """Whether a marked line has a marked neighbour."""
    return any(marks[max(0, number - 1) : number]) or any(marks[number + 1 : number + 2])
