"""`codex exec` waits for no server: the first request to its model has our tools all the same."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.agents import codex
from tests.agents.model import serving
from tests.agents.place import Place, run
from tests.agents.script import says
from tests.e2e.living import Living
from tests.e2e.test_memo_in_agents import write_program

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

MODEL = "a-model"
"""One that Codex does not know is given all tools, and need not look for them."""
EXEC = ("codex", "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access")


@pytest.mark.parametrize("daemon", ["warm", "cold", "none"])
def test_the_first_request_of_codex_exec_has_our_tools(
    programs: Path, tmp_path: Path, daemon: str
) -> None:
    place = Place(tmp_path / "home", tmp_path / "repo", programs)
    state = place.home / ".triseek"
    place.home.mkdir()
    place.tree.mkdir()
    (place.tree / "a.py").write_text("needle = 1\n")
    subprocess.run(["git", "init", "-q"], cwd=place.tree, check=True)
    with Living(state) as living, serving() as model:
        more = {"TRISEEK_NO_DAEMON": "1"} if daemon == "none" else {}
        program = write_program(place, living, **more)
        living.env["HOME"] = str(place.home)
        codex.configure(place, model.url)
        env = place.env(TRISEEK_HOME=str(state), SCRIPTED_KEY="none")
        run([program, "install", "codex"], place.tree, env)
        if daemon == "warm":
            living.start()
        for number in range(3):
            prompt = model.add(f"m{number}", [says("Done.")])
            run([*EXEC, "-m", MODEL, prompt], place.tree, env)
            if daemon == "cold":
                living.run("daemon", "stop")

        firsts = [model.of(f"m{number}")[0].tools for number in range(3)]

    assert all("search_content" in tools for tools in firsts), firsts
