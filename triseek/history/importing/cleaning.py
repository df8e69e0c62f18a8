"""Cleans records before they are written: no secrets, no private passages, bounded sizes.

Every text passes `redaction.redact`. Of files whose name suggests a secret, and of files that git
ignores, the path is kept and no content. Outputs and edits keep their beginning and their end.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.agents.shell.shell_reads import shell_use
from triseek.files.tree import root as roots
from triseek.files.tree import secret_files
from triseek.history.tombstones import load_key
from triseek.model.conversation import Conversation
from triseek.model.plain_text import encodable
from triseek.redaction import PRIVATE, redact

if TYPE_CHECKING:
    from triseek.model.conversation import Edit, Message, ToolEvent

TEXT_MAX = 1 << 20
"""Characters of a message that are kept."""
INPUT_MAX, COMMAND_MAX = 4_096, 4_096
OUTPUT_MAX = 8_192
"""Characters of an output that are kept: half of them from its beginning, half from its end."""
EDIT_MAX = 4_096
"""Characters that are kept of the text before an edit, and of the text after it."""
NAME_MAX = 512
"""Characters of a tool's name that are kept."""
DIGEST = 12
"""Hexadecimal digits that keep two names apart whose secrets were removed."""
NOT_KEPT = "[not kept: secret or ignored file]"


@functools.lru_cache(8_192)
def clean_name(name: str) -> str:
    """Return an id, or a path by which something is found again, without secrets.

    A name with a secret gets a keyed digest, so that two such names stay apart.

    Raises: as `tombstones.load_key`, for a name with a secret.
    """
    whole: str = encodable(name)
    safe = redact(whole)
    if safe == whole:
        return whole
    digest = hmac.new(load_key(), whole.encode(), hashlib.sha256).hexdigest()
    return f"{safe}#{digest[:DIGEST]}"


def clean_ids(record: Conversation | Message | ToolEvent) -> Conversation | Message | ToolEvent:
    """Return a record whose ids have no secrets. Raises as `clean_name`."""
    own, parent = clean_name(record.id), clean_name(record.parent)
    if isinstance(record, Conversation):
        is_clean = (own, parent) == (record.id, record.parent)
        return record if is_clean else replace(record, id=own, parent=parent)
    conversation = clean_name(record.conversation)
    if (own, parent, conversation) == (record.id, record.parent, record.conversation):
        return record
    return replace(record, id=own, parent=parent, conversation=conversation)


def is_private(message: Message) -> bool:
    """Return whether a cleaned prompt was private as a whole: then its turn is not kept."""
    return message.role == "user" and message.text.strip() == PRIVATE


def clean_message(message: Message) -> Message:
    """Return a message as it may be written."""
    return replace(message, text=clean(message.text, TEXT_MAX))


def clean_event(event: ToolEvent, cwd: str) -> ToolEvent:
    """Return a tool event as it may be written.

    cwd: The folder in which a command ran, absolute; "" if unknown.
    """
    shown = (*event.reads, *_shown_by(event.command, cwd))
    is_secret = any(map(is_withheld, (*shown, *(edit.path for edit in event.edits))))
    return replace(
        event,
        name=clean(event.name, NAME_MAX),
        input=NOT_KEPT if is_secret else clean(event.input, INPUT_MAX),
        command=clean(event.command, COMMAND_MAX),
        output=NOT_KEPT if is_secret and event.output else clean_output(event.output),
        reads=tuple(dict.fromkeys(map(_clean_path, event.reads))),
        edits=tuple(map(_clean_edit, event.edits)),
    )


def clean(text: str, most: int) -> str:
    """Return the beginning of a text, without secrets and lone surrogates."""
    return redact(encodable(text))[:most] if text else ""


def clean_output(text: str) -> str:
    """Return the beginning and the end of an output, without secrets and lone surrogates."""
    whole = redact(encodable(text)) if text else ""
    if len(whole) <= OUTPUT_MAX:
        return whole
    half = OUTPUT_MAX // 2
    return f"{whole[:half]}\n[… {len(whole) - 2 * half:,} characters …]\n{whole[-half:]}"


@functools.lru_cache(8_192)
def is_withheld(path: str) -> bool:
    """Return whether the content of a file is never kept: a secret's by name, or ignored by git.

    path: Absolute. The file need not exist any more.
    """
    folder, name = os.path.split(path)
    base = roots.git_root(folder)
    if base is None:
        return secret_files.is_secret(name)
    relative = os.path.relpath(os.path.join(os.path.realpath(folder), name), base)  # noqa: PTH118
    return secret_files.is_secret(relative) or secret_files.is_ignored(base, relative)


@functools.lru_cache(8_192)
def _clean_path(path: str) -> str:
    return redact(encodable(path))


def _clean_edit(edit: Edit) -> Edit:
    if is_withheld(edit.path):
        return replace(edit, path=_clean_path(edit.path), before="", after="")
    return replace(
        edit,
        path=_clean_path(edit.path),
        before=clean(edit.before, EDIT_MAX),
        after=clean(edit.after, EDIT_MAX),
    )


def _shown_by(command: str, cwd: str) -> list[str]:
    """Return the files that a command shows, absolute, as far as its words say."""
    if not command or not cwd:
        return []
    return [read.path for read in shell_use(command, cwd).reads]
