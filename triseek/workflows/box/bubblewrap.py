"""The command that runs an interpreter in namespaces of its own, by bubblewrap."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

FOLDER = "/box"
"""The script's folder as it is called inside: memory, gone with the process."""
_FOLDER_BYTES = 64 << 20
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")


def words(program: str, interpreter: str, package: Path) -> list[str]:
    """Return the words before those that start the interpreter.

    Inside are the interpreter's own files and `package`'s, read-only, and an empty folder. There
    is no network, no other process and no /proc.

    Args:
        program: path of bubblewrap.
        interpreter: path of the interpreter, without symbolic links.
        package: triseek's folder; only what runs in the box is shown of it.
    """
    stdlib = sysconfig.get_path("stdlib", vars={"installed_base": _base(interpreter)})
    readable = [interpreter, *_LIBRARIES, str(Path(_base(interpreter)) / "lib"), stdlib]
    inside = package / "workflows" / "box"
    readable += [str(package / "__init__.py"), str(package / "workflows" / "__init__.py")]
    readable += [str(inside / "__init__.py"), str(inside / "child")]
    command = [program, "--unshare-all", "--die-with-parent", "--new-session"]
    for path in dict.fromkeys(readable):
        # A folder that is a link, as /lib is, stays one.
        if os.path.islink(path) and os.path.isdir(path):  # noqa: PTH112, PTH114
            command += ["--symlink", os.readlink(path), path]  # noqa: PTH115
        else:
            command += ["--ro-bind-try", path, path]
    command += ["--dir", "/dev", "--dev-bind", os.devnull, os.devnull]
    return [*command, "--size", str(_FOLDER_BYTES), "--tmpfs", FOLDER, "--chdir", FOLDER, "--"]


def _base(interpreter: str) -> str:
    return str(Path(interpreter).parent.parent)
