"""What is said of a client: of its program, and of what it says itself."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from triseek.agents.codex import Codex
from triseek.agents.doctor.checks import info, ok
from triseek.agents.doctor.clients import program, registration, version
from triseek.agents.registry import AGENTS, by_name

CODEX = Codex()
ASKED = [agent.name for agent in AGENTS if agent.question("9.0.0")]
SAYS = """\
    case "$*" in
    --version) echo "codex-cli 9.8.7" ;;
    "mcp get triseek --json") {} ;;
    *) exit 3 ;;
    esac
"""


def codex_says(program):
    told = {"name": "triseek", "enabled": True, "transport": {"command": program}}
    return f"echo '{json.dumps(told)}'"


def found(host, agent=CODEX, *, wanted=False):
    return [*program(host, agent), *registration(host, agent, wanted=wanted)]


def levels(findings):
    return [finding.level for finding in findings]


def test_a_client_that_is_not_there_is_no_failure(host):
    class Elsewhere(Codex):
        programs = ("codex-x",)

    assert found(host(), Elsewhere()) == [info("Codex", "codex-x is not on PATH")]


def test_a_client_that_knows_us_is_fine(host, programs, triseek):
    programs("codex", SAYS.format(codex_says(triseek)))

    program, listed = found(host(program=triseek))

    assert (program.level, listed.level) == ("ok", "ok")
    assert program.detail.startswith("codex-cli 9.8.7 at /")
    assert listed.detail == "lists triseek"


def test_a_slow_client_is_asked_only_if_we_are_installed_in_it(host, programs, tmp_path):
    programs("gemini", f"touch {tmp_path}/ran-$1; echo 1")
    gemini = by_name("gemini")

    told = found(host(), gemini)[1]
    assert (told.level, told.mend) == ("info", "triseek install gemini")
    assert not (tmp_path / "ran-mcp").exists()

    found(host(), gemini, wanted=True)
    assert (tmp_path / "ran-mcp").exists()


@pytest.mark.parametrize(("wanted", "level"), [(False, "info"), (True, "fail")])
def test_a_client_without_us_is_told_how_to_get_us(host, programs, wanted, level):
    programs("codex", SAYS.format('echo "Error: No MCP server named x found." >&2; exit 1'))

    listed = found(host(), wanted=wanted)[1]

    assert (listed.level, listed.mend) == (level, "triseek install codex")


@pytest.mark.parametrize(
    ("said", "level"),
    [("Disabled", "warn"), ("Connected", "ok"), ("Disconnected", "fail"), ("Sleeping", "warn")],
)
def test_every_state_is_a_line_with_something_to_do(host, programs, triseek, said, level):
    programs("gemini", f"echo '* triseek: {triseek} mcp serve (stdio) - {said}'")

    listed = found(host(program=triseek), by_name("gemini"), wanted=True)[1]

    assert listed.level == level
    assert bool(listed.mend) == (level != "ok")


def test_a_folder_that_is_not_trusted_is_told_from_a_server_that_is_off(host, programs, triseek):
    lines = f"this folder is untrusted\n* triseek: {triseek} mcp serve (stdio) - Disabled"
    programs("gemini", f"printf '{lines}\n'")

    listed = found(host(program=triseek), by_name("gemini"), wanted=True)[1]

    assert (listed.level, listed.mend) == ("warn", "gemini")
    assert "waits for you" in listed.detail


def test_a_program_that_is_gone_fails(host, programs, triseek):
    programs("codex", SAYS.format(codex_says("/gone/triseek")))

    _, listed = found(host(program=triseek))

    assert (listed.level, listed.mend) == ("fail", "triseek install codex")
    assert "/gone/triseek, which is not there" in listed.detail


def test_another_triseek_is_worth_a_word(host, programs, triseek):
    other = programs("another", "exit 0")
    programs("codex", SAYS.format(codex_says(other)))

    assert levels(found(host(program=triseek))) == ["ok", "ok", "info"]


def test_a_name_without_a_folder_is_looked_up_as_the_client_does(host, programs, triseek):
    programs("codex", SAYS.format(codex_says("triseek")))

    assert levels(found(host(program=triseek))) == ["ok", "ok"]


def test_a_client_that_hangs_is_ended_with_all_it_started(host, programs, tmp_path):
    child = tmp_path / "child"
    programs("codex", SAYS.format(f"sleep 600 & echo $! > {child}; sleep 600"))
    began = time.monotonic()

    findings = found(host(until=began + 3.0))

    assert levels(findings) == ["ok", "info"]
    assert "no answer within" in findings[1].detail
    until(lambda: not runs(int(child.read_text())))


def runs(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def until(wanted, seconds=60):
    deadline = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    "script", ["exit 70", "kill -9 $$", "head -c 3000000 /dev/zero", "echo {{"]
)
@pytest.mark.parametrize("name", ASKED)
def test_a_client_that_makes_no_sense_is_a_warning(host, programs, script, name):
    agent = by_name(name)
    programs(agent.programs[0], f'[ "$*" = --version ] && echo 1.2 && exit\n{script}\n')

    findings = found(host(), agent, wanted=True)

    assert findings[1].level == "warn" or findings[1].detail.startswith("does not list triseek")


def test_a_program_that_does_not_start_is_said(host, programs):
    path = programs("codex", "")
    with open(path, "w") as file:
        file.write("#!/no/such/interpreter\n")

    findings = found(host())

    assert levels(findings) == ["ok", "info"]
    assert findings[0].detail.startswith("of unknown version")
    assert "does not start" in findings[1].detail


def test_the_version_of_an_npm_package_is_read_and_not_asked(host, programs, tmp_path):
    package = tmp_path / "node_modules/@openai/codex"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@openai/codex", "version": "0.169.0"}')
    (package / "bin/codex.js").write_text("#!/bin/sh\nexit 9\n")
    (package / "bin/codex.js").chmod(0o755)
    link = tmp_path / "bin/codex"
    link.symlink_to(package / "bin/codex.js")

    assert version(host(), str(link)) == "0.169.0"


def test_a_fine_client_is_one_line_of_ok(host, programs):
    programs("zed", "echo Zed 0.999")

    assert found(host(), by_name("zed"), wanted=True) == [
        ok("Zed", f"Zed 0.999 at {programs.folder}/zed")
    ]
