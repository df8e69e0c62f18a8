"""Read the settings. Precedence: defaults < file < environment < flags. Immutable once read.

The file is `config.toml` in the state folder. A setting `section.key` is `key` under `[section]` in
the file, `TRISEEK_SECTION_KEY` in the environment and the field `section_key` here. `Settings` is
the only list of settings; a test compares docs/reference/configuration.md with it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from triseek import paths, private
from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Value: TypeAlias = bool | int | float | str
T = TypeVar("T", bound=Value)

LEVELS = ("debug", "info", "warning", "error")
STRUCTURED = ("auto", "full")
RUNNERS = ("python", "monty")
WEAKEST_TIERS = ("kernel", "process")
EMBEDDERS = ("none", "hashing", "minilm", "endpoint")
VECTOR_INDEXES = ("exact", "hnsw")
CONTEXT_TOKENS_MAX = 2_000
TIME_LIMIT_MAX_S = 3_600
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")

_OTHER_VARIABLES = {"zoekt_api_url": ("ZOEKT_API_URL",)}
"""By field: variables of other programs that set it too, if its own is not set."""


@dataclass(frozen=True)
class Key:
    """One setting."""

    field: str
    """The field of `Settings` that holds the value."""
    kind: Callable[[object], Value]
    """Converts a value of the file or a string of the environment.

    Raises ValueError with a description of the valid values.
    """
    meaning: str
    secret: bool = False
    """Whether the value must never be shown."""

    @property
    def name(self) -> str:
        """`section.key`, as users write it."""
        return self.field.replace("_", ".", 1)

    @property
    def variable(self) -> str:
        """The name of its environment variable."""
        return f"TRISEEK_{self.field.upper()}"


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


def _context_tokens(value: object) -> int:
    try:
        tokens = _count(value)
    except ValueError:
        tokens = 0
    if 1 <= tokens <= CONTEXT_TOKENS_MAX:
        return tokens
    raise ValueError(f"a whole number from 1 to {CONTEXT_TOKENS_MAX:,}")


def _seconds(value: object) -> float:
    try:
        number = -1.0 if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1.0
    if 0 <= number < float("inf"):
        return number
    raise ValueError("a number of seconds, 0 or more")


def _time_limit(value: object) -> float:
    seconds = _seconds(value)
    if 0 < seconds <= TIME_LIMIT_MAX_S:
        return seconds
    raise ValueError(f"a number of seconds, more than 0 and at most {TIME_LIMIT_MAX_S:,}")


def _level(value: object) -> str:
    if isinstance(value, str) and value.lower() in LEVELS:
        return value.lower()
    raise ValueError("one of " + ", ".join(LEVELS))


def _one_of(choices: tuple[str, ...]) -> Callable[[object], str]:
    """Return a check for one of some words."""

    def check(value: object) -> str:
        if value in choices:
            return str(value)
        raise ValueError("one of " + ", ".join(choices))

    return check


def _url(value: object) -> str:
    """Check an endpoint's URL. A user name or password is refused: messages would show it."""
    if value == "":
        return ""
    if isinstance(value, str) and value.isascii() and value.isprintable() and " " not in value:
        from urllib.parse import urlsplit

        try:
            parts = urlsplit(value)
            is_http = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            is_http = ""
        if is_http and not parts.username and not parts.password and not parts.fragment:
            return value
    raise ValueError("an address as http://localhost:11434/v1, without a name and password")


def _matching(pattern: str, description: str) -> Callable[[object], str]:
    """Return a check for an empty text or one that a pattern matches."""

    def check(value: object) -> str:
        if isinstance(value, str) and (not value or re.fullmatch(pattern, value, re.ASCII)):
            return value
        raise ValueError(description)

    return check


_model = _matching(r"[\w][\w./:@+-]{0,199}", "the name of a model, as llama3.1:8b")
_secret_key = _matching(r"[!-~]{8,4096}", "a key: 8 characters or more, without spaces")
_variable = _matching(r"[A-Za-z_][A-Za-z0-9_]{0,199}", "the name of a variable, as OPENAI_API_KEY")
_hosts = _matching(r"[!-~ ]{8,65536}", "addresses as http://localhost:6070, separated by commas")
_header = _matching(r"[!-~][!-~ ]{7,4095}", "the value of a header: 8 characters of ASCII or more")
_command = _matching(r"[^\0\n]{2,4096}", "a command of one line")
_KINDS: Mapping[type, Callable[[object], Value]] = {
    bool: _switch,
    int: _count,
    float: _seconds,
}


def _setting(
    default: T, meaning: str, kind: Callable[[object], T] | None = None, *, secret: bool = False
) -> T:
    """Declare a field of `Settings`; `kind` may be left out if the type of the default decides it.

    For the other parameters see `Key`.
    """
    declared: T = field(
        default=default,
        repr=not secret,
        metadata={"kind": kind or _KINDS[type(default)], "meaning": meaning, "secret": secret},
    )
    return declared


@dataclass(frozen=True)
class Settings:
    """What the user chose."""

    daemon_autostart: bool = _setting(
        True, "Whether a search starts a daemon behind itself when none runs."
    )
    daemon_idle_exit_s: float = _setting(
        1800.0, "The daemon ends after so many seconds without a request; 0: never."
    )
    daemon_max_roots: int = _setting(
        16, "Folders the daemon keeps open; the one used longest ago makes room."
    )
    daemon_auto_index: bool = _setting(
        True, "Whether the daemon builds indexes by itself; it always updates those that exist."
    )
    index_auto_max_files: int = _setting(
        20_000,
        "A folder in no git repository is indexed by itself up to so many files and folders.",
    )
    watch_max_folders: int = _setting(
        32768,
        "Folders watched at once, over all roots; a root that does not fit is swept instead.",
    )
    memo_refuse: bool = _setting(
        True, "Whether an agent is refused a reading of what it has in view."
    )
    memo_keep: bool = _setting(
        True, "Whether what agents have read is written to disk, with contents for diffs."
    )
    sessions_auto_open: bool = _setting(
        True, "Whether a prompt that a hook tells of begins a session where none is open."
    )
    sessions_auto_snapshot: bool = _setting(
        True,
        "Whether an open session is kept as a snapshot before an agent compacts its context.",
    )
    history_follow: bool = _setting(
        True,
        "Whether the daemon imports what is new of agents whose conversations were imported once.",
    )
    history_context: bool = _setting(
        True,
        "Whether an agent is shown what the history has of its project when a conversation starts.",
    )
    history_context_tokens: int = _setting(
        800, "The most tokens of that, 1 to 2,000.", _context_tokens
    )
    memory_embedder: str = _setting(
        "none",
        "What makes vectors of memories, so that recall finds other words of one meaning: "
        "`none`, `hashing` (no model), `minilm` (a package of its own) or `endpoint`.",
        _one_of(EMBEDDERS),
    )
    memory_vector_index: str = _setting(
        "exact",
        "How the nearest vectors are searched: `exact`, or `hnsw` (a package of its own).",
        _one_of(VECTOR_INDEXES),
    )
    memory_endpoint_url: str = _setting(
        "",
        "Where `endpoint` asks for vectors: an OpenAI-compatible endpoint of this machine, as "
        "http://localhost:11434/v1.",
        _url,
    )
    memory_endpoint_model: str = _setting("", "The model it asks for there.", _model)
    memory_endpoint_key: str = _setting(
        "", "The key it shows there, if one is wanted.", _secret_key, secret=True
    )
    memory_endpoint_remote: bool = _setting(
        False, "Whether it may be another machine, which then gets the text of each memory."
    )
    memory_dream: bool = _setting(
        True, "Whether servers consolidate the memory while nobody uses it."
    )
    workflows_timeout_default: int = _setting(
        30, "Seconds that a workflow may take if the call does not say."
    )
    workflows_timeout_max: int = _setting(120, "The most seconds that a call may ask for.")
    workflows_stdout_max_bytes: int = _setting(
        32_768, "Bytes of a workflow's standard output that are kept."
    )
    workflows_stderr_max_bytes: int = _setting(32_768, "Bytes of its standard error that are kept.")
    workflows_runner: str = _setting(
        "python",
        "What runs agents' scripts: `python`, or `monty` (a package of its own).",
        _one_of(RUNNERS),
    )
    workflows_weakest_tier: str = _setting(
        "kernel",
        "The weakest box in which agents' scripts run: `kernel`, or `process` (limits only).",
        _one_of(WEAKEST_TIERS),
    )
    mcp_structured: str = _setting(
        "auto",
        "What agents get: `auto`: text alone where their models are known to see it; "
        "`full`: always both forms.",
        _one_of(STRUCTURED),
    )
    log_level: str = _setting("info", "The least that the daemon's log keeps.", _level)
    brief_local_url: str = _setting(
        "",
        "Where `brief --mode local-model` asks: an OpenAI-compatible endpoint of this machine or a "
        "private network. Empty: nowhere.",
        _url,
    )
    brief_local_model: str = _setting("", "The model it asks for there.", _model)
    brief_local_key: str = _setting(
        "", "The key it shows there, if one is wanted.", _secret_key, secret=True
    )
    brief_cloud_url: str = _setting(
        "", "Where `brief --mode cloud-model` asks, by HTTPS. Empty: nowhere.", _url
    )
    brief_cloud_model: str = _setting("", "The model it asks for there.", _model)
    brief_cloud_key: str = _setting(
        "",
        "The key it shows there. Better in the variable than in the file.",
        _secret_key,
        secret=True,
    )
    brief_cloud_key_env: str = _setting(
        "",
        "A variable that holds that key, as OPENAI_API_KEY; for when `brief.cloud_key` is empty.",
        _variable,
        secret=True,  # a user may put the key itself here by mistake; it must not be shown
    )
    brief_timeout_s: float = _setting(
        120.0, "A model has so many seconds for an answer; 0: as many as it takes."
    )
    zoekt_api_url: str = _setting(
        "",
        "Hosts that run Zoekt, separated by commas, as http://localhost:6070. Empty: none.",
        _hosts,
        secret=True,  # an address may hold a password
    )
    zoekt_authorization: str = _setting(
        "",
        "The header `Authorization` for them, as `Bearer …`. Better in the variable than here.",
        _header,
        secret=True,
    )
    zoekt_timeout_s: float = _setting(
        5.0,
        "A search of them has so many seconds, 3,600 at most; what was not searched is named.",
        _time_limit,
    )
    zoekt_with_local: bool = _setting(
        False, "Queries search the indexed roots here that the cluster does not have, too."
    )
    zoekt_answer_mb: int = _setting(64, "The most megabytes of one host's answer.")
    zoekt_replicas: int = _setting(1, "On so many hosts `cluster index` places each repository.")
    zoekt_index_command: str = _setting(
        "",
        "The command by which `cluster index` has a host index a repository, with `{host}`, "
        "`{path}`, `{name}` and `{url}`. Empty: Zoekt's own programs, on this machine.",
        _command,
    )
    brief_send_snippets: bool = _setting(
        False, "Whether a model is sent the text of pinned snippets, too."
    )


KEYS = tuple(Key(field.name, **field.metadata) for field in fields(Settings))
"""The settings as users name them."""


def read(
    flags: Mapping[str, Value | None] | None = None, environ: Mapping[str, str] = os.environ
) -> Settings:
    """Return the settings of this process, or of a client with another environment.

    Args:
        flags: fields of `Settings` set on the command line; None means not set.
        environ: the environment variables.

    Raises:
        InvalidRequest: the file cannot be read, or a value is not valid for its key.
    """
    values: dict[str, Any] = _from_file(paths.config_file())  # each checked by its `Key.kind`
    for key in KEYS:
        for variable in (*_OTHER_VARIABLES.get(key.field, ()), key.variable):
            if text := environ.get(variable):
                values[key.field] = _checked(key, text, variable)
    values.update({name: value for name, value in (flags or {}).items() if value is not None})
    return Settings(**values)


def _from_file(path: str) -> dict[str, Value]:
    private.tighten()
    if private.distrust(os.path.dirname(path)) is not None:
        return {}  # another user may have written them; `triseek doctor` reports it
    keys = {key.name: key for key in KEYS}
    values = {}
    for name, value in _parsed(path):
        if name not in keys:
            raise InvalidRequest(
                f"{path}: {name}: no such setting",
                next_step="Settings are: " + ", ".join(keys) + ".",
            )
        values[keys[name].field] = _checked(keys[name], value, f"{path}: {name}")
    return values


def _checked(key: Key, value: object, place: str) -> Value:
    try:
        return key.kind(value)
    except ValueError as error:
        if key.secret:
            raise InvalidRequest(f"{place} is not {error}", next_step="") from None
        shown = str(value) if len(str(value)) <= 40 else str(value)[:40] + "…"
        raise InvalidRequest(f"{place}: {shown!r} is not {error}", next_step="") from None


def _parsed(path: str) -> Iterator[tuple[str, object]]:
    """Yield `section.key` and value of each entry. A key outside any section keeps its name."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise InvalidRequest(f"{path}: {error.strerror}", next_step="") from error
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        line = " ".join(str(error).split())
        raise InvalidRequest(f"{path}: {line}", next_step="") from error
    for section, content in document.items():
        if isinstance(content, dict):
            yield from ((f"{section}.{key}", value) for key, value in content.items())
        else:
            yield section, content
