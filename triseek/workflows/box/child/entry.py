"""Runs the script's source: its module, then its entry point."""

from __future__ import annotations

import builtins
import json
import sys
import types

TYPE_CHECKING = False  # importing typing takes longer than all of this
if TYPE_CHECKING:
    from typing import Any

MARKER = "__RESULT_JSON__="
OUT_OF_MEMORY = 137


def run(source: str, arguments: dict[str, Any], *, trusted: bool) -> int:
    """Run a script and return its exit code; its errors are printed."""
    name = "workflow_script.py" if trusted else "custom_workflow_code.py"
    sys.argv = [name, "--args-json", json.dumps(arguments)]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        return _status(_run(source, name, arguments, trusted=trusted))
    except SystemExit as ending:
        return _exit_code(ending.code)
    except MemoryError:
        sys.stderr.write("out of memory\n")
        return OUT_OF_MEMORY
    except BaseException as error:  # noqa: BLE001 - whatever the script raises is its result
        _print_error(error, name, source)
        return 1


def _run(source: str, name: str, arguments: dict[str, Any], *, trusted: bool) -> Any:  # noqa: ANN401
    builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]
    module = types.ModuleType("__main__" if trusted else "__custom_workflow__")
    sys.modules[module.__name__] = module
    exec(compile(source, name, "exec"), module.__dict__)  # noqa: S102 - the purpose of the box
    entry = module.__dict__.get("run")
    if callable(entry):
        result = _finish(entry(arguments))
        if isinstance(result, int) and not isinstance(result, bool):
            sys.stdout.write(f"{MARKER}null\n")
            return result
        sys.stdout.write(f"\n{MARKER}{json.dumps(result, allow_nan=False)}\n")
        return 0
    if trusted:
        return 0
    entry = module.__dict__.get("main")
    if callable(entry):
        return _finish(entry())
    sys.stderr.write("missing entrypoint: expected run(args) or legacy main()\n")
    return 1


def _finish(result: Any) -> Any:  # noqa: ANN401
    if not hasattr(result, "__await__"):
        return result
    import asyncio

    async def wait() -> Any:  # noqa: ANN401
        return await result

    return asyncio.run(wait())


def _status(result: object) -> int:
    return result & 255 if isinstance(result, int) and not isinstance(result, bool) else 0


def _exit_code(code: object) -> int:
    if code is None or isinstance(code, int):
        return (code or 0) & 255
    sys.stderr.write(f"{code}\n")
    return 1


def _print_error(error: BaseException, name: str, source: str) -> None:
    import linecache
    import traceback

    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != name:
        frame = frame.tb_next
    # Without a frame of the script it is the result that is no JSON.
    traceback.print_exception(type(error), error, frame)
