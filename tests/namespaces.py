"""User namespaces of Linux: a process in one may mount, and lower its own limits, without root."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache


def command(*words: str) -> list[str]:
    """Words that run a program as root of a user and a mount namespace of its own."""
    return ["unshare", "--user", "--map-root-user", "--mount", *words]


@cache
def refusal(script: str = "true") -> str:
    """Why a shell script cannot run in such a namespace here; empty if it can."""
    if shutil.which("unshare") is None:
        return "no unshare"
    done = subprocess.run(command("sh", "-c", script), capture_output=True, text=True, check=False)
    return (done.stderr.strip() or "it failed") if done.returncode else ""
