"""What is said of a client: of its program, and of what it says itself."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from triseek.agents.base import InstallPlace
from triseek.agents.codex import Codex
from triseek.agents.doctor.checks import info, ok
from triseek.agents.doctor.clients import (
    distrust,
    program,
    registration,
    scopes,
    settings,
    trust,
    version,
)
from triseek.agents.install import apply
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


def found(host, agent=CODEX, *, is_installed=False):
    return [*program(host, agent), *registration(host, agent, is_installed=is_installed)]


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

    found(host(), gemini, is_installed=True)
    assert (tmp_path / "ran-mcp").exists()


@pytest.mark.parametrize(("is_installed", "level"), [(False, "info"), (True, "fail")])
def test_a_client_without_us_is_told_how_to_get_us(host, programs, is_installed, level):
    programs("codex", SAYS.format('echo "Error: No MCP server named x found." >&2; exit 1'))

    listed = found(host(), is_installed=is_installed)[1]

    assert (listed.level, listed.mend) == (level, "triseek install codex")


@pytest.mark.parametrize(
    ("said", "level"),
    [("Disabled", "warn"), ("Connected", "ok"), ("Disconnected", "fail"), ("Sleeping", "warn")],
)
def test_every_state_is_a_line_with_something_to_do(host, programs, triseek, said, level):
    programs("gemini", f"echo '* triseek: {triseek} mcp serve (stdio) - {said}'")

    listed = found(host(program=triseek), by_name("gemini"), is_installed=True)[1]

    assert listed.level == level
    assert bool(listed.mend) == (level != "ok")


def test_a_folder_that_is_not_trusted_is_told_from_a_server_that_is_off(host, programs, triseek):
    lines = f"this folder is untrusted\n* triseek: {triseek} mcp serve (stdio) - Disabled"
    programs("gemini", f"printf '{lines}\n'")

    listed = found(host(program=triseek), by_name("gemini"), is_installed=True)[1]

    assert (listed.level, listed.mend) == ("warn", "gemini")
    assert "waits for you" in listed.detail


def test_a_folder_that_codex_does_not_trust_is_said_and_not_installed_into_again(
    host, programs, place
):
    installed(CODEX, place, "project")
    programs("codex", SAYS.format('echo "Error: No MCP server named x found." >&2; exit 1'))
    config = Path(place.home, ".codex/config.toml")

    def looked():
        entries = list(scopes(CODEX, place))
        distrusts = distrust(CODEX, place, entries)
        return list(registration(host(), CODEX, is_installed=bool(entries), distrust=distrusts))

    (said,) = looked()
    assert said.level == "warn"
    assert said.detail.endswith(f"it does not trust {place.cwd}")
    table = f'[projects."{place.cwd}"]'
    assert f'in {config}: {table} trust_level = "trusted"' in said.mend

    config.parent.mkdir()
    config.write_text(f'{table}\ntrust_level = "untrusted"\n')
    assert looked() == [said]
    config.write_text(f'{table}\ntrust_level = "trusted"\n')
    assert [finding.mend for finding in looked()] == ["triseek install codex"]

    config.unlink()
    installed(CODEX, place, "user")
    assert looked()[0].level == "fail"  # what is installed for the user is read everywhere


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

    findings = found(host(), agent, is_installed=True)

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


@pytest.mark.parametrize(
    ("name", "other"), [("vscode", "codium"), ("vscode", "code-insiders"), ("zed", "zed-editor")]
)
def test_a_client_is_found_by_any_name_of_its_program(host, programs, name, other):
    path = programs(other, "echo 1.2")

    assert found(host(), by_name(name), is_installed=True) == [
        ok(by_name(name).title, f"1.2 at {path}")
    ]


def test_a_fine_client_is_one_line_of_ok(host, programs):
    programs("zed", "echo Zed 0.999")

    assert found(host(), by_name("zed"), is_installed=True) == [
        ok("Zed", f"Zed 0.999 at {programs.folder}/zed")
    ]


@pytest.fixture
def place(home, tmp_path, triseek):
    (tmp_path / "project").mkdir()
    return InstallPlace(triseek, str(home), str(tmp_path / "project"), {"PATH": ""})


def installed(client, place, scope):
    owner = apply.owner_of(client.name, scope, place.cwd)
    apply.install(client.plan(scope, place), owner)


def settings_of(client, place):
    return list(settings(client, place, list(scopes(client, place))))


@pytest.mark.parametrize("client", AGENTS, ids=lambda client: client.name)
def test_what_was_installed_is_found_and_what_was_not_is_not(client, place):
    assert settings_of(client, place) == []

    for scope in client.scopes:
        installed(client, place, scope)

    found = settings_of(client, place)
    assert [finding.level for finding in found] == ["ok"] * len(client.scopes)
    assert [finding.detail.split()[1].rstrip(":") for finding in found] == [*client.scopes]


@pytest.mark.parametrize("client", AGENTS, ids=lambda client: client.name)
def test_a_file_that_was_changed_since_is_told_of(client, place):
    scope = client.scopes[0]
    installed(client, place, scope)
    victim = client.plan(scope, place)[-1].path
    os.unlink(victim)

    (said,) = settings_of(client, place)

    assert (said.level, said.mend) == ("warn", f"triseek install {client.name}")
    assert victim in said.detail


@pytest.mark.parametrize("client", AGENTS, ids=lambda client: client.name)
def test_a_program_that_is_gone_fails_whoever_looks(client, place, programs, tmp_path):
    installed(client, place, client.scopes[0])
    away = tmp_path / "elsewhere"
    os.rename(place.program, away)

    (said,) = settings_of(client, InstallPlace(str(away), place.home, place.cwd, place.environ))

    assert (said.level, said.mend) == ("fail", f"triseek install {client.name}")
    assert place.program in said.detail


@pytest.mark.parametrize("client", AGENTS, ids=lambda client: client.name)
def test_another_triseeks_settings_are_worth_a_word(client, place, programs):
    installed(client, place, client.scopes[0])
    other = programs("triseek.exe", "exit 0")

    (said,) = settings_of(client, InstallPlace(other, place.home, place.cwd, place.environ))

    assert said.level == "info"
    assert place.program in said.detail


def test_the_scope_is_in_the_command_that_mends(place):
    client = by_name("claude-code")
    assert client is not None
    installed(client, place, "project")
    os.unlink(client.plan("project", place)[0].path)

    (said,) = settings_of(client, place)

    assert said.mend == "triseek install claude-code --scope project"


OURS = "'/bin/triseek' hook PreToolUse --harness codex"


def hook(command, status, **more):
    return {"command": command, "trustStatus": status, "enabled": True, "isManaged": False, **more}


def trusted(host, programs, hooks):
    told = {"id": 1, "result": {"data": [{"cwd": "/x", "hooks": hooks}]}}
    line = json.dumps(told, separators=(",", ":"))
    # It answers, and ends when its input does.
    programs("codex", f"read a; read b; read c; cat <<'END'\n{line}\nEND\ncat >/dev/null\n")
    (said,) = trust(host())
    return said


@pytest.mark.parametrize(
    ("hooks", "level", "word"),
    [
        ([hook(OURS, "trusted")] * 2 + [hook("other", "untrusted")], "ok", "all 2 are approved"),
        ([hook(OURS, "trusted"), hook(OURS, "untrusted")], "warn", "1 of 2 wait"),
        ([hook(OURS, "modified")], "warn", "1 of 1 wait"),
        ([hook(OURS, "trusted", enabled=False)], "warn", "1 of 1 wait"),
        ([hook("other", "untrusted")], "info", "does not say"),
        ([1, None], "info", "does not say"),
    ],
)
def test_hooks_that_do_not_run_are_told_of(host, programs, hooks, level, word):
    said = trusted(host, programs, hooks)

    assert said.level == level
    assert word in said.detail


@pytest.mark.parametrize("script", ["exit 3", "echo '{'", "read a; exit 0"])
def test_a_codex_that_cannot_say_is_no_failure(host, programs, script):
    programs("codex", script)

    (said,) = trust(host())

    assert said.level == "info"
