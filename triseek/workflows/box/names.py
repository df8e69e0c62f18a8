"""What the safety policy allows and bans, by name."""

from __future__ import annotations

import importlib
import types
from functools import cache

TOOLS = "runtime.zoekt_tools"
TOOL_NAMES = frozenset({"search", "search_symbols", "fetch_content", "list_dir", "list_repos"})
PURE_MODULES = frozenset({
    "__future__", "argparse", "asyncio", "bisect", "collections", "collections.abc",
    "dataclasses", "datetime", "difflib", "functools", "heapq", "itertools", "json",
    "json.decoder", "json.encoder", "math", "operator", "re", "statistics", "string", "sys",
    "textwrap", "typing",
})  # fmt: skip
"""Modules of the standard library that a script may import."""
BANNED_MODULES = frozenset({
    "builtins", "ctypes", "importlib", "multiprocessing", "os", "pathlib", "shlex", "shutil",
    "socket", "subprocess", "tempfile",
})  # fmt: skip
BANNED_CALLS = frozenset({"compile", "eval", "exec", "input", "open", "__import__"})
BANNED_NAMES = BANNED_CALLS | frozenset({
    "breakpoint", "delattr", "getattr", "globals", "help", "locals", "memoryview", "setattr",
})  # fmt: skip
BANNED_UNLESS_BOUND = frozenset({"dir", "type", "vars"})
"""Words that scripts also use for variables of their own."""
DECORATORS = frozenset({"classmethod", "property", "staticmethod"})
_BANNED_ATTRIBUTES = frozenset({
    "ag_await", "ag_code", "ag_frame", "co_code", "cr_await", "cr_code", "cr_frame",
    "cr_origin", "f_back", "f_builtins", "f_code", "f_globals", "f_locals", "format_map",
    "func_globals", "gi_code", "gi_frame", "gi_yieldfrom", "mro", "run_in_executor", "tb_frame",
    "tb_next", "with_traceback",
})  # fmt: skip
_PLAIN_DUNDERS = frozenset({"__doc__", "__init__", "__name__", "__post_init__", "__qualname__"})
_SYS = frozenset({
    "argv", "byteorder", "exit", "float_info", "getrecursionlimit", "getsizeof", "int_info",
    "maxsize", "maxunicode", "platform", "stderr", "stdin", "stdout", "version", "version_info",
})  # fmt: skip
_ASYNCIO = frozenset({
    "ALL_COMPLETED", "Barrier", "BoundedSemaphore", "BrokenBarrierError", "CancelledError",
    "Condition", "Event", "FIRST_COMPLETED", "FIRST_EXCEPTION", "Future", "InvalidStateError",
    "LifoQueue", "Lock", "PriorityQueue", "Queue", "QueueEmpty", "QueueFull", "Runner",
    "Semaphore", "Task", "TaskGroup", "TimeoutError", "all_tasks", "as_completed",
    "create_task", "current_task", "ensure_future", "gather", "iscoroutine",
    "iscoroutinefunction", "isfuture", "run", "shield", "sleep", "timeout", "timeout_at",
    "to_thread", "wait", "wait_for",
})  # fmt: skip
_KEPT_FROM_SCRIPTS = {
    "argparse": {"FileType"},
    "dataclasses": {"make_dataclass"},
    "operator": {"attrgetter", "methodcaller"},
    "string": {"Formatter"},
    "typing": {"ForwardRef", "get_type_hints"},
}
"""Names that read files, or attributes by their names, or evaluate strings."""


@cache
def public_names(module: str) -> frozenset[str]:
    """Return the names of an allowed module that a script may use."""
    if module == "sys":
        return _SYS
    if module == "asyncio":
        return _ASYNCIO
    loaded = importlib.import_module(module)
    names = getattr(loaded, "__all__", None) or [
        name
        for name, value in vars(loaded).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    ]
    inner = {of.partition(".")[2] for of in PURE_MODULES if of.startswith(f"{module}.")}
    return frozenset({*names, *inner} - _KEPT_FROM_SCRIPTS.get(module, set()))


def is_dunder(name: str) -> bool:
    """Whether a name belongs to Python itself, as `__class__` does."""
    return len(name) > len("____") and name.startswith("__") and name.endswith("__")


def is_banned_attribute(name: str) -> bool:
    """Whether an attribute leads to frames, classes or code."""
    return name in _BANNED_ATTRIBUTES or (is_dunder(name) and name not in _PLAIN_DUNDERS)
