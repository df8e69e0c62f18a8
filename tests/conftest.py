"""What every test may ask for: a tree in one line, and a state folder of its own."""

from __future__ import annotations

import os
import re
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from triseek import private
from triseek.kernels import cache
from triseek.model.index import no_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

# A state folder per test would mean a compiler run per test: kernels are kept between runs.
_KERNELS = Path(__file__).parent.parent / ".pytest_cache" / "kernels" / cache.digest()
if private.distrust(_KERNELS) is not None:  # root in somebody's checkout, as containers do it
    _KERNELS = Path(tempfile.gettempdir(), f"triseek-kernels-{os.geteuid()}", cache.digest())
if not os.environ.get("NUMBA_CACHE_DIR"):
    os.environ["NUMBA_CACHE_DIR"] = str(_KERNELS)


# A shell that runs us behind itself has us ignore Ctrl-C, and so would every process of a test.
signal.signal(signal.SIGINT, signal.default_int_handler)

# These machines are shared: a slow example says something of them, not of us. A run that says
# whether a change is right has to be repeatable; `make explore` looks for new examples.
settings.register_profile(
    "shared", deadline=None, derandomize=not os.environ.get("TRISEEK_EXPLORE")
)
settings.load_profile("shared")


_USERS_OWN = re.compile(
    "(CLAUDE|CLI|CLINE|CODEX|GEMINI|OPENCODE|PI|RIPGREP|XDG)_|GIT_(?!SSL|PROXY|EXEC)"
    "|TRISEEK_(DAEMON|MCP|REPO|SESSION)_|(NO_COLOR|FORCE_COLOR|CLICOLOR.*|COLUMNS|LINES|PAGER|LESS)$"
)
"""Variables by which a user's settings, the agent or the git hook that runs the tests, or the width
of a terminal would get into what is tested."""
for _name in filter(_USERS_OWN.match, list(os.environ)):
    del os.environ[_name]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile every kernel once, so that no test, and no process a test starts, waits for it.

    Where several processes run the tests, the one that starts them does it.
    """
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        from triseek.kernels.jit import warm

        if not cache.is_ready():
            warm(no_progress)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what only root can set up: files of other users, and file systems to mount."""
    if os.geteuid() != 0:
        for item in items:
            if item.get_closest_marker("root"):
                item.add_marker(pytest.mark.skip(reason="needs root: `make test-root`"))


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Let no name that is not UTF-8 in a test's log or traceback end the whole run.

    Between the processes that share the tests only text can be sent that has such an encoding.
    """
    return _encodable((yield))


def _encodable(told: Any) -> Any:
    if isinstance(told, str):
        return told.encode("utf-8", "backslashreplace").decode()
    if isinstance(told, dict):
        return {_encodable(name): _encodable(each) for name, each in told.items()}
    if isinstance(told, (list, tuple)):
        return type(told)(map(_encodable, told))
    return told


@pytest.fixture(autouse=True, scope="session")
def _empty_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """None of the user's settings for what several tests share; npm keeps its registry."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("npm_config_userconfig", os.path.expanduser("~/.npmrc"))
        patch.setenv("npm_config_cache", os.path.expanduser("~/.npm"))
        patch.setenv("HOME", str(tmp_path_factory.mktemp("empty-home")))
        yield


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh TRISEEK_HOME, and none of the user's settings for git and rg."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("TRISEEK_HOME", str(folder))
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("TRISEEK_NO_DAEMON", "1")  # a test that wants one starts it
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("RIPGREP_CONFIG_PATH", raising=False)
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Callable[[Mapping[str | bytes, bytes | str]], str]:
    """Build a tree: `repo({"src/a.c": "int x;\\n"})` returns its root."""

    def build(files: Mapping[str | bytes, bytes | str]) -> str:
        root = tmp_path / "repo"
        root.mkdir(exist_ok=True)
        plant(root, files)
        return str(root)

    return build


def plant(root: Path, files: Mapping[str | bytes, bytes | str]) -> None:
    """Write files below an existing folder."""
    for name, content in files.items():
        path = os.path.join(os.fsencode(root), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
