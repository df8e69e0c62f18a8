"""Settings: defaults < file < environment < flags, frozen once read.

The file is `config.toml` in the state folder; a setting `section.key` is `key` under `[section]`
there and `TRISEEK_SECTION_KEY` in the environment. `KEYS` is the one list of them:
docs/reference/configuration.md is compared with it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triseek import paths, private
from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Value = bool | int | float | str

_MODEL = re.compile(r"[\w][\w./:@+-]{0,199}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_KEY = re.compile(r"[!-~]{8,4096}")

LEVELS = ("debug", "info", "warning", "error")
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True)
class Settings:
    """What the user chose. Each field is a row of `KEYS`."""

    autostart: bool = True
    idle_exit_s: float = 1800.0
    max_roots: int = 16
    auto_index: bool = True
    max_folders: int = 32768
    memo_refuse: bool = True
    memo_keep: bool = True
    sessions_auto_open: bool = True
    sessions_auto_snapshot: bool = True
    log_level: str = "info"
    brief_local_url: str = ""
    brief_local_model: str = ""
    brief_local_key: str = field(default="", repr=False)
    brief_cloud_url: str = ""
    brief_cloud_model: str = ""
    brief_cloud_key: str = field(default="", repr=False)
    brief_cloud_key_env: str = ""
    brief_timeout_s: float = 120.0
    brief_send_snippets: bool = False


@dataclass(frozen=True)
class Key:
    """One setting."""

    name: str
    """`section.key`, as people write it."""
    field: str
    """The field of `Settings` that holds it."""
    kind: Callable[[object], Value]
    """Takes a value of the file, or a word of the environment; ValueError says what is right."""
    meaning: str
    secret: bool = False
    """Its value is shown to nobody."""

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return "TRISEEK_" + self.name.replace(".", "_").upper()


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _YES + _NO:
        return value.lower() in _YES
    raise ValueError("true or false")


def _count(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise ValueError("a whole number from 1")


def _seconds(value: object) -> float:
    try:
        number = -1.0 if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1.0
    if 0 <= number < float("inf"):
        return number
    raise ValueError("a number of seconds, 0 or more")


def _level(value: object) -> str:
    if isinstance(value, str) and value.lower() in LEVELS:
        return value.lower()
    raise ValueError("one of " + ", ".join(LEVELS))


def _url(value: object) -> str:
    """An endpoint's address; a name and password in it would end up in messages."""
    if value == "":
        return ""
    if isinstance(value, str) and value.isascii() and value.isprintable() and " " not in value:
        from urllib.parse import urlsplit

        try:
            parts = urlsplit(value)
            known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            known = ""
        if known and not parts.username and not parts.password and not parts.fragment:
            return value
    raise ValueError("an address as http://localhost:11434/v1, without a name and password")


def _model(value: object) -> str:
    if isinstance(value, str) and (not value or _MODEL.fullmatch(value)):
        return value
    raise ValueError("the name of a model, as llama3.1:8b")


def _secret_key(value: object) -> str:
    if isinstance(value, str) and (not value or _KEY.fullmatch(value)):
        return value
    raise ValueError("a key: 8 characters or more, without spaces")


def _variable(value: object) -> str:
    if isinstance(value, str) and (not value or _VARIABLE.fullmatch(value)):
        return value
    raise ValueError("the name of a variable, as OPENAI_API_KEY")


KEYS = (
    Key(
        "daemon.autostart",
        "autostart",
        _switch,
        "Whether a search starts a daemon behind itself when none runs.",
    ),
    Key(
        "daemon.idle_exit_s",
        "idle_exit_s",
        _seconds,
        "The daemon ends after so many seconds without a request; 0: never.",
    ),
    Key(
        "daemon.max_roots",
        "max_roots",
        _count,
        "Folders the daemon keeps open; the one used longest ago makes room.",
    ),
    Key(
        "daemon.auto_index",
        "auto_index",
        _switch,
        "Whether the daemon builds indexes by itself; it always updates those that exist.",
    ),
    Key(
        "watch.max_folders",
        "max_folders",
        _count,
        "Folders watched at once, over all roots; a root that does not fit is swept instead.",
    ),
    Key(
        "memo.refuse",
        "memo_refuse",
        _switch,
        "Whether an agent is refused a reading of what it has in view.",
    ),
    Key(
        "memo.keep",
        "memo_keep",
        _switch,
        "Whether what agents have read is written to disk, with contents for diffs.",
    ),
    Key(
        "sessions.auto_open",
        "sessions_auto_open",
        _switch,
        "Whether a prompt that a hook tells of begins a session where none is open.",
    ),
    Key(
        "sessions.auto_snapshot",
        "sessions_auto_snapshot",
        _switch,
        "Whether an open session is kept as a snapshot before an agent compacts its context.",
    ),
    Key("log.level", "log_level", _level, "The least that the daemon's log keeps."),
    Key(
        "brief.local_url",
        "brief_local_url",
        _url,
        "Where `brief --mode local-model` asks: an OpenAI-compatible endpoint of this machine or a "
        "private network. Empty: nowhere.",
    ),
    Key("brief.local_model", "brief_local_model", _model, "The model it asks for there."),
    Key(
        "brief.local_key",
        "brief_local_key",
        _secret_key,
        "The key it shows there, if one is wanted.",
        secret=True,
    ),
    Key(
        "brief.cloud_url",
        "brief_cloud_url",
        _url,
        "Where `brief --mode cloud-model` asks, by HTTPS. Empty: nowhere.",
    ),
    Key("brief.cloud_model", "brief_cloud_model", _model, "The model it asks for there."),
    Key(
        "brief.cloud_key",
        "brief_cloud_key",
        _secret_key,
        "The key it shows there. Better in the variable than in the file.",
        secret=True,
    ),
    Key(
        "brief.cloud_key_env",
        "brief_cloud_key_env",
        _variable,
        "A variable that holds that key, as OPENAI_API_KEY; for when `brief.cloud_key` is empty.",
        secret=True,  # whoever takes it for the key's own place must not find that on a screen
    ),
    Key(
        "brief.timeout_s",
        "brief_timeout_s",
        _seconds,
        "A model has so many seconds for an answer; 0: as many as it takes.",
    ),
    Key(
        "brief.send_snippets",
        "brief_send_snippets",
        _switch,
        "Whether a model is sent the text of pinned snippets, too.",
    ),
)


def read(flags: Mapping[str, Value | None] | None = None) -> Settings:
    """The settings of this process.

    Args:
        flags: fields of `Settings` given on the command line; None is not given.

    Raises:
        InvalidRequest: the file cannot be read, or a value is not what its key takes.
    """
    values = {**_from_file(paths.config_file()), **_from_environment(os.environ)}
    values.update({name: value for name, value in (flags or {}).items() if value is not None})
    return Settings(**values)


def _from_file(path: str) -> dict[str, Any]:
    private.tighten()
    if private.distrust(os.path.dirname(path)) is not None:
        return {}  # another user's settings; the doctor says so
    known = {key.name: key for key in KEYS}
    values = {}
    for name, value in _flat(_parsed(path)):
        if name not in known:
            raise InvalidRequest(
                f"{path}: {name}: no such setting",
                next_step="Settings are: " + ", ".join(known) + ".",
            )
        values[known[name].field] = _checked(known[name], value, f"{path}: {name}")
    return values


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    return {
        key.field: _checked(key, environ[key.variable], key.variable)
        for key in KEYS
        if environ.get(key.variable)
    }


def _checked(key: Key, value: object, place: str) -> Value:
    try:
        return key.kind(value)
    except ValueError as error:
        if key.secret:
            raise InvalidRequest(f"{place} is not {error}", next_step="") from None
        shown = str(value) if len(str(value)) <= 40 else str(value)[:40] + "…"
        raise InvalidRequest(f"{place}: {shown!r} is not {error}", next_step="") from None


def _parsed(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InvalidRequest(f"{path}: {error.strerror}", next_step="") from error
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        line = " ".join(str(error).split())
        raise InvalidRequest(f"{path}: {line}", next_step="") from error


def _flat(document: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """`section.key` and value of everything; what stands outside a section keeps its own name."""
    for section, inside in document.items():
        if not isinstance(inside, dict):
            yield section, inside
            continue
        for key, value in inside.items():
            yield f"{section}.{key}", value
