"""What agents have in common."""

from __future__ import annotations

import os

import pytest

from tests.agents.places import PROGRAM, place
from triseek.agents.base import Agent, first_existing, own_names


class Plain(Agent):
    """An agent with nothing of its own."""

    programs = ("plain-agent",)
    project_folder = ".plain"


def test_an_agent_is_detected_by_its_program_or_its_folder(tmp_path):
    here = place(tmp_path, PATH=str(tmp_path)).here
    assert Plain().detect(here) == ""

    os.mkdir(here.in_home(".plain"))
    assert Plain().detect(here) == here.in_home(".plain")

    program = tmp_path / "plain-agent"
    program.touch(0o755)
    assert Plain().detect(here) == str(program)


def test_the_folder_of_a_scope_is_the_homes_or_the_projects(tmp_path):
    here = place(tmp_path).here

    assert Plain().folder("user", here) == here.in_home(".plain")
    assert Plain().folder("local", here) == here.in_project(".plain")


def test_a_variable_that_names_a_folder_counts(tmp_path):
    here = place(tmp_path, PLAIN_HOME="elsewhere", EMPTY="").here

    assert here.folder("PLAIN_HOME", ".plain") == here.in_project("elsewhere")
    assert here.folder("EMPTY", ".plain") == here.in_home(".plain")


def test_the_server_is_this_program(tmp_path):
    server = place(tmp_path).here.server("--repo", "x")

    assert server == {"command": PROGRAM, "args": ["mcp", "serve", "--repo", "x"]}


def test_what_an_agent_does_not_have_is_nothing():
    agent = Plain()

    assert agent.question("1.0") is None
    assert agent.read({}, "Stop", "/") is None
    assert agent.refusal("no", "") == ""
    assert not agent.owns({})


@pytest.mark.parametrize(
    ("names", "files", "first"),
    [
        (("A.md", "AGENTS.md"), (), "AGENTS.md"),
        (("A.md", "B.md"), (), "A.md"),
        (("A.md", "B.md"), ("B.md",), "B.md"),
    ],
)
def test_the_file_that_exists_is_chosen(tmp_path, names, files, first):
    for name in files:
        (tmp_path / name).touch()

    assert first_existing(names, str(tmp_path)) == first


def test_only_plain_names_are_taken_from_a_configuration():
    assert own_names(["A.md", "../B.md", 7, "c/D.md"]) == ("A.md",)
    assert own_names("A.md") == ()
