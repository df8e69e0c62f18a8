"""Paths of the state folder and its parts.

Strings and `os.path` only: this module is on the fast path.
"""

import os


def home() -> str:
    """The state folder: `TRISEEK_HOME`, else `~/.triseek`; absolute. It may not exist."""
    chosen = os.environ.get("TRISEEK_HOME")
    if chosen:
        return os.path.abspath(chosen)
    return os.path.join(os.path.expanduser("~"), ".triseek")


def indexes() -> str:
    """The folder that holds one index folder per root."""
    return os.path.join(home(), "indexes")


def index_of(key: str) -> str:
    """The index folder of the root with this key (see `files.tree.root.key`)."""
    return os.path.join(indexes(), key)


def kernel_cache(digest: str) -> str:
    """Numba's cache folder for kernels whose sources have this digest."""
    return os.path.join(home(), "kernels", digest)


def daemon() -> str:
    """The daemon's folder: lock, socket, address, log; mode 0700."""
    return os.path.join(home(), "daemon")


def memo() -> str:
    """The folder in which the daemon stores what agents have read; mode 0700."""
    return os.path.join(daemon(), "memo")


def sessions() -> str:
    """The folder of sessions and their logs; mode 0700."""
    return os.path.join(daemon(), "sessions")


def snapshots() -> str:
    """The folder that holds one folder per snapshot; mode 0700."""
    return os.path.join(daemon(), "snapshots")


def history() -> str:
    """The folder of the history: its database and recall index; mode 0700."""
    return os.path.join(home(), "history")


def memory() -> str:
    """The folder of the memory: its database and its indexes; mode 0700."""
    return os.path.join(home(), "memory")


def symbols() -> str:
    """The folder that keeps the symbols of parsed files; mode 0700."""
    return os.path.join(home(), "symbols")


def exports() -> str:
    """The folder of packs that agents have exported; mode 0700."""
    return os.path.join(home(), "exports")


def keys() -> str:
    """The folder of the key that signs packs and of the trusted keys; mode 0700."""
    return os.path.join(home(), "keys")


def logs() -> str:
    """The folder for log files."""
    return os.path.join(home(), "logs")


def config_file() -> str:
    """The file with the user's settings."""
    return os.path.join(home(), "config.toml")
