"""Settings: which place wins, and what is said of mistakes."""

from __future__ import annotations

import dataclasses

import pytest

from triseek import config
from triseek.errors import InvalidRequest


@pytest.fixture
def file(home):
    def write(content: str | bytes) -> str:
        path = home / "config.toml"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def test_with_nothing_said_the_defaults_hold():
    assert config.read() == config.Settings(
        daemon_autostart=True,
        daemon_idle_exit_s=1800,
        daemon_max_roots=16,
        daemon_auto_index=True,
        watch_max_folders=32768,
        log_level="info",
    )


def test_every_setting_has_its_key_and_only_one():
    fields = [field.name for field in dataclasses.fields(config.Settings)]

    assert [key.field for key in config.KEYS] == fields
    assert len({key.name for key in config.KEYS}) == len(fields)


def test_the_environment_wins_over_the_file_and_a_flag_over_both(file, monkeypatch):
    file("[daemon]\nidle_exit_s = 1\nmax_roots = 2\nautostart = false\n[log]\nlevel = 'DEBUG'\n")
    monkeypatch.setenv("TRISEEK_DAEMON_MAX_ROOTS", "3")
    monkeypatch.setenv("TRISEEK_DAEMON_IDLE_EXIT_S", "2.5")
    found = config.read({"daemon_idle_exit_s": 0.0, "log_level": None})

    chosen = (found.daemon_autostart, found.daemon_max_roots, found.daemon_idle_exit_s)
    assert chosen == (False, 3, 0.0)
    assert found.log_level == "debug"


@pytest.mark.parametrize("word", ["1", "true", "YES", "on"])
def test_a_switch_in_the_environment_can_be_spelled_as_people_do(word, monkeypatch):
    monkeypatch.setenv("TRISEEK_DAEMON_AUTO_INDEX", "off")
    assert not config.read().daemon_auto_index
    monkeypatch.setenv("TRISEEK_DAEMON_AUTO_INDEX", word)
    assert config.read().daemon_auto_index


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[daemon]\nidle_exit = 3", "daemon.idle_exit: no such setting"),
        ("autostart = true", "autostart: no such setting"),
        ("[nothing]\nx = 1", "nothing.x: no such setting"),
        ("daemon = 3", "daemon: no such setting"),
        ("[daemon.deep]\nx = 1", "daemon.deep: no such setting"),
        ("[daemon]\nautostart = 1", "daemon.autostart: '1' is not true or false"),
        ("[daemon]\nautostart = 'maybe'", "daemon.autostart: 'maybe' is not true or false"),
        ("[daemon]\nidle_exit_s = -1", "daemon.idle_exit_s: '-1' is not a number of seconds"),
        ("[daemon]\nidle_exit_s = nan", "daemon.idle_exit_s: 'nan' is not a number of seconds"),
        ("[daemon]\nidle_exit_s = inf", "daemon.idle_exit_s: 'inf' is not a number of seconds"),
        ("[daemon]\nidle_exit_s = true", "daemon.idle_exit_s: 'True' is not a number of seconds"),
        ("[daemon]\nidle_exit_s = []", "daemon.idle_exit_s: '[]' is not a number of seconds"),
        ("[daemon]\nmax_roots = 0", "daemon.max_roots: '0' is not a whole number from 1"),
        ("[daemon]\nmax_roots = 2.0", "daemon.max_roots: '2.0' is not a whole number from 1"),
        ("[daemon]\nmax_roots = true", "daemon.max_roots: 'True' is not a whole number from 1"),
        ("[watch]\nmax_folders = '²'", "watch.max_folders: '²' is not a whole number from 1"),
        ("[mcp]\nstructured = 'lean'", "mcp.structured: 'lean' is not one of auto, full"),
        ("[mcp]\nstructured = true", "mcp.structured: 'True' is not one of auto, full"),
        ("[log]\nlevel = 'loud'", "log.level: 'loud' is not one of debug, info, warning, error"),
        ("[log]\nlevel = '" + "x" * 999 + "'", "log.level: '" + "x" * 40 + "…' is not one of"),
        ("[daemon", "Expected ']'"),
        (b"\xff", "can't decode"),
        ("a = " + "[" * 100_000, ""),
    ],
)
def test_a_mistake_in_the_file_is_one_line_that_names_file_and_key(content, said, file):
    path = file(content)

    with pytest.raises(InvalidRequest) as raised:
        config.read()
    assert raised.value.message.startswith(f"{path}: ")
    assert said in raised.value.message
    assert "\n" not in raised.value.message


@pytest.mark.parametrize("key", config.KEYS, ids=lambda key: key.name)
def test_a_mistake_in_the_environment_names_the_variable(key, monkeypatch):
    monkeypatch.setenv(key.variable, "?")

    shown = "" if key.secret else r": '\?'"
    with pytest.raises(InvalidRequest, match=rf"^{key.variable}{shown} is not "):
        config.read()


SECRET = "sk-not to be seen"


@pytest.mark.parametrize(
    "key", [key for key in config.KEYS if key.secret], ids=lambda key: key.name
)
def test_no_value_of_a_secret_is_ever_shown(key, file, monkeypatch):
    file(f"[brief]\n{key.name.partition('.')[2]} = '{SECRET}'\n")
    with pytest.raises(InvalidRequest) as raised:
        config.read()
    assert "sk-" not in str(raised.value)

    file("")
    monkeypatch.setenv("TRISEEK_BRIEF_CLOUD_KEY", "sk-0123456789")
    settings = config.read()
    assert settings.brief_cloud_key == "sk-0123456789"
    assert "sk-0123456789" not in repr(settings)


@pytest.mark.parametrize(
    ("address", "good"),
    [
        ("http://localhost:11434/v1", True),
        ("https://api.example.org/v1?api-version=2", True),
        ("http://[::1]:8080", True),
        ("ftp://localhost/", False),
        ("localhost:11434", False),
        ("http://", False),
        ("http://me:secret@localhost/", False),
        ("http://localhost:99999/", False),
        ("http://localhost/ v1", False),
        ("http://localhost/\x1b[2J", False),
        ("http://[::1/", False),
        ("http://localhost/#x", False),
    ],
)
def test_an_endpoint_is_an_address_without_a_password(address, good, monkeypatch):
    monkeypatch.setenv("TRISEEK_BRIEF_LOCAL_URL", address)
    if good:
        assert config.read().brief_local_url == address
        return
    with pytest.raises(InvalidRequest, match="is not an address"):
        config.read()


def test_an_empty_variable_says_nothing(monkeypatch):
    monkeypatch.setenv("TRISEEK_LOG_LEVEL", "")

    assert config.read() == config.Settings()


def test_a_file_that_cannot_be_read_is_named(home):
    (home / "config.toml").mkdir()

    with pytest.raises(InvalidRequest, match=r"config\.toml: Is a directory"):
        config.read()


def test_settings_do_not_change_once_read():
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.read().daemon_max_roots = 3


@pytest.mark.parametrize("tokens", ["0", "2001", "-1", "1.5", "true", "'many'"])
def test_the_historys_context_has_bounds(file, tokens):
    file(f"[history]\ncontext_tokens = {tokens}\n")

    with pytest.raises(InvalidRequest, match=r"context_tokens: .* from 1 to 2,000"):
        config.read()


def test_the_historys_context_has_two_settings(file):
    file("[history]\ncontext = false\ncontext_tokens = 2000\n")
    settings = config.read()

    assert (settings.history_context, settings.history_context_tokens) == (False, 2000)
