"""An agent started in its home folder, or in `/`: nothing is indexed, everything answers."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import pytest

from tests.conftest import plant
from tests.e2e import serving
from tests.e2e.agents import agent
from tests.left_behind import daemons_of, end_daemons_of
from tests.mcp.speaking import children_of

pytestmark = pytest.mark.long

STATE_MAX = 64 << 10
"""Bytes of state that may be left: logs, the daemon's lock and address, the memo's frame."""
FOLDERS = 2_000


@pytest.fixture
def place(tmp_path):
    """A home folder in git, of many folders, with a project that is not of that repository."""
    home = Path(os.path.realpath(tmp_path)) / "me"
    home.mkdir()
    plant(home, {f"d{number}/{number % 7}/notes.txt": "a note\n" for number in range(FOLDERS)})
    plant(home, {"project/main.py": "needle = 1\n", ".git/HEAD": "ref: refs/heads/main\n"})
    yield home
    end_daemons_of(str(home / ".triseek"))


@contextlib.contextmanager
def served(folder, home, mode):
    state = str(home / ".triseek")
    variables = {"HOME": str(home), "TRISEEK_HOME": state, "TRISEEK_NO_DAEMON": "1"}
    if mode == "daemon":
        os.makedirs(state, exist_ok=True)
        del variables["TRISEEK_NO_DAEMON"]
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("TRISEEK_NO_DAEMON")
            patch.delenv("CI", raising=False)
            with agent(folder, **variables) as client:
                yield client
    else:
        with agent(folder, **variables) as client:
            yield client


def bytes_of_state(home):
    return sum(
        path.stat().st_size for path in (home / ".triseek").rglob("*") if path.is_file()
    )  # sockets are none


@pytest.mark.parametrize("mode", ["alone", "daemon"])
def test_in_the_home_folder_nothing_is_indexed_and_all_tools_answer(place, mode):
    with served(place, place, mode) as client:
        status = client.call("index_status")
        assert status["repo_root"] == str(place)
        assert "is the home folder" in status["not_indexed"]
        assert client.call("search_content", query="needle")["files_with_matches"] == 1
        assert client.call("search_content", query="nowhere")["files_with_matches"] == 0
        found = client.call("find_files", query="main.py")
        assert [result["path"] for result in found["results"]] == ["project/main.py"]
        pack = client.call("context_pack", goal="what is the needle for")
        assert [item["path"] for item in pack["items"]] == ["project/main.py"]
        error = client.call("reindex")["error"]
        assert "is the home folder" in error["message"]
        assert "triseek build" in error["suggested_action"]
        time.sleep(2.0)  # whatever would be indexed behind the answers
        assert not client.call("index_status")["index_present"]

    assert not (place / ".triseek/indexes").exists()
    end_daemons_of(str(place / ".triseek"))
    assert bytes_of_state(place) < STATE_MAX
    assert daemons_of(str(place / ".triseek")) == []


@pytest.mark.parametrize("mode", ["alone", "daemon"])
def test_in_a_project_below_it_the_project_is_the_root(place, mode):
    with served(place / "project", place, mode) as client:
        status = client.call("index_status")
        assert status["repo_root"] == str(place / "project")
        assert "not_indexed" not in status
        if mode == "alone":  # a daemon indexes repositories alone by itself
            serving.until(lambda: client.call("index_status")["index_present"])
        assert client.call("reindex")["indexed_files"] == 1


def test_what_a_person_builds_is_kept_up_to_date(place):
    state = str(place / ".triseek")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "environ", lambda _: {"HOME": str(place), "TRISEEK_HOME": state})
        serving.triseek(state, "build", str(place))
    plant(place, {"later.txt": "novelty\n"})
    with served(place, place, "alone") as client:
        serving.until(lambda: client.call("index_status").get("dirty_files") == 0)
        assert client.call("search_content", query="novelty")["files_with_matches"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["alone", "daemon"])
def test_in_the_whole_file_system_all_tools_answer(place, mode):
    before = children_of(os.getpid())
    with served("/", place, mode) as client:
        assert "whole file system" in client.call("index_status")["not_indexed"]
        for tool, arguments in (
            ("search_content", {"query": "nonsenseword"}),
            ("search_path_and_content", {"path_query": "*.toml", "content_query": "nonsenseword"}),
            ("find_files", {"query": "nonsenseword"}),
            ("context_pack", {"goal": "what is the nonsenseword for"}),
        ):
            answer = client.call(tool, **arguments)
            assert "error" not in answer, tool
        assert client.call("find_files", query="etc/passwd*")["files_with_matches"]

    end_daemons_of(str(place / ".triseek"))
    assert bytes_of_state(place) < STATE_MAX
    assert children_of(os.getpid()) <= before
