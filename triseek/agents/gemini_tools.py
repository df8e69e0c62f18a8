"""Reads uses of the tools of Gemini CLI, and of Qwen Code, which is a fork of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.agents.payloads import exit_status
from triseek.agents.payloads.fields import fields_of
from triseek.agents.row_reading import known_path
from triseek.agents.transcript_values import arguments
from triseek.model.conversation import Edit, ToolEvent

if TYPE_CHECKING:
    from triseek.agents.payloads.fields import Fields

_SHELL = "run_shell_command"
_READS = ("read_file",)
_WRITES = ("replace", "edit", "write_file")
_PATHS = ("file_path", "absolute_path", "path")
_LONG_FIELDS = ("command", "content", "old_string", "new_string")


def use(call: str, name: str, values: Fields, cwd: str) -> ToolEvent:
    """Return a use of a tool from its name and arguments, without its result."""
    path = known_path(values, cwd, *_PATHS)
    edit = Edit(
        path=path,
        before=values.text("old_string"),
        after=values.text("new_string", "content"),
    )
    return ToolEvent(
        conversation="",
        id=call,
        name=name,
        input=arguments(values, _LONG_FIELDS),
        command=values.text("command") if name == _SHELL else "",
        reads=(path,) if path and name in _READS else (),
        edits=(edit,) if path and name in _WRITES else (),
    )


def result(call: str, name: str, response: Fields, state: str, display: object) -> ToolEvent:
    """Return what the result of a use adds to it.

    Args:
        call: The id of the use.
        name: The tool.
        response: What the model was given: `output`, or `error`.
        state: `success`, `error` or `cancelled`.
        display: What the person was shown: for a file that was written, its text before and after.
    """
    output = response.text("output", "error")
    # A program may print such lines itself: then the text proves nothing.
    is_plain = not (isinstance(display, str) and "Exit Code:" in display)
    status = exit_status.of_trailer(output) if name == _SHELL and is_plain else None
    is_error = state == "error" or (not state and bool(response.text("error")))
    failed = is_error or bool(status)
    # The result of a shell is a success whatever the command does.
    is_unknown = state == "cancelled" or (name == _SHELL and status is None and not is_error)
    return ToolEvent(
        conversation="",
        id=call,
        name=name,
        exit_status=status,
        failed=None if is_unknown else failed,
        output=output,
        edits=() if failed else _written(name, fields_of(display)),
    )


def _written(name: str, display: Fields) -> tuple[Edit, ...]:
    """Return the change of a file that was written as a whole, with the text it had before."""
    path = known_path(display, "", "filePath")
    if name != "write_file" or not path:
        return ()
    return (
        Edit(path=path, before=display.text("originalContent"), after=display.text("newContent")),
    )


def texts(content: object) -> str:
    """Return the texts of a message's parts; thoughts are left out."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    found = (fields_of(part) for part in parts)
    said = (part.text("text") for part in found if not part.get("thought"))
    plain = (part for part in parts if isinstance(part, str))
    return "\n".join(filter(None, (*said, *plain)))
